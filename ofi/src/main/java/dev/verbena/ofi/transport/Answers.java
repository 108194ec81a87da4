package dev.verbena.ofi.transport;

import java.util.ArrayDeque;

/** Records to peers without a connection, tried again for a while. One thread. */
final class Answers {
    private static final int TRIES = 200;
    private static final int WAITING_MAX = 256;

    private static final class Answer {
        final OfiPeer peer;
        final int type;
        final int to;
        int tries;

        Answer(OfiPeer peer, int type, int to) {
            this.peer = peer;
            this.type = type;
            this.to = to;
        }
    }

    private final Controls controls;
    private final ArrayDeque<Answer> waiting = new ArrayDeque<>();

    Answers(Controls controls) {
        this.controls = controls;
    }

    void send(OfiPeer peer, int type, int to) {
        if (waiting.size() < WAITING_MAX) {
            waiting.add(new Answer(peer, type, to));
            retry();
        }
    }

    void retry() {
        for (int left = waiting.size(); left > 0; left--) {
            Answer a = waiting.poll();
            int outcome = controls.send(a.peer, a.type, a.to, 0, 0, 0, null, 0);
            if (outcome == Controls.LATER && ++a.tries < TRIES) {
                waiting.add(a);
            }
        }
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }
}
