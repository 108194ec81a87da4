package dev.verbena.portals;

import dev.verbena.portals.bindings.portals;
import dev.verbena.portals.bindings.ptl_ext_options_t;
import dev.verbena.portals.bindings.ptl_ni_limits_t;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.agrona.BitUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.IntPointer;
import org.bytedeco.javacpp.PointerScope;

/**
 * One open network interface: a process's place on the network (nid, pid), its table of match
 * lists, its access control and its counters. Parent of every other Portals object. C: {@code
 * ptl_handle_ni_t}.
 *
 * <p>Threads: owned by the thread that opened it; {@link #ring} may be called by any thread, and
 * {@link #moveTo} hands it over.
 */
public final class PortalsInterface implements AutoCloseable {
    /** Wildcard for nid, pid, uid, jid and portal index. */
    public static final int ANY = -1;

    private static final int WHY_LENGTH = 512;

    private final int handle;
    private final PortalsProcess id;
    private final PortalsLimits limits;
    private final PortalsTrace trace;
    private final boolean isTraced;
    private final long incarnation;
    private final UnsafeBuffer scratch;
    private final long scratchAddress;
    private final CombinedCalls combined = new CombinedCalls(this);
    private final Set<PortalsObject> children = Collections.newSetFromMap(new IdentityHashMap<>());
    private Thread ownerThread = Thread.currentThread();
    private boolean isClosed;

    private PortalsInterface(int handle, PortalsLimits limits, PortalsTrace trace) {
        this.handle = handle;
        this.limits = limits;
        this.trace = trace;
        this.isTraced = trace != null;
        this.scratch =
                new UnsafeBuffer(
                        org.agrona.BufferUtil.allocateDirectAligned(64, BitUtil.CACHE_LINE_LENGTH));
        this.scratchAddress = scratch.addressOffset();
        long own = portals.vpn_id(handle);
        check("PtlGetId", own);
        this.id = PortalsProcess.of(own);
        check("PtlExtIncarnation", portals.vpn_incarnation(handle, scratchAddress));
        this.incarnation = scratch.getLong(0);
    }

    /** Why Portals cannot work here and what to do about it; null if it can. */
    public static String unavailabilityCause() {
        return PortalsNative.unavailabilityCause();
    }

    /**
     * Opens an interface. C: {@code PtlNIInit}, with more freedom.
     *
     * @throws IllegalStateException if there is an {@link #unavailabilityCause}
     * @throws PortalsException PTL_PID_INVALID if the pid is taken, PTL_NO_SPACE without memory
     */
    @SuppressWarnings("try") // the scope is not read; what is made in it ends with it
    public static PortalsInterface open(PortalsInterfaceContext context) {
        PortalsNative.open();
        try (PointerScope scope = new PointerScope()) {
            ptl_ext_options_t options = new ptl_ext_options_t();
            context.fill(options);
            ptl_ni_limits_t actual = new ptl_ni_limits_t();
            IntPointer made = new IntPointer(1);
            BytePointer why = new BytePointer(WHY_LENGTH).zero();
            ptl_ni_limits_t desired = new ptl_ni_limits_t();
            context.fill(desired);
            int code = portals.PtlExtNIOpen(options, desired, actual, made, why, WHY_LENGTH);
            if (code != PortalsCode.OK) {
                throw new PortalsException(
                        "PtlExtNIOpen", code, "job '" + context.job + "'", text(why));
            }
            return new PortalsInterface(made.get(), PortalsLimits.of(actual), context.trace);
        }
    }

    /** What the library has written into a field that is longer and was zeroed. */
    private static String text(BytePointer field) {
        return field.getString(StandardCharsets.UTF_8).trim();
    }

    /** The C handle. */
    public int handle() {
        return handle;
    }

    /** Own nid and pid. C: {@code PtlGetId}. */
    public PortalsProcess id() {
        return id;
    }

    /** Another one for each opening; not Portals. */
    public long incarnation() {
        return incarnation;
    }

    /** What was granted. */
    public PortalsLimits limits() {
        return limits;
    }

    /** Own user id. C: {@code PtlGetUid}. */
    public int uid() {
        checkOwner();
        return (int) check("PtlGetUid", portals.vpn_uid(handle));
    }

    /** Own job id. C: {@code PtlGetJid}. */
    public int jid() {
        checkOwner();
        return (int) check("PtlGetJid", portals.vpn_jid(handle));
    }

    /**
     * A status register. C: {@code PtlNIStatus}.
     *
     * @param register one of {@link PortalsRegister}
     */
    public long status(int register) {
        checkOwner();
        return check("PtlNIStatus", portals.vpn_status(handle, register));
    }

    /** 0: this process, 1: this node, 2: elsewhere. C: {@code PtlNIDist}. */
    public long distance(PortalsProcess process) {
        checkOwner();
        return check("PtlNIDist", portals.vpn_distance(handle, process.target()));
    }

