package dev.verbena.dart.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.dart.CrashBench;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartWorld;
import dev.verbena.dart.ElementType;
import dev.verbena.dart.ScriptedServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The lines that a receiver keeps about what it has stored. */
@Timeout(120)
class MessageDescriptionsTest {
    private static DartReceiver.Context describing(DartWorld world, Path out) {
        return world.receiverContext()
                .listen("127.0.0.1", world.receiverPort)
                .directory(out.toString());
    }

    private static List<String> lines(Path out, int count) throws Exception {
        Path file = out.resolve(DartReceiver.DESCRIPTIONS);
        Await.until(
                count + " lines",
                () -> {
                    try {
                        return Files.exists(file) && Files.readAllLines(file).size() >= count;
                    } catch (java.io.IOException e) {
                        return false;
                    }
                });
        return Files.readAllLines(file);
    }

    @Test
    void shouldDescribeWhatIsStoredInWholeLines() throws Exception {
        try (DartWorld world = new DartWorld("shm")) {
            Path out = world.directory.resolve("out");
            world.receive(describing(world, out));
            world.master();
            DartClient client = world.client(3);
            DartMetadata metadata =
                    new DartMetadata()
                            .name("a/\"ü\n")
                            .variable("density")
                            .elementType(ElementType.FLOAT64)
                            .shape(5, 2)
                            .step(40)
                            .property("unit", "kg\\m3");
            client.sendCopy(DartWorld.bytes(80, 1), 0, 80, metadata, 6);
            client.flush(DartWorld.LIMIT_NS);
            String line = lines(out, 1).get(0);
            String stored = world.received.get(0).fileName();
            assertThat(line)
                    .startsWith(
                            "{\"file\":\"" + stored + "\",\"name\":\"a/\\u0022\\u00fc\\u000a\",")
                    .contains(
                            "\"variable\":\"density\",\"rank\":3,\"step\":40,\"type\":\"FLOAT64\"")
                    .contains("\"shape\":[5,2],\"bytes\":80,\"crc32c\":", "\"isCorrupt\":false")
                    .contains("\"client\":1,\"sequence\":1,\"tag\":6,\"server\":0")
                    .endsWith("\"properties\":{\"unit\":\"kg\\u005cm3\"}}");
            // As after a kill: half a line is at the end.
            world.receiver.close();
            Path file = out.resolve(DartReceiver.DESCRIPTIONS);
            Files.writeString(file, "{\"file\":\"ha", StandardOpenOption.APPEND);
            world.receive(describing(world, out));
            client.sendCopy(DartWorld.bytes(9, 1), 0, 9, new DartMetadata().name("b"), 7);
            client.flush(DartWorld.LIMIT_NS);
            List<String> both = lines(out, 2);
            assertThat(both).hasSize(2).startsWith(line);
            assertThat(both.get(1)).startsWith("{\"file\":\"b\",").endsWith("{}}");
            assertThat(world.received).hasSize(2);
        }
    }

    @Test
    void shouldDescribeNothingIfToldSo() {
        try (CrashBench bench = new CrashBench(c -> c.describe(false))) {
            bench.server(1).message(10, 1, new DartMetadata().name("a"), 9, 1).allowAll();
            bench.until("stored", bench::isDone);
            bench.until("named", () -> bench.wire.disk.names("a").size() == 1);
            assertThat(bench.wire.disk.names(DartReceiver.DESCRIPTIONS)).isEmpty();
        }
    }

    @Test
    void shouldStoreWhatItCannotDescribeAndCatchUp() {
        try (CrashBench bench = new CrashBench(c -> {})) {
            bench.wire.disk.throwing = DartReceiver.DESCRIPTIONS;
            ScriptedServer server = bench.server(1);
            for (int i = 1; i <= 3; i++) {
                server.message(10, i, new DartMetadata().name("m" + i), 9, 1);
            }
            server.allowAll();
            bench.until("stored", bench::isDone);
            assertThat(bench.files()).containsOnlyKeys("m1", "m2", "m3");
            assertThat(bench.wire.errors)
                    .singleElement()
                    .satisfies(e -> assertThat(e).hasMessageContaining("not all are described in"));
            bench.wire.disk.throwing = "";
            bench.until("described", () -> bench.described().equals(List.of("m1", "m2", "m3")));
        }
    }

    @Test
    void shouldDescribeOnceWhatComesAgainAfterAKill() {
        int again = 0;
        for (int killAt = 1; killAt < 40; killAt++) {
            try (CrashBench bench = new CrashBench(c -> {})) {
                ScriptedServer server = bench.server(1);
                for (int i = 1; i <= 3; i++) {
                    server.message(10, i, new DartMetadata().name("m" + i), 9, 1);
                }
                server.allowAll();
                for (int i = 0; i < killAt; i++) {
                    bench.step();
                }
                bench.crash(CrashBench.End.KILL_AFTER_DISK);
                bench.until("stored", bench::isDone);
                assertThat(bench.described())
                        .as("killed at %d", killAt)
                        .containsExactly("m1", "m2", "m3");
                again += bench.handled.size() - 3;
            }
        }
        assertThat(again).as("messages that came again").isPositive();
    }
}
