package dev.verbena.transport.core;

import dev.verbena.memory.RemoteDescriptor;

/**
 * By what peers reach one region through whichever of several transports connects them. A
 * descriptor made of it has room for what each needs to find the region, and for one secret:
 *
 * <pre>
 * generation  of the registration in the shared segment
 * base        address of the first byte in the owner's process
 * keyLow      high half: slot of the registration in the segment; low half: 0
 * keyHigh     secret
 * </pre>
 *
 * <p>Libfabric's peers ask by {@link #number}. One thread.
 */
public final class SharedKey {
    private static final int HALF = 32;

    /** An odd constant: the number of two slots of one secret differs. */
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

    private int slot;
    private int generation;
    private long secret;

    /** Nothing is known yet. */
    public SharedKey() {}

    /** What a registration in a shared segment is found by. */
    public void segment(int slot, int generation, long secret) {
        this.slot = slot;
        this.generation = generation;
        this.secret = secret;
    }

    private long keyLow() {
        return (long) slot << HALF;
    }

    /** By what peers ask for the region: from 0. */
    public long number() {
        return number(keyLow(), secret);
    }

    /** Fills a descriptor. */
    public RemoteDescriptor describe(
            long address, long length, int rights, RemoteDescriptor descriptor) {
        return descriptor.set(
                RemoteDescriptor.KIND_AUTO, rights, generation, address, length, keyLow(), secret);
    }

    /** The slot that a descriptor names. */
    public static int slot(RemoteDescriptor descriptor) {
        return (int) (descriptor.keyLow() >>> HALF);
    }

    /** The number that a descriptor names. */
    public static long number(RemoteDescriptor descriptor) {
        return number(descriptor.keyLow(), descriptor.keyHigh());
    }

    private static long number(long keyLow, long secret) {
        return (secret ^ keyLow * SPREAD) & Long.MAX_VALUE;
    }
}
