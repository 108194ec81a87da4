package dev.verbena.ugni.transport;

import dev.verbena.agent.internal.KillSteps;
import dev.verbena.ugni.bindings.ugni;
import java.util.concurrent.ThreadLocalRandom;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Where anybody of the protection domain may leave a control record: slots that a sender claims by
 * an atomic compare-and-swap, fills by a put with a synchronising flag, and that the owner empties.
 * Of a sender who dies in between, the owner takes the claim back after a while. One thread.
 *
 * <pre>
 * offset size field of a slot
 *   0     8   claim: 0 free, else a number that the sender made up
 *   8     8   the same number, once the record is whole
 *  16   412   {@link ControlRecord}
 * </pre>
 */
final class ControlMailbox {
    static final int SLOTS = 64;

    /**
     * What events of peers carry that wrote to a control mailbox; no connection has this handle.
     */
    static final int EVENT = 0;

    static final int DELIVERED = 0;

    /** Nothing happened; a later attempt may succeed. */
    static final int BUSY = 1;

    static final int UNREACHABLE = 2;

    private static final int STRIDE = 512;
    private static final int FLAG = 8;
    private static final int RECORD = 16;
    private static final int RESULT = ControlRecord.LENGTH + 4;

    /** Where peers write. */
    final Memory memory;

    private final GniResources resources;
    private final UnsafeBuffer slots;
    private final long[] seenClaim = new long[SLOTS];
    private final long[] claimedSinceNs = new long[SLOTS];

    /** What is sent, then where the result of an atomic goes; registered. */
    private final Memory staging;

    private final Descriptor descriptor;
    private final UnsafeBuffer descriptorBytes =
            new UnsafeBuffer(BufferUtil.allocateDirectAligned(Descriptor.STRIDE, FLAG));
    private int nextSlot;

    ControlMailbox(GniResources resources) {
        this.resources = resources;
        this.memory = resources.memory(SLOTS * STRIDE, true);
        this.slots = memory.bytes();
        this.staging = resources.memory(STRIDE, false);
        this.descriptor = new Descriptor(descriptorBytes.addressOffset());
    }

    // ---- at the owner ----

    /** What becomes of a record. */
    interface Consumer {
        void onRecord(ControlRecord record);
    }

    /** Takes every record that is whole; the record is valid during the call. */
    void take(ControlRecord copy, Consumer consumer) {
        for (int i = 0; i < SLOTS; i++) {
            int at = i * STRIDE;
            // Partner: the flag that the sender's put stores last.
            long flag = slots.getLongVolatile(at + FLAG);
            if (flag != 0) {
                boolean isGood = slots.getLongVolatile(at) == flag;
                copy.buffer().putBytes(0, slots, at + RECORD, ControlRecord.LENGTH);
                empty(at);
                if (isGood) {
                    consumer.onRecord(copy);
                }
            }
        }
    }

    private void empty(int at) {
        slots.putLongVolatile(at + FLAG, 0);
        slots.putLongVolatile(at, 0);
    }

    /** Takes claims back whose sender left no record for so long. */
    void sweep(long nowNs, long patienceNs) {
        for (int i = 0; i < SLOTS; i++) {
            long claim = slots.getLongVolatile(i * STRIDE);
            if (claim == 0 || claim != seenClaim[i]) {
                seenClaim[i] = claim;
                claimedSinceNs[i] = nowNs;
            } else if (nowNs - claimedSinceNs[i] >= patienceNs
                    && slots.getLongVolatile(i * STRIDE + FLAG) == 0) {
                slots.putLongVolatile(i * STRIDE, 0);
            }
        }
    }

    // ---- at a sender ----

    /** Leaves a record at a peer's control mailbox. */
    int put(GniPeer peer, ControlRecord record) {
        long claim = ThreadLocalRandom.current().nextLong() | 1;
        for (int tries = 0; tries < SLOTS; tries++) {
            long slot = peer.control + (long) (nextSlot++ & SLOTS - 1) * STRIDE;
            int status = claim(peer, slot, claim);
            if (status != DELIVERED) {
                return status;
            }
            if (staging.bytes().getLong(RESULT) == 0) {
                if (KillSteps.ENABLED) {
                    KillSteps.step("java.gni.claimed");
                }
                return fill(peer, slot, claim, record);
            }
        }
        return BUSY;
    }

    private int claim(GniPeer peer, long slot, long claim) {
        descriptor
                .kind(ugni.GNI_POST_AMO, ugni.GNI_CQMODE_GLOBAL_EVENT)
                .amo(ugni.GNI_FMA_ATOMIC_CSWAP, 0, claim)
                .local(staging.address() + RESULT, staging.low(), staging.high())
                .remote(slot, peer.controlLow, peer.controlHigh)
                .length(Long.BYTES);
        return post(peer);
    }

    private int fill(GniPeer peer, long slot, long claim, ControlRecord record) {
        staging.bytes().putBytes(0, record.buffer(), 0, ControlRecord.LENGTH);
        descriptor
                .kind(
                        ugni.GNI_POST_FMA_PUT_W_SYNCFLAG,
                        ugni.GNI_CQMODE_GLOBAL_EVENT | ugni.GNI_CQMODE_REMOTE_EVENT)
                .local(staging.address(), staging.low(), staging.high())
                .remote(slot + RECORD, peer.controlLow, peer.controlHigh)
                .syncFlag(slot + FLAG, claim)
                .length(ControlRecord.LENGTH);
        return post(peer);
    }

    /** Posts, and takes the event: an FMA transaction has ended when the post returns. */
    private int post(GniPeer peer) {
        int posted = ugni.vgn_post_fma(peer.endpoint, descriptor.address);
        if (posted != 0) {
            return posted == -ugni.GNI_RC_ERROR_RESOURCE ? BUSY : UNREACHABLE;
        }
        int answer = ugni.vgn_cq_get(resources.controlQueue, resources.at(0));
        ugni.vgn_completed(
                resources.controlQueue, resources.scratch.getLong(0), resources.at(FLAG));
        return answer == 0 ? DELIVERED : UNREACHABLE;
    }
}
