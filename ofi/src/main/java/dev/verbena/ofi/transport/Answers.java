package dev.verbena.ofi.transport;

import java.util.ArrayDeque;
import org.agrona.concurrent.SystemNanoClock;

/** Records to peers without a connection, tried again for a while. One thread. */
final class Answers {
    private static final long TRIED_NS = 1_000_000_000L;
    private static final int WAITING_MAX = 256;

    private record Answer(OfiPeer peer, int type, int to, int from, long endNs) {
        /** Signs of life for another connection would keep the peer from giving this one up. */
        boolean isWanted(long nowNs) {
            return nowNs - endNs < 0 || from == ControlRecord.GIVEN_UP && peer.users > 0;
        }
    }

    private final Controls controls;
    private final ArrayDeque<Answer> waiting = new ArrayDeque<>();

    Answers(Controls controls) {
        this.controls = controls;
    }

    void send(OfiPeer peer, int type, int to, int from) {
        if (waiting.size() < WAITING_MAX) {
            long endNs = SystemNanoClock.INSTANCE.nanoTime() + TRIED_NS;
            waiting.add(new Answer(peer, type, to, from, endNs));
            retry();
        }
    }

    void retry() {
        if (waiting.isEmpty()) {
            return;
        }
        long nowNs = SystemNanoClock.INSTANCE.nanoTime();
        for (int left = waiting.size(); left > 0; left--) {
            Answer a = waiting.poll();
            int outcome = controls.send(a.peer, a.type, a.to, a.from, 0, 0, null, 0);
            if (outcome == Controls.LATER && a.isWanted(nowNs)) {
                waiting.add(a);
            }
        }
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }
}
