package dev.verbena.cli;

import dev.verbena.nsim.program.MessageTrace;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Writes what became of each message as a line of CSV. One thread. */
final class SimTrace implements AutoCloseable {
    private final BufferedWriter out;

    /** A new file. */
    SimTrace(Path file) throws IOException {
        out = Files.newBufferedWriter(file, StandardOpenOption.CREATE_NEW);
        out.write("curve,processes,time_ps,event,kind,from,to,bytes,tag,issued_ps,first_in_ps\n");
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

    @Override
    public void close() throws IOException {
        out.close();
    }
}
