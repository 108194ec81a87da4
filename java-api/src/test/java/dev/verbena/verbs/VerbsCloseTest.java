package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A transport is closed while the NIC has requests that it will never end, because nobody answers
 * on the wire: over the stub that completes nothing.
 */
@Timeout(120)
class VerbsCloseTest {
    private static final int EBUSY = 16;

    private VerbsStub stub;
    private int openBefore;
    private VerbsStubEnd a;
    private VerbsStubEnd b;

    @BeforeEach
    void open() {
        stub = VerbsStub.open();
        openBefore = stub.openObjects();
        a = new VerbsStubEnd("a");
        b = new VerbsStubEnd("b");
        a.connect(b.transport);
        VerbsStubEnd.pollUntil(() -> a.isConnected && b.isConnected, a, b);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
        stub.close();
    }

    @Test
    void shouldCloseRegionsWhoseOperationsNeverEnd() {
        RegisteredRegion target = b.transport.allocate(4096, RemoteDescriptor.REMOTE_ALL);
        RemoteDescriptor d =
                target.describe(0, 4096, RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor());
        OffHeapMemory memory = OffHeapMemories.allocate(4096);
        RegisteredRegion own = a.transport.allocate(4096, RemoteDescriptor.REMOTE_ALL);
        RegisteredRegion handedIn = a.transport.register(memory, 0);
        RegisteredRegion idle = a.transport.allocate(4096, 0);
        Transport t = a.transport;
        assertThat(t.put(a.connection, own, 0, d, 0, 64, 1, 0)).isEqualTo(Transport.ACCEPTED);
        assertThat(t.get(a.connection, handedIn, 0, d, 0, 64, 2, 0)).isEqualTo(Transport.ACCEPTED);
        assertThat(t.fetchAdd(a.connection, d, 0, 1, 3, 0)).isEqualTo(Transport.ACCEPTED);

        for (RegisteredRegion region : new RegisteredRegion[] {own, handedIn}) {
            assertThatThrownBy(region::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("outstanding")
                    .hasMessageContaining("close the transport");
            assertThat(region.isClosed()).isFalse();
        }
        assertThatThrownBy(t::close) // nobody has asked to close this one
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(idle.toString())
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain(own.toString()));
        assertThat(t.send(a.connection, idle, 0, 8, 4, 0)).isEqualTo(Transport.ACCEPTED);
        assertThatThrownBy(idle::close).isInstanceOf(IllegalStateException.class);

        t.close();
        assertThat(own.isClosed()).isTrue();
        assertThat(handedIn.isClosed()).isTrue();
        assertThat(idle.isClosed()).isTrue();
        own.close(); // again, as a program does that goes through all of its own
        assertThat(a.reports).isEmpty();
        memory.close(); // nothing holds it any more
        target.close();
        b.close();
        assertThat(stub.openObjects()).isEqualTo(openBefore);
    }

    @Test
    void shouldCloseTheOtherRegionsWhenOneCannotBe() {
        RegisteredRegion first = a.transport.allocate(4096, 0);
        RegisteredRegion second = a.transport.allocate(4096, 0);
        Transport t = a.transport;
        assertThat(t.send(a.connection, first, 0, 8, 1, 0)).isEqualTo(Transport.ACCEPTED);
        assertThat(t.send(a.connection, second, 0, 8, 2, 0)).isEqualTo(Transport.ACCEPTED);
        assertThatThrownBy(first::close).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(second::close).isInstanceOf(IllegalStateException.class);
        stub.fail("ibv_dereg_mr", EBUSY);
        t.close();
        assertThat(first.isClosed()).isNotEqualTo(second.isClosed());
        assertThat(a.reports).hasSize(1);
        assertThat(a.reports.get(0)).contains("ibv_dereg_mr").contains("EBUSY");
        b.close();
        // The region, its domain and their device.
        assertThat(stub.openObjects() - openBefore).isBetween(1, 3);
    }
}
