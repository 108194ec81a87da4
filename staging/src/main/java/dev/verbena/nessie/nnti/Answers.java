package dev.verbena.nessie.nnti;

import java.util.ArrayDeque;
import org.agrona.collections.IntArrayQueue;

/**
 * Answers to sends without a destination. Those that cannot be sent now wait here, not in the
 * peer's message: it would occupy a credit that the peer may need to answer in its turn. Owned by
 * the transport's thread; allocates nothing once its queues have grown.
 */
final class Answers {
    /** More than a peer that keeps to the protocol can ever wait for. */
    private static final int WAITING_MAX = 1 << 18;

    private static final int TRIES_MAX = 64;

    private final Postings postings;
    private final ArrayDeque<NntiPeer> peers = new ArrayDeque<>();
    private final IntArrayQueue numbers = new IntArrayQueue();
    private final IntArrayQueue codes = new IntArrayQueue();

    Answers(Postings postings) {
        this.postings = postings;
    }

    /** Answers, now or later; false: the number is none, or too many wait: it is not answered. */
    boolean give(NntiPeer peer, int number, NntiResult result) {
        if (number < 1 || peers.size() == WAITING_MAX) {
            return false;
        }
        if (!postings.answer(peer, number, result)) {
            add(peer, number, result);
        }
        return true;
    }

    private void add(NntiPeer peer, int number, NntiResult result) {
        peers.add(peer);
        numbers.addInt(number);
        codes.addInt(result.code());
    }

    /** Sends what waits; work done. */
    int doWork() {
        int work = 0;
        for (int i = Math.min(peers.size(), TRIES_MAX); i > 0; i--) {
            NntiPeer peer = peers.remove();
            int number = numbers.pollInt();
            NntiResult result = NntiResult.ofCode(codes.pollInt());
            if (postings.answer(peer, number, result)) {
                work++;
            } else {
                // Behind the others, for these may be of peers that take something now.
                add(peer, number, result);
            }
        }
        return work;
    }
}
