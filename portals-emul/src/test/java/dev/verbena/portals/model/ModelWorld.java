package dev.verbena.portals.model;

import dev.verbena.portals.PortalsCode;
import dev.verbena.portals.PortalsEventKind;
import dev.verbena.portals.bindings.portals;
import dev.verbena.portals.model.ModelNic.Entry;
import dev.verbena.portals.model.ModelNic.Md;
import dev.verbena.portals.model.ModelNic.Queue;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.zip.CRC32C;

/**
 * Interfaces twice: in the model, and in the library. Every call is made in both, and everything
 * that a program can see is compared: codes, outcomes, events, memory, registers.
 */
final class ModelWorld implements AutoCloseable {
    static final int ENTRIES_MAX = 600;
    static final int LIST_MAX = 500;
    static final int DESCRIPTORS_MAX = 700;
    static final int QUEUES_MAX = 8;
    static final int GET_PUT_MAX = 64;

    /** Descriptors without an entry lie in the lower half, others in the upper one. */
    static final int BYTES = 2048;

    /** One interface with its model, and what was made in it. */
    static final class Side {
        final NicCalls calls;
        ModelNic model;

        /** Live ones, and some that died lately. */
        final List<Entry> entries = new ArrayList<>();

        final List<Md> descriptors = new ArrayList<>();

        Side(NicCalls calls) {
            this.calls = calls;
        }
    }

    /** How many events of each kind, and how many outcomes of each number, were compared. */
    final long[] seenKinds = new long[12];

    final long[] seenOutcomes = new long[64];

    final SequentialPortals network = new SequentialPortals();
    final List<Side> sides = new ArrayList<>();

    ModelWorld(List<Supplier<NicCalls>> kinds) {
        for (int i = 0; i < kinds.size(); i++) {
            Side side = new Side(kinds.get(i).get());
            sides.add(side);
            int isCray = i == 2 ? 1 : 0;
            int jid = 1000 + i;
            long id =
                    side.calls.call(
                            NicCalls.OPEN,
                            isCray,
                            ENTRIES_MAX,
                            DESCRIPTORS_MAX,
                            QUEUES_MAX,
                            LIST_MAX,
                            BYTES,
                            jid,
                            i == 1 ? 1 : 0);
            int uid = (int) side.calls.call(NicCalls.UID);
            side.model = new ModelNic((int) (id >>> 32), (int) id, uid, jid, isCray != 0, BYTES);
            network.nics.add(side.model);
        }
    }

    @Override
    public void close() {
        sides.forEach(side -> side.calls.close());
    }

    static void same(long expected, long actual, String what) {
        if (expected != actual) {
            throw new AssertionError(
                    what + ": the model says " + name(expected) + ", the library " + name(actual));
        }
    }

    private static String name(long result) {
        return result < 0 && result > -64 ? PortalsCode.name((int) -result) : Long.toString(result);
    }

    // ---- objects

    /** A new entry; base null: at the head or tail of the list. */
    Entry entry(Side side, Entry wanted, Entry base, boolean isAfter) {
        List<Entry> list = side.model.lists.get(wanted.portal & (ModelNic.PORTALS - 1));
        int code = 0;
        if (base != null && base.isDead) {
            code = PortalsCode.ME_INVALID;
        } else if (Integer.compareUnsigned(wanted.portal, ModelNic.PORTALS) >= 0) {
            code = PortalsCode.PT_INDEX_INVALID;
        } else if (list.size() >= LIST_MAX) {
            code = PortalsCode.ME_LIST_TOO_LONG;
        } else if (side.model.entryCount() >= ENTRIES_MAX) {
            code = PortalsCode.NO_SPACE;
        }
        long made =
                side.calls.call(
                        base == null ? NicCalls.ATTACH : NicCalls.INSERT,
                        base == null ? wanted.portal : base.handle,
                        wanted.nid,
                        wanted.pid,
                        wanted.bits,
                        wanted.ignored,
                        wanted.goes ? 1 : 0,
                        isAfter ? 1 : 0);
        if (code != 0) {
            same(-code, made, base == null ? "PtlMEAttach" : "PtlMEInsert");
            return null;
        }
        return made(side, wanted, made, base, isAfter);
    }

    private Entry made(Side side, Entry wanted, long handle, Entry base, boolean isAfter) {
        if (handle < 0) {
            same(0, handle, "a new match entry");
        }
        wanted.handle = (int) handle;
        side.model.link(wanted, base, isAfter);
        side.entries.add(wanted);
        return wanted;
    }

