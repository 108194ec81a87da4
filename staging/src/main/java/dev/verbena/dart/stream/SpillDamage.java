package dev.verbena.dart.stream;

import dev.verbena.agent.DurableStore.ReadableFile;
import dev.verbena.dart.DartException;
import dev.verbena.dart.wire.FrameFlyweight;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.util.LinkedHashSet;
import java.util.Set;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What can still be told of a file of frames behind a place that cannot be read: which messages
 * have intact frames there. Owned by t3.
 */
final class SpillDamage {
    /** Messages that are named; of more only that there are more. */
    static final int NAMED_MAX = 50;

    private final UnsafeBuffer buffer =
            new UnsafeBuffer(new byte[FrameFlyweight.LENGTH + FrameFlyweight.PAYLOAD_MAX]);
    private final FrameFlyweight frame = new FrameFlyweight();
    private final Set<String> messages = new LinkedHashSet<>();
    private long frameCount;

    /**
     * Looks for intact frames, wherever they begin.
     *
     * @return how many there are; what cannot be read counts as none
     */
    long look(ReadableFile file, long from) {
        long found = 0;
        try {
            for (long at = from; file.length() - at >= FrameFlyweight.LENGTH; ) {
                int length = frameAt(file, at);
                found += length > 0 ? 1 : 0;
                at += length > 0 ? length : next(file, at);
            }
        } catch (DartException | UncheckedIOException e) {
            // The device: what was found is all that can be told.
        }
        frameCount += found;
        return found;
    }

    /** Length of an intact frame of data that begins here; 0 if there is none. */
    private int frameAt(ReadableFile file, long at) {
        if (file.read(at, buffer, 0, FrameFlyweight.LENGTH) < FrameFlyweight.LENGTH) {
            return 0;
        }
        try {
            frame.wrap(buffer, 0);
        } catch (DartException e) {
            return 0;
        }
        int length = FrameFlyweight.LENGTH + frame.payloadLength();
        boolean isIntact =
                frame.type() == FrameFlyweight.DATA
                        && file.length() - at >= length
                        && file.read(at, buffer, 0, length) == length
                        && frame.isIntact(buffer, FrameFlyweight.LENGTH);
        if (!isIntact) {
            return 0;
        }
        if ((frame.flags() & FrameFlyweight.NOTICES) == 0 && messages.size() <= NAMED_MAX) {
            messages.add(frame.messageSequence() + " of client " + frame.clientId());
        }
        return length;
    }

    /** Bytes to the next place at which a frame may begin. */
    private int next(ReadableFile file, long at) {
        int length = file.read(at + 1, buffer, 0, buffer.capacity());
        int end = length - Integer.BYTES + 1;
        for (int i = 0; i < end; i++) {
            if (buffer.getInt(i, ByteOrder.BIG_ENDIAN) == FrameFlyweight.MAGIC) {
                return i + 1;
            }
        }
        return Math.max(1, end);
    }

    /** For the error log. */
    @Override
    public String toString() {
        if (messages.isEmpty()) {
            return "no message can be told";
        }
        boolean isMore = messages.size() > NAMED_MAX;
        return "%s intact frames of message %s%s"
                .formatted(
                        frameCount,
                        String.join(
                                ", ", messages.stream().limit(NAMED_MAX).toArray(String[]::new)),
                        isMore ? " and more" : "");
    }
}
