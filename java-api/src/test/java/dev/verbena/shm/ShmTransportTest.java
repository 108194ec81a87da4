package dev.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import java.lang.reflect.Field;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The shm provider between transports of one process. */
@Timeout(60)
class ShmTransportTest {
    private static final int ALL = RemoteDescriptor.REMOTE_ALL;

    @Test
    void shouldSendPutGetNotifyAndDoAtomics() {
        try (Pair pair = new Pair();
                RegisteredRegion source = pair.a.allocate(4096, 0);
                RegisteredRegion target = pair.b.allocate(4096, ALL)) {
            RemoteDescriptor descriptor = target.describe(64, 1024, ALL, new RemoteDescriptor());
            UnsafeBuffer local = source.buffer(0, 4096);
            UnsafeBuffer remote = target.buffer(0, 4096);
            local.putLong(0, 0x1122334455667788L);
            assertThat(pair.a.send(pair.fromA, source, 0, 8, 10, 0)).isZero();
            assertThat(pair.a.put(pair.fromA, source, 0, descriptor, 8, 8, 11, 0)).isZero();
            assertThat(remote.getLong(72)).isEqualTo(0x1122334455667788L);
            remote.putInt(100, 77);
            assertThat(pair.a.get(pair.fromA, source, 200, descriptor, 36, 4, 12, 0)).isZero();
            assertThat(local.getInt(200)).isEqualTo(77);
            assertThat(pair.a.putNotify(pair.fromA, source, 0, descriptor, 16, 8, 99, 13, 0))
                    .isZero();
            assertThat(pair.a.fetchAdd(pair.fromA, descriptor, 8, 5, 14, 0)).isZero();
            assertThat(pair.a.compareSwap(pair.fromA, descriptor, 8, 0x112233445566778DL, 1, 15, 0))
                    .isZero();
            pair.until(() -> pair.seenB.notifies.size() == 1);
            assertThat(pair.seenA.contexts).containsExactly(10L, 11L, 12L, 13L, 14L, 15L);
            assertThat(pair.seenA.statuses).containsOnly(Status.OK);
            assertThat(pair.seenA.values)
                    .containsExactly(8L, 8L, 4L, 8L, 0x1122334455667788L, 0x112233445566778DL);
            assertThat(pair.seenB.messages).hasSize(1);
            assertThat(pair.seenB.notifies.get(0)).containsExactly(99, target.id(), 80, 8);
            assertThat(remote.getLong(72)).isEqualTo(1);
        }
    }

    @Test
    void shouldStayInsideTheRegistrationToTheByteWhenADescriptorClaimsOneMore() {
        try (Pair pair = new Pair();
                RegisteredRegion source = pair.a.allocate(64, 0);
                RegisteredRegion target = pair.b.allocate(1000, ALL)) {
            RemoteDescriptor honest = target.describe(0, 1000, ALL, new RemoteDescriptor());
            RemoteDescriptor forged =
                    new RemoteDescriptor()
                            .set(
                                    honest.kind(),
                                    honest.rights(),
                                    honest.generation(),
                                    honest.base(),
                                    1001,
                                    honest.keyLow(),
                                    honest.keyHigh());
            pair.a.put(pair.fromA, source, 0, forged, 999, 1, 1, 0);
            pair.a.put(pair.fromA, source, 0, forged, 1000, 1, 2, 0);
            pair.a.get(pair.fromA, source, 0, forged, 993, 8, 3, 0);
            pair.a.get(pair.fromA, source, 0, forged, 992, 8, 4, 0);
            pair.until(() -> pair.seenA.statuses.size() == 4);
            assertThat(pair.seenA.statuses)
                    .containsExactly(Status.OK, Status.BOUNDS, Status.BOUNDS, Status.OK);
        }
    }

    @Test
    void shouldShowPrivateDataAndTheRequestersAddress() {
        try (Transport a = ShmTesting.open("a");
                Transport b = ShmTesting.open("b")) {
            Pair.Seen seen = new Pair.Seen();
            b.listen();
            UnsafeBuffer data = new UnsafeBuffer(new byte[] {9, 1, 2, 3});
            long connection = a.connect(b.uri(), data, 1, 3, 5, Pair.TIMEOUT_NS);
            assertThat(connection).isPositive();
            poll(b, seen, () -> seen.offered != 0);
            assertThat(seen.requestData).containsExactly(1, 2, 3);
            assertThat(seen.requester).isEqualTo(a.uri());
            assertThat(b.reject(seen.offered)).isZero();
            Pair.Seen requester = new Pair.Seen();
            poll(a, requester, () -> !requester.ends.isEmpty());
            assertThat(requester.ends.get(0)).startsWith("failed REFUSED");
        }
    }

    @Test
    void shouldReleaseRetainedMessagesWhenSerialNumbersStartAgain() throws Exception {
        try (Pair pair = new Pair();
                RegisteredRegion source = pair.a.allocate(64, 0)) {
            // A token has room for 37 bits of the serial number.
            setSerial(pair.b, (1L << 37) - 2);
            pair.seenB.isRetaining = true;
            for (int i = 0; i < 4; i++) {
                assertThat(pair.a.send(pair.fromA, source, 0, 8, i, 0)).isZero();
            }
            pair.until(() -> pair.seenB.tokens.size() == 4);
            assertThat(pair.seenB.tokens).doesNotHaveDuplicates();
            for (long token : pair.seenB.tokens) {
                pair.b.release(token);
                assertThatThrownBy(() -> pair.b.release(token))
                        .isInstanceOf(IllegalArgumentException.class);
            }
        }
    }

    private static void setSerial(Transport transport, long serial) throws Exception {
        Field inbox = ShmTransport.class.getDeclaredField("inbox");
        inbox.setAccessible(true);
        Field field = ShmInbox.class.getDeclaredField("serial");
        field.setAccessible(true);
        field.setLong(inbox.get(transport), serial);
    }

    private static void poll(
            Transport transport, Pair.Seen seen, java.util.function.BooleanSupplier condition) {
        long deadlineNs = System.nanoTime() + Pair.TIMEOUT_NS;
        while (!condition.getAsBoolean()) {
            transport.poll(seen, 10);
            assertThat(deadlineNs - System.nanoTime()).isPositive();
        }
    }
}