    /**
     * Sets one entry of the access control table: who may use it. C: {@code PtlACEntry}. Requests
     * name an entry by its index; each takes {@link #ANY}.
     */
    public void access(int accessIndex, int nid, int pid, int uid, int jid, int portalIndex) {
        checkOwner();
        check(
                "PtlACEntry",
                portals.vpn_ac_entry(handle, accessIndex, nid, pid, uid, jid, portalIndex));
    }

    /**
     * A new match entry at the head or tail of a list; if the context has a descriptor, with that
     * in one step. C: {@code PtlMEAttach}, {@code PtlMEMDAttach}.
     *
     * @throws PortalsException PTL_PT_INDEX_INVALID, PTL_MD_ILLEGAL, PTL_NO_SPACE: nothing was made
     */
    public MatchEntry attach(int portalIndex, MatchEntryContext c) {
        checkOwner();
        return c.descriptor == null
                ? new MatchEntry(this, attachEntry(portalIndex, c, c.position), portalIndex, c)
                : combined.attach(portalIndex, c);
    }

    CombinedCalls combined() {
        return combined;
    }

    int attachEntry(int portalIndex, MatchEntryContext c, boolean position) {
        long result =
                portals.vpn_me_attach(
                        handle,
                        portalIndex,
                        c.nid,
                        c.pid,
                        c.matchBits,
                        c.ignoreBits,
                        c.unlink ? 1 : 0,
                        position ? 1 : 0);
        if (isTraced) {
            trace(
                    "PtlMEAttach",
                    "pt_index=%s match_bits=0x%x%s%s"
                            .formatted(
                                    portalIndex,
                                    c.matchBits,
                                    c.unlink ? " UNLINK" : " RETAIN",
                                    position ? " INS_AFTER" : " INS_BEFORE"),
                    result);
        }
        return (int) check("PtlMEAttach", result);
    }

    /** A new match entry on a list that has none. C: {@code PtlMEAttachAny}. */
    public MatchEntry attachAny(int nid, int pid, long matchBits, long ignoreBits, boolean unlink) {
        checkOwner();
        long result =
                check(
                        "PtlMEAttachAny",
                        portals.vpn_me_attach_any(
                                handle, nid, pid, matchBits, ignoreBits, unlink ? 1 : 0));
        MatchEntryContext criteria =
                MatchEntryContext.of(nid, pid, matchBits, ignoreBits, unlink, MatchEntry.BEFORE);
        return new MatchEntry(this, (int) result, (int) (result >>> 32), criteria);
    }

    /** A descriptor without match entry, to start puts and gets from. C: {@code PtlMDBind}. */
    public MemoryDescriptor bind(MemoryDescriptorContext context, boolean unlink) {
        checkOwner();
        long result =
                portals.vpn_md_bind(
                        handle,
                        context.addressFor(this),
                        context.length,
                        context.threshold,
                        context.spaceMin,
                        context.options,
                        context.userPointer,
                        context.queueHandle(this),
                        unlink ? 1 : 0);
        Reference.reachabilityFence(context); // its segments, until C has copied them
        if (isTraced) {
            trace("PtlMDBind", context.text(unlink), result);
        }
        check("PtlMDBind", result);
        return new MemoryDescriptor(this, (int) result, context, null);
    }

