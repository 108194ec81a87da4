package dev.verbena.flesnet.compute;

import dev.verbena.flesnet.wire.PeerWatch;

/** A connection of an input node, as its compute node knows it. One thread. */
final class InputPeer {
    private final long connection;
    private final long context;
    private final PeerWatch watch;
    private final long sinceNs;
    private int input = -1;
    private boolean isGreeting;
    private boolean isHeartbeatAck;
    private long heartbeatTime;
    private long sentReleased;
    private long sentCompleted;
    private long sentReceived;
    private int ackedEpoch;
    private int toldEpoch;
    private int askedEpoch = -1;
    private boolean isFinal;
    private boolean isFinalSent;

    InputPeer(long connection, long context, long heartbeatNs, long nowNs) {
        this.connection = connection;
        this.context = context;
        this.watch = new PeerWatch(heartbeatNs, nowNs);
        this.sinceNs = nowNs;
    }

    long connection() {
        return connection;
    }

    long context() {
        return context;
    }

    PeerWatch watch() {
        return watch;
    }

    /** Whether it has had so long to say hello, and has not. */
    boolean isSilent(long nowNs, long limitNs) {
        return input < 0 && nowNs - sinceNs >= limitNs;
    }

    /** Number of the input; -1 before it has said hello. */
    int input() {
        return input;
    }

    void hello(int number) {
        input = number;
        isGreeting = true;
    }

    boolean isGreeting() {
        return isGreeting;
    }

    void greeted() {
        isGreeting = false;
    }

    void onHeartbeat(long time) {
        isHeartbeatAck = true;
        heartbeatTime = time;
    }

    boolean isHeartbeatAck() {
        return isHeartbeatAck;
    }

    long heartbeatTime() {
        return heartbeatTime;
    }

    void heartbeatAckSent() {
        isHeartbeatAck = false;
    }

    /** Whether an acknowledgement would say something new. */
    boolean isAckDue(long released, long completed, long received) {
        return released != sentReleased || completed != sentCompleted || received != sentReceived;
    }

    void ackSent(long released, long completed, long received) {
        sentReleased = released;
        sentCompleted = completed;
        sentReceived = received;
    }

    /** Decisions that this input has carried out. */
    int ackedEpoch() {
        return ackedEpoch;
    }

    void acked(int epoch) {
        ackedEpoch = epoch;
    }

    /** Decisions that this input has been told. */
    int toldEpoch() {
        return toldEpoch;
    }

    void told(int epoch) {
        toldEpoch = epoch;
    }

    /** The epoch for which this input was asked last; -1: none. */
    int askedEpoch() {
        return askedEpoch;
    }

    void asked(int epoch) {
        askedEpoch = epoch;
    }

    boolean isFinal() {
        return isFinal;
    }

    void onFinal() {
        isFinal = true;
    }

    boolean isFinalSent() {
        return isFinalSent;
    }

    void finalSent() {
        isFinalSent = true;
    }
}
