package dev.verbena.verbs.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.memory.SlabPool;
import dev.verbena.transport.RegistrationCache;
import dev.verbena.transport.Status;
import dev.verbena.transport.TestMemory;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportHandler;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Slabs and cached registrations over a NIC: who has an invalidated key reaches nothing. */
@Tag("verbs-device")
@Timeout(180)
class VerbsMemoryDeviceIT {
    private static final long PATIENCE_NS = 60_000_000_000L;
    private static final int SLAB = 256;

    /** One end, and how its operations ended. */
    private static final class End implements TransportHandler {
        final List<Integer> statuses = new ArrayList<>();
        final Transport transport;
        long connection;
        boolean isConnected;

        End(String name) {
            TransportContext context =
                    new TransportContext()
                            .job("memory")
                            .name(name)
                            .connectionsMax(4)
                            .receiveSlotCount(64)
                            .creditsPerConnection(8)
                            .messageLengthMax(256)
                            .peerTimeoutNs(PATIENCE_NS);
            transport = VerbsTesting.open(context);
            transport.listen();
        }

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer data, int offset, int length) {
            transport.accept(connection, 0);
        }

        @Override
        public void onConnected(long connection, long context) {
            this.connection = connection;
            isConnected = true;
        }

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            statuses.add(status);
        }
    }

    private static void pollUntil(BooleanSupplier isDone, End... ends) {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (!isDone.getAsBoolean()) {
            assertThat(deadlineNs - System.nanoTime()).isPositive();
            for (End end : ends) {
                end.transport.poll(end, 16);
                end.transport.await(System.nanoTime() + 1_000_000);
            }
        }
    }

    private static int put(End from, End to, SlabPool pool, int slab, RemoteDescriptor target) {
        int before = from.statuses.size();
        long at = pool.offset(slab);
        int answer = from.transport.put(from.connection, pool.region(), at, target, 0, SLAB, 1, 0);
        assertThat(answer).isEqualTo(Transport.ACCEPTED);
        pollUntil(() -> from.statuses.size() > before, from, to);
        return from.statuses.get(before);
    }

    @Test
    void shouldPutFromASlabIntoACachedRegistrationUntilItIsInvalidated() {
        VerbsTesting.requireDevice();
        End a = new End("a");
        End b = new End("b");
        a.transport.connect(b.transport.uri(), new UnsafeBuffer(new byte[0]), 0, 0, 0, PATIENCE_NS);
        pollUntil(() -> a.isConnected && b.isConnected, a, b);
        RegisteredRegion slabs = a.transport.allocate(16 * SLAB, 0);
        try (OffHeapMemory memory = OffHeapMemories.allocate(4096);
                SlabPool pool = new SlabPool(slabs, SLAB);
                RegistrationCache cache = new RegistrationCache(b.transport, 2)) {
            RegisteredRegion target = cache.borrow(memory, RemoteDescriptor.REMOTE_WRITE);
            RemoteDescriptor d =
                    target.describe(
                            1024, SLAB, RemoteDescriptor.REMOTE_WRITE, new RemoteDescriptor());
            UnsafeBuffer bytes = target.buffer(1024, SLAB);
            int slab = pool.take();
            pool.buffer(slab).setMemory(0, SLAB, (byte) 0x5a);
            assertThat(put(a, b, pool, slab, d)).isEqualTo(Status.OK);
            assertThat(bytes.getByte(0)).isEqualTo((byte) 0x5a);
            assertThat(bytes.getByte(SLAB - 1)).isEqualTo((byte) 0x5a);
            cache.giveBack(target);
            assertThat(cache.borrow(memory, RemoteDescriptor.REMOTE_WRITE)).isSameAs(target);
            assertThat(put(a, b, pool, slab, d)).as("the same key").isEqualTo(Status.OK);
            cache.giveBack(target);

            cache.invalidate(memory);
            assertThat(put(a, b, pool, slab, d)).isEqualTo(Status.STALE_KEY);
            RegisteredRegion again = cache.borrow(memory, RemoteDescriptor.REMOTE_WRITE);
            again.describe(0, SLAB, RemoteDescriptor.REMOTE_WRITE, d);
            assertThat(put(a, b, pool, slab, d)).isEqualTo(Status.OK);
            cache.giveBack(again);
            pool.giveBack(slab);
        }
        slabs.close();
        a.transport.close();
        b.transport.close();
    }

    @Test
    void shouldRefuseToWriteMemoryThatMayOnlyBeRead() throws IOException {
        VerbsTesting.requireDevice();
        End a = new End("a");
        End b = new End("b");
        a.transport.connect(b.transport.uri(), new UnsafeBuffer(new byte[0]), 0, 0, 0, PATIENCE_NS);
        pollUntil(() -> a.isConnected && b.isConnected, a, b);
        RegisteredRegion remote = b.transport.allocate(64, RemoteDescriptor.REMOTE_ALL);
        RegisteredRegion mine = a.transport.allocate(64, 0);
        RemoteDescriptor d =
                remote.describe(0, 64, RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor());
        try (TestMemory memory = TestMemory.readOnlyAndPrivate(64);
                RegisteredRegion local = a.transport.register(memory, 0)) {
            TransferVector vector = new TransferVector(2).add(mine, 0, 0, 8).add(local, 0, 8, 8);
            assertThatThrownBy(() -> a.transport.get(a.connection, local, 0, d, 0, 8, 1, 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("may only be read");
            assertThatThrownBy(() -> a.transport.get(a.connection, vector, d, 1, 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("may only be read");
            assertThat(a.transport.put(a.connection, vector, d, 1, 0))
                    .isEqualTo(Transport.ACCEPTED);
            pollUntil(() -> a.statuses.size() == 1, a, b);
            assertThat(a.statuses).containsExactly(Status.OK);
            for (int rights : new int[] {2, 3, 4, 7}) {
                assertThatThrownBy(() -> a.transport.register(memory, rights))
                        .isInstanceOf(TransportException.class)
                        .hasMessageContaining("without rights to write");
            }
        }
        List.of(mine, remote).forEach(RegisteredRegion::close);
        List.of(a, b).forEach(end -> end.transport.close());
    }
}
