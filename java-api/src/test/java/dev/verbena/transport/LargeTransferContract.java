package dev.verbena.transport;

import static dev.verbena.transport.Transport.FENCE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The part of the contract that needs gigabytes: one transfer of more bytes than an int counts, and
 * offsets beyond what 32 bits hold. A provider is tested by a subclass that names its scheme.
 *
 * <p>A test is skipped, with the figures, where memory or the folder for shared memory is too
 * small.
 */
@Timeout(300)
public abstract class LargeTransferContract extends ContractFixture {
    private static final long GIB = 1L << 30;
    private static final long LENGTH = 2 * GIB + 5;
    private static final int SOURCE_AT = 7;
    private static final int TARGET_AT = 4096 + 13;
    private static final int AROUND = 2 * 4096;
    private static final long FAR = 4 * GIB;
    private static final int PAGE = 4096;

    /** The owner and the initiator of one process both map the target, and both are counted. */
    private static final long PEAK_MAX = 10 * GIB;

    private static final long LEFT_MAX = GIB / 2;

    /** What a test needs to spare beyond its memories. */
    private static final long SPARE = 2 * GIB;

    /** Memory handed in, closed after the transports that registered it. */
    private final Deque<OffHeapMemory> foreign = new ArrayDeque<>();

    /** Below 0: the test has not begun, as something that it needs is missing. */
    private long residentBefore = -1;

    /** What memory is spared for beyond that of a test. */
    protected long spareBytes() {
        return SPARE;
    }

    /** Memory that the toolkit allocates is in the folder for shared memory. */
    protected boolean isMemoryShared() {
        return true;
    }

    /** Registered memory is there, whether anybody touches it or not. */
    protected boolean isPinned() {
        return false;
    }

    /** The offset that is reached; above what an int, or its unsigned twin, counts. */
    protected long farOffset() {
        return FAR;
    }

    /** Skips what moves so many bytes where that takes too long. */
    protected void assumeTimeFor(long bytes) {}

    @Test
    void shouldMoveMoreThanTwoGibibytesInOneTransferOfItsOwnMemory() {
        assumeTimeFor(2 * LENGTH);
        needs(2 * LENGTH, true);
        Pair p = new Pair();
        moveBothWays(p, p.a.allocate(LENGTH + AROUND), p.b.allocate(LENGTH + AROUND));
    }

    @Test
    void shouldMoveMoreThanTwoGibibytesInOneTransferOfMemoryHandedIn() {
        assumeTimeFor(2 * LENGTH);
        needs(2 * LENGTH, false);
        Pair p = new Pair();
        requires(p.b, Capability.FOREIGN_MEMORY, "FOREIGN_MEMORY");
        moveBothWays(p, handIn(p.a, LENGTH + AROUND), handIn(p.b, LENGTH + AROUND));
    }

    @Test
    void shouldReachItsOwnMemoryBeyondFourGibibytes() {
        needs(farOffset() + PAGE, true);
        Pair p = new Pair();
        reachFar(p, p.b.allocate(farOffset() + PAGE), true);
    }

    /** Pages that nobody touches are never there: the region costs address space, not memory. */
    @Test
    void shouldReachMemoryHandedInBeyondFourGibibytes() {
        Assumptions.assumeFalse(isPinned(), "as with memory of its own: all of it is there");
        needs(0, false);
        Pair p = new Pair();
        requires(p.b, Capability.FOREIGN_MEMORY, "FOREIGN_MEMORY");
        reachFar(p, handIn(p.b, farOffset() + PAGE), false);
        assertThat(resident("VmRSS")).isLessThan(residentBefore + LEFT_MAX);
    }

    private RegisteredRegion handIn(ContractNode node, long length) {
        OffHeapMemory memory = OffHeapMemories.allocate(length);
        foreign.push(memory);
        return node.owns(node.transport.register(memory, RemoteDescriptor.REMOTE_ALL));
    }

    private void moveBothWays(Pair p, RegisteredRegion source, RegisteredRegion target) {
        RemoteDescriptor d = describe(target);
        Transport t = p.a.transport;
        write(source, SOURCE_AT, 1);
        post("put", () -> t.put(p.ab, source, SOURCE_AT, d, TARGET_AT, LENGTH, 1, 0));
        assertThat(completion(p.a))
                .isEqualTo(new ContractNode.Completion(p.ab, Operation.PUT, 1, Status.OK, LENGTH));
        check(target, TARGET_AT, 1);
        assertThat(bytes(target, 0, TARGET_AT)).as("bytes before").containsOnly(0);
        int rest = AROUND - TARGET_AT;
        assertThat(bytes(target, TARGET_AT + LENGTH, rest)).as("bytes after").containsOnly(0);

        write(target, TARGET_AT, 2);
        post("get", () -> t.get(p.ab, source, SOURCE_AT, d, TARGET_AT, LENGTH, 2, 0));
        assertThat(completion(p.a))
                .isEqualTo(new ContractNode.Completion(p.ab, Operation.GET, 2, Status.OK, LENGTH));
        check(source, SOURCE_AT, 2);
        assertThat(bytes(source, 0, SOURCE_AT)).as("bytes before").containsOnly(0);
        rest = AROUND - SOURCE_AT;
        assertThat(bytes(source, SOURCE_AT + LENGTH, rest)).as("bytes after").containsOnly(0);
        assertThat(resident("VmHWM")).as("peak of this process").isLessThan(PEAK_MAX);
    }

