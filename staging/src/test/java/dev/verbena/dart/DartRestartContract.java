package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A receiver that is a process is killed with signal 9 and started again. */
@Timeout(180)
public abstract class DartRestartContract {
    private static final int COUNT = 60;

    /** For subclasses in other modules. */
    protected DartRestartContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    private static UnsafeBuffer content(int index) {
        // Some span several of the server's buffers, so that their beginning is acknowledged
        // before their end is sent.
        int length = index % 4 == 3 ? 700_000 + index : 1000 * index;
        return DartWorld.bytes(length, index);
    }

    private static DartTicket send(DartClient client, int index) {
        UnsafeBuffer data = content(index);
        return client.sendCopy(
                data, 0, data.capacity(), new DartMetadata().name("m" + index).step(index), index);
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> !name.equals(DartReceiver.DESCRIPTIONS))
                    .sorted()
                    .toList();
        }
    }

    private static DartServer master(DartWorld world) {
        return world.master(c -> c.framePayloadMax(20_000).bufferCount(6));
    }

    private static void endInOrder(DartWorld world, ReceiverProcess receiver) throws Exception {
        world.clients.get(0).close();
        world.servers.get(0).close();
        assertThat(receiver.exitCode()).isZero();
    }

    @Test
    @Tag("dart-D37")
    void shouldStoreEveryMessageOnceWhenReceiverIsKilledAgainAndAgain() throws Exception {
        AtomicReference<ReceiverProcess> running = new AtomicReference<>();
        try (DartWorld world = new DartWorld(scheme())) {
            Path out = world.directory.resolve("out");
            running.set(new ReceiverProcess(out, world.receiverAt()));
            DartServer master = master(world);
            DartClient client = world.client(0, c -> c.maxInFlight(4).checksum(true));
            SplittableRandom random = new SplittableRandom(1);
            for (int i = 0; i < COUNT; i++) {
                send(client, i);
                if (i % 12 == 11) {
                    Thread.sleep(random.nextInt(60));
                    running.get().kill();
                    running.set(new ReceiverProcess(out, world.receiverAt()));
                }
            }
            client.flush(DartWorld.LIMIT_NS);
            master.requestStop();
            assertThat(master.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
            running.get().await("finished true");
            assertThat(running.get().exitCode()).isZero();
            assertThat(names(out))
                    .as("every message once, no second name, no leftovers; %s", world.errors)
                    .containsExactlyInAnyOrderElementsOf(
                            Stream.iterate(0, i -> i + 1).limit(COUNT).map(i -> "m" + i).toList());
            assertThat(Files.readAllLines(out.resolve(DartReceiver.DESCRIPTIONS)))
                    .allMatch(line -> line.startsWith("{\"file\":\"m") && line.endsWith("}}"))
                    .extracting(line -> line.split("\"")[3])
                    .doesNotHaveDuplicates();
            for (int i = 0; i < COUNT; i++) {
                assertThat(Files.readAllBytes(out.resolve("m" + i)))
                        .as("m%d", i)
                        .isEqualTo(content(i).byteArray());
            }
        } finally {
            running.get().close();
        }
    }

    @Test
    @Tag("dart-D39")
    void shouldHaveOnDiskWhatIsStreamedWhenReceiverIsKilled() throws Exception {
        AtomicReference<ReceiverProcess> running = new AtomicReference<>();
        try (DartWorld world = new DartWorld(scheme())) {
            Path out = world.directory.resolve("out");
            running.set(new ReceiverProcess(out, world.receiverAt()));
            master(world);
            DartClient client = world.client(0);
            // --long: 8 receivers killed, one after each message, instead of 4
            int rounds = Boolean.getBoolean("verbena.long") ? 8 : 4;
            for (int i = 0; i < rounds; i++) {
                DartTicket ticket = send(client, i);
                ticket.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
                running.get().kill();
                assertThat(Files.readAllBytes(out.resolve("m" + i)))
                        .isEqualTo(content(i).byteArray());
                running.set(new ReceiverProcess(out, world.receiverAt()));
            }
            endInOrder(world, running.get());
        } finally {
            running.get().close();
        }
    }

    @Test
    @Tag("dart-D37")
    void shouldReportTheGapAndGoOnOnlyWhenToldToWhenStateIsGone() throws Exception {
        try (DartWorld world = new DartWorld(scheme())) {
            Path out = world.directory.resolve("out");
            DartClient client;
            try (ReceiverProcess receiver = new ReceiverProcess(out, world.receiverAt())) {
                master(world);
                client = world.client(0, c -> c.maxInFlight(4));
                send(client, 0);
                send(client, 1);
                client.flush(DartWorld.LIMIT_NS);
            }
            DartTicket stuck = send(client, 2);
            try (ReceiverProcess other =
                    new ReceiverProcess(world.directory.resolve("other"), world.receiverAt())) {
                assertThat(other.await("error ")).contains("earlier one", "accept the gap");
                client.progress();
                assertThat(stuck.state()).isNotEqualTo(TicketState.STREAMED);
                Await.until(
                        "server's report",
                        () ->
                                world.errors.stream()
                                        .anyMatch(e -> e.getMessage().contains("acknowledged")));
            }
            Path third = world.directory.resolve("third");
            try (ReceiverProcess told =
                    new ReceiverProcess(third, world.receiverAt(), "accept-gaps")) {
                stuck.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
                assertThat(told.await("message ")).startsWith("m2 ");
                send(client, 3).await(TicketState.STREAMED, DartWorld.LIMIT_NS);
                assertThat(Files.readAllBytes(third.resolve("m3")))
                        .isEqualTo(content(3).byteArray());
                // The directory with the state is still good: nothing was lost there.
                assertThat(Files.readAllBytes(out.resolve("m1"))).isEqualTo(content(1).byteArray());
                endInOrder(world, told);
            }
        }
    }

    @Test
    @Tag("dart-F6")
    void shouldTellAgainOfALostProcessWhenReceiverIsKilledBeforeItsHandlerReturned()
            throws Exception {
        try (DartWorld world = new DartWorld(scheme())) {
            Path out = world.directory.resolve("out");
            try (ReceiverProcess first =
                    new ReceiverProcess(out, world.receiverAt(), "hang-on-loss")) {
                DartServer master = master(world);
                world.client(0);
                try (DartNode victim = DartNode.start(world, "client", "rank=1", "count=1")) {
                    victim.await("sent");
                    Await.until("streamed", () -> master.statistics().emptyCount() == 6);
                    victim.kill();
                }
                assertThat(first.await("losing ")).isEqualTo("0/1");
            }
            // The server was told that its word had arrived: only the directory knows of it.
            try (ReceiverProcess second = new ReceiverProcess(out, world.receiverAt())) {
                assertThat(second.await("lost ")).isEqualTo("0/1");
                send(world.clients.get(0), 1).await(TicketState.STREAMED, DartWorld.LIMIT_NS);
                endInOrder(world, second);
            }
            DartNode.sweep(world);
        }
    }
}
