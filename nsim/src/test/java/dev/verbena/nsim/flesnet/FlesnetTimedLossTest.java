package dev.verbena.nsim.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.MicrosliceSink;
import dev.verbena.flesnet.MicrosliceSource;
import dev.verbena.flesnet.PatternSource;
import dev.verbena.flesnet.Timeslice;
import dev.verbena.flesnet.dfs.DfsParameters;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs of chance that deliver without late inputs, and lose one compute node or two. */
@Timeout(120)
class FlesnetTimedLossTest {
    private static final long MS = 1_000_000;

    // --long: 400 seeds instead of 30
    private static final int SEEDS = Boolean.getBoolean("verbena.long") ? 400 : 30;

    /** By compute node, how often it has delivered a timeslice. */
    private final List<TreeMap<Long, Integer>> delivered = new ArrayList<>();

    private Random random;
    private int inputs;
    private int computes;
    private int timeslices;

    /** Gives nothing while the time is between these. */
    private record Paused(MicrosliceSource source, long fromNs, long untilNs)
            implements MicrosliceSource {
        @Override
        public int poll(MicrosliceSink sink, long nowNs) {
            return nowNs >= fromNs && nowNs < untilNs ? 0 : source.poll(sink, nowNs);
        }

        @Override
        public boolean isEnded() {
            return source.isEnded();
        }

        @Override
        public long nextDueNs() {
            return source.nextDueNs();
        }
    }

    @Test
    @Tag("seeded")
    @Tag("flesnet-45")
    void shouldLoseNothingAndDeliverNothingTwice() {
        long first = Long.getLong("verbena.seed", 1);
        for (long seed = first; seed < first + SEEDS; seed++) {
            random = new Random(seed);
            inputs = 2 + random.nextInt(3);
            computes = 2 + random.nextInt(3);
            timeslices = 400 + random.nextInt(1200);
            delivered.clear();
            try (FlesnetSimulation simulation = simulation(seed)) {
                run(simulation, "seed " + seed);
            }
        }
    }

    private FlesnetSimulation simulation(long seed) {
        DfsParameters dfs = random.nextInt(3) == 0 ? DfsParameters.PAPER.intervals(30, 3) : null;
        int slots = 3 + random.nextInt(3);
        return new FlesnetSimulation(
                seed,
                TreeTopology.single(inputs + computes),
                new NetworkContext(),
                context -> settings(context, slots).dfs(dfs, 1));
    }

    private FlesnetContext settings(FlesnetContext context, int slots) {
        return context.nodes(inputs, computes)
                .timeslice(4, 0)
                .rings(14, slots)
                .sourceRing(18, 10)
                .heartbeatNs(5 * MS)
                .incompleteTimeoutNs(2 * MS);
    }

    private void run(FlesnetSimulation simulation, String seed) {
        simulation.world().randomSchedule(2000).delays(100, random.nextInt(2) * 300_000);
        for (int c = 0; c < computes; c++) {
            TreeMap<Long, Integer> counts = new TreeMap<>();
            delivered.add(counts);
            simulation.compute(timeslice -> count(counts, timeslice));
        }
        for (int i = 0; i < inputs; i++) {
            simulation.input(source(i, simulation.world().nowNs()));
        }
        int oneIn = random.nextInt(2) * 4;
        simulation.inputs().forEach(i -> simulation.world().refuse(i.process(), oneIn));
        simulation.computes().forEach(c -> simulation.world().refuse(c.process(), oneIn));
        Set<Integer> dead = kill(simulation);
        assertThat(simulation.run(30_000 * MS)).as("%s %s", seed, simulation.failure()).isTrue();
        for (long t = 0; t < timeslices; t++) {
            requireWhole(t, dead, seed);
        }
    }

    private static void count(TreeMap<Long, Integer> counts, Timeslice timeslice) {
        counts.merge(timeslice.index(), 1, Integer::sum);
        timeslice.release();
    }

    /** Of small contents or of large ones, as fast as may be or not; some pause. */
    private MicrosliceSource source(int input, long nowNs) {
        int bytes = random.nextInt(4) == 0 ? 1024 : 64;
        long periodNs = random.nextInt(3) == 0 ? 0 : 10_000;
        MicrosliceSource whole = new PatternSource(input, timeslices * 4L, bytes, 0, periodNs);
        long fromNs = nowNs + random.nextInt(30) * MS;
        long untilNs = fromNs + (1 + random.nextInt(100)) * MS;
        return random.nextInt(3) == 0 ? new Paused(whole, fromNs, untilNs) : whole;
    }

    /** One node when it has delivered some; perhaps another one, soon or later. */
    private Set<Integer> kill(FlesnetSimulation simulation) {
        int victim = random.nextInt(computes);
        int count = 1 + random.nextInt(timeslices / computes - 1);
        simulation.world().runUntil(() -> delivered.get(victim).size() >= count, 5000 * MS);
        Set<Integer> dead = new HashSet<>(Set.of(victim));
        crash(simulation, victim, 5);
        int other = random.nextInt(computes);
        if (computes > 2 && random.nextBoolean() && dead.add(other)) {
            crash(simulation, other, 60);
        }
        return dead;
    }

    private void crash(FlesnetSimulation simulation, int node, int waitMs) {
        simulation.world().run(random.nextInt(waitMs) * MS);
        simulation.world().crash(simulation.computes().get(node).process().host());
    }

    private void requireWhole(long timeslice, Set<Integer> dead, String seed) {
        int ofTheLiving = 0;
        boolean isOfTheDead = false;
        for (int c = 0; c < computes; c++) {
            int count = delivered.get(c).getOrDefault(timeslice, 0);
            ofTheLiving += dead.contains(c) ? 0 : count;
            isOfTheDead |= dead.contains(c) && count > 0;
        }
        assertThat(ofTheLiving).as("%s %s", seed, timeslice).isBetween(isOfTheDead ? 0 : 1, 1);
    }
}