    private void reachFar(Pair p, RegisteredRegion target, boolean isOwn) {
        long far = farOffset();
        RemoteDescriptor d = describe(target);
        Transport t = p.a.transport;
        RegisteredRegion local = p.a.allocate(PAGE);
        byte[] data = random(PAGE, 3);
        fill(local, 0, data);
        // Astride the border, and up to the last byte.
        for (long at : new long[] {far - 100, far + PAGE - 333}) {
            post("put", () -> t.put(p.ab, local, 1, d, at, 333, 1, 0));
            assertThat(completion(p.a).status()).isEqualTo(Status.OK);
            assertThat(bytes(target, at, 333)).isEqualTo(bytes(local, 1, 333));
            post("get", () -> t.get(p.ab, local, 2000, d, at, 333, 1, 0));
            assertThat(completion(p.a).status()).isEqualTo(Status.OK);
            assertThat(bytes(local, 2000, 333)).isEqualTo(bytes(local, 1, 333));
        }
        post("past the end", () -> t.put(p.ab, local, 0, d, far + PAGE - 332, 333, 1, 0));
        assertThat(completion(p.a).status()).isEqualTo(Status.BOUNDS);
        if ((t.capabilities() & Capability.PUT_NOTIFY) != 0) {
            post("notify", () -> t.putNotify(p.ab, local, 0, d, far + 1000, 8, 5, 1, 0));
            pump("a notification", () -> !p.b.notifications.isEmpty());
            assertThat(p.b.notifications.poll())
                    .isEqualTo(
                            new ContractNode.Notification(p.ba, 22, 5, target.id(), far + 1000, 8));
            assertThat(completion(p.a).status()).isEqualTo(Status.OK);
        }
        // Atomics need not reach memory handed in.
        if (isOwn && (t.capabilities() & Capability.ATOMICS) != 0) {
            target.buffer(far + 2048, 8).putLong(0, 40);
            post("add", () -> t.fetchAdd(p.ab, d, far + 2048, 2, 1, FENCE));
            assertThat(completion(p.a).value()).isEqualTo(40);
            assertThat(target.buffer(far + 2048, 8).getLong(0)).isEqualTo(42);
        }
        // Where an offset with its upper bits cut off would have led.
        assertThat(bytes(target, 0, PAGE)).containsOnly(0);
    }

    /** Writes the pattern of a seed: every 8 bytes name their own offset. */
    private static void write(RegisteredRegion region, long at, long seed) {
        for (long done = 0; done < LENGTH; done += GIB) {
            int length = (int) Math.min(GIB, LENGTH - done);
            UnsafeBuffer window = region.buffer(at + done, length);
            int i = 0;
            for (; i + 8 <= length; i += 8) {
                window.putLong(i, pattern(done + i, seed));
            }
            for (; i < length; i++) {
                window.putByte(i, (byte) pattern(done + i, seed));
            }
        }
    }

    private static void check(RegisteredRegion region, long at, long seed) {
        for (long done = 0; done < LENGTH; done += GIB) {
            int length = (int) Math.min(GIB, LENGTH - done);
            UnsafeBuffer window = region.buffer(at + done, length);
            int i = 0;
            while (i + 8 <= length && window.getLong(i) == pattern(done + i, seed)) {
                i += 8;
            }
            while (i < length && window.getByte(i) == (byte) pattern(done + i, seed)) {
                i++;
            }
            assertThat(done + i).as("bytes that are right").isEqualTo(done + length);
        }
    }

    private static long pattern(long offset, long seed) {
        return (offset + seed) * 0x9E37_79B9_7F4A_7C15L;
    }

    /** Skips the test where the bytes are not there. */
    private void needs(long length, boolean isShared) {
        residentBefore = resident("VmRSS");
        long wanted = length + spareBytes();
        long available = Math.min(field(Path.of("/proc/meminfo"), "MemAvailable"), ofContainer());
        Assumptions.assumeTrue(
                available >= wanted,
                () -> "needs " + wanted + " bytes of memory, there are " + available);
        if (isShared && isMemoryShared()) {
            Path folder = Path.of(System.getenv().getOrDefault("VERBENA_SHM_DIR", "/dev/shm"));
            long free = folder.toFile().getUsableSpace();
            Assumptions.assumeTrue(
                    free >= wanted,
                    () -> "needs " + wanted + " bytes in " + folder + ", there are " + free);
        }
    }

    /** What the memory limit of the container, if any, leaves. */
    private static long ofContainer() {
        Path limit = Path.of("/sys/fs/cgroup/memory.max");
        Path used = Path.of("/sys/fs/cgroup/memory.current");
        try {
            String text = Files.isReadable(limit) ? Files.readString(limit).trim() : "max";
            return text.equals("max")
                    ? Long.MAX_VALUE
                    : Long.parseLong(text) - Long.parseLong(Files.readString(used).trim());
        } catch (IOException e) {
            return Long.MAX_VALUE;
        }
    }

    private static long resident(String name) {
        return field(Path.of("/proc/self/status"), name);
    }

    /** A field in kB of a file of /proc, in bytes. */
    private static long field(Path file, String name) {
        try {
            for (String line : Files.readAllLines(file)) {
                if (line.startsWith(name + ":")) {
                    return Long.parseLong(line.replaceAll("\\D+", "")) << 10;
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        throw new AssertionError(file + " has no " + name);
    }

    /** Transports first: they hold the memory that was handed in. */
    @AfterEach
    void giveBack() {
        closeAll();
        foreign.forEach(OffHeapMemory::close);
        if (residentBefore >= 0) {
            assertThat(resident("VmRSS"))
                    .as("resident after close")
                    .isLessThan(residentBefore + LEFT_MAX);
        }
    }
}
