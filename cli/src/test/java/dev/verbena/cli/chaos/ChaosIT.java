package dev.verbena.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.chaos.ChaosPlan.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A staging run of real processes while things go wrong. {@code -Dverbena.seed=N} repeats a plan;
 * even ones go over shm and odd ones over Portals, and in two of four that follow each other
 * servers spill to a disk what the receiver does not take; with {@code -Dverbena.long=true} rounds
 * with new seeds follow each other for an hour, or for {@code -Dverbena.chaos.minutes}.
 */
class ChaosIT {
    private static final long FRESH_SEED = System.nanoTime() % 1_000_000_007;
    private static final long ROUND_MS = 1_000L * Integer.getInteger("verbena.chaos.seconds", 30);
    private static final long LONG_NS =
            TimeUnit.MINUTES.toNanos(Integer.getInteger("verbena.chaos.minutes", 60));

    /** One for each provider: seeds that follow each other take turns. */
    @TempDir private Path folder;

    @Test
    @Timeout(300)
    void shouldLoseNothingWhenStreamsBreak() throws Exception {
        run(seed(), 12_000, EnumSet.of(Kind.CUT, Kind.CUT_AFTER, Kind.STALL, Kind.HOLE));
    }

    @Test
    @Timeout(value = 70, unit = TimeUnit.MINUTES)
    void shouldLoseNothingWhateverGoesWrong() throws Exception {
        // --long: chaos for an hour, a new seed each round, instead of one round
        boolean isLong = Boolean.getBoolean("verbena.long");
        long beginNs = System.nanoTime();
        int round = 0;
        do {
            run(seed() + round, ROUND_MS, all());
            round++;
        } while (isLong && System.nanoTime() - beginNs < LONG_NS);
    }

    private static long seed() {
        return Long.getLong("verbena.seed", FRESH_SEED);
    }

    private static Set<Kind> all() {
        Set<Kind> kinds = EnumSet.allOf(Kind.class);
        String only = System.getProperty("verbena.chaos.kinds", "");
        if (!only.isEmpty()) {
            kinds.clear();
            for (String kind : only.split(",")) {
                kinds.add(Kind.valueOf(kind));
            }
        }
        return kinds;
    }

    private void run(long seed, long durationMs, Set<Kind> kinds) throws Exception {
        String scheme = seed % 2 == 0 ? "shm" : "portals";
        boolean isSpilling = seed % 4 == 1 || seed % 4 == 2;
        System.out.println(
                "chaos: -Dverbena.seed="
                        + seed
                        + " over "
                        + scheme
                        + (isSpilling ? ", with spill" : ""));
        Path own = Files.createDirectories(folder.resolve("round-" + seed));
        List<String> faults;
        try (ChaosWorld world = new ChaosWorld(own, scheme, seed, isSpilling)) {
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
        assertThat(faults)
                .as("seed %d%s", seed, faults.isEmpty() ? "" : ", logs in " + keepLogs(own, seed))
                .isEmpty();
    }

    /** Where they outlive this run. */
    private static Path keepLogs(Path folder, long seed) throws IOException {
        Path kept = Files.createDirectories(Path.of("target", "chaos", "round-" + seed));
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".log")).toList()) {
                Files.copy(
                        file,
                        kept.resolve(file.getFileName()),
                        StandardCopyOption.REPLACE_EXISTING);
            }
        }
        return kept.toAbsolutePath();
    }
}
