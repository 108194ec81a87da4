package dev.verbena.nsim.world;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** One end of a connection. */
final class Connection {
    final SimulatedTransport owner;
    final long handle;
    long context;

    /** The other end, once it is known. */
    Connection peer;

    boolean isPending;
    boolean isOffered;
    boolean isOpen;

    /** Disconnected by its owner; what was accepted still completes. */
    boolean isEnding;

    boolean isGone;

    /** Messages that the other end may have on their way here. */
    int granted;

    /** Messages under way to the other end, or in its slots. */
    int inFlight;

    int sendNext;
    int receiveNext;

    /** What came before its turn. */
    final List<Work> early = new ArrayList<>();

    /** What waits for a fence. */
    final ArrayDeque<Work> waiting = new ArrayDeque<>();

    /** Operations that have started and are not placed. */
    int unplaced;

    /** Operations accepted and not done, in a list. */
    Work first;

    int openCount;

    Connection(SimulatedTransport owner, long handle) {
        this.owner = owner;
        this.handle = handle;
    }

    void add(Work work) {
        work.previous = null;
        work.next = first;
        if (first != null) {
            first.previous = work;
        }
        first = work;
        openCount++;
    }

    void remove(Work work) {
        if (work.previous == null) {
            first = work.next;
        } else {
            work.previous.next = work.next;
        }
        if (work.next != null) {
            work.next.previous = work.previous;
        }
        openCount--;
    }

    @Override
    public String toString() {
        return "connection " + handle + " of " + owner.uri();
    }
}
