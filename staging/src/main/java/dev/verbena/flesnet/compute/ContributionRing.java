package dev.verbena.flesnet.compute;

import dev.verbena.flesnet.ComponentFlyweight;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.RingEndPolicy;
import dev.verbena.memory.RemoteDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What one input writes into: a data ring and a ring of descriptors (section 3.3). A descriptor is
 * looked at once, when a SYNC covers it, checked and kept apart: what a peer writes there later
 * changes nothing. One thread; allocates nothing after it was made.
 */
final class ContributionRing {
    private final RingMemory memory;
    private final int input;
    private final UnsafeBuffer data;
    private final UnsafeBuffer descriptors;
    private final ComponentFlyweight component = new ComponentFlyweight();
    private final RingEndPolicy ringEnd;
    private final long dataMask;
    private final long slotMask;
    private final int microslices;
    private final long[] positions;
    private final int[] sizes;
    private final int[] flags;
    private long received;
    private long released;
    private long position;
    private long releasedPosition;

    /** The rings of an input; their memory stays the owner's. */
    ContributionRing(FlesnetContext context, RingMemory memory, int input) {
        this.memory = memory;
        this.input = input;
        int slots = 1 << context.descriptorExponent();
        int length = 1 << context.dataExponent();
        data = memory.data(input);
        descriptors = memory.descriptors(input);
        ringEnd = context.ringEnd();
        dataMask = length - 1;
        slotMask = slots - 1;
        microslices = context.microslicesPerComponent();
        positions = new long[slots];
        sizes = new int[slots];
        flags = new int[slots];
        position = context.startPosition();
        releasedPosition = position;
    }

    void describe(RemoteDescriptor ofData, RemoteDescriptor ofDescriptors) {
        memory.describe(input, ofData, ofDescriptors);
    }

    private int slot(long descriptor) {
        return (int) (descriptor & slotMask);
    }

    /** A descriptor that travelled inside a message. */
    void place(long descriptor, DirectBuffer source, int offset) {
        int at = slot(descriptor) * ComponentFlyweight.LENGTH;
        descriptors.putBytes(at, source, offset, ComponentFlyweight.LENGTH);
    }

    /**
     * Takes the next component.
     *
     * @throws IllegalArgumentException if it is not what it must be
     */
    void receive(long timeslice) {
        int slot = slot(received);
        component.wrap(descriptors, slot * ComponentFlyweight.LENGTH);
        long at = component.position();
        long size = component.size();
        long skipped = position + dataMask & ~dataMask;
        boolean isPlaced = at == position || ringEnd == RingEndPolicy.SKIP && at == skipped;
        // In an empty ring a tail that is skipped is free already.
        long base = received == released ? at : releasedPosition;
        boolean isInside = size >= 0 && size <= dataMask + 1 && at + size - base <= dataMask + 1;
        boolean isContiguous =
                ringEnd == RingEndPolicy.SPLIT || (at & dataMask) + size <= dataMask + 1;
        if (component.timeslice() != timeslice
                || component.microslices() != microslices
                || size < 32L * microslices
                || !isPlaced
                || !isInside
                || !isContiguous) {
            throw new IllegalArgumentException(
                    "component of timeslice %s with %s microslices, %s bytes at %s, not of %s at %s"
                            .formatted(
                                    component.timeslice(),
                                    component.microslices(),
                                    size,
                                    at,
                                    timeslice,
                                    position));
        }
        positions[slot] = at;
        sizes[slot] = (int) size;
        flags[slot] = component.flags();
        position = at + size;
        received++;
    }

    /** Components from this one on are sent anew. */
    void undo(long descriptor) {
        if (descriptor < received) {
            received = descriptor;
            position = dataPosition(descriptor);
        }
    }

    /** Components before this one may be overwritten. */
    void release(long descriptor) {
        if (descriptor > released) {
            releasedPosition = dataPosition(descriptor);
            released = descriptor;
        }
    }

    /** The slot of what was released last is used again, perhaps by one that is sent anew. */
    private long dataPosition(long count) {
        int slot = slot(count - 1);
        return count == released ? releasedPosition : positions[slot] + sizes[slot];
    }

    long received() {
        return received;
    }

    long released() {
        return released;
    }

    /** Stream position behind what was received. */
    long position() {
        return position;
    }

    /** Stream position behind what was released. */
    long releasedPosition() {
        return releasedPosition;
    }

    int size(long descriptor) {
        return sizes[slot(descriptor)];
    }

    int microslices() {
        return microslices;
    }

    int flags(long descriptor) {
        return flags[slot(descriptor)];
    }

    DirectBuffer data() {
        return data;
    }

    int offset(long descriptor, int at) {
        return (int) (positions[slot(descriptor)] + at & dataMask);
    }

    void copy(long descriptor, int at, byte[] target, int targetOffset, int length) {
        if (at < 0 || length < 0 || at + (long) length > size(descriptor)) {
            throw new IndexOutOfBoundsException(
                    "bytes %s to %s of a component of %s"
                            .formatted(at, at + (long) length, size(descriptor)));
        }
        int from = offset(descriptor, at);
        int first = (int) Math.min(length, dataMask + 1 - from);
        data.getBytes(from, target, targetOffset, first);
        data.getBytes(0, target, targetOffset + first, length - first);
    }

    /** Bytes of the ring in use. */
    long used() {
        return position - releasedPosition;
    }
}