    /** On the first list without an entry. */
    void entryAnywhere(Side side, Entry wanted) {
        int portal = 0;
        while (portal < ModelNic.PORTALS && !side.model.lists.get(portal).isEmpty()) {
            portal++;
        }
        long result =
                side.calls.call(
                        NicCalls.ATTACH_ANY,
                        wanted.nid,
                        wanted.pid,
                        wanted.bits,
                        wanted.ignored,
                        wanted.goes ? 1 : 0);
        if (portal == ModelNic.PORTALS) {
            same(-PortalsCode.PT_FULL, result, "PtlMEAttachAny");
        } else if (side.model.entryCount() >= ENTRIES_MAX) {
            same(-PortalsCode.NO_SPACE, result, "PtlMEAttachAny");
        } else {
            same(portal, result >> 32, "index of PtlMEAttachAny");
            wanted.portal = portal;
            made(side, wanted, (int) result & 0xffffffffL, null, true);
        }
    }

    private static long handle(Queue queue) {
        return queue == null ? 0 : queue.handle;
    }

    private static int optionsKnown(ModelNic nic) {
        return nic.isCray ? 0xfff : 0x1ff;
    }

    /** Attaches to the entry, or binds if that is null. */
    void descriptor(Side side, Entry entry, Md wanted, int threshold) {
        int code = 0;
        if ((wanted.options & ~optionsKnown(side.model)) != 0) {
            code = PortalsCode.MD_ILLEGAL;
        } else if (entry != null && entry.isDead) {
            code = PortalsCode.ME_INVALID;
        } else if (entry != null && entry.md != null) {
            code = PortalsCode.ME_IN_USE;
        } else if (wanted.queue != null && wanted.queue.isFreed) {
            code = PortalsCode.EQ_INVALID;
        } else if (side.model.mds.size() >= DESCRIPTORS_MAX) {
            code = PortalsCode.NO_SPACE;
        }
        long made =
                side.calls.call(
                        entry == null ? NicCalls.BIND : NicCalls.MD_ATTACH,
                        entry == null ? 0 : entry.handle,
                        wanted.start,
                        wanted.length,
                        threshold,
                        wanted.maxSize,
                        wanted.options,
                        wanted.user,
                        handle(wanted.queue),
                        wanted.goes ? 1 : 0);
        if (code != 0 || made < 0) {
            same(-code, made, entry == null ? "PtlMDBind" : "PtlMDAttach");
            return;
        }
        wanted.handle = (int) made;
        side.model.fill(
                wanted,
                wanted.start,
                wanted.length,
                threshold,
                wanted.maxSize,
                wanted.options,
                wanted.user);
        wanted.entry = entry;
        if (entry != null) {
            entry.md = wanted;
        }
        side.model.mds.add(wanted);
        side.descriptors.add(wanted);
    }

    void update(Side side, Md md, Md wanted, int threshold, Queue test) {
        int code = side.model.update(md, test, wanted.queue);
        boolean isIllegal = (wanted.options & ~optionsKnown(side.model)) != 0;
        if (isIllegal && code != PortalsCode.MD_INVALID && (test == null || !test.isFreed)) {
            code = PortalsCode.MD_ILLEGAL;
        }
        long result =
                side.calls.call(
                        NicCalls.UPDATE,
                        md.handle,
                        wanted.start,
                        wanted.length,
                        threshold,
                        wanted.maxSize,
                        wanted.options,
                        wanted.user,
                        handle(wanted.queue),
                        handle(test));
        same(-code, result, "PtlMDUpdate");
        if (code == 0) {
            side.model.fill(
                    md,
                    wanted.start,
                    wanted.length,
                    threshold,
                    wanted.maxSize,
                    wanted.options,
                    wanted.user);
            md.queue = wanted.queue;
        }
    }

    void unlink(Side side, Md md) {
        int code = md.isDead ? PortalsCode.MD_INVALID : 0;
        same(-code, side.calls.call(NicCalls.MD_UNLINK, md.handle), "PtlMDUnlink");
        if (code == 0) {
            side.model.logManualUnlink(md);
            side.model.unlink(md);
        }
    }

    void unlink(Side side, Entry entry) {
        int code = entry.isDead ? PortalsCode.ME_INVALID : 0;
        same(-code, side.calls.call(NicCalls.ME_UNLINK, entry.handle), "PtlMEUnlink");
        if (code == 0) {
            if (entry.md != null) {
                side.model.logManualUnlink(entry.md);
            }
            side.model.unlink(entry);
        }
    }

