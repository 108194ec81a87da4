package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;
import java.util.ArrayDeque;
import java.util.Iterator;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Memory that the library writes peers' datagrams to, one piece for each datagram of an endpoint
 * that was posted and not yet taken; in the order of posting, which is the order in which the
 * library looks at them. It looks that order up in shared memory: if that was damaged, the wrong
 * piece is taken here, so pieces are used again and freed with the endpoint only.
 */
final class DatagramSlots {
    private final Nic owner;
    private final ArrayDeque<Slot> slots = new ArrayDeque<>();
    private final ArrayDeque<Long> spares = new ArrayDeque<>();

    private record Slot(boolean hasId, long id, boolean isOpen, long address) {}

    DatagramSlots(Nic owner) {
        this.owner = owner;
    }

    /** Zeroed memory for one more. */
    long add() {
        Long spare = spares.pollLast();
        if (spare == null) {
            return owner.memory().allocate(Datagram.LENGTH_MAX);
        }
        new UnsafeBuffer(spare, Datagram.LENGTH_MAX).setMemory(0, Datagram.LENGTH_MAX, (byte) 0);
        return spare;
    }

    /** Memory for the next one. */
    void spare(long address) {
        spares.addLast(address);
    }

    /** It was posted. */
    void posted(boolean hasId, long id, boolean isOpen, long address) {
        slots.addLast(new Slot(hasId, id, isOpen, address));
    }

    /** The library is done with the oldest, of this number if there is one. */
    void finished(boolean hasId, long id, Datagram into) {
        Slot slot = take(hasId, id, false);
        if (slot != null) {
            if (into != null) {
                into.copy(new UnsafeBuffer(slot.address, Datagram.LENGTH_MAX));
            }
            spare(slot.address);
        }
    }

    /** Cancelled: one towards a peer is asked for once more, any other one is gone. */
    void cancelled(boolean hasId, long id) {
        Slot slot = take(hasId, id, true);
        if (slot != null) {
            spare(slot.address);
        }
    }

    private Slot take(boolean hasId, long id, boolean onlyOpen) {
        for (Iterator<Slot> i = slots.iterator(); i.hasNext(); ) {
            Slot slot = i.next();
            if (!hasId || (slot.hasId && slot.id == id)) {
                if (onlyOpen && !slot.isOpen) {
                    return null;
                }
                i.remove();
                return slot;
            }
        }
        return null;
    }

    /** The endpoint is gone, and the library with it. */
    void free() {
        slots.forEach(slot -> owner.memory().free(slot.address));
        spares.forEach(owner.memory()::free);
        slots.clear();
        spares.clear();
    }

    static boolean isFinished(int state) {
        return state == ugni.GNI_POST_COMPLETED
                || state == ugni.GNI_POST_ERROR
                || state == ugni.GNI_POST_TIMEOUT
                || state == ugni.GNI_POST_TERMINATED;
    }
}
