package dev.verbena.nsim.dart;

import dev.verbena.dart.DartMessage;
import dev.verbena.dart.DartMessageHandler;
import org.agrona.collections.Int2IntHashMap;
import org.agrona.collections.IntHashSet;

/** Checks what a receiver hands over: each message whole, right, once. */
final class DeliveryCheck implements DartMessageHandler {
    private static final int NONE = -1;

    private final IntHashSet tags = new IntHashSet();
    private final Int2IntHashMap lastOfRank = new Int2IntHashMap(NONE);
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
    DeliveryCheck(int length, boolean isFilled, boolean isOrdered) {
        this.length = length;
        this.isFilled = isFilled;
        this.isOrdered = isOrdered;
    }

    boolean has(int tag) {
        return tags.contains(tag);
    }

    @Override
    public void onMessage(DartMessage message) {
        int tag = message.tag();
        // Where sizes alone are moved the message has no bytes.
        long has = isFilled ? message.length() : message.metadata().payloadLength();
        messages++;
        bytes += has;
        if (has != length) {
            broken(tag, "has " + has + " bytes, not " + length);
        } else if (isFilled) {
            int wrongAt =
                    PayloadPattern.firstWrong(
                            message.buffer(), message.offset(), message.length(), tag);
            if (wrongAt >= 0) {
                broken(tag, "is wrong from byte " + wrongAt + " of " + length + " on");
            }
        }
        if (!tags.add(tag)) {
            broken(tag, "was handed over twice");
        }
        int last = lastOfRank.put(tag >>> 12, tag);
        if (isOrdered && last != NONE && last > tag) {
            broken(tag, "came after message " + ComputeProcess.number(last));
        }
    }

    private void broken(int tag, String what) {
        if (wrong.isEmpty()) {
            int rank = tag >>> 12;
            wrong = "message " + ComputeProcess.number(tag) + " of rank " + rank + " " + what;
        }
    }
}
