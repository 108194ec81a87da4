package dev.verbena.portals.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.portals.PortalsProcess;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The lock of a transport's interface, for a test that sits on it as a peer does that is stopped
 * inside it: the test writes the lock's word itself, in the segment's file.
 */
final class HeldLock {
    // struct p3_area: what a segment's area begins with.
    private static final long MAGIC = 0x33736c6174726f50L;
    private static final int NID_OFFSET = 16;
    private static final int PID_OFFSET = 20;
    private static final int LOCK_OFFSET = 128;
    private static final int ALIGNMENT = 64;
    private static final int HELD = 0x7fffffff;

    private final UnsafeBuffer word;

    private HeldLock(UnsafeBuffer word) {
        this.word = word;
    }

    static HeldLock of(PortalsTransport transport) throws IOException {
        Path folder = Path.of(System.getenv().getOrDefault("VERBENA_SHM_DIR", "/dev/shm"));
        PortalsProcess own = transport.resources().ni.id();
        String job = transport.uri().getHost();
        try (Stream<Path> files = Files.find(folder, 4, (path, is) -> is.isRegularFile())) {
            for (Path file : files.filter(each -> each.toString().contains(job)).toList()) {
                UnsafeBuffer found = find(file, own);
                if (found != null) {
                    return new HeldLock(found);
                }
            }
        }
        throw new AssertionError("no segment of " + transport.uri() + " below " + folder);
    }

    private static UnsafeBuffer find(Path file, PortalsProcess own) throws IOException {
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

    void hold() {
        assertThat(word.compareAndSetInt(0, 0, HELD)).isTrue();
    }

    /** Gives it back; answers whether it was held by {@link #hold}. */
    boolean release() {
        return word.compareAndSetInt(0, HELD, 0);
    }

    /** The operation's answer when somebody sits on the lock. */
    int whileHeld(IntSupplier operation) {
        hold();
        try {
            return operation.getAsInt();
        } finally {
            assertThat(release()).isTrue();
        }
    }
}
