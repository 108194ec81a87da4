package dev.verbena.ofi.transport;

import java.nio.channels.SocketChannel;
import org.agrona.concurrent.SystemNanoClock;

/** Another transport, as far as this one knows it. Others read the fields; the methods write. */
final class OfiPeer {
    /** TCP tries for longer before it gives up. */
    private static final long REFUSAL_NS = 1_000_000_000L;

    /** Number of its address, from 1. */
    final long number;

    /** Number in the address vector. */
    final long fabricAddress;

    /** Name of its endpoint. */
    final byte[] name;

    /** Of its present process; 0: not known. */
    long incarnation;

    /** When it was last heard of. */
    long heardNs;

    /** Connections that are bound to it. */
    int users;

    /** Nobody is at its address. */
    boolean isGone;

    /**
     * As {@link #isGone}, and its host has said so: that comes soon. A time limit of TCP, by which
     * the peer may live behind a network that is broken, comes late.
     */
    boolean isRefused;

    /** An attempt to reach its address, or null. */
    SocketChannel probe;

    private long probeNs;
    private boolean isHeard;

    /** Records to it that wait in the outbox. */
    private int waiting;

    /** Look of the outbox in which one of them could not be sent. */
    private long stuckLook;

    OfiPeer(long number, long fabricAddress, byte[] name) {
        this.number = number;
        this.fabricAddress = fabricAddress;
        this.name = name;
    }

    /** A record of it has arrived. */
    void heard(long incarnation) {
        this.incarnation = incarnation;
        isHeard = true;
        reached(true);
    }

    /** The clock is at this time; what arrived since the last time was heard now. */
    void tick(long nowNs) {
        if (isHeard) {
            isHeard = false;
            heardNs = nowNs;
        }
    }

    /** It counts as heard of now. */
    void greet(long nowNs) {
        heardNs = nowNs;
    }

    void use() {
        users++;
    }

    void unuse() {
        users--;
    }

    /** A record to it waits; or, by -1, one waits no more. */
    void waits(int change) {
        waiting += change;
    }

    boolean hasWaiting() {
        return waiting > 0;
    }

    int waiting() {
        return waiting;
    }

    /** A record to it could not be sent in this look: those behind it wait, too. */
    void stuck(long look) {
        stuckLook = look;
    }

    boolean isStuck(long look) {
        return stuckLook == look;
    }

    void probing(SocketChannel probe) {
        this.probe = probe;
        if (probe != null) {
            probeNs = SystemNanoClock.INSTANCE.nanoTime();
        }
    }

    /** Whether somebody is at its address, as far as one can find out. */
    void reached(boolean isThere) {
        isGone = !isThere;
        isRefused = isGone && SystemNanoClock.INSTANCE.nanoTime() - probeNs < REFUSAL_NS;
    }
}
