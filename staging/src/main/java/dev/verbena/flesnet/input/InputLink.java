package dev.verbena.flesnet.input;

import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.RingEndPolicy;
import dev.verbena.flesnet.wire.ControlSlot;
import dev.verbena.flesnet.wire.SyncFlyweight;
import dev.verbena.flesnet.wire.SyncPeer;
import dev.verbena.memory.RemoteDescriptor;

/**
 * An input's side of a connection: positions in the receive ring, which only grow, and what has
 * been reported and acknowledged (sections 3.3 and 4). Descriptors are counted from 0. One thread.
 */
final class InputLink extends SyncPeer {
    /** Life of the connection. */
    enum State {
        LOOKING,
        CONNECTING,
        GREETING,
        READY,
        LOST
    }

    final int compute;
    final StallClock stalls;
    final RemoteDescriptor dataRing = new RemoteDescriptor();
    final RemoteDescriptor descriptorRing = new RemoteDescriptor();
    private final ControlSlot control;
    private final RingEndPolicy ringEnd;
    private final long start;
    private State state = State.LOOKING;
    private long connection;
    private long retryNs;
    private boolean isScheduler;
    private long dataMask;
    private long slotMask;
    private long[] ends = {};
    private long[] timeslices = {};
    private int[] pending = {};
    private int outstanding;

    private long written;
    private long done;
    private long reported;

    /** The most that was ever reported: of what was undone, acknowledgements may still come. */
    private long mostReported;

    private long received;
    private long completed;
    private long released;

    /** Behind what was released: its slot is used again before the next release is known. */
    private long releasedEnd;

    private long counted;
    private int stage;

    long nextInterval;
    private boolean isHello;
    private boolean isReport;
    private int ackedEpoch;
    private int decidedEpoch;

    InputLink(FlesnetContext context, int compute, ControlSlot control, long nowNs) {
        super(context.heartbeatNs(), nowNs);
        this.compute = compute;
        this.control = control;
        this.ringEnd = context.ringEnd();
        this.start = context.startPosition();
        this.releasedEnd = start;
        this.stalls = new StallClock(nowNs);
        this.retryNs = nowNs;
    }

    // ---- life

    State state() {
        return state;
    }

    boolean isReady() {
        return state == State.READY;
    }

    boolean isLost() {
        return state == State.LOST;
    }

    @Override
    public long connection() {
        return connection;
    }

    long retryNs() {
        return retryNs;
    }

    void retryAt(long nowNs) {
        state = State.LOOKING;
        retryNs = nowNs;
    }

    void connecting(long handle) {
        connection = handle;
        state = State.CONNECTING;
    }

    void connected(long nowNs) {
        state = State.GREETING;
        isHello = true;
        watchFrom(nowNs);
    }

    /** The compute node has told where its rings are. */
    void greeted(int dataExponent, int descriptorExponent, boolean schedules) {
        dataMask = (1L << dataExponent) - 1;
        slotMask = (1L << descriptorExponent) - 1;
        ends = new long[1 << descriptorExponent];
        timeslices = new long[1 << descriptorExponent];
        pending = new int[1 << descriptorExponent];
        isScheduler = schedules;
        state = State.READY;
    }

    void lose() {
        state = State.LOST;
        stage = 0;
        outstanding = 0;
        isReport = false;
    }

    @Override
    public ControlSlot control() {
        return control;
    }

    boolean isScheduler() {
        return isScheduler;
    }

    // ---- writing

    private int slot(long descriptor) {
        return (int) (descriptor & slotMask);
    }

    int slotOfNext() {
        return slot(written);
    }

    /** Own timeslice of this connection that is written next. */
    long next() {
        return written;
    }

    long ringLength() {
        return dataMask + 1;
    }

    /** Where a component of this size would begin: behind the tail that it does not fit into. */
    long positionFor(long size) {
        long at = dataPosition(written);
        long room = dataMask + 1 - (at & dataMask);
        return ringEnd == RingEndPolicy.SKIP && room < size ? at + room : at;
    }

    /** Whether the rings have room for a component: the free-space test of section 3.3. */
    boolean hasTicket(long size) {
        long position = positionFor(size);
        // In an empty ring a tail that is skipped is free already.
        long base = released == written ? position : releasedEnd;
        return position + size - base <= dataMask + 1 && written - released <= slotMask;
    }

