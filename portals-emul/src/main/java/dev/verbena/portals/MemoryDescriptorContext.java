package dev.verbena.portals;

import dev.verbena.portals.bindings.portals;
import org.agrona.BitUtil;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What a memory descriptor is to be: region, which operations it accepts from peers, how often, and
 * where its events go. Fluent and reusable; read when the descriptor is made. C: {@code ptl_md_t}.
 */
public final class MemoryDescriptorContext {
    /** Threshold: any number of operations. */
    public static final int INFINITE = portals.PTL_MD_THRESH_INF;

    /** Cray's options; portals3.h shows them in its flavour only. */
    private static final int AUTO_UNLINK_ENABLE = 0x0200;

    private static final int MANUAL_UNLINK_ENABLE = 0x0400;

    /** {@code ptl_md_iovec_t}: address and length. */
    private static final int SEGMENT_LENGTH = 2 * Long.BYTES;

    private long address;

    /** As C counts: bytes, or segments. */
    long length;

    /** Of the region, or of all segments together. */
    long bytes;

    /** The toolkit memory that was named as such, null if none was. */
    private PortalsMemory memory;

    /** Keeps the array that {@link #address} then points to. */
    @SuppressWarnings({"FieldCanBeLocal", "unused"})
    private UnsafeBuffer segments;

    int threshold = INFINITE;
    long spaceMin;
    int options;
    long userPointer;
    private EventQueue queue;

    /** Everything at its default. */
    public MemoryDescriptorContext() {}

    /** A whole piece of toolkit memory, of the interface that is to have the descriptor. */
    public MemoryDescriptorContext memory(PortalsMemory memory) {
        region(memory.address(), memory.length());
        this.memory = memory;
        return this;
    }

    /**
     * A region of this process. The caller keeps the memory until the descriptor is gone.
     *
     * @throws IllegalArgumentException for a negative length or an address of 0 with a length
     */
    public MemoryDescriptorContext region(long address, long length) {
        if (length < 0 || (address == 0 && length != 0)) {
            throw new IllegalArgumentException("no region: " + length + " bytes at " + address);
        }
        this.address = address;
        this.length = length;
        this.bytes = length;
        this.memory = null;
        this.segments = null;
        return option(portals.PTL_MD_IOVEC, false);
    }

    /**
     * Several regions one behind the other; offsets run over all of them. Copied. C: {@code
     * PTL_MD_IOVEC}.
     *
     * @param addresses of this process; the caller keeps the memory until the descriptor is gone
     * @param lengths bytes, one for each address
     * @throws IllegalArgumentException if there is not one length for each address, or a length is
     *     negative, or an address is 0 with a length
     */
    public MemoryDescriptorContext segments(long[] addresses, long[] lengths) {
        if (addresses.length != lengths.length || addresses.length == 0) {
            throw new IllegalArgumentException(
                    addresses.length + " addresses and " + lengths.length + " lengths");
        }
        UnsafeBuffer copy =
                new UnsafeBuffer(
                        BufferUtil.allocateDirectAligned(
                                addresses.length * SEGMENT_LENGTH, BitUtil.CACHE_LINE_LENGTH));
        long sum = 0;
        for (int i = 0; i < addresses.length; i++) {
            if (lengths[i] < 0 || (addresses[i] == 0 && lengths[i] != 0)) {
                throw new IllegalArgumentException(
                        "no region: segment %s, %s bytes at %s"
                                .formatted(i, lengths[i], addresses[i]));
            }
            copy.putLong(i * SEGMENT_LENGTH, addresses[i]);
            copy.putLong(i * SEGMENT_LENGTH + Long.BYTES, lengths[i]);
            sum += lengths[i];
        }
        this.address = copy.addressOffset();
        this.length = addresses.length;
        this.bytes = sum;
        this.memory = null;
        this.segments = copy;
        return option(portals.PTL_MD_IOVEC, true);
    }

    /** Operations that it takes part in before it is inactive; {@link #INFINITE}: no end. */
    public MemoryDescriptorContext threshold(int threshold) {
        this.threshold = threshold;
        return this;
    }

    /**
     * Inactive as soon as less than this many bytes are left behind the local offset; 0: no such
     * rule. C: {@code PTL_MD_MAX_SIZE} and {@code max_size}.
     */
    public MemoryDescriptorContext spaceMin(long spaceMin) {
        this.spaceMin = spaceMin;
        return option(portals.PTL_MD_MAX_SIZE, spaceMin != 0);
    }

    /** Peers may put into it. */
    public MemoryDescriptorContext acceptPut(boolean isAccepted) {
        return option(portals.PTL_MD_OP_PUT, isAccepted);
    }

