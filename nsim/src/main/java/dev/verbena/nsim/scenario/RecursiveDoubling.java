package dev.verbena.nsim.scenario;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.program.Program;
import dev.verbena.nsim.program.Rank;

/**
 * A barrier by recursive doubling: in step s each process exchanges 8 bytes with the one whose
 * number differs in bit s. Where the number of processes is no power of two, those above it tell a
 * partner before and are told after: two more steps. (The time is often that of one more: those
 * without such a partner do not wait for the first.)
 */
public final class RecursiveDoubling implements Scenario {
    private static final int BYTES = 8;

    /** For {@link Scenarios}. */
    public RecursiveDoubling() {}

    @Override
    public String name() {
        return "recursive-doubling";
    }

    @Override
    public String description() {
        return "a barrier of log2(p) exchanges, two more if p is no power of two";
    }

    @Override
    public void prepare(Machine machine, int processes) {
        RingBarrier.prepareBarrier(machine, processes);
    }

    @Override
    public int perNode() {
        return 1;
    }

    @Override
    public Program program(int processes, ScenarioOptions options) {
        long bytes = options.bytesOr(BYTES);
        return rank -> barrier(rank, bytes, 0);
    }

    /** The barrier, with tags from a number on: 34 at most. */
    static void barrier(Rank rank, long bytes, int tag) {
        int power = Integer.highestOneBit(rank.size());
        int self = rank.rank();
        int partner = self ^ power;
        if (self >= power) {
            rank.put(partner, bytes, tag);
            rank.poll(tag + 1);
            return;
        }
        boolean hasPartner = partner < rank.size();
        if (hasPartner) {
            rank.poll(tag);
        }
        for (int bit = 1, step = 2; bit < power; bit <<= 1, step++) {
            rank.put(self ^ bit, bytes, tag + step);
            rank.poll(tag + step);
        }
        if (hasPartner) {
            rank.put(partner, bytes, tag + 1);
        }
    }

    @Override
    public String result(SimulationResult result) {
        return Scenarios.barrierLine(result);
    }
}
