package dev.verbena.examples;

import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.program.Program;
import dev.verbena.nsim.topology.GridTopology;
import dev.verbena.nsim.topology.TieRule;
import java.util.Locale;

/**
 * How long would it take? The sample program of the NSIM-ACE paper, on a torus that is not there:
 * each process puts to its neighbour, waits for what comes from the other one, and for the end of
 * its own put.
 *
 * <p>Run: {@code java -cp 'cli/target/dist/lib/*' dev.verbena.examples.SimulatedRing [PROCESSES]}
 */
public final class SimulatedRing {
    /** What each process does; called once per process, before virtual time begins. */
    private static final Program RING =
            rank -> {
                int right = (rank.rank() + 1) % rank.size();
                long handle = rank.put(right, 4, 0);
                rank.poll(0);
                rank.complete(handle);
            };

    private SimulatedRing() {}

    /** Runs it; the argument is the number of processes. */
    public static void main(String[] arguments) {
        int processes = arguments.length == 0 ? 64 : Integer.parseInt(arguments[0]);
        System.out.println(run(processes));
    }

    /** One node per process, all in a ring, with the parameters of the paper's Table 1. */
    static String run(int processes) {
        SimulationResult result =
                new Simulation(
                                GridTopology.torus(TieRule.POSITIVE, processes),
                                new NetworkContext())
                        .run(RING);
        return String.format(
                Locale.ROOT,
                "%d processes: %.4f us",
                result.processes(),
                result.executionPs() / 1e6);
    }
}