    /** An event queue for at least so many events. C: {@code PtlEQAlloc}. */
    public EventQueue eventQueue(int capacity) {
        checkOwner();
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity " + capacity + " is below 1");
        }
        long made = portals.vpn_eq_alloc(handle, capacity);
        if (isTraced) {
            trace("PtlEQAlloc", "count=" + capacity, made);
        }
        check("PtlEQAlloc", made);
        check("PtlExtEQView", portals.vpn_eq_view((int) made, scratchAddress));
        return new EventQueue(
                this, (int) made, scratch.getLong(0), scratch.getLong(8), scratch.getLong(16));
    }

    /** Memory that peers map; not Portals. */
    public PortalsMemory allocate(long length) {
        checkOwner();
        if (length < 1) {
            throw new IllegalArgumentException("length " + length + " is below 1");
        }
        long address = check("PtlExtMemoryAlloc", portals.vpn_memory_alloc(handle, length, 0));
        return new PortalsMemory(this, address, length);
    }

    /**
     * Number to pass to {@link #await}; read it before looking into the queues. Not Portals.
     *
     * @throws PortalsException naming a file of this interface's memory that somebody cut
     */
    public int doorbell() {
        checkOwner();
        long seen = portals.vpn_doorbell(handle);
        if (seen < 0) {
            throw PortalsNative.failure("PtlExtDoorbell", seen, this);
        }
        return (int) seen;
    }

    /**
     * Sleeps until an event is logged for this interface, {@link #ring}, or the time is over; does
     * what dead initiators left to do.
     *
     * @param seen of {@link #doorbell}
     * @return false if the time was over
     */
    public boolean await(int seen, long timeoutNs) {
        checkOwner();
        int code = portals.PtlExtWait(handle, seen, timeoutNs);
        if (code != PortalsCode.OK && code != PortalsCode.EQ_EMPTY) {
            throw PortalsNative.failure("PtlExtWait", -code, this);
        }
        return code == PortalsCode.OK;
    }

    /**
     * Takes the oldest event of the first queue, in the order of the array, that has one; sleeps
     * until there is one. No fairness: what comes first in the array is served first. C: {@code
     * PtlEQPoll}.
     *
     * @param queues of this interface
     * @param timeoutNs 0: look once; negative: no limit
     * @return index of the queue, -1 if the time was over; {@link
     *     PortalsEventFlyweight#isAfterLoss} tells whether events were lost
     */
    public int pollAny(EventQueue[] queues, PortalsEventFlyweight event, long timeoutNs) {
        checkOwner();
        return EventQueue.pollAny(this, queues, event, timeoutNs);
    }

    /** Wakes {@link #await}. Any thread. */
    public void ring() {
        portals.PtlExtRing(handle);
    }

    /** Finishes what dead initiators left; {@link #await} does it too. Returns how many. */
    public int reap() {
        checkOwner();
        return (int) check("PtlExtReap", portals.PtlExtReap(handle));
    }

    /**
     * State of another interface: one of {@link PeerState}; its incarnation is then answered by
     * {@link #peerIncarnation}.
     */
    public int peerState(long target) {
        checkOwner();
        return (int)
                check("PtlExtPeerState", portals.vpn_peer_state(handle, target, scratchAddress));
    }

    /** Incarnation that the last {@link #peerState} found, 0 if none. */
    public long peerIncarnation() {
        return scratch.getLong(0);
    }

    /** Operations towards the target go to this incarnation only from now on; 0: to any. */
    public void pinPeer(long target, long peerIncarnation) {
        checkOwner();
        check("PtlExtPeerPin", portals.vpn_peer_pin(handle, target, peerIncarnation));
    }

    /** Gives back what is held of the target: its mapping and our slot in it. */
    public void forgetPeer(long target) {
        checkOwner();
        check("PtlExtPeerForget", portals.vpn_peer_forget(handle, target));
    }

    /**
     * Checks every list, count and link of the interface. Slow.
     *
     * @return the first fault found, null if there is none
     * @throws PortalsException if it cannot be checked, as a stopped process holds the lock
     */
    @SuppressWarnings("try") // the scope is not read; what is made in it ends with it
    public String findFault() {
        checkOwner();
        try (PointerScope scope = new PointerScope()) {
            BytePointer why = new BytePointer(WHY_LENGTH).zero();
            return check("PtlExtCheck", portals.PtlExtCheck(handle, why, WHY_LENGTH)) == 0
                    ? null
                    : text(why);
        }
    }

    /** Hands the interface and its objects over to the calling thread; the owner has stopped. */
    public void moveTo(Thread thread) {
        ownerThread = thread;
    }

    /**
     * Closes. Idempotent. C: {@code PtlNIFini}.
     *
     * @throws IllegalStateException naming objects that are still open; nothing is closed then
     */
    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        checkOwner();
        if (!children.isEmpty()) {
            List<String> open = new ArrayList<>();
            children.stream().limit(8).forEach(child -> open.add(child.toString()));
            throw new IllegalStateException(
                    this + " has " + children.size() + " open objects: " + open);
        }
        closeAll();
    }

    /** Closes with everything that it made: entries and descriptors go without an event. */
    public void closeAll() {
        if (isClosed) {
            return;
        }
        checkOwner();
        // Readers in Java must not look into memory that goes.
        for (PortalsObject child : children) {
            child.retireWithInterface();
        }
        children.clear();
        isClosed = true;
        int code = portals.PtlNIFini(handle);
        if (isTraced) {
            trace("PtlNIFini", "ni=" + MatchEntry.hex(handle), -code);
        }
        if (code != PortalsCode.OK) {
            throw PortalsNative.failure("PtlNIFini", -code, this);
        }
    }

    void adopt(PortalsObject child) {
        children.add(child);
    }

    void disown(PortalsObject child) {
        children.remove(child);
    }

    void checkOwner() {
        if (Thread.currentThread() != ownerThread || isClosed) {
            throw refused();
        }
    }

    private IllegalStateException refused() {
        return new IllegalStateException(
                isClosed
                        ? "closed: " + this
                        : "%s is owned by thread '%s', not by '%s'"
                                .formatted(
                                        this,
                                        ownerThread.getName(),
                                        Thread.currentThread().getName()));
    }

    boolean isTraced() {
        return isTraced;
    }

    void trace(String call, String arguments, long result) {
        trace.onCall(
                call,
                arguments,
                result > 0 ? MatchEntry.hex((int) result) : PortalsCode.name((int) -result));
    }

    void trace(String call, String arguments, String result) {
        trace.onCall(call, arguments, result);
    }

    private long check(String call, long result) {
        return PortalsNative.check(call, result, this);
    }

    @Override
    public String toString() {
        return "Portals interface " + id;
    }
}
