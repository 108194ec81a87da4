package dev.verbena.flesnet.compute;

import dev.verbena.flesnet.wire.ControlSlot;
import dev.verbena.flesnet.wire.SyncPeer;

/** A connection of an input node, as its compute node knows it. One thread. */
final class InputPeer extends SyncPeer {
    private final long connection;
    private final long context;
    private final long sinceNs;
    private int input = -1;
    private ControlSlot control;
    private boolean isGreeting;
    private long sentReleased;
    private long sentCompleted;
    private long sentReceived;
    private int ackedEpoch;
    private int toldEpoch;
    private int askedEpoch = -1;

    InputPeer(long connection, long context, long heartbeatNs, long nowNs) {
        super(heartbeatNs, nowNs);
        this.connection = connection;
        this.context = context;
        this.sinceNs = nowNs;
    }

    @Override
    public long connection() {
        return connection;
    }

    long context() {
        return context;
    }

    @Override
    public ControlSlot control() {
        return control;
    }

    /** Whether it has had so long to say hello, and has not. */
    boolean isSilent(long nowNs, long limitNs) {
        return input < 0 && nowNs - sinceNs >= limitNs;
    }

    /** Number of the input; -1 before it has said hello. */
    int input() {
        return input;
    }

    void hello(int number, ControlSlot messages) {
        input = number;
        control = messages;
        isGreeting = true;
    }

    boolean isGreeting() {
        return isGreeting;
    }

    void greeted() {
        isGreeting = false;
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

    void told() {
        toldEpoch++;
    }

    /** The epoch for which this input was asked last; -1: none. */
    int askedEpoch() {
        return askedEpoch;
    }

    void asked(int epoch) {
        askedEpoch = epoch;
    }
}
