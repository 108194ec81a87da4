package dev.verbena.portals.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.portals.PortalsProcess;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.io.IOException;
import java.net.URI;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Operations of a transport on whose lock somebody sits, as a peer does that is stopped inside it.
 * The test writes the lock's word itself, in the segment's file.
 */
@Timeout(60)
class PortalsHeldLockTest implements TransportHandler {
    // struct p3_area: what a segment's area begins with.
    private static final long MAGIC = 0x33736c6174726f50L;
    private static final int NID_OFFSET = 16;
    private static final int PID_OFFSET = 20;
    private static final int LOCK_OFFSET = 128;
    private static final int ALIGNMENT = 64;
    private static final int HELD = 0x7fffffff;

    private final List<Throwable> errors = new ArrayList<>();
    private final List<Integer> statuses = new ArrayList<>();
    private final List<Integer> tags = new ArrayList<>();
    private final RemoteDescriptor descriptor = new RemoteDescriptor();
    private String job;
    private PortalsTransport a;
    private PortalsTransport b;
    private RegisteredRegion source;
    private RegisteredRegion target;
    private UnsafeBuffer lock;
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
        lock = findLock();
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

    private UnsafeBuffer findLock() throws IOException {
        Path folder = Path.of(System.getenv().getOrDefault("VERBENA_SHM_DIR", "/dev/shm"));
        try (Stream<Path> files = Files.find(folder, 4, (path, is) -> is.isRegularFile())) {
            for (Path file : files.filter(each -> each.toString().contains(job)).toList()) {
                UnsafeBuffer found = findLock(file);
                if (found != null) {
                    return found;
                }
            }
        }
        throw new AssertionError("no segment of " + a.uri() + " below " + folder);
    }

    private UnsafeBuffer findLock(Path file) throws IOException {
        PortalsProcess own = a.resources().ni.id();
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MappedByteBuffer mapped =
                    channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size());
            UnsafeBuffer bytes = new UnsafeBuffer(mapped);
            for (int at = 0; at < bytes.capacity() - 2 * LOCK_OFFSET; at += ALIGNMENT) {
                if (bytes.getLong(at) == MAGIC
                        && bytes.getInt(at + NID_OFFSET) == own.nid()
                        && bytes.getInt(at + PID_OFFSET) == own.pid()) {
                    return new UnsafeBuffer(bytes, at + LOCK_OFFSET, Integer.BYTES);
                }
            }
        }
        return null;
    }

    /** The operation's answer when somebody sits on the lock. */
    private int whileHeld(IntSupplier operation) {
        assertThat(lock.compareAndSetInt(0, 0, HELD)).isTrue();
        try {
            return operation.getAsInt();
        } finally {
            assertThat(lock.compareAndSetInt(0, HELD, 0)).isTrue();
        }
    }

    private int putNotify(int tag) {
        return a.putNotify(connection, source, 0, descriptor, 0, 64, tag, 1, 0);
    }

    @Test
    void shouldCountTheCreditOfANotificationWhoseAcknowledgementIsLate() {
        assertThat(whileHeld(() -> putNotify(5))).isEqualTo(Transport.ACCEPTED);
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
        whileHeld(() -> a.put(connection, source, 0, descriptor, 0, 64, 1, 0));
        assertThat(a.put(connection, source, 0, descriptor, 0, 8, 1, 0))
                .isEqualTo(Transport.ACCEPTED);
        pollUntil("told", () -> statuses.size() == 3);
        assertThat(statuses).containsOnly(Status.OK);
    }

    @Test
    void shouldPutOffAGet() {
        target.buffer(0, 64).setMemory(0, 64, (byte) 9);
        assertThat(whileHeld(() -> a.get(connection, source, 0, descriptor, 0, 64, 1, 0)))
                .isEqualTo(Transport.BACK_PRESSURED);
        assertThat(a.get(connection, source, 0, descriptor, 0, 64, 1, 0))
                .isEqualTo(Transport.ACCEPTED);
        pollUntil("told", () -> statuses.size() == 2);
        assertThat(statuses).containsOnly(Status.OK);
        assertThat(source.buffer(0, 64).getByte(63)).isEqualTo((byte) 9);
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
