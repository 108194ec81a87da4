package dev.verbena.nessie.nnti;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.transport.Capability;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Puts, gets and atomics: rights, ranges, events at the target, segments, packed handles. */
abstract class NntiOneSidedContract extends NntiFixture {
    @Test
    @Tag("nessie-N8")
    void shouldRefuseBadRegistrations() {
        requireRefused(NntiResult.EINVAL, () -> pair.left.alloc(8, 1, 0));
        requireRefused(NntiResult.EINVAL, () -> pair.left.alloc(8, 1, 1 << 12));
        requireRefused(NntiResult.EINVAL, () -> pair.left.alloc(0, 1, SOURCE));
        requireRefused(NntiResult.EINVAL, () -> pair.left.alloc(8, 0, SOURCE));
        requireRefused(NntiResult.EINVAL, () -> pair.left.alloc(1 << 30, 1 << 30, SOURCE));
    }

    @Test
    @Tag("nessie-N9")
    void shouldKeepToTheRightsOfBuffers() {
        NntiBuffer local = pair.left.alloc(64, 1, SOURCE);
        local.window().setMemory(0, 64, (byte) 7);
        NntiBuffer readable = pair.right.alloc(64, 1, BufferFlags.GET_SRC);
        NntiBuffer writable = pair.right.alloc(64, 1, BufferFlags.PUT_DST);
        assertThat(put(local, 0, 8, readable.handle(), 0)).isEqualTo(NntiResult.EPERM);
        assertThat(readable.window().getLong(0)).isZero();
        WorkRequest request = new WorkRequest();
        assertThat(pair.left.get(pair.toRight, writable.handle(), 0, 8, local, 0, request))
                .isEqualTo(NntiResult.EPERM);
    }

