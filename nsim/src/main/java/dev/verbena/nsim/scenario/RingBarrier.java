package dev.verbena.nsim.scenario;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.program.Program;

/**
 * A barrier in p - 1 steps: in each, every process puts 8 bytes to its right neighbour and waits
 * for those of its left one.
 */
public final class RingBarrier implements Scenario {
    private static final int BYTES = 8;

    /** For {@link Scenarios}. */
    public RingBarrier() {}

    @Override
    public String name() {
        return "ring-barrier";
    }

    @Override
    public String description() {
        return "a barrier of p-1 puts along a ring";
    }

    @Override
    public void prepare(Machine machine, int processes) {
        prepareBarrier(machine, processes);
    }

    /** The paper counts a node latency of 0.6 to 0.9 us for library, DMA and all; measured: 0.8. */
    static void prepareBarrier(Machine machine, int processes) {
        machine.set("node.overhead", "800ns").set("dma.bandwidth", "0");
        machine.set("topology", Scenarios.paperMachine(processes));
    }

    @Override
    public int perNode() {
        return 1;
    }

    @Override
    public Program program(int processes, ScenarioOptions options) {
        long bytes = options.bytesOr(BYTES);
        return rank ->
                rank.loop(
                        processes - 1L,
                        () -> {
                            rank.put((rank.rank() + 1) % processes, bytes, 0);
                            rank.poll(0);
                        });
    }

    @Override
    public String result(SimulationResult result) {
        return Scenarios.barrierLine(result);
    }
}
