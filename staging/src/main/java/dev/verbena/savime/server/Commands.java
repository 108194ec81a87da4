package dev.verbena.savime.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgType;
import java.util.ArrayDeque;
import java.util.Iterator;

/** Results of commands on their way to clients, in as many messages as they take. */
final class Commands {
    /** A result goes on when so many of its messages have been sent. */
    private static final int MESSAGES_AT_ONCE = 4;

    private final ArrayDeque<Result> results = new ArrayDeque<>();

    private static final class Result {
        private final Connection to;
        private final long request;
        private final int status;
        private final byte[] text;
        private int sent;
        private boolean isBegun;

        Result(Connection to, long request, int status, byte[] text) {
            this.to = to;
            this.request = request;
            this.status = status;
            this.text = text;
        }

        boolean isSent() {
            return isBegun && sent == text.length;
        }

        void sendNext() {
            int count = Math.min(StgFlyweight.TEXT_MAX, text.length - sent);
            StgFlyweight message = to.reply(StgType.RUN_RESULT, request, status);
            message.text(text, sent, count, text.length);
            sent += count;
            isBegun = true;
            if (sent < text.length) {
                message.flags(StgFlags.FLAG_MORE);
            }
        }
    }

    /** Sends a result, if the one that asked is still there. */
    void answer(Connection to, long request, int status, String text) {
        if (to != null && to.session.isConnected(to)) {
            results.add(new Result(to, request, status, text.getBytes(UTF_8)));
        }
    }

    /** Sends on where the client has taken what was sent; work done. */
    int doWork() {
        int work = 0;
        for (Iterator<Result> each = results.iterator(); each.hasNext(); ) {
            Result result = each.next();
            if (!result.to.session.isConnected(result.to)) {
                each.remove();
                continue;
            }
            boolean isTaken = result.to.out.isEmpty();
            for (int i = 0; isTaken && i < MESSAGES_AT_ONCE && !result.isSent(); i++) {
                result.sendNext();
                work++;
            }
            if (result.isSent()) {
                each.remove();
            }
        }
        return work;
    }
}
