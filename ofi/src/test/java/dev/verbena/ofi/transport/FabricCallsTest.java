package dev.verbena.ofi.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.ofi.Domain;
import dev.verbena.ofi.Fabric;
import dev.verbena.ofi.FabricInfo;
import dev.verbena.ofi.MemoryRegion;
import dev.verbena.transport.core.Turns;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Which calls of libfabric wait for the heartbeat's. */
@Timeout(value = 10, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@ExtendWith(NeedsLibfabric.class)
class FabricCallsTest {
    /** And so the heartbeat does not wait while a provider pins memory. */
    @Test
    void shouldRegisterWhileTheHeartbeatHasATurnWhenTheProviderHasLocks() {
        Turns turns = new Turns();
        try (FabricInfo info =
                        FabricInfo.first("tcp", "", "", FabricInfo.MESSAGES | FabricInfo.RMA);
                Fabric fabric = Fabric.open(info);
                Domain domain = fabric.domain(info);
                OffHeapMemory memory = OffHeapMemories.allocate(4096)) {
            FabricCalls calls =
                    new FabricCalls(turns, info.isSerial(), fabric.handle(), domain.handle(), 0, 0);
            turns.take();
            long mr =
                    calls.register(
                            0, memory.address(), memory.length(), MemoryRegion.REMOTE_READ, 5);
            assertThat(mr).isPositive();
            calls.deregister(mr);
            turns.giveBack();
        }
    }
}
