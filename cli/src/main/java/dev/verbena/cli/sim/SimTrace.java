package dev.verbena.cli.sim;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.nsim.program.MessageTrace;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Writes what became of each message as a line of CSV. One thread. */
final class SimTrace implements AutoCloseable {
    private final BufferedWriter out;

    private SimTrace(BufferedWriter out) {
        this.out = out;
    }

    /**
     * A new file, or what is no file: a pipe, a device.
     *
     * @throws Messages.Failure if there is such a file, or it cannot be made; says why
     */
    static SimTrace open(String option, Path file) {
        OpenOption how = OutputFolder.newOrPipe(option, file);
        try {
            SimTrace trace =
                    new SimTrace(Files.newBufferedWriter(file, StandardOpenOption.WRITE, how));
            trace.out.write(
                    "curve,processes,time_ps,event,kind,from,to,bytes,tag,issued_ps,first_in_ps\n");
            return trace;
        } catch (IOException e) {
            throw OutputFolder.failure(option, file, e, "; choose another place");
        }
    }

    /** For one run. */
    MessageTrace run(String curve, int processes) {
        String begin = curve.replace(',', ' ') + "," + processes + ",";
        return (timePs, event, kind, from, to, bytes, tag, issuedPs, firstInPs) -> {
            StringBuilder line = new StringBuilder(begin);
            line.append(timePs).append(',').append(event).append(',').append(kind);
            line.append(',').append(from).append(',').append(to).append(',').append(bytes);
            line.append(',').append(tag).append(',').append(issuedPs);
            line.append(',').append(firstInPs).append('\n');
            try {
                out.append(line);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        };
    }

    /** Writes what is left in memory. */
    @Override
    public void close() throws IOException {
        out.close();
    }
}
