package dev.verbena.nsim.dart;

import dev.verbena.dart.DartMessage;
import dev.verbena.dart.DartMessageHandler;
import java.util.HashMap;
import java.util.Map;

/** What a receiver has handed over: each message whole, right, once. */
final class Ledger implements DartMessageHandler {
    private final Map<Integer, Integer> counts = new HashMap<>();
    private final Map<Integer, Integer> lastOfRank = new HashMap<>();
    private final int length;
    private final boolean isFilled;
    private final boolean isOrdered;
    long bytes;
    long messages;

    /** The first promise that was broken; empty: none. */
    String wrong = "";

    /**
     * Nothing came yet.
     *
     * @param length of every message
     * @param isFilled whether payloads have bytes to compare
     * @param isOrdered whether messages of one process must come in the order sent
     */
    Ledger(int length, boolean isFilled, boolean isOrdered) {
        this.length = length;
        this.isFilled = isFilled;
        this.isOrdered = isOrdered;
    }

    boolean has(int tag) {
        return counts.containsKey(tag);
    }

    @Override
    public void onMessage(DartMessage message) {
        int tag = message.tag();
        String name = "message " + ComputeProcess.number(tag) + " of rank " + (tag >>> 12);
        messages++;
        bytes += message.length();
        if (message.length() != length) {
            broken(name + " has " + message.length() + " bytes, not " + length);
        } else if (isFilled) {
            int wrongAt =
                    Payload.firstWrong(message.buffer(), message.offset(), message.length(), tag);
            if (wrongAt >= 0) {
                broken(name + " is wrong from byte " + wrongAt + " of " + length + " on");
            }
        }
        if (counts.merge(tag, 1, Integer::sum) > 1) {
            broken(name + " was handed over twice");
        }
        Integer last = lastOfRank.put(tag >>> 12, tag);
        if (isOrdered && last != null && last > tag) {
            broken(name + " came after message " + ComputeProcess.number(last));
        }
    }

    private void broken(String what) {
        wrong = wrong.isEmpty() ? what : wrong;
    }
}
