package dev.verbena.portals.model;

import dev.verbena.portals.PortalsCode;
import dev.verbena.portals.PortalsEventKind;
import dev.verbena.portals.bindings.portals;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One interface as the specification describes it (sections 4 to 7): lists are lists and are walked
 * from their heads, nothing is ever concurrent. Written to be read beside the text, not to be fast.
 */
final class ModelNic {
    static final int ANY = -1;
    static final int NO_EVENTS =
            portals.PTL_MD_EVENT_START_DISABLE | portals.PTL_MD_EVENT_END_DISABLE;
    static final int AUTO_UNLINK_ENABLE = 0x200;
    static final int MANUAL_UNLINK_ENABLE = 0x400;
    static final int PORTALS = 64;
    static final int ACCESSES = 64;
    static final int PUT = 1;
    static final int GET = 2;
    static final int GET_PUT = 3;

    /** The START of a shorter put is logged with its END (p3_area.h: P3_SHORT_BYTES). */
    private static final int SHORT = 4096;

    /** A circular queue that forgets its oldest event when it is full. */
    static final class Queue {
        final int handle;
        final int capacity;
        final ArrayDeque<long[]> events = new ArrayDeque<>();
        private int sequence;
        private boolean hasLost;
        boolean isFreed;

        Queue(int handle, int count) {
            this.handle = handle;
            this.capacity = Math.max(2, Integer.highestOneBit(2 * count - 1));
            this.sequence = -capacity;
        }

        int log(long[] event) {
            event[ModelEvent.SEQUENCE] = sequence & 0xffffffffL;
            if (events.size() == capacity) {
                events.removeFirst();
                hasLost = true;
            }
            events.addLast(event);
            return sequence++;
        }

        /** EMPTY -1, else 0, or 1 when events were lost before this one; it is in {@code to}. */
        int take(long[] to) {
            if (events.isEmpty()) {
                return -1;
            }
            System.arraycopy(events.removeFirst(), 0, to, 0, ModelEvent.WORDS);
            int code = hasLost ? 1 : 0;
            hasLost = false;
            return code;
        }
    }

    /** A match entry. */
    static final class Entry {
        int handle;
        int portal;
        int nid;
        int pid;
        long bits;
        long ignored;
        boolean goes;
        Md md;
        boolean isDead;
    }

    /** A memory descriptor; {@code start} counts from the begin of the interface's memory. */
    static final class Md implements Cloneable {
        int handle;
        Entry entry;
        long start;
        long length;
        int threshold;
        long maxSize;
        int options;
        long user;
        Queue queue;
        boolean goes;
        long offset;
        int busy;
        boolean isInactive;
        boolean isDue;
        boolean isDead;

        boolean has(int option) {
            return (options & option) != 0;
        }