    /** Who forges the flags of a handle still meets the rights that the provider checks. */
    @Test
    @Tag("nessie-N9")
    void shouldNotBelieveTheFlagsOfAForgedHandle() {
        NntiBuffer local = pair.left.alloc(64, 1, SOURCE);
        local.window().setMemory(0, 64, (byte) 7);
        NntiBuffer readable = pair.right.alloc(64, 1, BufferFlags.GET_SRC);
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[BufferHandle.LENGTH_OF_ONE]);
        readable.handle().encode(bytes, 0);
        bytes.putByte(7, (byte) BufferFlags.ALL);
        BufferHandle forged = new BufferHandle();
        assertThat(forged.decode(bytes, 0, bytes.capacity())).isEqualTo(NntiResult.OK);
        assertThat(put(local, 0, 8, forged, 0)).isEqualTo(NntiResult.EPERM);
        assertThat(readable.window().getLong(0)).isZero();
    }

    @Test
    @Tag("nessie-N10")
    void shouldRefuseRangesBeforeAnyTraffic() {
        NntiBuffer local = pair.left.alloc(64, 1, SOURCE);
        NntiBuffer target = pair.right.alloc(32, 1, TARGET);
        long[][] ranges = {
            {0, 65, 0},
            {60, 5, 0},
            {0, 33, 0},
            {0, 8, 25},
            {-1, 8, 0},
            {0, -1, 0},
            {0, 8, -1},
            {Long.MAX_VALUE, 8, 0},
            {8, Long.MAX_VALUE, 0},
            {0, 8, Long.MAX_VALUE}
        };
        local.window().setMemory(0, 64, (byte) 7);
        WorkRequest get = new WorkRequest();
        for (long[] each : ranges) {
            String what = Arrays.toString(each);
            assertThat(
                            pair.left.put(
                                    pair.toRight,
                                    local,
                                    each[0],
                                    each[1],
                                    target.handle(),
                                    each[2],
                                    get))
                    .as(what)
                    .isEqualTo(NntiResult.EINVAL);
            assertThat(
                            pair.left.get(
                                    pair.toRight,
                                    target.handle(),
                                    each[2],
                                    each[1],
                                    local,
                                    each[0],
                                    get))
                    .as(what)
                    .isEqualTo(NntiResult.EINVAL);
            // It was refused before it began.
            assertThat(get.state()).as(what).isEqualTo(WorkRequest.State.NULL);
        }
        assertThat(target.window().getLong(0)).isZero();
        assertThat(local.window().getByte(0)).isEqualTo((byte) 7);
    }

    @Test
    @Tag("nessie-N13")
    void shouldTellTheTargetOnceOfEachPutAndGet() {
        NntiBuffer local = pair.left.alloc(256, 1, SOURCE);
        NntiBuffer target = pair.right.alloc(256, 1, TARGET);
        EventQueue events = new EventQueue(8);
        local.attach(events);
        assertThat(put(local, 3, 100, target.handle(), 17)).isEqualTo(NntiResult.OK);
        WorkRequest got = new WorkRequest();
        pair.left.get(pair.toRight, target.handle(), 5, 50, local, 9, got);
        assertThat(end(got)).isEqualTo(NntiResult.OK);
        NntiStatus status = new NntiStatus();
        assertThat(pair.right.await(target, 1000, status)).isEqualTo(NntiResult.OK);
        assertThat(status.operation()).isEqualTo(NntiOperation.TARGET_PUT);
        assertThat(status.offset()).isEqualTo(17);
        assertThat(status.length()).isEqualTo(100);
        assertThat(status.peer().id()).isEqualTo(pair.left.id());
        assertThat(pair.right.await(target, 1000, status)).isEqualTo(NntiResult.OK);
        assertThat(status.operation()).isEqualTo(NntiOperation.TARGET_GET);
        assertThat(status.offset()).isEqualTo(5);
        assertThat(status.length()).isEqualTo(50);
        assertThat(pair.right.await(target, 0, status)).isEqualTo(NntiResult.ETIMEDOUT);
        assertThat(events.take(status)).isTrue();
        assertThat(status.operation()).isEqualTo(NntiOperation.PUT);
        assertThat(events.take(status)).isTrue();
        assertThat(events.take(status)).isFalse();
    }

    @Test
    @Tag("nessie-N14")
    void shouldNotWaitForEventsThatNeverCome() {
        oneSided();
        NntiBuffer target = pair.right.alloc(256, 1, TARGET);
        assertThat(pair.right.await(target, NntiTransport.NEVER, new NntiStatus()))
                .isEqualTo(NntiResult.EINVAL);
        assertThat(pair.right.receive(target, new WorkRequest())).isEqualTo(NntiResult.EINVAL);
    }

    @Test
    void shouldChangeVariablesOfAPeer() {
        if ((pair.left.transport().capabilities() & Capability.ATOMICS) == 0) {
            assertThat(pair.left.fetchAdd(pair.toRight, 3, 5, new WorkRequest()))
                    .isEqualTo(NntiResult.ENOTSUP);
            return;
        }
        List<Integer> changed = new ArrayList<>();
        pair.right.onVariableChanged(changed::add);
        WorkRequest request = new WorkRequest();
        for (int i = 0; i < 10; i++) {
            assertThat(pair.left.fetchAdd(pair.toRight, 3, 5, request)).isEqualTo(NntiResult.OK);
            assertThat(end(request)).isEqualTo(NntiResult.OK);
            assertThat(request.status().length()).isEqualTo(5L * i);
        }
        pair.left.compareSwap(pair.toRight, 3, 50, 7, request);
        end(request);
        pair.pump("callbacks", () -> changed.size() == 11);
        assertThat(pair.right.variable(3)).isEqualTo(7);
        assertThat(pair.left.fetchAdd(pair.toRight, 64, 1, request)).isEqualTo(NntiResult.EINVAL);
        assertThat(pair.left.fetchAdd(pair.toRight, -1, 1, request)).isEqualTo(NntiResult.EINVAL);
    }

    @Test
    void shouldChangeTheBytesOfABufferAtomically() {
        if ((pair.left.transport().capabilities() & Capability.ATOMICS) == 0) {
            return;
        }
        NntiBuffer counters = pair.right.alloc(8, 3, BufferFlags.ATOMICS);
        BufferHandle there = counters.handle();
        WorkRequest request = new WorkRequest();
        for (int i = 0; i < 10; i++) {
            assertThat(pair.left.fetchAdd(pair.toRight, there, 16, 5, request))
                    .isEqualTo(NntiResult.OK);
            assertThat(end(request)).isEqualTo(NntiResult.OK);
            assertThat(request.status().length()).isEqualTo(5L * i);
        }
        pair.left.compareSwap(pair.toRight, there, 16, 50, 7, request);
        assertThat(end(request)).isEqualTo(NntiResult.OK);
        pair.left.compareSwap(pair.toRight, there, 8, 50, 7, request);
        assertThat(end(request)).isEqualTo(NntiResult.OK);
        assertThat(counters.window().getLong(16)).isEqualTo(7);
        assertThat(counters.window().getLong(8)).isZero();
        for (long wrong : new long[] {-8, 4, 17, 20, 24, Long.MAX_VALUE}) {
            assertThat(pair.left.fetchAdd(pair.toRight, there, wrong, 1, request))
                    .as("byte %s", wrong)
                    .isEqualTo(NntiResult.EINVAL);
        }
        assertThat(put(pair.left.alloc(8, 1, SOURCE), 0, 8, there, 0)).isEqualTo(NntiResult.EPERM);
        NntiBuffer target = pair.right.alloc(8, 1, TARGET);
        assertThat(pair.left.fetchAdd(pair.toRight, target.handle(), 0, 1, request))
                .isEqualTo(NntiResult.EPERM);
        assertThat(pair.left.compareSwap(pair.toRight, target.handle(), 0, 0, 1, request))
                .isEqualTo(NntiResult.EPERM);
        assertThat(target.window().getLong(0)).isZero();
    }

    @Test
    @Tag("nessie-N28")
    void shouldPutOverThreeSegments() {
        List<dev.verbena.memory.OffHeapMemory> pieces = new ArrayList<>();
        List<ByteBuffer> memory = new ArrayList<>();
        for (int length : new int[] {100, 50, 77}) {
            ByteBuffer piece = ByteBuffer.allocateDirect(length);
            memory.add(piece);
            pieces.add(OffHeapMemories.wrap(piece));
        }
        NntiBuffer target = pair.right.registerSegments(pieces, TARGET);
        NntiBuffer local = pair.left.alloc(227, 1, SOURCE);
        byte[] bytes = new byte[227];
        new Random(1).nextBytes(bytes);
        local.window().putBytes(0, bytes);
        assertThat(put(local, 90, 100, target.handle(), 90)).isEqualTo(NntiResult.OK);
        for (int i = 90; i < 190; i++) {
            int segment = i < 100 ? 0 : i < 150 ? 1 : 2;
            int start = segment == 0 ? 0 : segment == 1 ? 100 : 150;
            assertThat(memory.get(segment).get(i - start)).as("byte %s", i).isEqualTo(bytes[i]);
        }
        assertThat(memory.get(0).get(89)).isZero();
        assertThat(memory.get(2).get(40)).isZero();
        NntiStatus status = new NntiStatus();
        assertThat(pair.right.await(target, 1000, status)).isEqualTo(NntiResult.OK);
        assertThat(status.offset()).isEqualTo(90);
        assertThat(status.length()).isEqualTo(100);
        assertThat(pair.right.await(target, 0, status)).isEqualTo(NntiResult.ETIMEDOUT);
    }

    @Test
    @Tag("nessie-N29")
    void shouldPackHandles() {
        NntiBuffer buffer = pair.right.alloc(64, 1, TARGET);
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[BufferHandle.LENGTH_OF_ONE]);
        int length = buffer.handle().encode(bytes, 0);
        assertThat(length).isEqualTo(BufferHandle.LENGTH_OF_ONE).isLessThanOrEqualTo(96);
        BufferHandle unpacked = new BufferHandle();
        assertThat(unpacked.decode(bytes, 0, length)).isEqualTo(NntiResult.OK);
        UnsafeBuffer again = new UnsafeBuffer(new byte[length]);
        unpacked.encode(again, 0);
        assertThat(again).isEqualTo(bytes);
        for (int i = 1; i < length; i++) {
            assertThat(unpacked.decode(bytes, 0, i)).isEqualTo(NntiResult.EDECODE);
            assertThat(unpacked.isAbsent()).isTrue();
        }
        Random random = new Random(7);
        for (int i = 0; i < 10_000; i++) {
            bytes.putByte(random.nextInt(length), (byte) random.nextInt());
            NntiResult result = unpacked.decode(bytes, 0, length);
            assertThat(unpacked.isAbsent()).isEqualTo(result != NntiResult.OK);
        }
    }
}
