package dev.verbena.flesnet.wire;

/** A peer that messages are exchanged with: what both kinds of nodes know of it. One thread. */
public abstract class SyncPeer {
    private final long heartbeatNs;
    private PeerWatch watch;
    private boolean isAnswerDue;
    private long askedTime;
    private boolean isFinal;
    private boolean isFinalSent;

    /** A peer that is watched from now on. */
    protected SyncPeer(long heartbeatNs, long nowNs) {
        this.heartbeatNs = heartbeatNs;
        watchFrom(nowNs);
    }

    /** Begins to watch it anew. */
    protected final void watchFrom(long nowNs) {
        watch = new PeerWatch(heartbeatNs, nowNs);
    }

    /** Its connection. */
    public abstract long connection();

    /** Where messages to it are written. */
    public abstract ControlSlot control();

    /** Whether it is there. */
    public final PeerWatch watch() {
        return watch;
    }

    /** It asks whether this node is there, at a time of its own clock. */
    public final void onHeartbeat(long time) {
        isAnswerDue = true;
        askedTime = time;
    }

    /** Whether it has asked and was not answered. */
    public final boolean isAnswerDue() {
        return isAnswerDue;
    }

    final long askedTime() {
        return askedTime;
    }

    final void answered() {
        isAnswerDue = false;
    }

    /** Whether it has said that it is at its end. */
    public final boolean isFinal() {
        return isFinal;
    }

    /** It says that it is at its end. */
    public final void onFinal() {
        isFinal = true;
    }

    /** Whether it was told that this node is at its end. */
    public final boolean isFinalSent() {
        return isFinalSent;
    }

    /** It was told that this node is at its end. */
    public final void finalSent() {
        isFinalSent = true;
    }
}
