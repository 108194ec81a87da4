package dev.verbena.flesnet;

import org.agrona.DirectBuffer;

/** Where a source puts microslices: the ring of an input node. One thread. */
public interface MicrosliceSink {
    /**
     * Adds the next microslice; content is copied. A ring without room for it takes an empty
     * microslice instead, flagged {@link MicrosliceFlyweight#TRUNCATED}, so that later ones keep
     * their places. An empty one with that flag was lost before it came here, and is counted and
     * flagged alike.
     *
     * @param flags of {@link MicrosliceFlyweight}
     * @return false if the content was dropped
     */
    boolean add(
            int equipment,
            int flags,
            int system,
            int format,
            long index,
            int checksum,
            DirectBuffer content,
            int offset,
            int length);

    /**
     * Whether a microslice of this length would be kept now. If it is refused although the ring has
     * no whole component, which it could wait for, the run ends.
     */
    boolean hasRoom(int length);

    /** Bytes of the longest content that is ever kept. */
    int contentMax();
}