    /** Bytes to the end of the ring, from a position. */
    long roomFrom(long position) {
        return dataMask + 1 - (position & dataMask);
    }

    long ringOffset(long position) {
        return position & dataMask;
    }

    int stage() {
        return stage;
    }

    /** A write of the next component was accepted. */
    void posted() {
        pending[slot(written)]++;
        outstanding++;
        stage++;
    }

    /** All writes of the next component were accepted. */
    void finished(long timeslice, long position, long size) {
        int slot = slot(written);
        ends[slot] = position + size;
        timeslices[slot] = timeslice;
        written++;
        stage = 0;
    }

    /** A write has completed. */
    void onWritten(int slot) {
        outstanding--;
        pending[slot]--;
        while (done < written && pending[slot(done)] == 0) {
            done++;
        }
    }

    /** Whether writes are on their way, or begun. */
    boolean isWriting() {
        return outstanding > 0 || stage > 0;
    }

    // ---- reporting

    boolean hasUnreported() {
        return done > reported;
    }

    long reported() {
        return reported;
    }

    long done() {
        return done;
    }

    /** Stream position behind this many components, as in messages. */
    long dataPosition(long descriptors) {
        return descriptors == released ? releasedEnd : ends[slot(descriptors - 1)];
    }

    void reportedTo(long descriptors) {
        reported = descriptors;
        mostReported = Math.max(mostReported, descriptors);
    }

    /**
     * The compute node acknowledges.
     *
     * @return false if it says nothing new
     * @throws IllegalArgumentException if it acknowledges what was not written
     */
    boolean onAck(SyncFlyweight message) {
        long newReleased = message.i64(8) - start;
        long newReceived = message.i64(16) - start;
        long newCompleted = message.i64(24) - start;
        if (newReceived < 0
                || newReleased < 0
                || newReceived > mostReported
                || newCompleted > Math.min(newReceived, reported)
                || newReleased > newCompleted) {
            throw new IllegalArgumentException(
                    "acknowledges %s released, %s complete, %s received of %s written"
                            .formatted(newReleased, newCompleted, newReceived, mostReported));
        }
        if (newReleased < released || newCompleted < completed) {
            return false;
        }
        if (newReleased > released && message.i64(0) != dataPosition(newReleased)) {
            throw new IllegalArgumentException("acknowledges a position that no component has");
        }
        releasedEnd = dataPosition(newReleased);
        released = newReleased;
        received = Math.max(received, Math.min(newReceived, reported));
        completed = newCompleted;
        return true;
    }

    long released() {
        return released;
    }

    long received() {
        return received;
    }

    long completed() {
        return completed;
    }

    /** Acknowledged ones that the scheduler's measurement has counted. */
    long counted() {
        return counted;
    }

    long timeslice(long descriptor) {
        return timeslices[slot(descriptor)];
    }

    void countedTo(long descriptors) {
        counted = descriptors;
    }

    // ---- failures

    /** Components from this one on are to be sent anew. */
    void undo(long descriptor) {
        written = Math.min(written, descriptor);
        done = Math.min(done, descriptor);
        reported = Math.min(reported, descriptor);
        received = Math.min(received, descriptor);
        completed = Math.min(completed, descriptor);
        counted = Math.min(counted, descriptor);
    }

    /** The failed node's components up to here count as done, the others were undone. */
    void settle(long descriptors) {
        released = descriptors;
    }

    // ---- what is to be sent

    boolean isHello() {
        return isHello;
    }

    void helloSent() {
        isHello = false;
    }

    void needReport(boolean value) {
        isReport = value;
    }

    void reportSent() {
        isReport = false;
    }

    boolean isReport() {
        return isReport;
    }

    /** Decisions that the compute node was sent. */
    int ackedEpoch() {
        return ackedEpoch;
    }

    void decisionAckSent() {
        ackedEpoch++;
    }

    /** Decisions that the compute node has made itself. */
    int decidedEpoch() {
        return decidedEpoch;
    }

    void onDecision(int epoch) {
        decidedEpoch = Math.max(decidedEpoch, epoch + 1);
    }

    void intervalSent() {
        nextInterval++;
    }
}
