package dev.verbena.ugni.transport;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * As many operations as may be outstanding, with their post descriptors, and a few buffers for gets
 * that are not aligned. One thread.
 */
final class WorkPool {
    /** Bytes of a bounce buffer, a multiple of 4. */
    static final int BOUNCE_LENGTH = 1 << 16;

    private static final int BOUNCES = 8;
    private static final int LINE = 64;

    final Memory results;
    final Memory bounces;
    private final UnsafeBuffer descriptors;
    private final Work[] all;
    private final Work[] free;
    private final int[] freeBounces = new int[BOUNCES];
    private int freeCount;
    private int freeBounceCount;

    WorkPool(GniResources resources, int count) {
        results = resources.memory(Math.max(LINE, count * Long.BYTES), false);
        bounces = resources.memory(BOUNCES * BOUNCE_LENGTH, false);
        descriptors =
                new UnsafeBuffer(BufferUtil.allocateDirectAligned(count * Descriptor.STRIDE, LINE));
        all = new Work[count];
        free = new Work[count];
        for (int i = count - 1; i >= 0; i--) {
            long descriptor = descriptors.addressOffset() + (long) i * Descriptor.STRIDE;
            long result = results.address() + (long) i * Long.BYTES;
            all[i] = new Work(this, i, new Descriptor(descriptor), result);
            free[freeCount++] = all[i];
        }
        for (int i = 0; i < BOUNCES; i++) {
            freeBounces[freeBounceCount++] = i;
        }
    }

    /** No operation can be accepted. */
    boolean isEmpty() {
        return freeCount == 0;
    }

    Work take() {
        return free[--freeCount];
    }

    Work at(int index) {
        return all[index];
    }

    /** The operation whose descriptor lies there. */
    Work of(long descriptor) {
        return all[(int) ((descriptor - descriptors.addressOffset()) / Descriptor.STRIDE)];
    }

    void release(Work work) {
        releaseBounce(work);
        work.end();
        free[freeCount++] = work;
    }

    // ---- bounce buffers ----

    boolean hasBounce() {
        return freeBounceCount > 0;
    }

    void takeBounce(Work work) {
        if (work.bounce < 0) {
            work.takeBounce(freeBounces[--freeBounceCount]);
        }
    }

    void releaseBounce(Work work) {
        if (work.bounce >= 0) {
            freeBounces[freeBounceCount++] = work.giveBounceBack();
        }
    }

    long bounce(int bounce) {
        return bounces.address() + (long) bounce * BOUNCE_LENGTH;
    }
}