        Md copy() {
            try {
                return (Md) clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Who started it, and what it says. */
    record Request(
            int operation,
            ModelNic from,
            int portal,
            int access,
            long bits,
            long length,
            long remoteOffset,
            long header) {}

    /** A request that a descriptor took; {@code copy}: the descriptor as it was counted. */
    record Accepted(Md md, Md copy, long offset, long length, Integer start, boolean isStartLate) {}

    private record Access(int nid, int pid, int uid, int jid, int portal) {}

    final int nid;
    final int pid;
    final int uid;
    final int jid;
    final boolean isCray;
    final byte[] memory;
    final List<List<Entry>> lists = new ArrayList<>();
    final List<Md> mds = new ArrayList<>();
    final List<Queue> queues = new ArrayList<>();
    final long[] registers = new long[portals.PTL_SR_SEND_LENGTH + 1];
    private final Access[] accesses = new Access[ACCESSES];

    ModelNic(int nid, int pid, int uid, int jid, boolean isCray, int bytes) {
        this.nid = nid;
        this.pid = pid;
        this.uid = uid;
        this.jid = jid;
        this.isCray = isCray;
        this.memory = new byte[bytes];
        for (int i = 0; i < PORTALS; i++) {
            lists.add(new ArrayList<>());
        }
        Arrays.fill(accesses, new Access(ANY, ANY, uid, ANY, ANY));
    }

    long target() {
        return (long) nid << 32 | pid;
    }

    int entryCount() {
        return lists.stream().mapToInt(List::size).sum();
    }

    void access(int index, int nidWanted, int pidWanted, int uidWanted, int jidWanted, int portal) {
        accesses[index] = new Access(nidWanted, pidWanted, uidWanted, jidWanted, portal);
    }

    // ---- objects

    /** In front of or behind base; without base at the head or the tail. */
    void link(Entry entry, Entry base, boolean isAfter) {
        List<Entry> list = lists.get(entry.portal);
        int at =
                base == null ? (isAfter ? list.size() : 0) : list.indexOf(base) + (isAfter ? 1 : 0);
        list.add(at, entry);
    }

    void fill(Md md, long start, long length, int threshold, long maxSize, int options, long user) {
        md.start = start;
        md.length = length;
        md.threshold = threshold == portals.PTL_MD_THRESH_INF ? threshold : Math.max(0, threshold);
        md.maxSize = maxSize;
        md.options = options;
        md.user = user;
        md.offset = 0;
        md.isInactive = md.threshold == 0;
        md.isDue = false;
    }

    void unlink(Md md) {
        md.isDead = true;
        mds.remove(md);
        if (md.entry != null) {
            md.entry.md = null;
            if (md.entry.goes) {
                unlink(md.entry);
            }
        }
    }

    void unlink(Entry entry) {
        if (entry.md != null) {
            Md md = entry.md;
            entry.md = null;
            md.entry = null;
            md.isDead = true;
            mds.remove(md);
        }
        entry.isDead = true;
        lists.get(entry.portal).remove(entry);
    }

    /** Unlinking on demand; in CRAY it may be told. */
    void logManualUnlink(Md md) {
        if (isCray && md.has(MANUAL_UNLINK_ENABLE)) {
            log(md.queue, event(PortalsEventKind.UNLINK, md, this, 0, 0), null);
        }
    }

    // ---- events

    static long[] event(int kind, Md copy, ModelNic by, int portal, long bits) {
        long[] event = new long[ModelEvent.WORDS];
        event[ModelEvent.KIND] = kind;
        event[ModelEvent.PROCESS] = by.target();
        event[ModelEvent.UID] = by.uid;
        event[ModelEvent.JID] = by.jid;
        event[ModelEvent.PORTAL] = portal;
        event[ModelEvent.BITS] = bits;
        event[ModelEvent.MD] = copy.handle;
        event[ModelEvent.MD_START] = copy.start;
        event[ModelEvent.MD_LENGTH] = copy.length;
        event[ModelEvent.MD_THRESHOLD] = copy.threshold;
        event[ModelEvent.MD_MAX_SIZE] = copy.maxSize;
        event[ModelEvent.MD_OPTIONS] = copy.options;
        event[ModelEvent.MD_USER] = copy.user;
        return event;
    }

    /** Logs and answers the sequence, or null without a queue. A null link means: its own. */
    static Integer log(Queue queue, long[] event, Integer link) {
        if (queue == null || queue.isFreed) {
            return null;
        }
        if (event[ModelEvent.LINK] != ModelEvent.ANY_LINK) {
            event[ModelEvent.LINK] = (link == null ? queue.sequence : link) & 0xffffffffL;
        }
        return queue.log(event);
    }

    /** The UNLINK that follows the event of which {@code cause} is the sequence. */
    static void logUnlink(Md md, long[] like, Integer cause) {
        long[] event = like.clone();
        event[ModelEvent.KIND] = PortalsEventKind.UNLINK;
        event[ModelEvent.FAIL] = 0;
        if (cause == null) {
            event[ModelEvent.LINK] = ModelEvent.ANY_LINK;
        }
        log(md.queue, event, cause);
    }

    boolean logsUnlink(Md md) {
        return isCray ? md.has(AUTO_UNLINK_ENABLE) : (md.options & NO_EVENTS) != NO_EVENTS;
    }

    // ---- descriptors in use

    /** One operation: the threshold, and what follows from it. */
    static void count(Md md) {
        if (md.threshold > 0 && --md.threshold == 0) {
            md.isInactive = true;
        }
        if (md.isInactive && md.goes) {
            md.isDue = true;
        }
    }

    /** After an operation has ended. */
    void settle(Md md, long[] event, Integer cause) {
        if (md.busy != 0 || !md.isDue) {
            return;
        }
        if (logsUnlink(md)) {
            logUnlink(md, event, cause);
        }
        unlink(md);
    }

    // ---- arrival (specification, section 4)

    private boolean isAllowed(Request r) {
        if (Integer.compareUnsigned(r.portal, PORTALS) >= 0
                || Integer.compareUnsigned(r.access, ACCESSES) >= 0) {
            return false;
        }
        Access a = accesses[r.access];
        return (a.uid == ANY || a.uid == r.from.uid)
                && (a.portal == ANY || a.portal == r.portal)
                && (a.jid == ANY || a.jid == r.from.jid)
                && (a.nid == ANY || a.nid == r.from.nid)
                && (a.pid == ANY || a.pid == r.from.pid);
    }

    private static boolean matches(Entry e, Request r) {
        return (e.nid == ANY || e.nid == r.from.nid)
                && (e.pid == ANY || e.pid == r.from.pid)
                && ((e.bits ^ r.bits) & ~e.ignored) == 0;
    }

    private static int needed(int operation) {
        return switch (operation) {
            case PUT -> portals.PTL_MD_OP_PUT;
            case GET -> portals.PTL_MD_OP_GET;
            default -> portals.PTL_MD_OP_PUT | portals.PTL_MD_OP_GET;
        };
    }

    /** How many bytes the descriptor takes, negative: it does not take the request. */
    private static long taken(Md md, Request r) {
        if (md == null
                || md.isInactive
                || (md.options & needed(r.operation)) != needed(r.operation)) {
            return -1;
        }
        long offset = offset(md, r);
        if (Long.compareUnsigned(offset, md.length) > 0) {
            return -1;
        }
        long available = md.length - offset;
        if (r.length <= available) {
            return r.length;
        }
        return md.has(portals.PTL_MD_TRUNCATE) ? available : -1;
    }

    private static long offset(Md md, Request r) {
        return md.has(portals.PTL_MD_MANAGE_REMOTE) ? r.remoteOffset : md.offset;
    }

    /** The descriptor that takes the request, after its START; null: dropped and counted. */
    Accepted arrive(Request r) {
        if (isAllowed(r)) {
            for (Entry e : lists.get(r.portal)) {
                if (matches(e, r) && taken(e.md, r) >= 0) {
                    return accept(e.md, r, offset(e.md, r), taken(e.md, r));
                }
            }
        }
        registers[portals.PTL_SR_DROP_COUNT]++;
        registers[portals.PTL_SR_DROP_LENGTH] += r.length;
        return null;
    }

    private Accepted accept(Md md, Request r, long offset, long length) {
        if (!md.has(portals.PTL_MD_MANAGE_REMOTE)) {
            md.offset += length;
            if (md.has(portals.PTL_MD_MAX_SIZE) && md.length - md.offset < md.maxSize) {
                md.isInactive = true;
            }
        }
        md.busy++;
        count(md);
        if (r.operation != GET) {
            registers[portals.PTL_SR_RECV_COUNT]++;
            registers[portals.PTL_SR_RECV_LENGTH] += length;
        }
        if (r.operation != PUT) {
            registers[portals.PTL_SR_SEND_COUNT]++;
            registers[portals.PTL_SR_SEND_LENGTH] += length;
        }
        Md copy = md.copy();
        boolean isStartLate = r.operation != GET && length < SHORT;
        Integer start = isStartLate ? null : logStart(md, r, copy, offset, length);
        return new Accepted(md, copy, offset, length, start, isStartLate);
    }

    private static Integer logStart(Md md, Request r, Md copy, long offset, long length) {
        return md.has(portals.PTL_MD_EVENT_START_DISABLE)
                ? null
                : log(md.queue, targetEvent(r, copy, startKind(r), offset, length), null);
    }

    /** The bytes are there. */
    void complete(Accepted a, Request r) {
        long[] event = targetEvent(r, a.copy, startKind(r) + 1, a.offset, a.length);
        Integer start = a.isStartLate ? logStart(a.md, r, a.copy, a.offset, a.length) : a.start;
        Integer cause = start;
        if (!a.md.has(portals.PTL_MD_EVENT_END_DISABLE)) {
            Integer end = log(a.md.queue, event, start);
            cause = end == null ? cause : end;
        }
        a.md.busy--;
        settle(a.md, targetEvent(r, a.copy, 0, a.offset, a.length), cause);
    }

    private static int startKind(Request r) {
        return switch (r.operation) {
            case PUT -> PortalsEventKind.PUT_START;
            case GET -> PortalsEventKind.GET_START;
            default -> PortalsEventKind.GETPUT_START;
        };
    }

    private static long[] targetEvent(Request r, Md copy, int kind, long offset, long length) {
        long[] event = event(kind, copy, r.from, r.portal, r.bits);
        event[ModelEvent.REQUESTED] = r.length;
        event[ModelEvent.LENGTH] = length;
        event[ModelEvent.OFFSET] = offset;
        event[ModelEvent.HEADER] = r.header;
        return event;
    }

    // ---- codes of calls on objects

    /** PtlMDUpdate without an event in progress (section 6). */
    int update(Md md, Queue test, Queue queue) {
        if (md == null || md.isDead) {
            return PortalsCode.MD_INVALID;
        }
        if (test != null && test.isFreed || queue != null && queue.isFreed) {
            return PortalsCode.EQ_INVALID;
        }
        return test != null && !test.events.isEmpty() ? PortalsCode.MD_NO_UPDATE : PortalsCode.OK;
    }
}
