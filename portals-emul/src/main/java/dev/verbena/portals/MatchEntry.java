package dev.verbena.portals;

import dev.verbena.portals.bindings.portals;
import java.lang.ref.Reference;
import java.util.Objects;

/**
 * An entry of a match list: which senders and match bits it takes, and at most one memory
 * descriptor that says where their bytes go. An entry without descriptor matches nothing.
 *
 * <p>Made by {@link PortalsInterface#attach}, {@link PortalsInterface#attachAny} and {@link
 * #insert}. C: {@code ptl_handle_me_t}.
 */
public final class MatchEntry extends PortalsObject {
    /** Unlink argument: the entry stays when its descriptor goes, and may take another. */
    public static final boolean RETAIN = false;

    /** Unlink argument: the entry goes with its descriptor. */
    public static final boolean UNLINK = true;

    /** Position: head of the list, or in front of the base. */
    public static final boolean BEFORE = false;

    /** Position: tail of the list, or behind the base. */
    public static final boolean AFTER = true;

    private final int portalIndex;
    private final MatchEntryContext criteria;
    private int handle;
    private MemoryDescriptor descriptor;

    /** The context is copied. */
    MatchEntry(PortalsInterface owner, int handle, int portalIndex, MatchEntryContext context) {
        super(owner);
        this.handle = handle;
        this.portalIndex = portalIndex;
        this.criteria = context.criteria();
    }

    /** The C handle: index and generation. */
    public int handle() {
        return handle;
    }

    /** Index of the table entry whose list it is in. */
    public int portalIndex() {
        return portalIndex;
    }

    /** Bits that a request must have, where the entry does not ignore them. */
    public long matchBits() {
        return criteria.matchBits;
    }

    /**
     * Attaches a descriptor. C: {@code PtlMDAttach}.
     *
     * @param unlink {@link MemoryDescriptor#UNLINK}: it goes by itself when it is used up
     * @throws PortalsException PTL_ME_IN_USE if it has one, PTL_MD_ILLEGAL, PTL_NO_SPACE
     */
    public MemoryDescriptor attach(MemoryDescriptorContext context, boolean unlink) {
        checkOpen();
        int made = attachDescriptor(context, unlink);
        descriptor = new MemoryDescriptor(owner, made, context, this);
        return descriptor;
    }

    private int attachDescriptor(MemoryDescriptorContext context, boolean unlink) {
        long result =
                portals.vpn_md_attach(
                        handle,
                        context.addressFor(owner),
                        context.length,
                        context.threshold,
                        context.spaceMin,
                        context.options,
                        context.userPointer,
                        context.queueHandle(owner),
                        unlink ? 1 : 0);
        Reference.reachabilityFence(context); // its segments, until C has copied them
        if (owner.isTraced()) {
            owner.trace("PtlMDAttach", "me=" + hex(handle) + " " + context.text(unlink), result);
        }
        PortalsNative.check("PtlMDAttach", result, this);
        return (int) result;
    }

    /**
     * A new entry directly before or after this one; if the context has a descriptor, with that in
     * one step. C: {@code PtlMEInsert}, {@code PtlMEMDInsert}.
     *
     * @throws PortalsException PTL_ME_INVALID if this one is gone, PTL_MD_ILLEGAL, PTL_NO_SPACE:
     *     nothing was made
     */
    public MatchEntry insert(MatchEntryContext c) {
        checkOpen();
        return c.descriptor == null ? insertBare(c) : owner.combined().insert(this, c);
    }

    private MatchEntry insertBare(MatchEntryContext c) {
        long result =
                portals.vpn_me_insert(
                        handle,
                        c.nid,
                        c.pid,
                        c.matchBits,
                        c.ignoreBits,
                        c.unlink ? 1 : 0,
                        c.position ? 1 : 0);
        if (owner.isTraced()) {
            String arguments = "base=%s bits=0x%x".formatted(hex(handle), c.matchBits);
            owner.trace("PtlMEInsert", arguments, result);
        }
        PortalsNative.check("PtlMEInsert", result, this);
        return new MatchEntry(owner, (int) result, portalIndex, c);
    }

