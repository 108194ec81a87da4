package dev.verbena.dart;

import dev.verbena.agent.internal.PlantedFaults;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Bounds the memory of messages that are half received. Their bytes were acknowledged, so they are
 * nowhere else: what has a file is put aside, because the file has the bytes, and read again when
 * the next frame of it comes. First those of servers which are not connected, and may never be
 * again, then those that have waited longest for a frame. What has no file is given up if its
 * server is away, the one that has been away longest first, is reported by name, and its stream
 * goes on only if gaps are accepted. Owned by the receiver's agent.
 */
final class HalfMessages {
    private static final long LOOK_EVERY_NS = 20_000_000;
    private static final int PIECE = 256 * 1024;
    private static final int PIECES_PER_CYCLE = 8;

    private final AbandonedMessages abandoned;
    private final MessageFiles files;
    private final long bytesMax;
    private final long graceNs;
    private UnsafeBuffer piece;
    private long nextLookNs;
    private boolean isAnyAside;

    /** Messages whose memory was given back. */
    final AtomicLong putAside = new AtomicLong();

    /**
     * @param files null: messages have no files
     */
    HalfMessages(
            AbandonedMessages abandoned,
            MessageFiles files,
            DartReceiver.Context context,
            long nowNs) {
        this.abandoned = abandoned;
        this.files = files;
        this.bytesMax = context.unfinishedBytesMax;
        this.graceNs = context.silenceTimeoutNs;
        this.nextLookNs = nowNs + LOOK_EVERY_NS;
    }

    int doWork(long now, List<InboundStream> streams) {
        int work = isAnyAside ? bringBack(streams) : 0;
        if (now - nextLookNs >= 0) {
            nextLookNs = now + LOOK_EVERY_NS;
            bound(now, streams);
        }
        return work;
    }

    private void bound(long now, List<InboundStream> streams) {
        if (PlantedFaults.ENABLED && PlantedFaults.isOn("dart-halves-kept")) {
            return;
        }
        long held = 0;
        for (int i = 0; i < streams.size(); i++) {
            InboundStream stream = streams.get(i);
            if (stream.session != null) {
                stream.awaySinceNs = 0;
            } else if (!stream.open.isEmpty()) {
                stream.awaySinceNs = stream.awaySinceNs == 0 ? now : stream.awaySinceNs;
            }
            boolean isCounted = stream.session == null || files != null;
            held += isCounted ? bytesOf(stream) : 0;
        }
        while (held > bytesMax) {
            InboundStream longest = longestAway(now, streams);
            long released = longest == null ? releaseConnected(streams) : release(longest);
            if (released == 0) {
                return;
            }
            held -= released;
        }
    }

    /** Of connected servers: what has waited longest for its next frame, unless that is here. */
    private long releaseConnected(List<InboundStream> streams) {
        boolean isPatient =
                PlantedFaults.ENABLED && PlantedFaults.isOn("dart-connected-halves-kept");
        InboundMessage oldest = null;
        for (int i = 0; i < streams.size() && !isPatient; i++) {
            InboundStream stream = streams.get(i);
            if (stream.session == null) {
                continue;
            }
            for (InboundMessage message : stream.open.values()) {
                if (message.memoryLength() > 0
                        && isInFile(message)
                        && !message.isWanted
                        && !stream.session.isReadingInto(message)
                        && (oldest == null || message.takenAt < oldest.takenAt)) {
                    oldest = message;
                }
            }
        }
        if (oldest == null) {
            return 0;
        }
        long released = oldest.memoryLength();
        putAside(oldest);
        return released;
    }

    private static boolean isInFile(InboundMessage message) {
        return message.file != null && message.file.forcedPosition() >= message.received;
    }

    private void putAside(InboundMessage message) {
        message.putAside();
        ServerShared.add(putAside, 1);
        isAnyAside = true;
    }

    private static long bytesOf(InboundStream stream) {
        long bytes = 0;
        for (InboundMessage message : stream.open.values()) {
            bytes += message.memoryLength();
        }
        return bytes;
    }

    private InboundStream longestAway(long now, List<InboundStream> streams) {
        InboundStream longest = null;
        for (int i = 0; i < streams.size(); i++) {
            InboundStream stream = streams.get(i);
            boolean isAway = stream.session == null && stream.awaySinceNs != 0;
            if (isAway
                    && (longest == null || stream.awaySinceNs - longest.awaySinceNs < 0)
                    && isReleasable(now, stream)) {
                longest = stream;
            }
        }
        return longest;
    }

    /** What has no file may still come back soon; what has one is safe once all is written. */
    private boolean isReleasable(long now, InboundStream stream) {
        for (InboundMessage message : stream.open.values()) {
            boolean isReady =
                    message.file == null
                            ? now - stream.awaySinceNs - graceNs >= 0
                            : isInFile(message);
            if (message.memoryLength() > 0 && isReady) {
                return true;
            }
        }
        return false;
    }

    private long release(InboundStream stream) {
        long released = 0;
        for (InboundMessage message : new ArrayList<>(stream.open.values())) {
            long length = message.memoryLength();
            if (message.file == null) {
                released += length;
                abandoned.loseHalf(stream, message, "its memory was needed");
            } else if (length > 0 && isInFile(message)) {
                released += length;
                putAside(message);
            }
        }
        return released;
    }

    /** Reads again those of which a frame has come. */
    private int bringBack(List<InboundStream> streams) {
        int work = 0;
        isAnyAside = false;
        for (int i = 0; i < streams.size(); i++) {
            InboundStream stream = streams.get(i);
            for (InboundMessage message : new ArrayList<>(stream.open.values())) {
                if (!message.isAside) {
                    continue;
                }
                isAnyAside = true;
                boolean isDue = stream.session != null && message.isWanted;
                if (isDue && work < PIECES_PER_CYCLE) {
                    work += bringBack(stream, message, PIECES_PER_CYCLE - work);
                }
            }
        }
        return work;
    }

    private int bringBack(InboundStream stream, InboundMessage message, int pieces) {
        if (piece == null) {
            piece = new UnsafeBuffer(new byte[PIECE]);
        }
        try {
            return files.bringBack(message, piece, pieces);
        } catch (DartException e) {
            InboundSession session = stream.session;
            abandoned.loseHalf(stream, message, e.getMessage());
            session.fail(FrameFlyweight.ERROR_STORE, e.getMessage());
            return 1;
        }
    }
}
