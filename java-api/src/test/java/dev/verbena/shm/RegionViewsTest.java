package dev.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import dev.verbena.verbs.VerbsStub;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Views that another library has of a region are closed before its memory goes. */
@Timeout(60)
class RegionViewsTest {
    private final List<String> closed = new ArrayList<>();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private boolean isInUse;

    private void view(RegisteredRegion region, String name) {
        region.closeFirst(
                () -> {
                    if (isInUse) {
                        throw new IllegalStateException(name + " is in use");
                    }
                    assertThat(region.isClosed()).isFalse();
                    region.buffer(0, 8).putLong(0, 1);
                    closed.add(name);
                });
    }

    @Test
    void shouldCloseTheNewestFirstAndBeRefusedWhileOneIsInUse() {
        try (Transport transport = ShmTesting.open("views")) {
            assertNewestFirstAndRefusedInUse(transport);
        }
    }

    @Test
    void shouldCloseTheNewestFirstAndBeRefusedWhileOneIsInUseOverVerbs() {
        VerbsStub stub = VerbsStub.open();
        TransportContext context =
                new TransportContext()
                        .errorHandler(errors::add)
                        .connectionsMax(2)
                        .option("device", "stub0")
                        .option("address", "127.0.0.1");
        try (Transport transport = Transports.open("verbs", context)) {
            assertNewestFirstAndRefusedInUse(transport);
        } finally {
            stub.close();
        }
        assertThat(errors).isEmpty();
    }

    private void assertNewestFirstAndRefusedInUse(Transport transport) {
        try (OffHeapMemory memory = OffHeapMemories.allocate(64)) {
            for (RegisteredRegion region :
                    List.of(transport.allocate(64, 0), transport.register(memory, 0))) {
                closed.clear();
                view(region, "first");
                view(region, "second");
                isInUse = true;
                assertThatThrownBy(region::close)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessage("second is in use");
                assertThat(region.isClosed()).isFalse();
                assertThat(region.address()).isNotZero();
                assertThat(region.describe(0, 8, 0, new RemoteDescriptor()).length()).isEqualTo(8);
                isInUse = false;
                region.close();
                assertThat(closed).containsExactly("second", "first");
                assertThatThrownBy(() -> view(region, "late"))
                        .isInstanceOf(IllegalStateException.class);
                region.close();
                assertThat(closed).hasSize(2);
            }
        }
    }
}
