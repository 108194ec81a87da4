package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.memory.Leaks;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The kernel's own count of objects ({@code rdma resource show}) before and after many cycles. */
@Tag("verbs-device")
@Timeout(180)
class VerbsLeakDeviceIT {
    private static final int CYCLES = 1000;
    private static final long PATIENCE_NS = 30_000_000_000L;

    /** What {@code rdma resource show} says of all devices. */
    private static String kernelObjects() throws IOException, InterruptedException {
        Process rdma = new ProcessBuilder("rdma", "resource", "show").start();
        String said = new String(rdma.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(rdma.waitFor(50, TimeUnit.SECONDS)).isTrue();
        assertThat(rdma.exitValue()).isZero();
        return said;
    }

    private static boolean isToolThere() {
        try {
            return new ProcessBuilder("rdma", "-V").start().waitFor() == 0;
        } catch (IOException | InterruptedException e) {
            return false;
        }
    }

    @Test
    void shouldLeaveNoKernelObjectBehind() throws Exception {
        String name = openedName();
        assumeTrue(isToolThere(), "no program rdma here (package iproute2)");
        assumeTrue(ConnectionChannel.unavailabilityCause() == null, "no librdmacm here");
        // librdmacm opens devices when it is first used, and never closes them.
        cycle(name, null);
        String before = kernelObjects();
        long openBefore = Leaks.openCount();
        assertThat(before).contains(name).contains("qp ");
        for (int i = 0; i < CYCLES; i++) {
            cycle(name, i == CYCLES / 2 ? before : null);
        }
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        String after = kernelObjects();
        while (!after.equals(before) && System.nanoTime() - deadlineNs < 0) {
            TimeUnit.MILLISECONDS.sleep(200);
            after = kernelObjects();
        }
        assertThat(after).isEqualTo(before);
        assertThat(Leaks.openCount()).isEqualTo(openBefore);
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
                assertThat(kernelObjects()).isNotEqualTo(before);
            }
        }
    }
}
