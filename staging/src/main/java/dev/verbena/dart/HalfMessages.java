package dev.verbena.dart;

import dev.verbena.agent.internal.PlantedFaults;

import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Bounds the memory of messages that are half received from servers which are not connected, and
 * may never be again. Their bytes were acknowledged, so they are nowhere else: what has a file is
 * put aside, because the file has the bytes, and read again when its server comes back; what has
 * none is given up, the server that has been away longest first, is reported by name, and its
 * stream goes on only if gaps are accepted. Owned by the receiver's agent.
 */
final class HalfMessages {
    private static final long LOOK_EVERY_NS = 100_000_000;
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
                held += bytesOf(stream);
            }
        }
        while (held > bytesMax) {
            InboundStream longest = longestAway(now, streams);
            if (longest == null) {
                return;
            }
            held -= release(longest);
        }
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
                            : message.file.forcedPosition() >= message.received;
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
            } else if (length > 0 && message.file.forcedPosition() >= message.received) {
                released += length;
                message.putAside();
                ServerShared.add(putAside, 1);
                isAnyAside = true;
            }
        }
        return released;
    }

    /** Reads again what belongs to servers that are connected. */
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
                if (stream.session != null && work < PIECES_PER_CYCLE) {
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
