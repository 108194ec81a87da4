package dev.verbena.verbs.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RegistrationCache;
import dev.verbena.memory.SlabPool;
import dev.verbena.transport.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Slabs and cached registrations over a card: who has an invalidated key reaches nothing. */
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
}
