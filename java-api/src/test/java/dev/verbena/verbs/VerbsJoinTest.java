package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * How a connection of {@code verbs://} begins, or does not, when one end does not poll, closes, or
 * changes its mind: two transports over the stub that completes nothing, which meet over real
 * sockets.
 */
@Timeout(120)
class VerbsJoinTest {
    private static final long TIMEOUT_NS = 400_000_000L;
    private static final long SOON_NS = 5_000_000_000L;

    private VerbsStub stub;
    private VerbsStubEnd a;
    private VerbsStubEnd b;

    @BeforeEach
    void open() {
        stub = VerbsStub.open();
        a = new VerbsStubEnd("a", TIMEOUT_NS);
        b = new VerbsStubEnd("b", TIMEOUT_NS);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
        stub.close();
    }

    /** Its side-channel thread speaks for it from the moment on that it has accepted. */
    @Test
    void shouldKeepWhoAcceptsAndThenDoesNotPollForAWhile() {
        a.connect(b.transport);
        VerbsStubEnd.pollUntil(() -> b.connection != 0, b);
        long untilNs = System.nanoTime() + 3 * TIMEOUT_NS;
        while (System.nanoTime() - untilNs < 0) {
            a.transport.poll(a, 16);
            LockSupport.parkNanos(1_000_000);
        }
        assertThat(a.isConnected).isTrue();
        assertThat(a.lost + a.failed).isEmpty();
        VerbsStubEnd.pollUntil(() -> b.isConnected, a, b);
        assertThat(a.lost + b.lost + b.failed).isEmpty();
    }

    @Test
    void shouldTellWhoCameAndWasNotReadThatTheTransportIsClosed() {
        a.connect(b.transport);
        assertThat(b.transport.await(System.nanoTime() + SOON_NS)).as("a hello").isTrue();
        long closedNs = System.nanoTime();
        b.close();
        VerbsStubEnd.pollUntil(() -> !a.failures.isEmpty(), a);
        assertThat(System.nanoTime() - closedNs).isLessThan(SOON_NS);
        assertThat(a.failures).containsExactly(Status.PEER_DEAD);
        assertThat(a.failed).contains("closed");
    }

    /** Each attempt ends in one of two ways, also if it was given up when it had just succeeded. */
    @Test
    void shouldEndAnAttemptThatIsGivenUpWhenItHasSucceededUnknown() {
        a.connect(b.transport);
        long deadlineNs = System.nanoTime() + SOON_NS;
        while (!b.isConnected && System.nanoTime() - deadlineNs < 0) {
            a.transport.poll(a, 0); // learns that it is joined, and does not tell
            b.transport.poll(b, 16);
            LockSupport.parkNanos(1_000_000);
        }
        assertThat(b.isConnected).isTrue();
        assertThat(a.transport.disconnect(a.connection)).isEqualTo(Transport.ACCEPTED);
        VerbsStubEnd.pollUntil(() -> b.isDisconnected, a, b);
        long handle = a.connection;
        VerbsStubEnd.pollUntil(
                () -> a.transport.disconnect(handle) == Transport.NOT_CONNECTED, a, b);
        assertThat(a.failures).containsExactly(Status.CANCELLED);
        assertThat(a.isConnected || a.isDisconnected).isFalse();
        assertThat(a.lost + b.lost).isEmpty();
        a.connect(b.transport);
        VerbsStubEnd.pollUntil(() -> a.isConnected, a, b);
    }
}
