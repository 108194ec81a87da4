package dev.verbena.agent.internal;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/**
 * Direct byte buffers, also while much of the JVM's limit for them is garbage. Where it is reached
 * the JVM collects garbage once before it gives up; with the collectors Serial and Parallel that
 * one collection does not take place while any thread is within a critical native call.
 */
public final class DirectMemory {
    private static final int TRIES = 5;
    private static final long WAIT_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private DirectMemory() {}

    /** Blocks for a second or two where memory is short. */
    public static ByteBuffer allocate(int length) {
        return allocate(length, ByteBuffer::allocateDirect);
    }

    static ByteBuffer allocate(int length, IntFunction<ByteBuffer> allocator) {
        for (int tried = 1; ; tried++) {
            try {
                return allocator.apply(length);
            } catch (OutOfMemoryError e) {
                if (tried == TRIES) {
                    throw e;
                }
                LockSupport.parkNanos(WAIT_NS);
                System.gc();
            }
        }
    }
}
