package dev.verbena.cli.nessie;

import dev.verbena.nessie.xfer.XferReport;
import java.util.List;
import java.util.Locale;

/** Reports of runs as text: a row of a table, and words for another process. */
final class XferTable {
    /** Names of the columns. */
    static final String HEADER =
            " clients operations structures          bytes     wire bytes    seconds       MB/s";

    private static final String ROW = "%8d %10d %10d %14d %14d %10.4f %10.1f";
    private static final double MB = 1 << 20;

    private XferTable() {}

    /** As {@link #sum} takes it. */
    static String words(XferReport report) {
        return "%s %s %s %s %s %s"
                .formatted(
                        report.clients(),
                        report.operations(),
                        report.count(),
                        report.bytes(),
                        report.wireBytes(),
                        report.seconds());
    }

    /**
     * What runs at the same time did together, in the time of the slowest one.
     *
     * @param texts of each what {@link #words} gave
     * @throws IllegalArgumentException if one is something else
     */
    static XferReport sum(List<String> texts) {
        XferReport sum = new XferReport(0, 0, 0, 0, 0, 0);
        for (String text : texts) {
            String[] words = text.split(" ");
            if (words.length != 6) {
                throw new IllegalArgumentException("'" + text + "' is no report");
            }
            sum =
                    new XferReport(
                            sum.clients() + Integer.parseInt(words[0]),
                            sum.operations() + Long.parseLong(words[1]),
                            Integer.parseInt(words[2]),
                            sum.bytes() + Long.parseLong(words[3]),
                            sum.wireBytes() + Long.parseLong(words[4]),
                            Math.max(sum.seconds(), Double.parseDouble(words[5])));
        }
        return sum;
    }

    /** Payload in 2^20 bytes for each second is the last of its columns. */
    static String row(XferReport report) {
        return String.format(
                Locale.ROOT,
                ROW,
                report.clients(),
                report.operations(),
                report.count(),
                report.bytes(),
                report.wireBytes(),
                report.seconds(),
                report.bytes() / MB / report.seconds());
    }
}
