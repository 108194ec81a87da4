package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.dart.DartSecretTest.Stranger;
import dev.verbena.dart.wire.FrameFlyweight;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who connects to a receiver and does not say who he is, over real sockets. */
@Timeout(120)
class DartStrangersTest {
    private static final long FOREVER_NS = 600_000_000_000L;

    private static byte[] hello() {
        UnsafeBuffer frame =
                new UnsafeBuffer(new byte[FrameFlyweight.LENGTH + FrameFlyweight.HELLO_LENGTH]);
        frame.putLong(FrameFlyweight.LENGTH, 7, ByteOrder.BIG_ENDIAN);
        frame.putInt(FrameFlyweight.LENGTH + 16, 3, ByteOrder.BIG_ENDIAN);
        frame.putLong(FrameFlyweight.LENGTH + 20, 1 << 20, ByteOrder.BIG_ENDIAN);
        new FrameFlyweight()
                .begin(frame, 0, FrameFlyweight.HELLO)
                .end(frame, FrameFlyweight.LENGTH, FrameFlyweight.HELLO_LENGTH);
        return frame.byteArray();
    }

    private static void stage(DartWorld world, int count) {
        DartClient client = world.client(world.clients.size(), c -> c.maxInFlight(4));
        int before = world.received.size();
        for (int i = 0; i < count; i++) {
            client.sendCopy(DartWorld.bytes(40_000, i), 0, 40_000, null, i);
        }
        client.flush(DartWorld.LIMIT_NS);
        world.awaitReceived(before + count);
        for (int i = 0; i < count; i++) {
            assertThat(world.received.get(before + i).payload())
                    .isEqualTo(DartWorld.bytes(40_000, i).byteArray());
        }
    }

    @Test
    void shouldEndAConnectionWhoseHelloDrips() throws Exception {
        try (DartWorld world = new DartWorld("shm")) {
            // A byte now and then: never silent, and never done.
            world.receive(world.receiverContext().helloTimeoutNs(400_000_000L));
            byte[] hello = hello();
            try (Stranger stranger = new Stranger(world.receiver.port())) {
                for (int i = 0; i < hello.length; i++) {
                    stranger.write(new byte[] {hello[i]});
                    Thread.sleep(20);
                }
                assertThat(stranger.isEnded()).isTrue();
            }
            Await.until("counted", () -> world.receiver.statistics().droppedStrangerCount() == 1);
            assertThat(world.errors)
                    .anyMatch(e -> e.getMessage().contains("it took longer than 400 ms"));
            try (Stranger quick = new Stranger(world.receiver.port())) {
                quick.write(hello);
                assertThat(quick.type()).isEqualTo(FrameFlyweight.HELLO_ACK);
                Thread.sleep(800);
                assertThat(world.receiver.statistics().openCount()).isEqualTo(1);
            }
        }
    }

    @Test
    void shouldLetServersInWhenStrangersTakeAllPlaces() throws Exception {
        byte[] secret = new byte[16];
        for (boolean isSecret : new boolean[] {false, true}) {
            List<Stranger> strangers = new ArrayList<>();
            try (DartWorld world = new DartWorld("shm")) {
                DartReceiver.Context context =
                        world.receiverContext().connectionsMax(4).helloTimeoutNs(FOREVER_NS);
                if (isSecret) {
                    context.secret(secret);
                }
                world.receive(context);
                for (int i = 0; i < 20; i++) {
                    Stranger stranger = new Stranger(world.receiver.port());
                    strangers.add(stranger);
                    if (isSecret && i % 2 == 0) {
                        stranger.send(FrameFlyweight.CHALLENGE, FrameFlyweight.CHALLENGE_LENGTH);
                    } else {
                        stranger.write(new byte[] {0x44});
                    }
                }
                Await.until(
                        "dropped", () -> world.receiver.statistics().droppedStrangerCount() == 16);
                UnaryOperator<DartServer.Context> guarded = c -> isSecret ? c.secret(secret) : c;
                world.master(c -> guarded.apply(c.serverCount(2)));
                world.slave(guarded::apply);
                stage(world, 5);
                assertThat(world.receiver.statistics().openCount()).isLessThanOrEqualTo(6);
                // The ones that came first are gone, and one line a second tells of them.
                assertThat(strangers.get(isSecret ? 1 : 0).isEnded()).isTrue();
                assertThat(world.errors).hasSizeLessThan(10);
            } finally {
                for (Stranger stranger : strangers) {
                    stranger.close();
                }
            }
        }
    }

    @Test
    void shouldRefuseMoreServersThanPlacesButNotOneThatComesAgain() throws Exception {
        try (DartWorld world = new DartWorld("shm")) {
            world.receive(world.receiverContext().connectionsMax(1));
            try (Stranger first = new Stranger(world.receiver.port())) {
                first.hello(new UUID(1, 1), 0);
                assertThat(first.type()).isEqualTo(FrameFlyweight.HELLO_ACK);
                try (Stranger other = new Stranger(world.receiver.port())) {
                    other.hello(new UUID(1, 1), 1);
                    assertThat(other.type()).isEqualTo(FrameFlyweight.ERROR);
                }
                try (Stranger again = new Stranger(world.receiver.port())) {
                    again.hello(new UUID(1, 1), 0);
                    assertThat(again.type()).isEqualTo(FrameFlyweight.HELLO_ACK);
                    assertThat(first.isEnded()).isTrue();
                }
            }
            assertThat(world.errors).anyMatch(e -> e.getMessage().contains("connectionsMax 1"));
        }
    }
}
