package dev.verbena.flesnet;

import org.agrona.DirectBuffer;

/**
 * A built timeslice, in the receive rings of a compute node. A component is a range of the stream
 * of its ring, all microslice descriptors first, then all contents; with {@link
 * RingEndPolicy#SPLIT} it may continue at the ring's beginning.
 *
 * <p>Reading after {@link #release()} gives bytes of later timeslices, after the engine's end an
 * {@link IndexOutOfBoundsException}. Allocates nothing.
 */
public interface Timeslice {
    /** Number of the timeslice. */
    long index();

    /** Number among those of this compute node. */
    long descriptor();

    /** Flags of all components, and {@link ComponentFlyweight#MISSING_COMPONENT}. */
    int flags();

    /** Flags of a component; {@link ComponentFlyweight#MISSING_COMPONENT} if it is missing. */
    int flags(int input);

    /** Components, one for each input. */
    int componentCount();

    /** Whether this input contributed. */
    boolean hasComponent(int input);

    /** Bytes of a component; 0 if it is missing. */
    int size(int input);

    /** Microslices of a component. */
    int microsliceCount(int input);

    /** Nanoseconds between its first and its last contribution's arrival. */
    long arrivalSpreadNs();

    /** The ring that has a component. */
    DirectBuffer ring(int input);

    /** Where byte {@code at} of a component is in {@link #ring}. */
    int offset(int input, int at);

    /** Copies bytes of a component, also across the ring's end. */
    void copy(int input, int at, byte[] target, int targetOffset, int length);

    /** Gives its memory back. Once; any thread. */
    void release();
}
