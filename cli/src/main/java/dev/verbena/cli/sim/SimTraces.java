package dev.verbena.cli.sim;

import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.topology.Topology;
import java.io.IOException;
import java.nio.file.Path;

/**
 * What runs of simulations write on the way: a line per message, a record per event. One thread.
 */
final class SimTraces implements AutoCloseable {
    private final SimTrace lines;
    private final SimEvents events;

    private SimTraces(SimTrace lines, SimEvents events) {
        this.lines = lines;
        this.events = events;
    }

    /**
     * Opens what is asked for.
     *
     * @param trace for lines, or null
     * @param events for records, or null
     */
    static SimTraces open(Path trace, Path events) {
        if (events != null) {
            OutputFolder.newOrPipe("--events", events);
        }
        SimTrace lines = trace == null ? null : SimTrace.open("--trace", trace);
        return new SimTraces(lines, events == null ? null : SimEvents.open("--events", events));
    }

    /** For one run that begins. */
    void watch(Simulation simulation, Topology topology, String curve, int processes) {
        if (lines != null) {
            simulation.trace(lines.run(curve, processes));
        }
        if (events != null) {
            simulation.events(events.run(processes, topology.nodes(), topology.routers()));
        }
    }

    /** Writes what is left in memory. */
    @Override
    public void close() throws IOException {
        try {
            if (events != null) {
                events.close();
            }
        } finally {
            if (lines != null) {
                lines.close();
            }
        }
    }
}
