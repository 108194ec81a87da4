package dev.verbena.nsim.scenario;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.program.Program;

/**
 * HPCC's random ring: processes in random order around a ring, each puts 2 MB to its left and to
 * its right neighbour, all at once. Two processes share a node and its DMA engine, as in the paper.
 */
public final class RandomRing implements Scenario {
    private static final int BYTES = 2_000_000;
    private static final int PER_NODE = 2;
    private static final int SMALL = 32;

    /** For {@link Scenarios}. */
    public RandomRing() {}

    @Override
    public String name() {
        return "random-ring";
    }

    @Override
    public String description() {
        return "2 MB to both neighbours in a ring of random order, all at once";
    }

    /** Up to 32 processes the paper's 16 nodes, above its 256. */
    @Override
    public void prepare(Machine machine, int processes) {
        int nodes = (processes + PER_NODE - 1) / PER_NODE;
        machine.set(
                "topology", Scenarios.paperMachine(processes <= SMALL ? 16 : Math.max(256, nodes)));
    }

    @Override
    public int perNode() {
        return PER_NODE;
    }

    @Override
    public Program program(int processes, ScenarioOptions options) {
        if (processes < 2) {
            throw new IllegalArgumentException(
                    "a ring needs at least 2 processes, not " + processes);
        }
        long bytes = options.bytesOr(BYTES);
        int[] order = new SeededRandom(options.seed()).permutation(processes);
        int[] place = new int[processes];
        for (int i = 0; i < processes; i++) {
            place[order[i]] = i;
        }
        return rank -> {
            int at = place[rank.rank()];
            rank.put(order[(at + 1) % processes], bytes, 0);
            rank.put(order[(at + processes - 1) % processes], bytes, 0);
            rank.poll(0);
            rank.poll(0);
            rank.completeAll();
        };
    }

    @Override
    public String result(SimulationResult result) {
        return String.format(
                java.util.Locale.ROOT,
                "%.4f GB/s per process sent, %.4f GB/s sent and received",
                result.bandwidthPerProcess(),
                2 * result.bandwidthPerProcess());
    }
}
