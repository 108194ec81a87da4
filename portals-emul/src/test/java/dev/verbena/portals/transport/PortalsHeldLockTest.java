package dev.verbena.portals.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.portals.PortalsException;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Operations of a transport on whose lock somebody sits, as a peer does that is stopped inside it.
 */
@Timeout(60)
class PortalsHeldLockTest implements TransportHandler {
    private final List<Throwable> errors = new ArrayList<>();
    private final List<Integer> statuses = new ArrayList<>();
    private final List<Integer> tags = new ArrayList<>();
    private final RemoteDescriptor descriptor = new RemoteDescriptor();
    private String job;
    private PortalsTransport a;
    private PortalsTransport b;
    private RegisteredRegion source;
    private RegisteredRegion target;
    private HeldLock lock;
    private long connection;

    private PortalsTransport open() {
        return PortalsTransportProvider.open(
                new TransportContext().job(job).creditsPerConnection(1).errorHandler(errors::add),
                null);
    }

    @BeforeEach
    void connect() throws IOException {
        job = "held-" + ProcessHandle.current().pid();
        a = open();
        b = open();
        b.listen();
        a.connect(b.uri(), new UnsafeBuffer(new byte[0]), 0, 0, 1, 10_000_000_000L);
        pollUntil("connected", () -> connection != 0);
        source = a.allocate(64, 0);
        target = b.allocate(64, RemoteDescriptor.REMOTE_READ | RemoteDescriptor.REMOTE_WRITE);
        target.describe(
                0, 64, RemoteDescriptor.REMOTE_READ | RemoteDescriptor.REMOTE_WRITE, descriptor);
        // From now on its descriptor is bound, for which the lock is needed.
        assertThat(a.put(connection, source, 0, descriptor, 0, 64, 1, 0))
                .isEqualTo(Transport.ACCEPTED);
        pollUntil("put", () -> statuses.size() == 1);
        lock = HeldLock.of(a);
    }

    @AfterEach
    void close() {
        source.close();
        target.close();
        a.close();
        b.close();
        assertThat(errors).isEmpty();
    }

    private void pollUntil(String what, BooleanSupplier isDone) {
        Await.until(
                what,
                () -> {
                    a.poll(this, 10);
                    b.poll(this, 10);
                    return isDone.getAsBoolean();
                });
    }

    private int putNotify(int tag) {
        return a.putNotify(connection, source, 0, descriptor, 0, 64, tag, 1, 0);
    }

    @Test
    void shouldCountTheCreditOfANotificationWhoseAcknowledgementIsLate() {
        assertThat(lock.whileHeld(() -> putNotify(5))).isEqualTo(Transport.ACCEPTED);
        assertThat(putNotify(6)).isEqualTo(Transport.BACK_PRESSURED);
        pollUntil("told", () -> statuses.size() == 2 && tags.size() == 1);
        pollUntil("credit returned", () -> putNotify(7) == Transport.ACCEPTED);
        pollUntil("told", () -> statuses.size() == 3 && tags.size() == 2);
        assertThat(statuses).containsOnly(Status.OK);
        assertThat(tags).containsExactly(5, 7);
    }

    /** The late acknowledgement is not taken for that of the next operation. */
    @Test
    void shouldPutAnotherLengthAfterALateAcknowledgement() {
        lock.whileHeld(() -> a.put(connection, source, 0, descriptor, 0, 64, 1, 0));
        assertThat(a.put(connection, source, 0, descriptor, 0, 8, 1, 0))
                .isEqualTo(Transport.ACCEPTED);
        pollUntil("told", () -> statuses.size() == 3);
        assertThat(statuses).containsOnly(Status.OK);
    }

    @Test
    void shouldPutOffAGet() {
        target.buffer(0, 64).setMemory(0, 64, (byte) 9);
        assertThat(lock.whileHeld(() -> a.get(connection, source, 0, descriptor, 0, 64, 1, 0)))
                .isEqualTo(Transport.BACK_PRESSURED);
        assertThat(a.get(connection, source, 0, descriptor, 0, 64, 1, 0))
                .isEqualTo(Transport.ACCEPTED);
        pollUntil("told", () -> statuses.size() == 2);
        assertThat(statuses).containsOnly(Status.OK);
        assertThat(source.buffer(0, 64).getByte(63)).isEqualTo((byte) 9);
    }

    @Test
    void shouldSayThatItCannotBeCheckedWhenTheLockIsHeld() {
        lock.hold();
        assertThatThrownBy(() -> a.resources().ni.findFault())
                .isInstanceOf(PortalsException.class)
                .hasMessageContaining("PtlExtCheck")
                .hasMessageContaining("a stopped process holds the lock");
        assertThat(lock.release()).isTrue();
        assertThat(a.resources().ni.findFault()).isNull();
    }

    @Override
    public void onCompletion(long c, int operation, long context, int status, long value) {
        statuses.add(status);
    }

    @Override
    public void onNotify(long c, long context, int tag, long region, long offset, long length) {
        tags.add(tag);
    }

    @Override
    public void onConnectRequest(long c, URI peer, DirectBuffer data, int offset, int length) {
        b.accept(c, 2);
    }

    @Override
    public void onConnected(long c, long context) {
        if (context == 1) {
            connection = c;
        }
    }
}
