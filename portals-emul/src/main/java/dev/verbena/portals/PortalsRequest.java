package dev.verbena.portals;

/**
 * What a put or get asks of whom: the values of {@link MemoryDescriptor#put} by their names.
 * Fluent; a program that keeps one and changes it allocates nothing.
 *
 * <p>At first: the whole descriptor, no acknowledgement; everything else is 0.
 */
public final class PortalsRequest {
    long localOffset;
    long length = -1;
    boolean ack;
    final long target;
    final int portalIndex;
    int accessIndex;
    long matchBits;
    long remoteOffset;
    long headerData;

    /** A request to one portal index of a process. */
    public PortalsRequest(PortalsProcess process, int portalIndex) {
        this.target = process.target();
        this.portalIndex = portalIndex;
    }

    /** A part of the local descriptor's region. */
    public PortalsRequest region(long newLocalOffset, long newLength) {
        if (newLength < 0) {
            throw new IllegalArgumentException("length " + newLength + " is negative");
        }
        localOffset = newLocalOffset;
        length = newLength;
        return this;
    }

    /** Asks the target for an acknowledgement; of a put. */
    public PortalsRequest ack(boolean isWanted) {
        ack = isWanted;
        return this;
    }

    /** Index of the target's access control table. */
    public PortalsRequest accessIndex(int index) {
        accessIndex = index;
        return this;
    }

    /** Which of the target's entries takes it. */
    public PortalsRequest matchBits(long bits) {
        matchBits = bits;
        return this;
    }

    /** Where in the target's descriptor, if that leaves the offset to the initiator. */
    public PortalsRequest remoteOffset(long offset) {
        remoteOffset = offset;
        return this;
    }

    /** 64 bits that the target finds in its event; of a put. */
    public PortalsRequest headerData(long data) {
        headerData = data;
        return this;
    }

    long lengthOf(MemoryDescriptor source) {
        return length < 0 ? source.length() : length;
    }
}