    /** Peers may get from it. */
    public MemoryDescriptorContext acceptGet(boolean isAccepted) {
        return option(portals.PTL_MD_OP_GET, isAccepted);
    }

    /** The request says at which offset; otherwise bytes follow each other. */
    public MemoryDescriptorContext remoteOffset(boolean isRemote) {
        return option(portals.PTL_MD_MANAGE_REMOTE, isRemote);
    }

    /** Shorten what is too long instead of leaving it to the next entry. */
    public MemoryDescriptorContext truncate(boolean isTruncating) {
        return option(portals.PTL_MD_TRUNCATE, isTruncating);
    }

    /** Never acknowledge puts. */
    public MemoryDescriptorContext acknowledge(boolean isAcknowledging) {
        return option(portals.PTL_MD_ACK_DISABLE, !isAcknowledging);
    }

    /** Log START events. */
    public MemoryDescriptorContext startEvents(boolean isLogged) {
        return option(portals.PTL_MD_EVENT_START_DISABLE, !isLogged);
    }

    /** Log END events. */
    public MemoryDescriptorContext endEvents(boolean isLogged) {
        return option(portals.PTL_MD_EVENT_END_DISABLE, !isLogged);
    }

    /**
     * Log UNLINK when it is unlinked automatically, and when by hand. Only an interface of the
     * flavour {@link PortalsInterfaceContext#cray} asks; others log the automatic one always, the
     * other never, and refuse the option. C: {@code PTL_MD_EVENT_AUTO_UNLINK_ENABLE}, {@code
     * PTL_MD_EVENT_MANUAL_UNLINK_ENABLE}.
     */
    public MemoryDescriptorContext unlinkEvents(boolean isAutomaticLogged, boolean isManualLogged) {
        option(AUTO_UNLINK_ENABLE, isAutomaticLogged);
        return option(MANUAL_UNLINK_ENABLE, isManualLogged);
    }

    /** Returned in every event of the descriptor. */
    public MemoryDescriptorContext userPointer(long userPointer) {
        this.userPointer = userPointer;
        return this;
    }

    /** Where its events go; null: nowhere. */
    public MemoryDescriptorContext queue(EventQueue queue) {
        this.queue = queue;
        return this;
    }

    private MemoryDescriptorContext option(int bit, boolean isSet) {
        options = isSet ? options | bit : options & ~bit;
        return this;
    }

    /** Where the region is, or the array of segments, for a descriptor of this interface. */
    long addressFor(PortalsInterface owner) {
        if (memory != null) {
            if (memory.owner != owner) {
                throw new IllegalArgumentException(memory + " belongs to another interface");
            }
            memory.checkOpen();
        }
        return address;
    }

    int queueHandle(PortalsInterface owner) {
        if (queue == null) {
            return PortalsNative.EQ_NONE;
        }
        if (queue.owner != owner) {
            throw new IllegalArgumentException(queue + " belongs to another interface");
        }
        queue.checkOpen();
        return queue.handle();
    }

    String text(boolean unlink) {
        return "length=%s threshold=%s max_size=%s options=%s eq=%s%s"
                .formatted(
                        length,
                        threshold == INFINITE ? "INF" : Integer.toString(threshold),
                        spaceMin,
                        optionNames(),
                        queue == null ? "NONE" : MatchEntry.hex(queue.handle()),
                        unlink ? " UNLINK" : " RETAIN");
    }

    private String optionNames() {
        StringBuilder names = new StringBuilder();
        append(names, portals.PTL_MD_OP_PUT, "OP_PUT");
        append(names, portals.PTL_MD_OP_GET, "OP_GET");
        append(names, portals.PTL_MD_MANAGE_REMOTE, "MANAGE_REMOTE");
        append(names, portals.PTL_MD_TRUNCATE, "TRUNCATE");
        append(names, portals.PTL_MD_ACK_DISABLE, "ACK_DISABLE");
        append(names, portals.PTL_MD_IOVEC, "IOVEC");
        append(names, portals.PTL_MD_MAX_SIZE, "MAX_SIZE");
        append(names, portals.PTL_MD_EVENT_START_DISABLE, "START_DISABLE");
        append(names, portals.PTL_MD_EVENT_END_DISABLE, "END_DISABLE");
        return names.isEmpty() ? "0" : names.toString();
    }

    private void append(StringBuilder names, int bit, String name) {
        if ((options & bit) != 0) {
            names.append(names.isEmpty() ? "" : "|").append(name);
        }
    }
}
