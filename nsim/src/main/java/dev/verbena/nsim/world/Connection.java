package dev.verbena.nsim.world;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** One end of a connection. */
final class Connection {
    final SimulatedTransport owner;
    final long handle;
    private long context;

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

    private int sendNext;
    int receiveNext;

    /** What came before its turn. */
    final List<Work> early = new ArrayList<>();

    /** What waits for a fence. */
    final ArrayDeque<Work> waiting = new ArrayDeque<>();

    /** Operations that have started and are not placed. */
    int unplaced;

    /** Operations accepted and not done, in a list. */
    Work first;

    Connection(SimulatedTransport owner, long handle, long context) {
        this.owner = owner;
        this.handle = handle;
        this.context = context;
    }

    long context() {
        return context;
    }

    /** Its owner waits for the peer's answer. */
    void connecting() {
        isPending = true;
    }

    /** The peer asks for it; its owner has to accept or reject. */
    void offer() {
        isOffered = true;
    }

    /** Its other end is known, and how many messages that may have on their way here. */
    void pair(Connection other, int slots) {
        peer = other;
        granted = slots;
    }

    void accept(long withContext) {
        isOffered = false;
        isOpen = true;
        context = withContext;
    }

    /** The peer has accepted it. */
    void accepted() {
        isPending = false;
        isOpen = true;
    }

    /** Its owner disconnects it: nothing can be posted any more. */
    void disconnect() {
        isEnding = true;
    }

    /** Nothing is posted or delivered any more. */
    void stop() {
        isOpen = false;
        waiting.clear();
    }

    void gone() {
        isGone = true;
        isOpen = false;
        isPending = false;
        isOffered = false;
    }

    int nextSequence() {
        return sendNext++;
    }

    /** A message takes one of the peer's slots. */
    void takeSlot() {
        inFlight++;
    }

    void returnSlot() {
        inFlight--;
    }

    /** What was next in order has arrived. */
    void received() {
        receiveNext++;
    }

    void started() {
        unplaced++;
    }

    void placed() {
        unplaced--;
    }

    void add(Work work) {
        work.linkBefore(first);
        first = work;
    }

    void remove(Work work) {
        if (work == first) {
            first = work.next;
        }
        work.unlink();
    }

    @Override
    public String toString() {
        return "connection " + handle + " of " + owner.uri();
    }
}
