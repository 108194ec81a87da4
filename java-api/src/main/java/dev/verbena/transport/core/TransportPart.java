package dev.verbena.transport.core;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;

/**
 * What a transport offers to one that has several behind one address. Regions are this transport's
 * own; all calls are the owner's, where nothing else is said.
 */
public interface TransportPart extends Transport {
    /** See {@link GuardedTransport#moveTo}. */
    void moveTo(Thread next);

    /**
     * As {@code register}; peers reach the memory also by descriptors made of this key.
     *
     * @param key has what the parts before this one know
     */
    default RegisteredRegion register(OffHeapMemory memory, int rights, SharedKey key) {
        return register(memory, rights);
    }

    /** Adds to the key by what peers of this transport find the region. */
    default void addTo(SharedKey key, RegisteredRegion region) {}

    /**
     * Makes the descriptor that this transport takes of one that was made of a {@link SharedKey}.
     * Allocates nothing. What makes no sense gives a descriptor of nothing.
     */
    void translate(long connection, RemoteDescriptor shared, RemoteDescriptor own);

    /** Whether an operation posted from the region has a completion that was not polled. */
    boolean isOutstanding(RegisteredRegion region);

    /**
     * Closes a region, but keeps memory that this transport allocated: somebody may still write
     * there.
     *
     * @return frees the memory, which this transport's close does otherwise
     */
    default Runnable closeKeepingMemory(RegisteredRegion region) {
        region.close();
        return () -> {};
    }

    /** Whether something may still arrive in a region that is about to be closed, or is closed. */
    default boolean isStillReachable(RegisteredRegion region) {
        return false;
    }

    /** Whether atomics are made by the target's processor, so that they agree with its own. */
    default boolean hasProcessorAtomics() {
        return false;
    }

    /**
     * The owner is about to sleep elsewhere, or has woken. Meanwhile a thread of this transport
     * runs {@code bell}, once, as soon as there is something to poll.
     *
     * @param bell run by that thread; null: the owner is back
     * @return false if this transport has no such thread: the owner has to look now and then
     */
    default boolean ringWhileAway(Runnable bell) {
        return false;
    }
}
