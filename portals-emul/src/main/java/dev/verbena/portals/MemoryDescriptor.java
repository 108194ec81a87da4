package dev.verbena.portals;

import dev.verbena.portals.bindings.portals;
import java.lang.ref.Reference;

/**
 * A region with its rules. Attached to a {@link MatchEntry} it takes what peers send; attached or
 * not, puts and gets are started from it. C: {@code ptl_handle_md_t}.
 *
 * <p>{@link #put} and {@link #get} allocate nothing. They answer a {@link PortalsOutcome}, or a
 * negated {@link PortalsCode} if nothing was started: PTL_MD_INVALID (gone or inactive),
 * PTL_MD_ILLEGAL (range outside), PTL_NO_SPACE (a stopped process holds the target's lock: try
 * later), PTL_PROCESS_INVALID.
 */
public final class MemoryDescriptor extends PortalsObject {
    /** Unlink argument: it stays when it is used up, inactive. */
    public static final boolean RETAIN = false;

    /** Unlink argument: it goes when it is used up, and an UNLINK event says so. */
    public static final boolean UNLINK = true;

    private static final int ACK = portals.PTL_ACK_REQ;
    private static final int NO_ACK = portals.PTL_NO_ACK_REQ;

    private final MatchEntry entry;
    private final boolean isTraced;
    private int handle;
    private long length;

    MemoryDescriptor(
            PortalsInterface owner, int handle, MemoryDescriptorContext context, MatchEntry entry) {
        super(owner);
        this.length = context.bytes;
        this.handle = handle;
        this.entry = entry;
        this.isTraced = owner.isTraced();
    }

    /** The C handle: index and generation. */
    public int handle() {
        return handle;
    }

    /** The entry that it is attached to, null for a free one. */
    public MatchEntry entry() {
        return entry;
    }

    /** Bytes of its region. */
    long length() {
        return length;
    }

    /**
     * Puts; as the other form, with the values by their names. C: {@code PtlPutRegion}.
     *
     * @return a {@link PortalsOutcome} or a negated {@link PortalsCode}
     */
    public int put(PortalsRequest to) {
        return put(
                to.localOffset,
                to.lengthOf(this),
                to.ack,
                to.target,
                to.portalIndex,
                to.accessIndex,
                to.matchBits,
                to.remoteOffset,
                to.headerData);
    }

    /**
     * Gets; as the other form, with the values by their names. C: {@code PtlGetRegion}.
     *
     * @return a {@link PortalsOutcome} or a negated {@link PortalsCode}
     */
    public int get(PortalsRequest from) {
        return get(
                from.localOffset,
                from.lengthOf(this),
                from.target,
                from.portalIndex,
                from.accessIndex,
                from.matchBits,
                from.remoteOffset);
    }

    /**
     * Puts a part of the region. C: {@code PtlPutRegion}.
     *
     * @param ack whether the target shall acknowledge; the ACK event comes to this descriptor's
     *     queue
     * @param target as of {@link PortalsProcess#target}
     * @param headerData 64 bits that the target finds in its event
     * @return a {@link PortalsOutcome} or a negated {@link PortalsCode}
     */
    public int put(
            long localOffset,
            long length,
            boolean ack,
            long target,
            int portalIndex,
            int accessIndex,
            long matchBits,
            long remoteOffset,
            long headerData) {
        owner.checkOwner();
        int result =
                portals.vpn_put(
                        handle,
                        localOffset,
                        length,
                        ack ? ACK : NO_ACK,
                        target,
                        portalIndex,
                        accessIndex,
                        matchBits,
                        remoteOffset,
                        headerData);
        if (isTraced) {
            owner.trace(
                    "PtlPutRegion",
                    arguments(localOffset, length, target, portalIndex, matchBits, remoteOffset)
                            + (ack ? " ACK_REQ" : " NO_ACK_REQ")
                            + " hdr_data=0x%x".formatted(headerData),
                    PortalsOutcome.name(result));
        }
        return result;
    }

    /**
     * Gets into a part of the region. C: {@code PtlGetRegion}.
     *
     * @param target as of {@link PortalsProcess#target}
     * @return a {@link PortalsOutcome} or a negated {@link PortalsCode}
     */
    public int get(
            long localOffset,
            long length,
            long target,
            int portalIndex,
            int accessIndex,
            long matchBits,
            long remoteOffset) {
        owner.checkOwner();
        int result =
                portals.vpn_get(
                        handle,
                        localOffset,
                        length,
                        target,
                        portalIndex,
                        accessIndex,
                        matchBits,
                        remoteOffset);
        if (isTraced) {
            owner.trace(
                    "PtlGetRegion",
                    arguments(localOffset, length, target, portalIndex, matchBits, remoteOffset),
                    PortalsOutcome.name(result));
        }
        return result;
    }

    /**
     * Swaps: the whole of {@code source} goes to the target, what was there comes into this
     * descriptor. Atomic towards every other operation there. C: {@code PtlGetPut}.
     *
     * @return a {@link PortalsOutcome} or a negated {@link PortalsCode}
     */
    public int getPut(
            MemoryDescriptor source,
            long target,
            int portalIndex,
            int accessIndex,
            long matchBits,
            long remoteOffset,
            long headerData) {
        owner.checkOwner();
        int result =
                portals.vpn_get_put(
                        handle,
                        source.handle,
                        target,
                        portalIndex,
                        accessIndex,
                        matchBits,
                        remoteOffset,
                        headerData);
        if (isTraced) {
            owner.trace(
                    "PtlGetPut",
                    arguments(0, 0, target, portalIndex, matchBits, remoteOffset),
                    PortalsOutcome.name(result));
        }
        return result;
    }

