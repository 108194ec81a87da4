package dev.verbena.nessie.nnti;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Buffers that are taken away while an operation of their own goes on. */
@Timeout(60)
class NntiUnregisterTest {
    private static final int LENGTH = 64;

    /** More than a cycle takes completions of. */
    private static final int COUNT = 500;

    /** Of a cycle that looks whether memory can be freed; an exception takes far more. */
    private static final long LOOK_BYTES = 1000;

    @Test
    void shouldFreeMemoryOnceWhatItGetsIsThere() {
        try (NntiPair pair = new NntiPair("shm", NntiOptions.ONE_SIDED)) {
            NntiBuffer into = pair.left.alloc(LENGTH, 1, BufferFlags.GET_DST);
            NntiBuffer from = pair.right.alloc(LENGTH, 1, BufferFlags.GET_SRC);
            WorkRequest[] gets = new WorkRequest[COUNT];
            Arrays.setAll(gets, i -> new WorkRequest());
            for (WorkRequest get : gets) {
                assertThat(pair.left.get(pair.toRight, from.handle(), 0, 8, into, 0, get))
                        .isEqualTo(NntiResult.OK);
            }
            pair.left.unregister(into);
            assertThat(into.isOpen()).isFalse();
            assertThat(into.regions[0].isClosed()).isFalse();
            long least = Long.MAX_VALUE;
            while (!gets[COUNT - 1].isComplete()) {
                assertThat(into.regions[0].isClosed()).isFalse();
                least = Math.min(least, AllocationMeter.bytes(pair.left::progress));
            }
            assertThat(least).isLessThan(LOOK_BYTES);
            pair.pump("freed", into.regions[0]::isClosed);
            assertThat(gets).allMatch(each -> each.status().result() == NntiResult.OK);
        }
    }

    /** Memory that is registered cannot be closed. */
    @Test
    void shouldKeepNoSegmentBeforeOneThatIsRefused() {
        OffHeapMemory first = OffHeapMemories.allocate(LENGTH);
        OffHeapMemory closed = OffHeapMemories.allocate(LENGTH);
        closed.close();
        try (NntiPair pair = new NntiPair("shm", NntiOptions.ONE_SIDED)) {
            List<OffHeapMemory> segments = List.of(first, closed);
            assertThatThrownBy(() -> pair.left.registerSegments(segments, BufferFlags.PUT_DST))
                    .isInstanceOf(IllegalStateException.class);
            first.close();
        }
    }
}
