package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a killed server has on its disk, when the process it came from was started again and has
 * sent more through another server meanwhile; one small subclass for each provider names the
 * scheme.
 */
@Timeout(value = 240, unit = TimeUnit.SECONDS)
public abstract class DartLateFilesContract {
    /** For subclasses in other modules. */
    protected DartLateFilesContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    private static DartTicket send(DartClient client, String name, int tag) {
        UnsafeBuffer data = DartWorld.bytes(90_000, tag);
        return client.sendCopy(data, 0, 90_000, new DartMetadata().name(name), tag);
    }

    private static void receiveAgain(DartWorld world, Path out) {
        world.receiver.close();
        world.receive(world.receiverContext().directory(out.toString()).listen(world.receiverAt()));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("dart-F7")
    void shouldDeliverFilesOfAProcessThatRegisteredAnewMeanwhile(boolean isReceiverStartedAgain)
            throws Exception {
        try (DartWorld world = new DartWorld(scheme())) {
            Path out = world.directory.resolve("out");
            String spill = "spill=" + world.directory.resolve("spill");
            world.receive(world.receiverContext().directory(out.toString()));
            world.master(c -> c.serverCount(2));
            int rank;
            int id;
            try (DartNode slave = DartNode.start(world, "slave", spill)) {
                slave.await("ready");
                DartClient zero = world.client(0);
                DartClient one = world.client(1);
                rank = zero.serverId() == 1 ? 0 : 1;
                DartClient first = rank == 0 ? zero : one;
                id = first.clientId();
                send(first, "a", 1).await(TicketState.STREAMED, DartWorld.LIMIT_NS);
                world.receiver.close();
                send(first, "b", 2).await(TicketState.SPILLED, DartWorld.LIMIT_NS);
                send(first, "same", 3).await(TicketState.SPILLED, DartWorld.LIMIT_NS);
                slave.kill();
                world.clients.remove(first);
                first.close();
            }
            receiveAgain(world, out);
            Await.until(
                    () -> "the master knows: " + world.errors,
                    () ->
                            world.errors.stream()
                                    .anyMatch(e -> e.getMessage().contains("slave server 1")));
            DartClient again = world.client(rank);
            assertThat(again.clientId()).isEqualTo(id);
            send(again, "same", 9).await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            if (isReceiverStartedAgain) {
                receiveAgain(world, out);
            }
            // The next server with that directory finds what the killed one had promised.
            try (DartNode next = DartNode.start(world, "slave", spill)) {
                next.await("ready");
                world.awaitReceived(4);
                assertThat(world.received)
                        .extracting(DartWorld.Received::tag)
                        .containsExactly(1, 9, 2, 3);
                send(again, "c", 10).await(TicketState.STREAMED, DartWorld.LIMIT_NS);
                assertThat(content(out.resolve("b"))).isEqualTo(bytes(2));
                // It does not replace what came after it.
                assertThat(content(out.resolve("same"))).isEqualTo(bytes(9));
                assertThat(content(out.resolve(world.received.get(3).fileName())))
                        .isEqualTo(bytes(3));
                assertThat(next.end()).isZero();
            }
            DartNode.sweep(world);
        }
    }

    private static byte[] bytes(int tag) {
        return DartWorld.bytes(90_000, tag).byteArray();
    }

    private static byte[] content(Path file) throws Exception {
        return Files.readAllBytes(file);
    }
}
