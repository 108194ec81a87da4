package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A receiver among everything that can happen to it, in virtual time: killed between any two
 * cycles, powered off, cut off, with a disk that is full or fails. Each byte must be stored once,
 * and each process' messages in order.
 */
@Timeout(240)
class DartCrashFuzzTest {
    private static final int ROUNDS = Integer.getInteger("verbena.rounds", 200);
    private static final int STEPS_MAX = 60_000;

    /** One run; everything follows from the seed. */
    private static final class Run implements AutoCloseable {
        private final long seed;
        private final SplittableRandom random;
        private final CrashBench bench;
        private final Map<String, Integer> expected = new HashMap<>();
        private final Map<Integer, List<Long>> sentBy = new HashMap<>();
        private int crashes;

        Run(long seed) {
            this.seed = seed;
            this.random = new SplittableRandom(seed);
            long bound = random.nextBoolean() ? 100_000 : 10_000_000;
            boolean isKeepingBoth = random.nextBoolean();
            bench =
                    new CrashBench(
                            c ->
                                    c.unfinishedBytesMax(bound)
                                            .keepBoth(isKeepingBoth)
                                            .replace(true)
                                            .silenceTimeoutNs(1L << 60));
            int servers = 1 + random.nextInt(3);
            for (int id = 1; id <= servers; id++) {
                fill(bench.server(id), id);
            }
        }

        /** Messages of a few processes, whose parts are mixed. */
        private void fill(ScriptedServer server, int id) {
            int clients = 1 + random.nextInt(3);
            int messages = 1 + random.nextInt(6);
            for (int i = 0; i < messages; i++) {
                int[] parts = new int[clients];
                int[] lengths = new int[clients];
                for (int client = 0; client < clients; client++) {
                    boolean isEmpty = random.nextInt(4) == 0;
                    parts[client] = isEmpty ? 1 : 1 + random.nextInt(5);
                    lengths[client] = isEmpty ? 0 : 5 + random.nextInt(60_000);
                }
                for (int part = 0; part < 5; part++) {
                    for (int client = 0; client < clients; client++) {
                        if (part < parts[client]) {
                            long sequence = 1 + i;
                            int number = 10 * id + client;
                            String name = "m-" + number + "-" + sequence;
                            server.part(
                                    number,
                                    sequence,
                                    new DartMetadata().name(name),
                                    lengths[client],
                                    part,
                                    parts[client]);
                            expected.put(name, CrashBench.hash(lengths[client], sequence));
                        }
                    }
                }
            }
            server.allowAll();
        }

        private void misfortune() {
            switch (random.nextInt(8)) {
                case 0, 1 -> {
                    crashes++;
                    bench.crash(CrashBench.End.values()[random.nextInt(3)]);
                }
                case 2 -> bench.servers.get(random.nextInt(bench.servers.size())).disconnect();
                case 3 -> bench.wire.disk.capacity = bench.wire.disk.used() + random.nextInt(9_000);
                case 4 -> {
                    bench.wire.disk.failing = random.nextBoolean() ? "" : ".receiving-state";
                    bench.wire.disk.failures = 1 + random.nextInt(2);
                }
                case 5 -> bench.wire.disk.renameFailures = 1;
                default -> bench.wire.disk.isStuck = random.nextBoolean();
            }
        }

        void run() {
            int until = 20 + random.nextInt(400);
            while (bench.steps < until) {
                bench.step();
                if (random.nextInt(12) == 0) {
                    misfortune();
                }
                if (random.nextInt(12) == 0) {
                    bench.wire.disk.capacity = Long.MAX_VALUE;
                    bench.wire.disk.isStuck = false;
                }
            }
            bench.wire.disk.capacity = Long.MAX_VALUE;
            bench.wire.disk.isStuck = false;
            bench.wire.disk.failures = 0;
            bench.wire.disk.renameFailures = 0;
            while (!bench.isDone() && bench.steps < STEPS_MAX) {
                bench.step();
            }
            String what = "seed " + seed + ", " + crashes + " crashes: ";
            assertThat(bench.isDone()).as(what + bench.wire.errors).isTrue();
            assertThat(bench.files()).as(what + bench.wire.errors).isEqualTo(expected);
            List<String> first = new ArrayList<>(new java.util.LinkedHashSet<>(bench.handledBy));
            assertThat(first).as(what).hasSize(expected.size());
            for (int client = 0; client < 40; client++) {
                String prefix = "m-" + client + "-";
                List<Integer> order =
                        first.stream()
                                .filter(name -> name.startsWith(prefix))
                                .map(name -> Integer.parseInt(name.substring(prefix.length())))
                                .toList();
                assertThat(order).as(what).isSorted();
            }
            assertThat(bench.wire.errors)
                    .as(what)
                    .noneMatch(e -> e.getMessage().contains("given up"))
                    .noneMatch(e -> e.getMessage().contains("is lost"));
            if (crashes == 0) {
                assertThat(bench.handledBy).as(what).doesNotHaveDuplicates();
            }
            assertThat(bench.described())
                    .as(what)
                    .doesNotHaveDuplicates()
                    .isSubsetOf(expected.keySet());
            // Nothing half-written is left behind.
            bench.until("tidy", () -> bench.wire.disk.names("").size() <= expected.size() + 3);
        }

        @Override
        public void close() {
            bench.close();
        }
    }

    @Test
    @Tag("seeded")
    @Tag("dart-F7")
    @Tag("dart-F9")
    void shouldStoreEveryByteOnceWhateverHappens() {
        long first = Long.getLong("verbena.seed", 1);
        for (long seed = first; seed < first + ROUNDS; seed++) {
            try (Run run = new Run(seed)) {
                run.run();
            }
        }
    }
}
