package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import dev.verbena.agent.Await;
import dev.verbena.dart.wire.PieceFlyweight;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What a receiver sends back to compute processes: one small subclass for each provider names the
 * scheme of the transport.
 */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
public abstract class DartReverseContract {
    private static final int[] LENGTHS = {
        0,
        1,
        1000,
        PieceFlyweight.PAYLOAD_MAX - 1,
        PieceFlyweight.PAYLOAD_MAX,
        PieceFlyweight.PAYLOAD_MAX + 1,
        1_000_000,
        4 * 1024 * 1024,
        4 * 1024 * 1024 + 1,
        8_500_000
    };

    /** For subclasses in other modules. */
    protected DartReverseContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    /** Keeps what came. */
    private static final class Inbox implements DartReverseHandler {
        final List<byte[]> messages = new ArrayList<>();
        final List<Integer> types = new ArrayList<>();
        final List<String> order = new ArrayList<>();

        @Override
        public void onMessage(int type, DirectBuffer buffer, int offset, int length) {
            byte[] message = new byte[length];
            buffer.getBytes(offset, message);
            messages.add(message);
            types.add(type);
            order.add("message " + type);
        }

        @Override
        public void onSteering(DartSteering command) {
            order.add(command.toString());
        }
    }

    private DartWorld world() {
        return new DartWorld(scheme()).receive();
    }

    private static void send(DartWorld world, int rank, int type, UnsafeBuffer message) {
        Await.until(
                "accepted",
                () -> {
                    int answer = world.receiver.send(0, rank, type, message, 0, message.capacity());
                    assertThat(answer).isIn(DartReceiver.ACCEPTED, DartReceiver.BACK_PRESSURED);
                    return answer == DartReceiver.ACCEPTED;
                });
    }

    private static void awaitHere(DartWorld world, int rank) {
        Await.until("process is here", () -> world.receiver.isHere(0, rank));
    }

    private static void receive(DartWorld world, DartClient client, Inbox inbox, int count) {
        Await.until(
                () ->
                        count
                                + " messages; there are "
                                + inbox.messages.size()
                                + ", "
                                + world.receiver.reverseStatistics()
                                + world.errors,
                () -> {
                    client.receive(inbox, 3);
                    return inbox.messages.size() >= count;
                });
    }

