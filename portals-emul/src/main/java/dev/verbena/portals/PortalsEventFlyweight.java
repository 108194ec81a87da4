package dev.verbena.portals;

import dev.verbena.portals.bindings.portals;

/**
 * One event, copied out of a queue; reusable without allocation. One thread.
 *
 * <p>The fields are those of {@code ptl_event_t}; at their place in the queue's slot, 128 bytes in
 * native order:
 *
 * <pre>
 * offset size field            offset size field
 *   0     8   stamp              64     8   md.start
 *   8     8   hdr_data           72     8   md.length
 *  16     8   match_bits         80     8   md.max_size
 *  24     8   mlength            88     4   md.threshold
 *  32     8   offset             92     4   md.options
 *  40     8   rlength            96     4   initiator.nid
 *  48     8   md.user_ptr       100     4   uid
 *  56     4   md_handle         104     4   jid
 *  60     1   type              108     4   pt_index
 *  61     1   ni_fail_type      112     4   link
 *  62     2   initiator.pid     116     4   reserved
 *                               120     8   initiator's incarnation (not Portals)
 * </pre>
 */
public final class PortalsEventFlyweight {
    /** Bytes of a slot. */
    public static final int LENGTH = portals.PTL_SLOT_BYTES;

    static final int WORDS = LENGTH / Long.BYTES;

    /** The slot as it was; on little-endian hosts (checked when the library is built). */
    final long[] words = new long[WORDS];

    private boolean isAfterLoss;

    /** A view of nothing until it is wrapped. */
    public PortalsEventFlyweight() {}

    private long word(int offset) {
        return words[offset >> 3];
    }

    private int half(int offset) {
        return (int) (words[offset >> 3] >>> ((offset & 4) << 3));
    }

    /** Whether events before this one were lost because the queue was full. */
    public boolean isAfterLoss() {
        return isAfterLoss;
    }

    void isAfterLoss(boolean newIsAfterLoss) {
        isAfterLoss = newIsAfterLoss;
    }

    /** One of {@link PortalsEventKind}. */
    public int kind() {
        return (int) (words[portals.PTL_SLOT_KIND >> 3] >>> ((portals.PTL_SLOT_KIND & 7) << 3))
                & 0xFF;
    }

    /** 0, or why the operation failed; {@link PortalsOutcome#FAILED} plus it has a name. */
    public int failure() {
        return (int)
                        (words[portals.PTL_SLOT_NI_FAIL >> 3]
                                >>> ((portals.PTL_SLOT_NI_FAIL & 7) << 3))
                & 0xFF;
    }

    /** Node id of the other side, or of the initiator. */
    public int nid() {
        return half(portals.PTL_SLOT_NID);
    }

    /** Process id of the other side, or of the initiator. */
    public int pid() {
        return (int) (words[portals.PTL_SLOT_PID >> 3] >>> ((portals.PTL_SLOT_PID & 7) << 3))
                & 0xFFFF;
    }

    /** Nid and pid in one word, as {@link PortalsProcess#target}. */
    public long process() {
        return (long) nid() << 32 | pid();
    }

    /** User id of that process. */
    public int uid() {
        return half(portals.PTL_SLOT_UID);
    }

    /** Job id of that process. */
    public int jid() {
        return half(portals.PTL_SLOT_JID);
    }

    /** Index of the table entry. */
    public int portalIndex() {
        return half(portals.PTL_SLOT_PT_INDEX);
    }

    /** Match bits of the request. */
    public long matchBits() {
        return word(portals.PTL_SLOT_MATCH_BITS);
    }

    /** Bytes asked for. */
    public long requestedLength() {
        return word(portals.PTL_SLOT_RLENGTH);
    }

    /** Bytes moved. */
    public long length() {
        return word(portals.PTL_SLOT_MLENGTH);
    }

    /** Where in the descriptor. */
    public long offset() {
        return word(portals.PTL_SLOT_OFFSET);
    }

    /** Handle of the descriptor. */
    public int descriptorHandle() {
        return half(portals.PTL_SLOT_MD_HANDLE);
    }

    /** What {@link MemoryDescriptorContext#userPointer} was given. */
    public long userPointer() {
        return word(portals.PTL_SLOT_USER_PTR);
    }

    /** Start of the descriptor's region. */
    public long descriptorStart() {
        return word(portals.PTL_SLOT_MD_START);
    }

    /** Length of the descriptor's region. */
    public long descriptorLength() {
        return word(portals.PTL_SLOT_MD_LENGTH);
    }

    /** The descriptor's {@code max_size}. */
    public long descriptorSpaceMin() {
        return word(portals.PTL_SLOT_MD_MAX_SIZE);
    }

    /** The descriptor's threshold after this operation was counted. */
    public int descriptorThreshold() {
        return half(portals.PTL_SLOT_MD_THRESHOLD);
    }

    /** The descriptor's option bits. */
    public int descriptorOptions() {
        return half(portals.PTL_SLOT_MD_OPTIONS);
    }

    /** 64 bits that came with the put. */
    public long headerData() {
        return word(portals.PTL_SLOT_HDR_DATA);
    }

    /** {@link #sequence} of the event that this one belongs to. */
    public int link() {
        return half(portals.PTL_SLOT_LINK);
    }

    /** Rises by one per event of a queue, modulo 2^32. */
    public int sequence() {
        return (int) word(portals.PTL_SLOT_STAMP);
    }

    /** Incarnation of the process named by {@link #process}. */
    public long incarnation() {
        return word(portals.PTL_SLOT_INCARNATION);
    }

    @Override
    public String toString() {
        return ("%s from %s, index %s, bits 0x%x, %s of %s bytes at %s, descriptor %s,"
                        + " hdr_data 0x%x, sequence %s%s")
                .formatted(
                        PortalsEventKind.name(kind()),
                        PortalsProcess.of(process()),
                        portalIndex(),
                        matchBits(),
                        length(),
                        requestedLength(),
                        offset(),
                        MatchEntry.hex(descriptorHandle()),
                        headerData(),
                        Integer.toUnsignedString(sequence()),
                        failure() == 0
                                ? ""
                                : ", " + PortalsOutcome.name(PortalsOutcome.FAILED + failure()));
    }
}
