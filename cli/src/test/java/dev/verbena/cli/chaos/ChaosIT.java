package dev.verbena.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * A staging run of real processes while things go wrong. {@code -Dverbena.seed=N} repeats a plan;
 * with {@code -Dverbena.long=true} rounds with new seeds follow each other for an hour.
 */
class ChaosIT {
    private static final long ROUND_MS = 60_000;
    private static final long LONG_NS = TimeUnit.MINUTES.toNanos(60);

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    private Path folder;

    @Test
    @Timeout(value = 70, unit = TimeUnit.MINUTES)
    void shouldLoseNothingWhateverGoesWrong() throws Exception {
        long seed = Long.getLong("verbena.seed", System.nanoTime() % 1_000_000_007);
        boolean isLong = Boolean.getBoolean("verbena.long");
        long beginNs = System.nanoTime();
        int round = 0;
        do {
            run(seed + round, round % 2 == 0 ? "shm" : "portals", ROUND_MS, all());
            round++;
        } while (isLong && System.nanoTime() - beginNs < LONG_NS);
    }

    private static Set<ChaosPlan.Kind> all() {
        Set<ChaosPlan.Kind> kinds = EnumSet.allOf(ChaosPlan.Kind.class);
        String only = System.getProperty("verbena.chaos.kinds", "");
        if (only.isEmpty()) {
            kinds.remove(ChaosPlan.Kind.KILL_RECEIVER);
        } else {
            kinds.clear();
            for (String kind : only.split(",")) {
                kinds.add(ChaosPlan.Kind.valueOf(kind));
            }
        }
        return kinds;
    }

    private void run(long seed, String scheme, long durationMs, Set<ChaosPlan.Kind> kinds)
            throws Exception {
        System.out.println("chaos: -Dverbena.seed=" + seed + " over " + scheme);
        Path own = Files.createDirectories(folder.resolve("round-" + seed));
        List<String> faults;
        try (ChaosWorld world = new ChaosWorld(own, scheme, seed)) {
            ChaosPlan plan = ChaosPlan.of(seed, durationMs, kinds, world.possible(kinds));
            if (!world.disk.isLimited()) {
                System.out.println("chaos: the disk is not filled: " + world.disk.cause());
            }
            ChaosLedger ledger = new ChaosLedger(world, seed);
            world.start();
            Thread follower = ledger.follow();
            world.execute(plan);
            world.finish();
            ledger.end();
            follower.join();
            faults = ledger.close();
            faults.addAll(world.faults);
            System.out.println("chaos: " + ledger.summary() + "; " + world.summary());
        }
        assertThat(faults).as("seed %d, logs in %s", seed, own).isEmpty();
    }
}
