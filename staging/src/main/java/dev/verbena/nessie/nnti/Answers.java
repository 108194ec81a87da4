package dev.verbena.nessie.nnti;

import java.util.ArrayDeque;
import org.agrona.collections.LongArrayQueue;

/**
 * Answers to sends without a destination. Those that cannot be sent now wait here, not in the
 * peer's message: it would occupy a credit that the peer may need to answer in its turn. Each peer
 * has a queue of its own, so that one which takes no answers holds up nobody else's. Owned by the
 * transport's thread; allocates nothing once its queues have grown.
 */
final class Answers {
    /** More than a peer that keeps to the protocol can ever wait for. */
    private static final int WAITING_MAX = 1 << 18;

    private static final int TRIES_MAX = 64;

    private final Postings postings;

    /** Those with answers that wait, each once. */
    private final ArrayDeque<NntiPeer> peers = new ArrayDeque<>();

    Answers(Postings postings) {
        this.postings = postings;
    }

    /** Answers, now or later; false: the number is none, or too many wait: it is not answered. */
    boolean give(NntiPeer peer, int number, NntiResult result) {
        LongArrayQueue waiting = peer.answers;
        boolean isFirst = waiting.isEmpty();
        if (number < 1 || waiting.size() == WAITING_MAX) {
            return false;
        }
        if (!isFirst || !postings.answer(peer, number, result)) {
            waiting.addLong((long) number << Integer.SIZE | Integer.toUnsignedLong(result.code()));
            if (isFirst) {
                peers.add(peer);
            }
        }
        return true;
    }

    /** Sends what waits; work done. */
    int doWork() {
        int work = 0;
        for (int i = peers.size(); i > 0; i--) {
            NntiPeer peer = peers.remove();
            work += send(peer, peer.answers);
            if (!peer.answers.isEmpty()) {
                peers.add(peer);
            }
        }
        return work;
    }

    private int send(NntiPeer peer, LongArrayQueue waiting) {
        int sent = 0;
        while (sent < TRIES_MAX && !waiting.isEmpty()) {
            long first = waiting.peekLong();
            NntiResult result = NntiResult.ofCode((int) first);
            if (!postings.answer(peer, (int) (first >> Integer.SIZE), result)) {
                return sent;
            }
            waiting.pollLong();
            sent++;
        }
        return sent;
    }
}
