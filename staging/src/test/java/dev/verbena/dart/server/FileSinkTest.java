package dev.verbena.dart.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.DartWorld;
import dev.verbena.dart.Settings;
import dev.verbena.dart.WireEnvironment;
import dev.verbena.staging.LocalStreams;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files on the server's machine instead of a receiver. */
@Timeout(120)
class FileSinkTest {
    private static DartServer.Context without(DartServer.Context context, Path sink) {
        return context.receiver("", 0).fileSink(sink.toString(), null);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("dart-S10")
    void shouldStoreDurablyEachClientApartWithoutReceiver(boolean isThreaded) throws Exception {
        try (DartWorld world = new DartWorld("shm")) {
            Path sink = world.directory.resolve("sink");
            List<String> seen = new CopyOnWriteArrayList<>();
            DartServer master =
                    world.master(
                            c ->
                                    without(c, sink)
                                            .fileSink(sink.toString(), m -> seen.add(m.fileName()))
                                            .dedicatedThreads(isThreaded));
            DartClient[] clients = {world.client(0), world.client(1)};
            for (int i = 0; i < 6; i++) {
                int length = i == 5 ? 900_000 : 1000 * i;
                DartMetadata metadata = new DartMetadata().name(i == 4 ? "" : "a/step-" + i);
                for (DartClient client : clients) {
                    client.sendCopy(
                            DartWorld.bytes(length, client.clientId()), 0, length, metadata, i);
                }
            }
            for (DartClient client : clients) {
                client.flush(DartWorld.LIMIT_NS);
                String start = "client-" + client.clientId() + ".";
                for (int i = 0; i < 6; i++) {
                    String name = start + (i == 4 ? "message-5" : "a%2Fstep-" + i);
                    int length = i == 5 ? 900_000 : 1000 * i;
                    assertThat(Files.readAllBytes(sink.resolve(name)))
                            .isEqualTo(DartWorld.bytes(length, client.clientId()).byteArray());
                }
            }
            assertThat(seen).hasSize(12);
            assertThat(master.statistics().streamedCount()).isEqualTo(12);
            assertThat(master.statistics().reconnectCount()).isZero();
            clients[0].close();
            clients[1].close();
            master.close();
            List<String> described = new ArrayList<>();
            for (String line : Files.readAllLines(sink.resolve(DartReceiver.DESCRIPTIONS))) {
                described.add(line.split("\"")[3]);
            }
            assertThat(described).containsExactlyInAnyOrderElementsOf(seen);
            try (Stream<Path> files = Files.list(sink)) {
                assertThat(files).hasSize(13).noneMatch(f -> f.toString().contains(".receiving"));
            }
            assertThat(world.errors()).isEmpty();
        }
    }

    @Test
    @Tag("dart-S10")
    void shouldRefuseAFolderInUseAndAReceiverBesides() throws Exception {
        try (DartWorld world = new DartWorld("shm")) {
            Path sink = world.directory.resolve("sink");
            world.master(c -> without(c, sink)).awaitReady(DartWorld.LIMIT_NS);
            assertThatThrownBy(() -> world.slave(c -> without(c, sink)))
                    .hasMessageContaining("another receiver stores into")
                    .hasMessageContaining(sink.toString());
            assertThatThrownBy(() -> world.slave(c -> c.fileSink("elsewhere", null)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("excludes receiver, discard and spill");
        }
    }

    @Test
    void shouldLeaveItsFolderWhenTheServerCannotStart() throws Exception {
        try (DartWorld world = new DartWorld("shm")) {
            Path sink = world.directory.resolve("sink");
            DartServer wrong =
                    DartServer.launch(
                            without(world.serverContext(), sink).transport("foo").master());
            assertThatThrownBy(() -> wrong.awaitReady(DartWorld.LIMIT_NS))
                    .hasMessageContaining("foo");
            wrong.close();
            world.master(c -> without(c, sink)).awaitReady(DartWorld.LIMIT_NS);
        }
    }

    @Test
    void shouldRunItsReceiverAndWakeBothThreadsWhenItsStoreIsReady() {
        WireEnvironment wire = new WireEnvironment();
        ServerShared shared =
                new ServerShared(
                        Settings.of(
                                new DartServer.Context()
                                        .environment(wire)
                                        .configurationFile("none")
                                        .fileSink("sink", null)));
        FileSink sink = new FileSink(shared);
        sink.agent().onStart();
        List<String> woken = new ArrayList<>();
        shared.onWakeT1(() -> woken.add("t1"));
        shared.onWakeT3(() -> woken.add("t3"));
        wire.disk.wakeups.forEach(Runnable::run);
        assertThat(woken).containsExactlyInAnyOrder("t1", "t3");
        while (sink.doWork() > 0) {
            // What it does at its start.
        }
        sink.streams.connect("", LocalStreams.PORT);
        assertThat(sink.doWork()).isPositive();
        sink.agent().onClose();
    }
}