    void queue(Side side, int count) {
        long made = side.calls.call(NicCalls.QUEUE, count);
        long live = side.model.queues.stream().filter(q -> !q.isFreed).count();
        if (live >= QUEUES_MAX) {
            same(-PortalsCode.NO_SPACE, made, "PtlEQAlloc");
            return;
        }
        if (made < 0) {
            same(0, made, "PtlEQAlloc");
        }
        side.model.queues.add(new Queue((int) made, count));
    }

    void free(Side side, Queue queue) {
        int code = queue.isFreed ? PortalsCode.EQ_INVALID : 0;
        same(-code, side.calls.call(NicCalls.QUEUE_FREE, queue.handle), "PtlEQFree");
        queue.isFreed = true;
    }

    // ---- comparing

    /** Takes one event, or finds that there is none, in both. */
    boolean take(Side side, Queue queue) {
        long code = side.calls.call(NicCalls.TAKE, queue.handle);
        if (queue.isFreed) {
            same(-PortalsCode.EQ_INVALID, code, "PtlEQGet of a freed queue");
            return false;
        }
        long[] expected = new long[ModelEvent.WORDS];
        int inModel = queue.take(expected);
        if (inModel < 0) {
            if (code >= 0) {
                String kind = PortalsEventKind.name((int) side.calls.event()[ModelEvent.KIND]);
                throw new AssertionError("an event that should not be there: " + kind);
            }
            same(-PortalsCode.EQ_EMPTY, code, "PtlEQGet");
            return false;
        }
        same(inModel, code, "PtlEQGet for " + PortalsEventKind.name((int) expected[0]));
        String difference = ModelEvent.difference(expected, side.calls.event());
        if (difference != null) {
            throw new AssertionError(difference);
        }
        seenKinds[(int) expected[ModelEvent.KIND]]++;
        return true;
    }

    void drain() {
        for (Side side : sides) {
            for (Queue queue : side.model.queues) {
                while (!queue.isFreed && take(side, queue)) {
                    continue;
                }
            }
        }
    }

    void compareMemory() {
        for (Side side : sides) {
            CRC32C sum = new CRC32C();
            sum.update(side.model.memory);
            same(sum.getValue(), side.calls.call(NicCalls.SUM), "checksum of the memory");
        }
    }

    void compareRegisters() {
        for (Side side : sides) {
            for (int i = 0; i < side.model.registers.length; i++) {
                same(
                        side.model.registers[i],
                        side.calls.call(NicCalls.STATUS, i),
                        "status register " + i);
            }
            same(
                    side.model.entryCount(),
                    side.calls.call(NicCalls.STATUS, portals.PTL_SR_MES_CUR),
                    "match entries");
            same(
                    side.model.mds.size(),
                    side.calls.call(NicCalls.STATUS, portals.PTL_SR_MDS_CUR),
                    "descriptors");
            side.calls.call(NicCalls.CHECK);
        }
    }

    void fill(Side side, int offset, int length, long seed) {
        side.calls.call(NicCalls.FILL, offset, length, seed);
        for (int i = 0; i < length; i++) {
            side.model.memory[offset + i] = NicCalls.pattern(seed, i);
        }
    }

    /** Everything goes; the interfaces stay, and so do their registers. */
    void clear() {
        drain();
        compareMemory();
        compareRegisters();
        for (Side side : sides) {
            for (List<Entry> list : side.model.lists) {
                while (!list.isEmpty()) {
                    unlink(side, list.get(list.size() / 2));
                }
            }
            while (!side.model.mds.isEmpty()) {
                unlink(side, side.model.mds.get(0));
            }
            for (Queue queue : side.model.queues) {
                if (!queue.isFreed) {
                    free(side, queue);
                }
            }
            for (int i = 0; i < 4; i++) {
                access(side, i, ModelNic.ANY, ModelNic.ANY, side.model.uid, ModelNic.ANY, -1);
            }
            side.model.queues.clear();
            side.entries.clear();
            side.descriptors.clear();
        }
        compareRegisters();
    }

    void access(Side side, int index, int nid, int pid, int uid, int jid, int portal) {
        int code = 0;
        if (Integer.compareUnsigned(index, ModelNic.ACCESSES) >= 0) {
            code = PortalsCode.AC_INDEX_INVALID;
        } else if (portal != -1 && Integer.compareUnsigned(portal, ModelNic.PORTALS) >= 0) {
            code = PortalsCode.PT_INDEX_INVALID;
        } else {
            side.model.access(index, nid, pid, uid, jid, portal);
        }
        same(
                -code,
                side.calls.call(NicCalls.ACCESS, index, nid, pid, uid, jid, portal),
                "PtlACEntry");
    }
}
