package dev.verbena.cli.sim;

import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.program.MessageTrace;
import dev.verbena.nsim.topology.Topology;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.CloseHelper;

/**
 * What runs of simulations write on the way: a line of CSV per message, a record per event. One
 * thread.
 */
final class SimTraces implements AutoCloseable {
    private final BufferedWriter lines;
    private final SimEvents events;

    private SimTraces(BufferedWriter lines, SimEvents events) {
        this.lines = lines;
        this.events = events;
    }

    /**
     * Opens what is asked for: new files, or what is no file: a pipe, a device.
     *
     * @param trace for lines, or null
     * @param events for records, or null
     * @throws dev.verbena.cli.terminal.Messages.Failure if there is such a file, or it cannot be
     *     made; says why
     */
    static SimTraces open(Path trace, Path events) {
        if (events != null) {
            OutputFolder.newOrPipe("--events", events);
        }
        BufferedWriter lines = trace == null ? null : openLines(trace);
        return new SimTraces(lines, events == null ? null : SimEvents.open("--events", events));
    }

    private static BufferedWriter openLines(Path file) {
        OpenOption how = OutputFolder.newOrPipe("--trace", file);
        try {
            BufferedWriter lines = Files.newBufferedWriter(file, StandardOpenOption.WRITE, how);
            lines.write(
                    "curve,processes,time_ps,event,kind,from,to,bytes,tag,issued_ps,first_in_ps\n");
            return lines;
        } catch (IOException e) {
            throw OutputFolder.failure("--trace", file, e, "; choose another place");
        }
    }

    /** For one run that begins. */
    void watch(Simulation simulation, Topology topology, String curve, int processes) {
        if (lines != null) {
            simulation.trace(linesOf(curve, processes));
        }
        if (events != null) {
            simulation.events(events.run(processes, topology.nodes(), topology.routers()));
        }
    }

    private MessageTrace linesOf(String curve, int processes) {
        String begin = curve.replace(',', ' ') + "," + processes + ",";
        return (timePs, event, kind, from, to, bytes, tag, issuedPs, firstInPs) -> {
            StringBuilder line = new StringBuilder(begin);
            line.append(timePs).append(',').append(event).append(',').append(kind);
            line.append(',').append(from).append(',').append(to).append(',').append(bytes);
            line.append(',').append(tag).append(',').append(issuedPs);
            line.append(',').append(firstInPs).append('\n');
            try {
                lines.append(line);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        };
    }

    /** Writes what is left in memory. */
    @Override
    public void close() throws IOException {
        CloseHelper.closeAll(events, lines);
    }
}
