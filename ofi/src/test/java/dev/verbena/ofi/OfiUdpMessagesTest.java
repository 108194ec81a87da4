package dev.verbena.ofi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.ofi.transport.NeedsLibfabric;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Messages over the provider {@code udp;ofi_rxd}, by the objects: all arrive, in order. */
@Timeout(120)
@ExtendWith(NeedsLibfabric.class)
class OfiUdpMessagesTest {
    private static final String PROVIDER = "udp;ofi_rxd";
    private static final int COUNT = 500;
    private static final int LENGTH = 4096;

    /** One endpoint with all that it needs; a receive at each context from 1 on. */
    private static final class Side implements AutoCloseable {
        private static final int SLOTS = 16;
        private static final int SEND = 0;

        final FabricInfo info = FabricInfo.first(PROVIDER, "", "", FabricInfo.MESSAGES);
        final Fabric fabric = Fabric.open(info);
        final Domain domain = fabric.domain(info);
        final AddressVector peers = domain.addressVector(4);
        final CompletionQueue queue = domain.completionQueue(64, false);
        final Endpoint endpoint = domain.endpoint(queue, peers, null);
        final OffHeapMemory memory = OffHeapMemories.allocate((SLOTS + 1) * LENGTH);
        final MemoryRegion region =
                domain.register(memory, MemoryRegion.SEND | MemoryRegion.RECEIVE, 1, endpoint);
        final List<Long> received = new ArrayList<>();
        boolean isSending;

        Side() {
            for (int slot = 1; slot <= SLOTS; slot++) {
                assertThat(endpoint.receive(region, slot * LENGTH, LENGTH, slot)).isZero();
            }
        }

        void poll() {
            queue.poll(
                    (context, length, code) -> {
                        assertThat(code).isZero();
                        if (context == SEND) {
                            isSending = false;
                        } else {
                            take((int) context, (int) length);
                        }
                    });
        }

        private void take(int slot, int length) {
            var bytes = memory.buffer(slot * LENGTH, length);
            assertThat(bytes.getLong(length - Long.BYTES)).isEqualTo(bytes.getLong(0));
            received.add(bytes.getLong(0));
            assertThat(endpoint.receive(region, slot * LENGTH, LENGTH, slot)).isZero();
        }

        boolean send(long peer, long number) {
            int length = 16 + (int) (number * 37 % (LENGTH - 16));
            var bytes = memory.buffer(0, length);
            bytes.putLong(0, number);
            bytes.putLong(length - Long.BYTES, number);
            isSending = endpoint.send(region, 0, length, peer, SEND) == 0;
            return isSending;
        }

        @Override
        public void close() {
            endpoint.close();
            region.close();
            memory.close();
            queue.close();
            peers.close();
            domain.close();
            fabric.close();
            info.close();
        }
    }

    @Test
    void shouldDeliverAllMessagesInOrderBothWays() {
        try (FabricInfo any = FabricInfo.first(PROVIDER, "", "", FabricInfo.MESSAGES)) {
            Assumptions.assumeTrue(any != null, "libfabric has no provider " + PROVIDER);
        }
        try (Side a = new Side();
                Side b = new Side()) {
            long[] peers = {a.peers.insert(b.endpoint.name()), b.peers.insert(a.endpoint.name())};
            int[] sent = new int[2];
            Await.until(
                    () -> "all messages, sent " + sent[0] + " and " + sent[1],
                    () -> {
                        a.poll();
                        b.poll();
                        sent[0] +=
                                sent[0] < COUNT && !a.isSending && a.send(peers[0], sent[0])
                                        ? 1
                                        : 0;
                        sent[1] +=
                                sent[1] < COUNT && !b.isSending && b.send(peers[1], sent[1])
                                        ? 1
                                        : 0;
                        return a.received.size() == COUNT
                                && b.received.size() == COUNT
                                && !a.isSending
                                && !b.isSending;
                    });
            for (int i = 0; i < COUNT; i++) {
                assertThat(a.received.get(i)).isEqualTo(i);
                assertThat(b.received.get(i)).isEqualTo(i);
            }
        }
    }
}
