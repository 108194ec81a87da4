package dev.verbena.nsim.scenario;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.program.Program;
import dev.verbena.nsim.program.Rank;
import java.util.Locale;

/**
 * Particles that changed their domain: each process packs what it has for a few others and puts it
 * there, sizes irregular, the largest 2.1 MB with 32 processes and less with more. A barrier makes
 * sure that the receivers are ready; it is before the packing, or after. The paper's sizes were
 * recorded from a run and are not printed; these are random.
 */
public final class ParticleExchange implements Scenario {
    /** The largest put times the processes: 2.1 MB at 32. */
    private static final long LARGEST_TIMES_PROCESSES = 67_200_000;

    private static final int PARTNERS = 4;
    private static final int SMALLEST_PART = 20;
    private static final int BARRIER_BYTES = 8;
    private static final int BARRIER_TAG = 1;

    /** Packing copies at this rate. */
    private static final long PS_PER_BYTE_TIMES_TEN = 3_571;

    private final boolean isBarrierAfter;

    /**
     * One of the two forms.
     *
     * @param isBarrierAfter whether the barrier is after the packing
     */
    public ParticleExchange(boolean isBarrierAfter) {
        this.isBarrierAfter = isBarrierAfter;
    }

    @Override
    public String name() {
        return isBarrierAfter ? "particle-exchange-late" : "particle-exchange";
    }

    @Override
    public String description() {
        return "irregular puts to a few others, a barrier "
                + (isBarrierAfter ? "after" : "before")
                + " packing them";
    }

    @Override
    public void prepare(Machine machine, int processes) {
        machine.set("topology", Scenarios.paperMachine(processes));
    }

    @Override
    public int perNode() {
        return 1;
    }

    @Override
    public Program program(int processes, ScenarioOptions options) {
        if (processes <= PARTNERS) {
            throw new IllegalArgumentException(
                    "a particle exchange needs more than "
                            + PARTNERS
                            + " processes, not "
                            + processes);
        }
        long largest = Math.max(1, options.bytesOr(LARGEST_TIMES_PROCESSES / processes));
        int[] offsets = new SeededRandom(options.seed()).permutation(processes - 1);
        return rank -> {
            SeededRandom random = new SeededRandom(options.seed() << 32 ^ rank.rank());
            long[] bytes = new long[PARTNERS];
            long sum = 0;
            for (int i = 0; i < PARTNERS; i++) {
                bytes[i] = largest * (1 + random.below(SMALLEST_PART)) / SMALLEST_PART;
                sum += bytes[i];
            }
            exchange(rank, offsets, bytes, sum * PS_PER_BYTE_TIMES_TEN / 10);
        };
    }

    private void exchange(Rank rank, int[] offsets, long[] bytes, long packPs) {
        if (!isBarrierAfter) {
            RecursiveDoubling.barrier(rank, BARRIER_BYTES, BARRIER_TAG);
        }
        rank.computePs(packPs);
        if (isBarrierAfter) {
            RecursiveDoubling.barrier(rank, BARRIER_BYTES, BARRIER_TAG);
        }
        for (int i = 0; i < PARTNERS; i++) {
            rank.put((rank.rank() + 1 + offsets[i]) % rank.size(), bytes[i], 0);
        }
        for (int i = 0; i < PARTNERS; i++) {
            rank.poll(0);
        }
        rank.completeAll();
    }

    @Override
    public String result(SimulationResult result) {
        long pack = 0;
        for (int rank = 0; rank < result.processes(); rank++) {
            pack = Math.max(pack, result.computePs(rank));
        }
        return String.format(
                Locale.ROOT,
                "%.4f ms, of it %.4f ms packing where that takes longest",
                result.executionPs() / 1e9,
                pack / 1e9);
    }
}
