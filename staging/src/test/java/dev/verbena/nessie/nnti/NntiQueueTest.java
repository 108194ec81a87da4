package dev.verbena.nessie.nnti;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages that were accepted survive the receive queue that they were meant for. */
@Timeout(60)
class NntiQueueTest {
    private final NntiPair pair = new NntiPair("shm", NntiOptions.DEFAULT);

    @AfterEach
    void close() {
        pair.close();
    }

    /** Sends so many messages of a length, all of which the peer accepts; they hold 1, 2 ... */
    private void send(int count, int length) {
        NntiBuffer source = pair.left.alloc(length, 1, BufferFlags.SEND_SRC);
        List<WorkRequest> sends = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            source.window().setMemory(0, length, (byte) i);
            WorkRequest send = new WorkRequest();
            assertThat(pair.left.send(pair.toRight, source, null, send)).isEqualTo(NntiResult.OK);
            pair.pump("sent", send::isComplete);
            sends.add(send);
        }
        assertThat(sends).allMatch(each -> each.status().result() == NntiResult.OK);
    }

    @Test
    void shouldKeepForTheNextQueueWhatWaitedForASlot() {
        NntiBuffer first = pair.right.alloc(32, 2, BufferFlags.RECV_QUEUE);
        send(5, 32);
        pair.right.unregister(first);
        for (int i = 0; i < 100; i++) {
            pair.right.progress();
        }
        NntiBuffer next = pair.right.alloc(32, 2, BufferFlags.RECV_QUEUE);
        NntiStatus received = new NntiStatus();
        for (int i = 3; i <= 5; i++) {
            assertThat(pair.right.await(next, 10_000, received)).isEqualTo(NntiResult.OK);
            int at = (int) received.offset();
            assertThat(next.window().getByte(at)).isEqualTo((byte) i);
            pair.right.release(received);
        }
        assertThat(pair.right.refusedCount()).isZero();
    }

    @Test
    void shouldSayWhenTheNextQueueIsTooNarrow() {
        NntiBuffer first = pair.right.alloc(32, 1, BufferFlags.RECV_QUEUE);
        send(2, 32);
        pair.right.unregister(first);
        NntiBuffer next = pair.right.alloc(31, 1, BufferFlags.RECV_QUEUE);
        NntiStatus received = new NntiStatus();
        assertThat(pair.right.await(next, 10_000, received)).isEqualTo(NntiResult.EMSGSIZE);
        assertThat(received.length()).isEqualTo(32);
        assertThat(received.peer().id()).isEqualTo(pair.left.id());
        pair.right.release(received);
        assertThat(pair.right.refusedCount()).isEqualTo(1);
        send(1, 31);
        assertThat(pair.right.await(next, 10_000, received)).isEqualTo(NntiResult.OK);
    }

    /** Nor those for which there is a slot, but no room for the event that tells of it. */
    @Test
    void shouldLoseNoMessageForWhichThereIsNoRoomForAnEvent() {
        NntiBuffer queue = pair.right.alloc(32, 4, BufferFlags.RECV_QUEUE);
        EventQueue events = new EventQueue(2);
        queue.attach(events);
        send(8, 32);
        NntiStatus received = new NntiStatus();
        for (int i = 1; i <= 8; i++) {
            pair.pump("received", () -> events.take(received));
            assertThat(queue.window().getByte((int) received.offset())).isEqualTo((byte) i);
            pair.right.release(received);
        }
    }

    @Test
    void shouldDisconnectAPeerOfWhichAMessageWaits() {
        pair.right.alloc(32, 1, BufferFlags.RECV_QUEUE);
        NntiStatus received = new NntiStatus();
        NntiBuffer target = pair.right.alloc(16, 1, BufferFlags.RECV_DST);
        sent(pair.left, pair.toRight, target.handle());
        assertThat(pair.right.await(target, 10_000, received)).isEqualTo(NntiResult.OK);
        send(3, 32);
        pair.right.disconnect(received.peer());
        pair.pump("gone", () -> pair.toRight.state() == NntiPeer.State.CLOSED);
    }

    @Test
    void shouldGiveThePlaceOfAPeerBackWhoseAddressIsWrong() {
        for (int i = 0; i <= NntiOptions.DEFAULT.peersMax(); i++) {
            assertThatThrownBy(() -> pair.left.startConnect("shm:nobody", 1_000_000))
                    .isInstanceOfSatisfying(
                            NntiException.class,
                            e -> assertThat(e.result()).isEqualTo(NntiResult.EINVAL));
        }
    }

    /** It keeps the messages that it gets, so that nothing more can be sent to it. */
    @Test
    void shouldPutToOthersWhileOnePeerTakesNothing() {
        NntiTransport other = pair.another();
        NntiPeer toOther = pair.left.startConnect(other.url(), 10_000_000_000L);
        pair.pump("connected", () -> toOther.state() == NntiPeer.State.READY);
        NntiBuffer queue = pair.right.alloc(16, 1, BufferFlags.RECV_QUEUE);
        NntiBuffer source = pair.left.alloc(16, 1, BufferFlags.SEND_SRC | BufferFlags.PUT_SRC);
        List<WorkRequest> sends = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            WorkRequest send = new WorkRequest();
            pair.left.send(pair.toRight, source, null, send);
            sends.add(send);
        }
        NntiBuffer target = other.alloc(16, 1, BufferFlags.PUT_DST);
        WorkRequest put = new WorkRequest();
        pair.left.put(toOther, source, 0, 16, target.handle(), 0, put);
        pair.pump("put", put::isComplete);
        assertThat(put.status().result()).isEqualTo(NntiResult.OK);
        assertThat(sends).anyMatch(each -> !each.isComplete());
        NntiStatus received = new NntiStatus();
        for (int i = 0; i < sends.size(); i++) {
            pair.pump("next", () -> queue.hasEnd.getAsBoolean());
            queue.take(received);
            pair.right.release(received);
        }
        pair.pump("sent", () -> sends.stream().allMatch(WorkRequest::isComplete));
    }

    /** It says why it is closed. */
    @Test
    void shouldRefuseAPeerOfAnotherVersion() {
        Transport below = pair.raw();
        Transport other =
                (Transport)
                        Proxy.newProxyInstance(
                                Transport.class.getClassLoader(),
                                new Class<?>[] {Transport.class},
                                (proxy, method, arguments) -> {
                                    if (method.getName().equals("send")) {
                                        RegisteredRegion from = (RegisteredRegion) arguments[1];
                                        from.buffer((long) arguments[2], 16).putLong(8, 99);
                                    }
                                    return method.invoke(below, arguments);
                                });
        try (NntiTransport stranger = new NntiTransport(other, NntiOptions.DEFAULT)) {
            NntiPeer peer = pair.left.startConnect(stranger.url(), 10_000_000_000L);
            pair.pump(
                    "closed",
                    () -> stranger.progress() >= 0 && peer.state() == NntiPeer.State.CLOSED);
            assertThat(peer.result()).isEqualTo(NntiResult.EIO);
            assertThat(peer.reason()).contains("another version");
        }
    }

    private NntiResult sent(NntiTransport from, NntiPeer to, BufferHandle destination) {
        NntiBuffer source = from.alloc(16, 1, BufferFlags.SEND_SRC);
        WorkRequest send = new WorkRequest();
        assertThat(from.send(to, source, destination, send)).isEqualTo(NntiResult.OK);
        pair.pump("sent", send::isComplete);
        return send.status().result();
    }

    @Test
    void shouldTakeMessagesOfTheOnePeerOnlyToWhichAQueueIsRestricted() {
        NntiTransport stranger = pair.another();
        NntiPeer ofStranger = stranger.startConnect(pair.right.url(), 10_000_000_000L);
        pair.pump("connected", () -> ofStranger.state() == NntiPeer.State.READY);
        NntiBuffer queue = pair.right.alloc(16, 4, BufferFlags.RECV_QUEUE);
        assertThat(sent(pair.left, pair.toRight, null)).isEqualTo(NntiResult.OK);
        NntiStatus received = new NntiStatus();
        assertThat(pair.right.await(queue, 10_000, received)).isEqualTo(NntiResult.OK);
        queue.restrictTo(received.peer());
        assertThat(sent(stranger, ofStranger, null)).isEqualTo(NntiResult.EPERM);
        assertThat(pair.right.refusedCount()).isEqualTo(1);
        assertThat(pair.right.await(queue, 0, received)).isEqualTo(NntiResult.ETIMEDOUT);
        assertThat(sent(pair.left, pair.toRight, null)).isEqualTo(NntiResult.OK);
        assertThat(pair.right.await(queue, 10_000, received)).isEqualTo(NntiResult.OK);
        queue.restrictTo(null);
        assertThat(sent(stranger, ofStranger, null)).isEqualTo(NntiResult.OK);
        assertThat(pair.right.await(queue, 10_000, received)).isEqualTo(NntiResult.OK);
        assertThat(received.peer().id()).isEqualTo(stranger.id());
    }

    @Test
    void shouldReportWhatOnePeerOnlyPutsIntoARestrictedBuffer() {
        NntiTransport stranger = pair.another();
        NntiPeer ofStranger = stranger.startConnect(pair.right.url(), 10_000_000_000L);
        pair.pump("connected", () -> ofStranger.state() == NntiPeer.State.READY);
        NntiBuffer target = pair.right.alloc(16, 1, BufferFlags.RECV_DST);
        sent(pair.left, pair.toRight, target.handle());
        NntiStatus received = new NntiStatus();
        assertThat(pair.right.await(target, 10_000, received)).isEqualTo(NntiResult.OK);
        target.restrictTo(received.peer());
        sent(stranger, ofStranger, target.handle());
        pair.pump("refused", () -> pair.right.refusedCount() == 1);
        assertThat(pair.right.await(target, 0, received)).isEqualTo(NntiResult.ETIMEDOUT);
        sent(pair.left, pair.toRight, target.handle());
        assertThat(pair.right.await(target, 10_000, received)).isEqualTo(NntiResult.OK);
    }
}