    /**
     * As {@link #insert(MatchEntryContext)}, but only if a queue holds no event that was not taken:
     * a receiver that has looked through what arrived unexpectedly misses nothing that arrives
     * meanwhile. C: {@code PtlMEMDPost}.
     *
     * @return null if the queue holds events or an operation that would log there is in progress:
     *     nothing was made
     * @throws NullPointerException if the context has no descriptor
     */
    public MatchEntry post(MatchEntryContext c, EventQueue testQueue) {
        checkOpen();
        Objects.requireNonNull(c.descriptor, "descriptor");
        return owner.combined().post(this, c, testQueue);
    }

    /** Takes the descriptor that was made in one step with this entry. */
    MatchEntry with(MemoryDescriptor made) {
        descriptor = made;
        return this;
    }

    /** The descriptor that was attached last; null if there was none. */
    public MemoryDescriptor descriptor() {
        return descriptor;
    }

    /**
     * Removes the entry and its descriptor. C: {@code PtlMEUnlink}.
     *
     * @return false while an operation is in progress in the descriptor, or a stopped process holds
     *     the lock of the interface: nothing was done
     */
    public boolean tryUnlink() {
        return PortalsNative.isUnlinked("PtlMEUnlink", unlink(), this);
    }

    /** PTL_OK: it is gone. */
    private int unlink() {
        owner.checkOwner();
        if (isClosed()) {
            return PortalsCode.OK;
        }
        int code = portals.PtlMEUnlink(handle);
        if (owner.isTraced()) {
            owner.trace("PtlMEUnlink", "me=" + hex(handle), -code);
        }
        // ME_INVALID: it went with its descriptor.
        if (code != PortalsCode.OK && code != PortalsCode.ME_INVALID) {
            return code;
        }
        if (descriptor != null && !descriptor.isClosed()) {
            descriptor.retire(); // C took it away with the entry
        }
        retire();
        return PortalsCode.OK;
    }

    /**
     * Removes the entry and its descriptor. Idempotent; nothing is left to do if it went by itself.
     *
     * @throws PortalsException PTL_ME_IN_USE while an operation is in progress, PTL_NO_SPACE while
     *     a stopped process holds the lock of the interface
     */
    @Override
    public void close() {
        PortalsNative.check("PtlMEUnlink", -unlink(), this);
    }

    /**
     * Attaches the entry once more with the same criteria, at the head or tail of its list, under a
     * new handle. For entries that go with their descriptors; allocates nothing. C: {@code
     * PtlMEAttach}.
     *
     * @throws PortalsException PTL_ME_IN_USE while an operation is in progress in the old one,
     *     PTL_NO_SPACE; it may be called again then, though the old one may be gone
     */
    public void renew(boolean position) {
        checkOpen();
        int code = portals.PtlMEUnlink(handle); // usually gone by itself
        if (code != PortalsCode.OK && code != PortalsCode.ME_INVALID) {
            throw PortalsNative.failure("PtlMEUnlink", -code, this);
        }
        handle = owner.attachEntry(portalIndex, criteria, position);
    }

    /**
     * Attaches the descriptor that was attached before once more, under a new handle. Allocates
     * nothing. C: {@code PtlMDAttach}.
     */
    public void attachAgain(MemoryDescriptorContext context, boolean unlink) {
        checkOpen();
        descriptor.renewed(attachDescriptor(context, unlink), context.bytes);
    }

    @Override
    public String toString() {
        return "match entry %s at index %s, bits 0x%x"
                .formatted(hex(handle), portalIndex, criteria.matchBits);
    }

    static String hex(int handle) {
        return "0x" + Integer.toHexString(handle);
    }
}
