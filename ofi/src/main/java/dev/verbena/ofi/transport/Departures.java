package dev.verbena.ofi.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * Connections that have ended whose peers knew keys: such a peer may write until it says that it
 * has no operation any more, or until its process is gone and what it had sent has arrived.
 *
 * <p>The end of a process is not the end of its puts: the network, and this host's sockets, may
 * hold bytes of one, which the provider places when it is polled. The operating system over there
 * sends the rest of them; after a break of the network it tries again after as long a time as the
 * break has lasted. So the time is counted in watches, each of which follows a poll. One thread.
 */
final class Departures {
    /** A peer that was asked has so many watches to answer; then it is looked for. */
    private static final int ANSWER_WATCHES = 8;

    /** A peer that is gone has nothing under way after so many, and as many as it took to learn. */
    private static final int DRAIN_WATCHES = 16;

    private static final class Departure {
        final int connection;
        final OfiPeer peer;
        final long incarnation;
        final boolean isAsked;
        int age;
        int lookAge;

        /** A close of a region has waited for its answer, and got none. */
        boolean isSilent;

        /** 0: not known. */
        int endAge;

        Departure(OfiConnection c) {
            connection = c.handle;
            peer = c.peer;
            incarnation = c.peerIncarnation;
            isAsked = c.isAnswerAsked && !c.hasPeerGivenUp;
            lookAge = isAsked ? ANSWER_WATCHES : 0;
            if (c.hasPeerGivenUp) {
                drain();
            }
        }

        void drain() {
            if (endAge == 0) {
                endAge = 2 * age + DRAIN_WATCHES;
            }
        }

        void silent() {
            isSilent = true;
        }

        boolean mayAnswer() {
            return isAsked && !isSilent && endAge == 0 && age < ANSWER_WATCHES;
        }

        boolean isOver(Peers peers) {
            age++;
            if (endAge == 0 && isGone(peers)) {
                drain();
            }
            return endAge != 0 && age >= endAge;
        }

        private boolean isGone(Peers peers) {
            if (peer.incarnation != incarnation) {
                return true;
            }
            if (age < lookAge || !peers.look(peer)) {
                return false;
            }
            lookAge = 2 * age; // one that lives and says nothing is looked for less and less
            return peer.isRefused;
        }
    }

    private final Peers peers;
    private final IntConsumer ended;
    private final List<Departure> waiting = new ArrayList<>();

    /**
     * None yet.
     *
     * @param ended gets connections by which nothing arrives any more
     */
    Departures(Peers peers, IntConsumer ended) {
        this.peers = peers;
        this.ended = ended;
    }

    /** The peer of this connection may write. */
    void add(OfiConnection c) {
        waiting.add(new Departure(c));
    }

    /**
     * The peer says that this connection has ended there. What it had under way is placed if it was
     * asked and does not say that it gave that up.
     */
    void onLeft(int connection, OfiPeer peer, long incarnation, boolean isGivenUp) {
        for (int i = waiting.size() - 1; i >= 0; i--) {
            Departure d = waiting.get(i);
            if (d.connection == connection && d.peer == peer && d.incarnation == incarnation) {
                if (d.isAsked && !isGivenUp) {
                    end(i);
                } else {
                    d.drain();
                }
            }
        }
    }

    /** Whether the peer of this connection was asked just now and may answer soon. */
    boolean mayAnswer(int connection) {
        return waiting.stream().anyMatch(d -> d.connection == connection && d.mayAnswer());
    }

    /** A close of a region has waited for the answer. */
    void awaitedInVain(int connection) {
        waiting.stream().filter(d -> d.connection == connection).forEach(Departure::silent);
    }

    /** Some time has passed, in which the provider was polled. */
    void watch() {
        for (int i = waiting.size() - 1; i >= 0; i--) {
            if (waiting.get(i).isOver(peers)) {
                end(i);
            }
        }
    }

    private void end(int index) {
        ended.accept(waiting.remove(index).connection);
    }
}
