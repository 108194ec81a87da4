package dev.verbena.ofi.transport;

import dev.verbena.ofi.bindings.fabric;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Short records to peers. One that the provider does not take now waits here, in order for each
 * peer. Allocates nothing after its construction. One thread.
 */
final class Outbox {
    private static final int CAPACITY = 4096;
    private static final int MASK = CAPACITY - 1;

    /** Answers wait for a peer that has so many only while half of the room is left for others. */
    private static final int SHARE = CAPACITY / 16;

    private final OfiResources resources;
    private final Peers peers;
    private final UnsafeBuffer record;
    private final long recordAt;
    private final UnsafeBuffer waiting =
            new UnsafeBuffer(BufferUtil.allocateDirectAligned(CAPACITY * Wire.SHORT, Wire.SHORT));
    private final long[] targets = new long[CAPACITY];
    private final int[] lengths = new int[CAPACITY];
    private int head;
    private int count;

    /** How often what waits was gone through. */
    private long looks;

    Outbox(OfiResources resources, Peers peers) {
        this.resources = resources;
        this.peers = peers;
        this.record = new UnsafeBuffer(resources.scratch, OfiResources.RECORD_AT, Wire.SHORT);
        this.recordAt = record.addressOffset();
    }

    /** Writes the header of the next record; it carries the count of messages taken, too. */
    UnsafeBuffer begin(OfiConnection c, int type, int number, int length) {
        Wire.header(
                record, 0, type, c.peerHandle, number, length, c.takenCount, resources.incarnation);
        return record;
    }

    /**
     * Sends what was written.
     *
     * @param mustGo whether it waits if it cannot be sent now
     * @return false if it was not sent and does not wait
     */
    boolean send(OfiConnection c, int length, boolean mustGo) {
        OfiPeer peer = c.peer;
        if (!peer.hasWaiting()) {
            int answer = resources.calls.inject(recordAt, length, peer.fabricAddress);
            if (answer == 0) {
                c.onTakenTold(c.takenCount);
                return true;
            }
        }
        if (!mustGo || count == CAPACITY) {
            return false;
        }
        int at = head + count & MASK;
        waiting.putBytes(at * Wire.SHORT, record, 0, length);
        targets[at] = peer.number;
        lengths[at] = length;
        count++;
        peer.waits(1);
        return true;
    }

    /**
     * Sends what was written in answer to the peer.
     *
     * @return false if the peer asks and takes nothing, so that it cannot wait
     */
    boolean answer(OfiConnection c, int length) {
        return send(c, length, c.peer.waiting() < SHARE || count < CAPACITY / 2);
    }

    /** Sends what waits, as far as it can be sent. */
    void flush() {
        looks++;
        int left = count;
        for (int i = 0; i < left; i++) {
            int at = head;
            head = head + 1 & MASK;
            count--;
            OfiPeer peer = peers.at(targets[at]);
            // Without users nobody waits for it any more.
            if (peer.users == 0 || !peer.isStuck(looks) && isSent(at, peer)) {
                peer.waits(-1);
            } else {
                peer.stuck(looks);
                keep(at);
            }
        }
    }

    private boolean isSent(int at, OfiPeer peer) {
        int answer =
                resources.calls.inject(
                        waiting.addressOffset() + (long) at * Wire.SHORT,
                        lengths[at],
                        peer.fabricAddress);
        return answer != -fabric.VFI_EAGAIN;
    }

    private void keep(int from) {
        int at = head + count & MASK;
        if (at != from) {
            waiting.putBytes(at * Wire.SHORT, waiting, from * Wire.SHORT, Wire.SHORT);
            targets[at] = targets[from];
            lengths[at] = lengths[from];
        }
        count++;
    }

    boolean isEmpty() {
        return count == 0;
    }
}
