package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.transport.TransportException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What a device tells without being asked, and what {@code verbs://} makes of it: two transports
 * over the stub that completes nothing, which meet over real sockets.
 */
@Timeout(120)
class VerbsNewsTest {
    private static final int EIO = 5;
    private static final int ENODATA = 61;
    private static final long PATIENCE_NS = 60_000_000_000L;

    private VerbsStub stub;
    private VerbsStubEnd a;
    private VerbsStubEnd b;

    @BeforeEach
    void open() {
        stub = VerbsStub.open();
        a = new VerbsStubEnd("a");
        b = new VerbsStubEnd("b");
        a.connect(b.transport);
        VerbsStubEnd.pollUntil(() -> a.isConnected && b.isConnected, a, b);
    }

    @AfterEach
    void close() {
        stub.event(-1);
        a.close();
        b.close();
        stub.close();
    }

    private void assertIsLost(VerbsStubEnd end, String why) {
        assertThat(end.lost).contains("RDMA device ").contains(why);
        assertThat(end.reports).hasSize(1);
        assertThat(end.reports.get(0)).contains(why).contains("open another");
        assertThat(end.transport.explain()).contains(why);
        assertThatThrownBy(() -> end.transport.allocate(4096, RemoteDescriptor.REMOTE_ALL))
                .isInstanceOf(TransportException.class)
                .hasMessageContaining(why);
        end.connect(b.transport);
        VerbsStubEnd.pollUntil(() -> !end.failed.isEmpty(), end);
        assertThat(end.failed).contains(why);
    }

    @Test
    void shouldLoseEveryPeerWhenTheDeviceIsGone() {
        RegisteredRegion region = a.transport.allocate(4096, RemoteDescriptor.REMOTE_ALL);
        stub.event(AsyncEvent.DEVICE_FATAL);
        VerbsStubEnd.pollUntil(() -> !a.lost.isEmpty(), a);
        assertIsLost(a, "it was removed or has failed");
        // The peer hears it over the socket.
        VerbsStubEnd.pollUntil(() -> !b.lost.isEmpty(), b);
        // Whom the lost one does not serve any more is told why.
        b.connect(a.transport);
        VerbsStubEnd.pollUntil(() -> !b.failed.isEmpty(), a, b);
        assertThat(b.failed).contains("is lost");
        region.close();
    }

    @Test
    void shouldLoseEveryPeerAlsoWhenAPairCannotBeClosed() {
        stub.fail("ibv_destroy_qp", EIO);
        stub.event(AsyncEvent.DEVICE_FATAL);
        VerbsStubEnd.pollUntil(() -> !a.lost.isEmpty(), a);
        assertThat(a.lost).contains("it was removed or has failed");
        assertThat(a.reports).hasSize(2);
        assertThat(a.reports.get(1)).contains("ibv_destroy_qp").contains("EIO");
        int before = stub.openObjects();
        a.close();
        assertThat(stub.openObjects()).as("what is left is closed").isLessThan(before);
        assertThat(a.reports).hasSize(2);
    }

    @Test
    void shouldPartInOrderAlsoWhenAPairCannotBeClosed() {
        stub.fail("ibv_destroy_qp", EIO);
        a.transport.disconnect(a.connection);
        VerbsStubEnd.pollUntil(() -> b.isDisconnected, a, b);
        assertThat(b.reports).hasSize(1);
        assertThat(b.reports.get(0)).contains("ibv_destroy_qp");
        a.connect(b.transport);
        VerbsStubEnd.pollUntil(() -> b.isConnected, a, b);
    }

    @Test
    void shouldNoticeInItsSleepThatTheDeviceIsGone() {
        stub.event(AsyncEvent.DEVICE_FATAL);
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (a.lost.isEmpty() && System.nanoTime() - deadlineNs < 0) {
            a.transport.await(deadlineNs);
            a.transport.poll(a, 16);
        }
        assertThat(a.lost).contains("is lost");
    }

    @Test
    void shouldTakeADeviceThatTellsNothingMoreForGone() {
        stub.fail("ibv_get_async_event", EIO);
        VerbsStubEnd.pollUntil(() -> !a.lost.isEmpty(), a);
        assertIsLost(a, "EIO");
    }

    @Test
    void shouldTakeLostCompletionsAndReceivesForTheEnd() {
        stub.event(AsyncEvent.COMPLETION_QUEUE_ERROR);
        VerbsStubEnd.pollUntil(() -> !a.lost.isEmpty(), a);
        assertIsLost(a, "completions were lost");
        stub.event(AsyncEvent.SHARED_RECEIVE_QUEUE_ERROR);
        VerbsStubEnd.pollUntil(() -> !b.reports.isEmpty(), b);
        assertThat(b.reports.get(0)).contains("receives have failed");
    }

    @Test
    void shouldTakeCompletionsThatCannotBePolledForTheEnd() {
        for (boolean isOfReceives : new boolean[] {false, true}) {
            try (VerbsStubEnd c = new VerbsStubEnd("c", PATIENCE_NS, VerbsStub.RECORDING);
                    VerbsStubEnd d = new VerbsStubEnd("d")) {
                d.connect(c.transport); // so that the pair made last, which the stub knows, is of c
                VerbsStubEnd.pollUntil(() -> c.isConnected && d.isConnected, c, d);
                stub.failPoll(-7, isOfReceives);
                VerbsStubEnd.pollUntil(() -> !c.lost.isEmpty(), c);
                assertIsLost(c, "cannot be polled");
            }
        }
    }

    @Test
    void shouldReportAPortThatGoesDownAndKeepItsPeers() {
        stub.event(AsyncEvent.PORT_ERROR);
        VerbsStubEnd.pollUntil(() -> !a.reports.isEmpty(), a);
        assertThat(a.reports.get(0)).contains("port 1").contains("is down").contains("cable");
        assertThat(a.transport.explain()).contains("is down");
        stub.event(AsyncEvent.PORT_ACTIVE);
        VerbsStubEnd.pollUntil(() -> !a.transport.explain().contains("is down"), a);
        assertThat(a.reports).hasSize(1);
        assertThat(a.lost + b.lost).isEmpty();
    }

    @Test
    void shouldReportThatTheAddressIsAnotherOne() {
        stub.event(AsyncEvent.GID_CHANGE);
        VerbsStubEnd.pollUntil(() -> stub.call().equals("ibv_query_port"), a);
        assertThat(a.reports).isEmpty();
        stub.fail("ibv_query_gid_ex", ENODATA);
        stub.event(AsyncEvent.GID_CHANGE);
        VerbsStubEnd.pollUntil(() -> !a.reports.isEmpty(), a);
        assertThat(a.reports.get(0)).contains("no longer its own").contains("another transport");
        assertThat(a.transport.explain()).contains("no longer its own");
        stub.event(AsyncEvent.GID_CHANGE);
        VerbsStubEnd.pollUntil(() -> !a.transport.explain().contains("no longer"), a);
    }

    /** The stub names the pair that was made last: of b, which carries out requests of a. */
    @Test
    void shouldEndTheConnectionWhosePairFails() {
        stub.event(AsyncEvent.QUEUE_PAIR_ACCESS_ERROR);
        VerbsStubEnd.pollUntil(() -> b.transport.explain().contains("QP_ACCESS_ERR"), b);
        assertThat(b.lost).isEmpty(); // the peer asks for another pair
        stub.event(AsyncEvent.QUEUE_PAIR_FATAL);
        VerbsStubEnd.pollUntil(() -> !b.lost.isEmpty(), b);
        assertThat(b.lost).contains("cut off").contains("QP_FATAL");
        VerbsStubEnd.pollUntil(() -> !a.lost.isEmpty(), a);
        b.isConnected = false;
        a.connect(b.transport);
        VerbsStubEnd.pollUntil(() -> b.isConnected, a, b);
    }

    @Test
    void shouldCountWhatAsksForNothing() {
        stub.event(VerbsLayout.IBV_EVENT_SM_CHANGE);
        VerbsStubEnd.pollUntil(() -> a.transport.explain().contains("SM_CHANGE"), a);
        stub.event(AsyncEvent.LAST_RECEIVE_REACHED);
        VerbsStubEnd.pollUntil(() -> stub.call().equals("ibv_ack_async_event"), a);
        assertThat(a.transport.explain()).contains("other events of the device: 1,");
        assertThat(a.reports).isEmpty();
    }
}
