package dev.verbena.portals;

import dev.verbena.portals.bindings.portals;
import dev.verbena.portals.bindings.ptl_ext_options_t;
import dev.verbena.portals.bindings.ptl_ni_limits_t;
import java.nio.charset.StandardCharsets;
import org.bytedeco.javacpp.BytePointer;

/** How to open a {@link PortalsInterface}. Fluent; zero or null means the library's default. */
public final class PortalsInterfaceContext {
    private String directory;
    String job;
    private boolean isCray;
    private int nid;
    private int pid;
    private int jid;
    private int eventSlotCount;
    private int initiatorsMax;
    private boolean isBounceAllowed;
    private int lockTimeoutMs;
    private int matchEntriesMax;
    private int descriptorsMax;
    private int eventQueuesMax;
    PortalsTrace trace;

    /** Everything at its default. */
    public PortalsInterfaceContext() {}

    /** Folder of the shared-memory segments; null: softnic's default. */
    public PortalsInterfaceContext directory(String directory) {
        this.directory = directory;
        return this;
    }

    /** Only interfaces of one job see each other. */
    public PortalsInterfaceContext job(String job) {
        this.job = job;
        return this;
    }

    /** Behave as the Cray XT did where that differs from the reference implementation. */
    public PortalsInterfaceContext cray(boolean isCray) {
        this.isCray = isCray;
        return this;
    }

    /** Node id, 0: the default, 1. */
    public PortalsInterfaceContext nid(int nid) {
        this.nid = nid;
        return this;
    }

    /** Process id, 1 to 65534; 0: the library gives a free one. */
    public PortalsInterfaceContext pid(int pid) {
        if (pid < 0 || pid > 0xFFFE) {
            throw new IllegalArgumentException("pid " + pid + " is outside 0 to 65534");
        }
        this.pid = pid;
        return this;
    }

    /** Job id as access control sees it; 0: the pid. */
    public PortalsInterfaceContext jid(int jid) {
        this.jid = jid;
        return this;
    }

    /** Events that all queues together can hold, 128 bytes each. */
    public PortalsInterfaceContext eventSlotCount(int eventSlotCount) {
        this.eventSlotCount = eventSlotCount;
        return this;
    }

    /** Interfaces that may send to this one. */
    public PortalsInterfaceContext initiatorsMax(int initiatorsMax) {
        this.initiatorsMax = initiatorsMax;
        return this;
    }

    /** Let a helper copy where the kernel forbids to reach memory of other processes. */
    public PortalsInterfaceContext allowBounce(boolean isBounceAllowed) {
        this.isBounceAllowed = isBounceAllowed;
        return this;
    }

    /** How long a call waits for a lock that a stopped process holds, milliseconds. */
    public PortalsInterfaceContext lockTimeoutMs(int lockTimeoutMs) {
        this.lockTimeoutMs = lockTimeoutMs;
        return this;
    }

    /** Match entries at a time; more than the library has is cut. */
    public PortalsInterfaceContext matchEntriesMax(int matchEntriesMax) {
        this.matchEntriesMax = matchEntriesMax;
        return this;
    }

    /** Memory descriptors at a time; more than the library has is cut. */
    public PortalsInterfaceContext descriptorsMax(int descriptorsMax) {
        this.descriptorsMax = descriptorsMax;
        return this;
    }

    /** Event queues at a time; more than the library has is cut. */
    public PortalsInterfaceContext eventQueuesMax(int eventQueuesMax) {
        this.eventQueuesMax = eventQueuesMax;
        return this;
    }

    /** Sees every Portals call of the interface; null: none. */
    public PortalsInterfaceContext trace(PortalsTrace trace) {
        this.trace = trace;
        return this;
    }

    void fill(ptl_ext_options_t options) {
        options.directory(text(directory));
        options.job(text(job));
        options.flavor(isCray ? portals.PTL_EXT_CRAY : portals.PTL_EXT_REF);
        options.nid(nid);
        options.pid(pid);
        options.jid(jid);
        options.event_slots(eventSlotCount);
        options.initiators_max(initiatorsMax);
        options.foreign_bounce(isBounceAllowed ? 1 : 0);
        options.lock_timeout_ms(lockTimeoutMs);
    }

    private static BytePointer text(String value) {
        return value == null ? null : new BytePointer(value, StandardCharsets.UTF_8);
    }

    /** Asks for as many as the library has of what is not limited. */
    void fill(ptl_ni_limits_t desired) {
        desired.max_mes(orMax(matchEntriesMax));
        desired.max_mds(orMax(descriptorsMax));
        desired.max_eqs(orMax(eventQueuesMax));
        desired.max_ac_index(Integer.MAX_VALUE);
        desired.max_pt_index(Integer.MAX_VALUE);
        desired.max_md_iovecs(Integer.MAX_VALUE);
        desired.max_me_list(Integer.MAX_VALUE);
        desired.max_getput_md(Integer.MAX_VALUE);
    }

    private static int orMax(int value) {
        return value == 0 ? Integer.MAX_VALUE : value;
    }
}
