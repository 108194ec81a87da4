package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.memory.Leaks;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The kernel's own count of objects ({@code rdma resource show}) before and after many cycles. */
@Tag("verbs-device")
@Timeout(180)
class VerbsLeakDeviceIT {
    private static final int CYCLES = 1000;
    private static final int RARE_CYCLES = 12;

    /** What every device has. */
    private static final String[] EVERYWHERE = {
        "address handle", "queue pair RC", "queue pair UC", "queue pair UD"
    };

    @Test
    void shouldLeaveNoKernelObjectBehind() throws Exception {
        String name = openedName();
        assumeTrue(KernelObjects.canBeCounted(), "no program rdma here (package iproute2)");
        assumeTrue(ConnectionChannel.unavailabilityCause() == null, "no librdmacm here");
        // librdmacm opens devices when it is first used, and never closes them.
        cycle(name, null);
        String before = KernelObjects.count();
        long openBefore = Leaks.openCount();
        assertThat(before).contains(name).contains("qp ");
        for (int i = 0; i < CYCLES; i++) {
            cycle(name, i == CYCLES / 2 ? before : null);
        }
        KernelObjects.awaitCount(before);
        assertThat(Leaks.openCount()).isEqualTo(openBefore);
    }

    /**
     * The kinds that the other test lacks. Soft-RoCE refuses many of them; then it is asked as
     * often, and may keep nothing.
     */
    @Test
    void shouldLeaveNothingOfTheRarerObjectsBehind() throws Exception {
        String name = openedName();
        assumeTrue(KernelObjects.canBeCounted(), "no program rdma here (package iproute2)");
        Map<String, String> refused;
        try (EveryObject first = EveryObject.of(name)) {
            refused = first.refused;
        }
        assertThat(refused).doesNotContainKeys(EVERYWHERE);
        String before = KernelObjects.count();
        long descriptors = EveryObject.descriptors();
        for (int i = 0; i < RARE_CYCLES; i++) {
            try (EveryObject all = EveryObject.of(name)) {
                assertThat(all.refused).isEqualTo(refused);
            }
        }
        KernelObjects.awaitCount(before);
        // Threads of tests before may still be closing theirs.
        assertThat(EveryObject.descriptors()).isLessThanOrEqualTo(descriptors);
        System.out.println("    refused by " + name + ": " + refused);
    }

    private static String openedName() {
        try (RdmaDevice device = RealDevice.open()) {
            return device.info().name();
        }
    }

    /** Makes and closes one of each; if asked to, looks whether the kernel's count shows them. */
    private static void cycle(String name, String before) throws Exception {
        try (OffHeapMemory memory = OffHeapMemories.allocate(4096);
                RdmaDevice device = RdmaDevices.open(name);
                ProtectionDomain domain = device.allocateProtectionDomain();
                MemoryRegion region = domain.register(memory, Access.REMOTE_ALL);
                CompletionChannel announcements = device.createCompletionChannel();
                CompletionQueue completions = device.createCompletionQueue(4, announcements, 0);
                SharedReceiveQueue shared = domain.createSharedReceiveQueue(4, 1);
                QueuePair queue =
                        domain.createQueuePair(
                                new QueuePairContext()
                                        .completions(completions)
                                        .sharedReceives(shared));
                ConnectionChannel channel = ConnectionChannel.open();
                ConnectionIdentifier listener = channel.createIdentifier(PortSpace.TCP)) {
            listener.bind(RealConnection.anyAddress());
            listener.listen(1);
            assertThat(queue.number()).isPositive();
            assertThat(region.remoteKey()).isNotZero();
            if (before != null) {
                assertThat(KernelObjects.count()).isNotEqualTo(before);
            }
        }
    }
}
