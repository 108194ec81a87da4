package dev.verbena.nessie.xfer;

import java.util.Locale;

/**
 * What a run has measured, over all trials (specification, section 3.3).
 *
 * @param clients number of clients
 * @param operations of all clients
 * @param count structures of an operation
 * @param bytes payload: 16 for each structure
 * @param wireBytes of messages and bulk data, without what the transport adds
 * @param seconds of all trials
 */
public record XferReport(
        int clients, long operations, int count, long bytes, long wireBytes, double seconds) {
    /** Names of the columns. */
    public static final String HEADER =
            " clients operations structures          bytes     wire bytes    seconds       MB/s";

    private static final String ROW = "%8d %10d %10d %14d %14d %10.4f %10.1f";
    private static final double MB = 1 << 20;

    /** Payload in 2^20 bytes for each second. */
    public double megabytesPerSecond() {
        return bytes / MB / seconds;
    }

    /**
     * Of this run and one that ran at the same time: what they did together, in the time of the
     * slower one.
     */
    public XferReport with(XferReport other) {
        return new XferReport(
                clients + other.clients,
                operations + other.operations,
                count,
                bytes + other.bytes,
                wireBytes + other.wireBytes,
                Math.max(seconds, other.seconds));
    }

    /** As {@link #parse} takes it, for another process. */
    public String text() {
        return "%s %s %s %s %s %s".formatted(clients, operations, count, bytes, wireBytes, seconds);
    }

    /**
     * What {@link #text} gave.
     *
     * @throws IllegalArgumentException for anything else
     */
    public static XferReport parse(String text) {
        String[] words = text.split(" ");
        if (words.length != 6) {
            throw new IllegalArgumentException("'" + text + "' is no report");
        }
        return new XferReport(
                Integer.parseInt(words[0]),
                Long.parseLong(words[1]),
                Integer.parseInt(words[2]),
                Long.parseLong(words[3]),
                Long.parseLong(words[4]),
                Double.parseDouble(words[5]));
    }

    /** A row below {@link #HEADER}. */
    public String row() {
        double rate = megabytesPerSecond();
        return String.format(
                Locale.ROOT, ROW, clients, operations, count, bytes, wireBytes, seconds, rate);
    }
}
