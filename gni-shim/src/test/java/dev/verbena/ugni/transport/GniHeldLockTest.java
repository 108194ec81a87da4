package dev.verbena.ugni.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A transport on one of whose locks somebody sits, as a peer does that is stopped inside it, or
 * into whose tables somebody writes. The test writes in the segment's file itself.
 */
@Timeout(60)
class GniHeldLockTest implements TransportHandler {
    // struct gni_area: what a segment's area begins with.
    private static final long MAGIC = 0x314d494853494e47L;
    private static final int ADDRESS_OFFSET = 12;
    private static final int INSTANCE_OFFSET = 16;
    private static final int BYTES_OFFSET = 32;
    private static final int ATOMICS_OFFSET = 64;
    private static final int EXCHANGE_OFFSET = 72;
    private static final int ALIGNMENT = 64;
    private static final int HELD = 0x7fffffff;

    // struct gni_datagram: the last table of the area.
    private static final int DATAGRAMS = 1024;
    private static final int DATAGRAM_LENGTH = 320;
    private static final int ID_OFFSET = 24;

    private final List<Integer> statuses = new ArrayList<>();
    private final List<Throwable> errors = new ArrayList<>();
    private final String job = "held-" + ProcessHandle.current().pid();
    private GniTransport a;
    private GniTransport b;
    private UnsafeBuffer areaOfB;
    private long connection;

    private GniTransport open() {
        return (GniTransport)
                Transports.open("gni", new TransportContext().job(job).errorHandler(errors::add));
    }

    @BeforeEach
    void openBoth() throws IOException {
        a = open();
        b = open();
        b.listen();
        areaOfB = findArea(b.resources);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
        assertThat(errors).isEmpty();
    }

    private static UnsafeBuffer findArea(GniResources resources) throws IOException {
        Path folder = Path.of(System.getenv().getOrDefault("VERBENA_SHM_DIR", "/dev/shm"));
        String job = "gni-%d-%08x".formatted(resources.ptag, (int) resources.cookie);
        for (Path file : filesOf(folder, job)) {
            UnsafeBuffer found = findArea(resources, file);
            if (found != null) {
                return found;
            }
        }
        throw new AssertionError("no segment of " + job + " below " + folder);
    }

    /** Again where one has gone meanwhile: of other tests, or ours that was mapped. */
    private static List<Path> filesOf(Path folder, String job) throws IOException {
        while (true) {
            try (Stream<Path> files = Files.find(folder, 4, (path, is) -> is.isRegularFile())) {
                return files.filter(each -> each.toString().contains(job)).toList();
            } catch (UncheckedIOException e) {
                assertThat(e).hasCauseInstanceOf(NoSuchFileException.class);
            }
        }
    }

    private static UnsafeBuffer findArea(GniResources resources, Path file) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MappedByteBuffer mapped =
                    channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size());
            UnsafeBuffer bytes = new UnsafeBuffer(mapped);
            for (int at = 0; at < bytes.capacity() - ALIGNMENT; at += ALIGNMENT) {
                if (bytes.getLong(at) == MAGIC
                        && bytes.getInt(at + ADDRESS_OFFSET) == resources.address
                        && bytes.getInt(at + INSTANCE_OFFSET) == resources.instance) {
                    return new UnsafeBuffer(bytes, at, (int) bytes.getLong(at + BYTES_OFFSET));
                }
            }
        }
        return null;
    }

    private void pollUntil(String what, BooleanSupplier isDone) {
        Await.until(
                () -> what,
                () -> {
                    a.poll(this, 10);
                    b.poll(this, 10);
                    return isDone.getAsBoolean();
                });
    }

    private void connect() {
        a.connect(b.uri(), null, 0, 0, 1, 20_000_000_000L);
        pollUntil("connected", () -> connection != 0);
    }

    private void hold(int lock) {
        assertThat(areaOfB.compareAndSetInt(lock, 0, HELD)).isTrue();
    }

    private void letGo(int lock) {
        assertThat(areaOfB.compareAndSetInt(lock, HELD, 0)).isTrue();
    }

    @Test
    void shouldPollThoughSomebodySitsOnItsDatagrams() {
        hold(EXCHANGE_OFFSET);
        long beginNs = b.nanoTime();
        for (int i = 0; i < 300; i++) {
            b.poll(this, 10);
        }
        assertThat(b.nanoTime() - beginNs).isLessThan(2_000_000_000L);
        letGo(EXCHANGE_OFFSET);
        connect();
    }

    @Test
    void shouldConnectThoughSomebodyWritesNumbersIntoItsDatagrams() {
        int table = areaOfB.capacity() - DATAGRAMS * DATAGRAM_LENGTH;
        for (int i = 0; i < DATAGRAMS; i++) {
            areaOfB.putLong(table + i * DATAGRAM_LENGTH + ID_OFFSET, 0);
        }
        connect();
    }

    @Test
    void shouldSayThatAnAtomicTookTooLong() {
        connect();
        OffHeapMemory memory = OffHeapMemories.allocate(64);
        try (RegisteredRegion region = b.register(memory, RemoteDescriptor.REMOTE_ALL)) {
            RemoteDescriptor d = new RemoteDescriptor();
            region.describe(0, 64, RemoteDescriptor.REMOTE_ALL, d);
            hold(ATOMICS_OFFSET);
            assertThat(a.fetchAdd(connection, d, 0, 1, 1, 0)).isEqualTo(Transport.ACCEPTED);
            letGo(ATOMICS_OFFSET);
            pollUntil("told", () -> statuses.size() == 1);
            assertThat(a.fetchAdd(connection, d, 0, 1, 1, 0)).isEqualTo(Transport.ACCEPTED);
            pollUntil("told", () -> statuses.size() == 2);
        }
        memory.close();
        assertThat(statuses).containsExactly(Status.TIMED_OUT, Status.OK);
    }

    @Override
    public void onCompletion(long c, int operation, long context, int status, long value) {
        statuses.add(status);
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