    /**
     * Swaps a part: {@code length} bytes of {@code source} go to the target, what was there comes
     * into this descriptor. Atomic. C: {@code PtlGetPutRegion}, an addition of Cray's.
     *
     * @param localOffset where in this descriptor the old bytes go
     * @param sourceOffset where in {@code source} the new bytes are
     * @param length at most {@link PortalsLimits#getPutLengthMax}
     * @return a {@link PortalsOutcome} or a negated {@link PortalsCode}
     */
    public int getPut(
            long localOffset,
            MemoryDescriptor source,
            long sourceOffset,
            long length,
            long target,
            int portalIndex,
            int accessIndex,
            long matchBits,
            long remoteOffset,
            long headerData) {
        owner.checkOwner();
        int result =
                portals.vpn_get_put_region(
                        handle,
                        localOffset,
                        source.handle,
                        sourceOffset,
                        length,
                        target,
                        portalIndex,
                        accessIndex,
                        matchBits,
                        remoteOffset,
                        headerData);
        if (isTraced) {
            owner.trace(
                    "PtlGetPutRegion",
                    arguments(localOffset, length, target, portalIndex, matchBits, remoteOffset),
                    PortalsOutcome.name(result));
        }
        return result;
    }

    /**
     * Replaces region and rules and resets the local offset to 0, if {@code testQueue} holds no
     * event that was not taken. C: {@code PtlMDUpdate}.
     *
     * @param testQueue null: unconditionally
     * @return false if the queue holds events or an operation is in progress: nothing was changed
     */
    public boolean update(MemoryDescriptorContext context, EventQueue testQueue) {
        checkOpen();
        long result =
                portals.vpn_md_update(
                        handle,
                        context.addressFor(owner),
                        context.length,
                        context.threshold,
                        context.spaceMin,
                        context.options,
                        context.userPointer,
                        context.queueHandle(owner),
                        testQueue == null ? PortalsNative.EQ_NONE : testQueue.handle());
        Reference.reachabilityFence(context); // its segments, until C has copied them
        if (owner.isTraced()) {
            owner.trace(
                    "PtlMDUpdate",
                    "md=" + MatchEntry.hex(handle) + " " + context.text(false),
                    result);
        }
        if (result == -PortalsCode.MD_NO_UPDATE) {
            return false;
        }
        PortalsNative.check("PtlMDUpdate", result, this);
        length = context.bytes;
        return true;
    }

    /**
     * Operations that are left, {@link MemoryDescriptorContext#INFINITE} if it does not count. C:
     * {@code PtlMDUpdate} that only reads.
     *
     * @throws PortalsException PTL_MD_INVALID if it went by itself
     */
    public int threshold() {
        checkOpen();
        long result = portals.vpn_md_threshold(handle);
        PortalsNative.check("PtlMDUpdate", result, this);
        return (int) result;
    }

    /** Whether it is still there; it may have gone by itself, or with its entry. */
    public boolean isLinked() {
        owner.checkOwner();
        return !isClosed() && portals.vpn_md_threshold(handle) != -PortalsCode.MD_INVALID;
    }

    /**
     * Removes it, and its entry if that is to go with it. C: {@code PtlMDUnlink}.
     *
     * @return false while an operation is in progress, or a stopped process holds the lock of the
     *     interface: nothing was done
     */
    public boolean tryUnlink() {
        return PortalsNative.isUnlinked("PtlMDUnlink", unlink(), this);
    }

    /** PTL_OK: it is gone. */
    private int unlink() {
        owner.checkOwner();
        if (isClosed()) {
            return PortalsCode.OK;
        }
        int code = portals.PtlMDUnlink(handle);
        if (owner.isTraced()) {
            owner.trace("PtlMDUnlink", "md=" + MatchEntry.hex(handle), -code);
        }
        // MD_INVALID: it went by itself, or with its entry.
        if (code != PortalsCode.OK && code != PortalsCode.MD_INVALID) {
            return code;
        }
        retire();
        return PortalsCode.OK;
    }

    /**
     * Removes it in C, as {@link #tryUnlink}, but keeps the object for {@link
     * MatchEntry#attachAgain}.
     *
     * @return false while an operation is in progress, or a stopped process holds the lock of the
     *     interface: nothing was done
     */
    public boolean withdraw() {
        checkOpen();
        int code = portals.PtlMDUnlink(handle);
        return code == PortalsCode.MD_INVALID
                || PortalsNative.isUnlinked("PtlMDUnlink", code, this);
    }

    /**
     * Removes it. Idempotent; nothing is left to do if it went by itself.
     *
     * @throws PortalsException PTL_MD_IN_USE while an operation is in progress, PTL_NO_SPACE while
     *     a stopped process holds the lock of the interface
     */
    @Override
    public void close() {
        PortalsNative.check("PtlMDUnlink", -unlink(), this);
    }

    void renewed(int newHandle, long newLength) {
        handle = newHandle;
        length = newLength;
    }

    @Override
    public String toString() {
        return "memory descriptor " + MatchEntry.hex(handle) + " of " + length + " bytes";
    }

    private String arguments(
            long localOffset,
            long length,
            long target,
            int portalIndex,
            long matchBits,
            long remoteOffset) {
        return ("md=%s local_offset=%s length=%s target=%s pt_index=%s match_bits=0x%x"
                        + " remote_offset=%s")
                .formatted(
                        MatchEntry.hex(handle),
                        localOffset,
                        length,
                        PortalsProcess.of(target),
                        portalIndex,
                        matchBits,
                        remoteOffset);
    }
}