    @Test
    void shouldBringMessagesOfAnyLengthBackInOrder() throws Exception {
        try (DartWorld world = world()) {
            world.master(c -> c.serverCount(2));
            world.slave(c -> c.dedicatedThreads(true));
            List<DartClient> clients = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                clients.add(world.client(rank, c -> c.inbox(4)));
                awaitHere(world, rank);
            }
            Inbox[] inboxes = {new Inbox(), new Inbox()};
            for (int i = 0; i < LENGTHS.length; i++) {
                for (int rank = 0; rank < 2; rank++) {
                    send(world, rank, 10 * i + rank, DartWorld.bytes(LENGTHS[i], 10L * i + rank));
                    // Both ways at the same time.
                    clients.get(rank).sendCopy(DartWorld.bytes(50_000, i), 0, 50_000, null, rank);
                    receive(world, clients.get(rank), inboxes[rank], i);
                }
            }
            for (int rank = 0; rank < 2; rank++) {
                receive(world, clients.get(rank), inboxes[rank], LENGTHS.length);
                for (int i = 0; i < LENGTHS.length; i++) {
                    assertThat(inboxes[rank].types.get(i)).isEqualTo(10 * i + rank);
                    assertThat(inboxes[rank].messages.get(i))
                            .isEqualTo(DartWorld.bytes(LENGTHS[i], 10L * i + rank).byteArray());
                }
            }
            world.awaitReceived(2 * LENGTHS.length);
            Await.until(
                    () -> "taken " + world.receiver.reverseStatistics(),
                    () -> {
                        clients.forEach(DartClient::progress);
                        return world.receiver.reverseStatistics().pendingBytes() == 0;
                    });
            ReverseStatistics statistics = world.receiver.reverseStatistics();
            assertThat(statistics.messageCount()).isEqualTo(2L * LENGTHS.length);
            assertThat(statistics.takenCount()).isEqualTo(2L * LENGTHS.length);
            assertThat(statistics.processCount()).isEqualTo(2);
            assertThat(world.errors).isEmpty();
        }
    }

    @Test
    void shouldSteerEveryProcessOfAnApplicationInOrderWithMessages() throws Exception {
        try (DartWorld world = world()) {
            world.master();
            DartClient first = world.client(0, c -> c.inbox(2));
            DartClient second = world.client(1, c -> c.inbox(2));
            DartClient other = world.client(0, c -> c.inbox(2).applicationId(1));
            awaitHere(world, 0);
            awaitHere(world, 1);
            Await.until("other", () -> world.receiver.isHere(1, 0));
            UnsafeBuffer some = DartWorld.bytes(100, 1);
            DartSteering command =
                    new DartSteering(DartSteering.SET_PARAMETER)
                            .fromStep(40)
                            .number(-7)
                            .real(0.25)
                            .text("Wärme");
            assertThat(world.receiver.sendToAll(0, 1, some, 0, 100)).isZero();
            assertThat(world.receiver.steerAll(0, command)).isZero();
            assertThat(world.receiver.steer(0, 1, new DartSteering(DartSteering.STOP))).isZero();
            assertThat(world.receiver.sendToAll(0, 2, some, 0, 100)).isZero();
            Inbox inbox = new Inbox();
            receive(world, first, inbox, 2);
            assertThat(inbox.order).containsExactly("message 1", command.toString(), "message 2");
            inbox.order.clear();
            inbox.messages.clear();
            receive(world, second, inbox, 2);
            assertThat(inbox.order)
                    .containsExactly(
                            "message 1",
                            command.toString(),
                            new DartSteering(DartSteering.STOP).toString(),
                            "message 2");
            assertThat(other.receive(inbox, 10)).isZero();
        }
    }

    @Test
    void shouldHoldBackTheSenderWhenAProcessTakesNothing() throws Exception {
        int length = 150_000;
        try (DartWorld world = new DartWorld(scheme())) {
            world.receive(world.receiverContext().reverseBytesMax(1_000_000));
            world.master();
            DartClient idle = world.client(0, c -> c.inbox(3));
            DartClient busy = world.client(1, c -> c.inbox(3));
            awaitHere(world, 0);
            awaitHere(world, 1);
            int accepted = 0;
            while (world.receiver.send(0, 0, accepted, DartWorld.bytes(length, accepted), 0, length)
                    == DartReceiver.ACCEPTED) {
                accepted++;
            }
            assertThat(accepted).isEqualTo(6);
            assertThat(world.receiver.reverseStatistics().pendingBytes()).isLessThan(1_000_000);
            UnsafeBuffer small = DartWorld.bytes(10, 1);
            assertThat(world.receiver.sendToAll(0, 0, DartWorld.bytes(length, 1), 0, length))
                    .isEqualTo(DartReceiver.BACK_PRESSURED);
            // Nobody else is held up by that, and neither is the way out.
            send(world, 1, 7, small);
            receive(world, busy, new Inbox(), 1);
            idle.sendCopy(small, 0, 10, null, 0);
            idle.flush(DartWorld.LIMIT_NS);
            Inbox inbox = new Inbox();
            receive(world, idle, inbox, accepted);
            for (int i = 0; i < accepted; i++) {
                assertThat(inbox.messages.get(i)).isEqualTo(DartWorld.bytes(length, i).byteArray());
            }
        }
    }

    @Test
    void shouldDeliverOnceWhenConnectionsAreCutInBetween() throws Exception {
        int count = 60;
        try (DartWorld world = world();
                CutProxy proxy = new CutProxy(world.receiverPort)) {
            world.receiverPort = proxy.port();
            world.master();
            DartClient client = world.client(0, c -> c.inbox(4));
            awaitHere(world, 0);
            proxy.cutEvery = 700_000;
            Inbox inbox = new Inbox();
            for (int i = 0; i < count; i++) {
                send(world, 0, i, DartWorld.bytes(100_000, i));
                client.receive(inbox, 1);
            }
            receive(world, client, inbox, count);
            proxy.cutEvery = 0;
            assertThat(proxy.cuts).isPositive();
            assertThat(inbox.messages).hasSize(count);
            for (int i = 0; i < count; i++) {
                assertThat(inbox.types.get(i)).isEqualTo(i);
                assertThat(inbox.messages.get(i))
                        .isEqualTo(DartWorld.bytes(100_000, i).byteArray());
            }
        }
    }

    @Test
    void shouldSayWhenNoProcessIsThereAndGiveTheRestToItsSuccessor() throws Exception {
        UnsafeBuffer small = DartWorld.bytes(10, 1);
        try (DartWorld world = world()) {
            world.master();
            assertThat(world.receiver.send(0, 0, 1, small, 0, 10))
                    .isEqualTo(DartReceiver.NO_SUCH_PROCESS);
            DartClient without = world.client(1);
            assertThatThrownBy(() -> without.receive(new Inbox(), 1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("inbox");
            DartClient first = world.client(0, c -> c.inbox(2));
            assertThat(first.receive(new Inbox(), 1, 1_000_000)).isZero();
            awaitHere(world, 0);
            for (int i = 0; i < 5; i++) {
                send(world, 0, i, DartWorld.bytes(50_000, i));
            }
            Inbox inbox = new Inbox();
            receive(world, first, inbox, 1);
            first.close();
            Await.until("gone", () -> !world.receiver.isHere(0, 0));
            assertThat(world.receiver.send(0, 0, 1, small, 0, 10))
                    .isEqualTo(DartReceiver.NO_SUCH_PROCESS);
            int taken = (int) world.receiver.reverseStatistics().takenCount();
            assertThat(taken).isBetween(0, inbox.messages.size());
            DartClient second = world.client(0, c -> c.inbox(2));
            Inbox rest = new Inbox();
            receive(world, second, rest, 5 - taken);
            for (int i = taken; i < 5; i++) {
                assertThat(rest.types.get(i - taken)).isEqualTo(i);
                assertThat(rest.messages.get(i - taken))
                        .isEqualTo(DartWorld.bytes(50_000, i).byteArray());
            }
            assertThatThrownBy(
                            () ->
                                    world.receiver.send(
                                            0, 0, 1, DartWorld.bytes(17 << 20, 1), 0, 17 << 20))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("reverseBytesMax");
        }
    }

    @Test
    void shouldRefuseToReceiveInAHandlerAndLoseNothing() throws Exception {
        try (DartWorld world = world()) {
            world.master();
            DartClient client = world.client(0, c -> c.inbox(4));
            awaitHere(world, 0);
            for (int i = 0; i < 3; i++) {
                send(world, 0, i, DartWorld.bytes(100, i));
            }
            List<Integer> types = new ArrayList<>();
            DartReverseHandler nested =
                    (type, buffer, offset, length) -> {
                        types.add(type);
                        assertThatThrownBy(() -> client.receive(new Inbox(), 3))
                                .isInstanceOf(IllegalStateException.class)
                                .hasMessageContaining("receive in a handler of receive");
                    };
            Await.until("three", () -> client.receive(nested, 3) >= 0 && types.size() >= 3);
            assertThat(types).containsExactly(0, 1, 2);
        }
    }

    @Test
    void shouldRefuseToCloseInAHandlerAndGoOn() throws Exception {
        try (DartWorld world = world()) {
            world.master();
            DartClient client = world.client(0, c -> c.inbox(4));
            awaitHere(world, 0);
            for (int i = 0; i < 3; i++) {
                send(world, 0, i, DartWorld.bytes(100, i));
            }
            List<Integer> types = new ArrayList<>();
            DartReverseHandler closing =
                    (type, buffer, offset, length) -> {
                        types.add(type);
                        assertThatThrownBy(client::close)
                                .isInstanceOf(IllegalStateException.class)
                                .hasMessageContaining("close in a handler of receive");
                    };
            Await.until("three", () -> client.receive(closing, 3) >= 0 && types.size() >= 3);
            assertThat(types).containsExactly(0, 1, 2);
            client.sendCopy(DartWorld.bytes(100, 9), 0, 100, null, 0);
            client.close();
        }
    }

    @Test
    void shouldGoOnWithAnotherReceiver() throws Exception {
        try (DartWorld world = world()) {
            world.master();
            DartClient client = world.client(0, c -> c.inbox(2));
            awaitHere(world, 0);
            Inbox inbox = new Inbox();
            send(world, 0, 1, DartWorld.bytes(200_000, 1));
            receive(world, client, inbox, 1);
            int port = world.receiver.port();
            world.receiver.close();
            world.receive(world.receiverContext().listen("127.0.0.1", port));
            awaitHere(world, 0);
            send(world, 0, 2, DartWorld.bytes(200_000, 2));
            receive(world, client, inbox, 2);
            assertThat(inbox.messages.get(1)).isEqualTo(DartWorld.bytes(200_000, 2).byteArray());
        }
    }

    @Test
    void shouldAllocateNothingInTheProcess() throws Exception {
        long[] sum = new long[2];
        DartReverseHandler handler =
                (type, buffer, offset, length) -> {
                    sum[0]++;
                    sum[1] += buffer.getByte(offset + length - 1);
                };
        try (DartWorld world = world()) {
            world.master();
            DartClient client = world.client(0, c -> c.inbox(8));
            awaitHere(world, 0);
            UnsafeBuffer shortOne = DartWorld.bytes(100, 1);
            UnsafeBuffer longOne = DartWorld.bytes(200_000, 1);
            // A round is long enough to see one allocation in 400 messages.
            AllocationMeter.requireNoneIn(
                    () -> {
                        long allocated = 0;
                        for (int batch = 0; batch < 20; batch++) {
                            for (int i = 0; i < 20; i++) {
                                send(world, 0, i, i % 5 == 0 ? longOne : shortOne);
                            }
                            long end = sum[0] + 20;
                            allocated +=
                                    AllocationMeter.bytes(
                                            () -> receiveUntil(client, handler, sum, end));
                            assertThat(sum[0]).isEqualTo(end);
                        }
                        return allocated;
                    });
        }
    }

    private static void receiveUntil(
            DartClient client, DartReverseHandler handler, long[] count, long end) {
        long start = System.nanoTime();
        while (count[0] < end && System.nanoTime() - start < DartWorld.LIMIT_NS) {
            if (client.receive(handler, 4) == 0) {
                // The others need the processors.
                LockSupport.parkNanos(20_000);
            }
        }
    }
}
