package dev.verbena.cli.sim;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.engine.EventRecordFlyweight;
import dev.verbena.nsim.network.NetworkModel;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import org.agrona.concurrent.UnsafeBuffer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code verbena sim events}: reads what {@code verbena sim SCENARIO --events FILE} wrote. */
@Command(
        name = "events",
        description = {
            "Print the events that verbena sim SCENARIO --events FILE wrote, in CSV, or sum them up.",
            "",
            "Of each run the trace number is computed again from its events: it is the one that the"
                    + " run printed, or the file is not whole."
        },
        sortOptions = false)
final class SimEventsCommand extends CliCommand {
    @Parameters(paramLabel = "FILE", description = "What --events wrote.")
    private Path file;

    @Option(
            names = "--summary",
            description = "Only sums of each run: events by kind, the last time, trace number.")
    private boolean isSummary;

    @Option(names = "--from", paramLabel = "PS", description = "Leave out events before.")
    private long fromPs;

    @Option(names = "--until", paramLabel = "PS", description = "Leave out events after.")
    private long untilPs = Long.MAX_VALUE;

    private final EventRecordFlyweight record = new EventRecordFlyweight();
    private final long[] counts = new long[Engine.KINDS];
    private PrintWriter out;
    private int runs;
    private int processes;
    private int nodes;
    private long lastPs;
    private long hash;

    @Override
    public Integer call() {
        out = out();
        if (!Files.exists(file)) {
            throw new Messages.WrongPath("FILE " + file + ": there is no such file");
        }
        SimEvents.openBuffers();
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 20)) {
            readAll(in);
        } catch (IOException e) {
            throw OutputFolder.failure("FILE", file, e, "; it cannot be read");
        }
        out.flush();
        return 0;
    }

    private void readAll(InputStream in) throws IOException {
        byte[] header = in.readNBytes(SimEvents.HEADER);
        UnsafeBuffer buffer = new UnsafeBuffer(header);
        if (header.length < SimEvents.HEADER
                || buffer.getLong(0, ByteOrder.LITTLE_ENDIAN) != SimEvents.MAGIC
                || buffer.getInt(8, ByteOrder.LITTLE_ENDIAN) != EventRecordFlyweight.LENGTH) {
            throw new Messages.Failure(file + " holds no events of a simulation");
        }
        if (!isSummary) {
            out.println("run,processes,time_ps,kind,target,source,argument");
        }
        byte[] bytes = new byte[EventRecordFlyweight.LENGTH];
        record.wrap(new UnsafeBuffer(bytes), 0);
        for (long number = 0; ; number++) {
            int length = in.readNBytes(bytes, 0, bytes.length);
            if (length == 0) {
                break;
            }
            if (length < bytes.length) {
                throw new Messages.Failure(file + " ends in the middle of record " + number);
            }
            boolean isFirst = number == 0;
            if (!record.isSound() || isFirst != (runs == 0 && isRun())) {
                throw new Messages.Failure(file + ": record " + number + " makes no sense");
            }
            take();
        }
        sumUp();
    }

    private boolean isRun() {
        return record.kind() == EventRecordFlyweight.RUN;
    }

    private void take() {
        if (isRun()) {
            sumUp();
            runs++;
            processes = record.target();
            nodes = record.source();
            Arrays.fill(counts, 0);
            lastPs = 0;
            hash = 0;
            return;
        }
        lastPs = record.timePs();
        counts[record.kind()]++;
        hash += Engine.traceHashOf(lastPs, record.target(), record.source(), record.kind());
        if (!isSummary && lastPs >= fromPs && lastPs <= untilPs) {
            out.printf(
                    Locale.ROOT,
                    "%d,%d,%d,%s,%s,%s,%d%n",
                    runs,
                    processes,
                    lastPs,
                    NetworkModel.kindName(record.kind()),
                    entity(record.target()),
                    entity(record.source()),
                    record.argument());
        }
    }

    private String entity(int number) {
        return number < nodes ? "node " + number : "router " + (number - nodes);
    }

    private void sumUp() {
        if (!isSummary || runs == 0) {
            return;
        }
        out.printf(
                Locale.ROOT,
                "run %d, %d processes: %d events until %.4f us, trace %016x%n",
                runs,
                processes,
                Arrays.stream(counts).sum(),
                lastPs / 1e6,
                hash);
        for (int kind = 0; kind < counts.length; kind++) {
            if (counts[kind] > 0) {
                String name = NetworkModel.kindName(kind);
                out.printf(Locale.ROOT, "  %-10s %d%n", name, counts[kind]);
            }
        }
    }
}
