package dev.verbena.dart.receiver;

import dev.verbena.agent.DurableStore.ReadableFile;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartException;
import dev.verbena.dart.store.InboundMessage;
import dev.verbena.dart.store.InboundStream;
import dev.verbena.dart.store.MessageFiles;
import dev.verbena.dart.store.StreamSession;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.staging.Counters;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Bounds the memory of messages that are half received. Their bytes were acknowledged, so they are
 * nowhere else: what has a file is put aside, because the file has the bytes, and read again when
 * the next frame of it comes. First those of servers which are not connected, and may never be
 * again, then those that have waited longest for a frame; what the file has not got yet is forced.
 * What has no file is given up if its server is away, the one that has been away longest first, is
 * reported by name, and its stream goes on only if gaps are accepted. Owned by the receiver's
 * agent.
 */
final class PartialMessages {
    private static final long LOOK_EVERY_NS = 20_000_000;

    /** When the last look has found nothing to do although there is too much. */
    private static final long LOOK_AGAIN_NS = 200_000_000;

    private static final String NEEDED =
            "their memory was needed. Give the receiver a directory, or more memory"
                    + " (unfinishedBytesMax)";

    /** Frames make progress if so much of the bound comes while others wait. */
    private static final int PROGRESS_PART = 64;

    private static final int PIECE = 256 * 1024;
    private static final int PIECES_PER_CYCLE = 8;
    private static final int RELEASES_PER_LOOK = 256;
    private static final int FORCES_PER_LOOK = 16;

    private final ReceiverShared shared;
    private final StreamTable table;
    private final MessageFiles files;
    private final List<InboundStream> streams;
    private final long bytesMax;
    private final long graceNs;
    private UnsafeBuffer piece;
    private long nextLookNs;
    private long framesLookedAt;

    /** The message whose file is open for reading, and that file; null: none. */
    private InboundMessage reading;

    private String readingName;
    private ReadableFile reader;

    /** Since when frames wait for memory; 0: none does. */
    private long shortSinceNs;

    private long bytesTakenThen;

    /** Messages whose memory was given back. */
    final AtomicLong putAside = new AtomicLong();

    /** Messages that are half received. */
    final AtomicLong unfinished = new AtomicLong();

    /** Looks at which a frame waited for memory. */
    final AtomicLong memoryWaits = new AtomicLong();

    PartialMessages(ReceiverShared shared, StreamTable table, long nowNs) {
        this.table = table;
        this.shared = shared;
        this.files = shared.files;
        this.streams = shared.streams;
        this.bytesMax = shared.settings.unfinishedBytesMax();
        this.graceNs = shared.settings.silenceTimeoutNs();
        this.nextLookNs = nowNs + LOOK_EVERY_NS;
        shared.looksBegin();
    }

    int doWork(long now) {
        int work = shared.wanted.isEmpty() ? 0 : bringBack();
        if (now - nextLookNs >= 0) {
            boolean isProgress = bound(now);
            boolean isHopeless = shared.halfBytes > bytesMax && !isProgress && shared.crowd == 0;
            nextLookNs = now + (isHopeless ? LOOK_AGAIN_NS : LOOK_EVERY_NS);
        }
        return work;
    }

    long nextDeadlineNs() {
        boolean isWaiting =
                shared.halfBytes > bytesMax
                        || shared.crowd > 0
                        || shared.isMemoryShort
                        || shortSinceNs != 0
                        || shared.framesTaken != framesLookedAt
                        || !shared.wanted.isEmpty();
        return isWaiting ? nextLookNs : ProtocolAgent.NO_DEADLINE;
    }

    void close() {
        stopReading();
    }

    // ---- giving memory back

    /** Whether something was released, or asked for so that it can be. */
    private boolean bound(long now) {
        framesLookedAt = shared.framesTaken;
        long held = count(now);
        table.expire(now, shared.settings.halfKeptNs());
        int released = 0;
        while (held > bytesMax && released < RELEASES_PER_LOOK) {
            long bytes = releaseOne(now);
            if (bytes == 0) {
                break;
            }
            held -= bytes;
            released++;
        }
        if (files == null) {
            countAll();
            endWaiting(now);
            return released > 0;
        }
        long beingForced = forceOldest(held - bytesMax);
        boolean isProgress = released > 0 || beingForced > 0;
        long storing = storingBytes();
        boolean isLess = held <= bytesMax || isProgress || storing > 0;
        shared.looked(held, storing, isLess);
        return isProgress;
    }

    private void countAll() {
        long all = 0;
        long most = 0;
        InboundStream largest = null;
        for (int i = 0; i < streams.size(); i++) {
            long bytes = bytesOf(streams.get(i));
            all += bytes;
            if (bytes > most) {
                most = bytes;
                largest = streams.get(i);
            }
        }
        shared.looked(all, largest);
    }

    /**
     * Frames wait for memory that others' half messages have: when next to nothing has come for a
     * while, the server of most of it loses its halves.
     */
    private void endWaiting(long now) {
        if (!shared.takeMemoryShort()) {
            shortSinceNs = 0;
            return;
        }
        Counters.add(memoryWaits, 1);
        if (shortSinceNs == 0 || shared.bytesTaken - bytesTakenThen > bytesMax / PROGRESS_PART) {
            shortSinceNs = now;
            bytesTakenThen = shared.bytesTaken;
        } else if (now - shortSinceNs - graceNs >= 0) {
            shortSinceNs = now;
            giveUp(shared.largest);
        }
    }

    private void giveUp(InboundStream largest) {
        if (largest == null) {
            return;
        }
        for (InboundMessage message : new ArrayList<>(largest.open().values())) {
            shared.loseHalf(largest, message, NEEDED);
        }
        if (largest.session() != null) {
            largest.session()
                    .fail(
                            FrameFlyweight.ERROR_STORE,
                            "messages of which parts came are lost: " + NEEDED);
        }
    }

    private long storingBytes() {
        long bytes = 0;
        for (int i = 0; i < streams.size(); i++) {
            bytes += streams.get(i).storingBytes();
        }
        return bytes;
    }

    /** Bytes held by half messages that can be given back or given up. */
    private long count(long now) {
        long held = 0;
        long messages = 0;
        for (int i = 0; i < streams.size(); i++) {
            InboundStream stream = streams.get(i);
            messages += stream.open().size();
            if (stream.session() != null) {
                stream.present();
            } else if (!stream.open().isEmpty()) {
                stream.away(now);
            }
            boolean isCounted = stream.session() == null || files != null;
            held += isCounted ? bytesOf(stream) : 0;
        }
        unfinished.lazySet(messages);
        return held;
    }

    private static long bytesOf(InboundStream stream) {
        long bytes = 0;
        for (InboundMessage message : stream.open().values()) {
            bytes += message.memoryLength();
        }
        return bytes;
    }

    private long releaseOne(long now) {
        InboundStream longest = longestAway(now);
        return longest == null ? releaseConnected() : release(longest);
    }

    /** Of connected servers: what has waited longest for its next frame, unless that is here. */
    private long releaseConnected() {
        InboundMessage oldest = null;
        for (int i = 0; i < streams.size(); i++) {
            InboundStream stream = streams.get(i);
            if (stream.session() == null) {
                continue;
            }
            for (InboundMessage message : stream.open().values()) {
                if (message.memoryLength() > 0
                        && isInFile(message)
                        && !message.isWanted()
                        && !stream.session().isReadingInto(message)
                        && (oldest == null || message.takenAt() < oldest.takenAt())) {
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

    /** What is settled was forced, maybe before the file was opened the last time. */
    private static boolean isInFile(InboundMessage message) {
        return message.file() != null
                && Math.max(message.file().forcedPosition(), message.settledEnd())
                        >= message.received();
    }

    private void putAside(InboundMessage message) {
        message.putAside();
        Counters.add(putAside, 1);
    }

    /**
     * Asks that the files get what they have not got of those that have waited longest; bytes of
     * messages that are being forced.
     */
    private long forceOldest(long excess) {
        if (excess <= 0) {
            return 0;
        }
        long forcing = bytesBeingForced();
        for (int i = 0; i < FORCES_PER_LOOK && forcing < excess; i++) {
            InboundMessage oldest = oldestUnforced();
            if (oldest == null) {
                break;
            }
            files.forceUnfinished(oldest);
            forcing += oldest.memoryLength();
        }
        return forcing;
    }

    private long bytesBeingForced() {
        long bytes = 0;
        for (int i = 0; i < streams.size(); i++) {
            for (InboundMessage message : streams.get(i).open().values()) {
                boolean isAsked = hasFile(message) && message.forceAsked() >= message.received();
                bytes += isAsked && !isInFile(message) ? message.memoryLength() : 0;
            }
        }
        return bytes;
    }

    private static boolean hasFile(InboundMessage message) {
        return message.file() != null && message.file().error().isEmpty();
    }

    private InboundMessage oldestUnforced() {
        InboundMessage oldest = null;
        for (int i = 0; i < streams.size(); i++) {
            for (InboundMessage message : streams.get(i).open().values()) {
                if (message.memoryLength() > 0
                        && hasFile(message)
                        && message.forceAsked() < message.received()
                        && !isInFile(message)
                        && (oldest == null || message.takenAt() < oldest.takenAt())) {
                    oldest = message;
                }
            }
        }
        return oldest;
    }

    private InboundStream longestAway(long now) {
        InboundStream longest = null;
        for (int i = 0; i < streams.size(); i++) {
            InboundStream stream = streams.get(i);
            boolean isAway = stream.session() == null && stream.awaySinceNs() != 0;
            if (isAway
                    && (longest == null || stream.awaySinceNs() - longest.awaySinceNs() < 0)
                    && isReleasable(now, stream)) {
                longest = stream;
            }
        }
        return longest;
    }

    /** What has no file may still come back soon; what has one is safe once all is written. */
    private boolean isReleasable(long now, InboundStream stream) {
        for (InboundMessage message : stream.open().values()) {
            boolean isReady =
                    message.file() == null
                            ? now - stream.awaySinceNs() - graceNs >= 0
                            : isInFile(message);
            if (message.memoryLength() > 0 && isReady) {
                return true;
            }
        }
        return false;
    }

    private long release(InboundStream stream) {
        long released = 0;
        for (InboundMessage message : new ArrayList<>(stream.open().values())) {
            long length = message.memoryLength();
            if (message.file() == null) {
                released += length;
                shared.loseHalf(stream, message, NEEDED);
            } else if (length > 0 && isInFile(message)) {
                released += length;
                putAside(message);
            }
        }
        return released;
    }

    // ---- reading again

    /**
     * Reads some of the first message of which a frame has come. One after the other, so that not
     * all of them are in memory at once.
     */
    private int bringBack() {
        InboundStream stream = shared.wanted.peek();
        InboundMessage message = stream.wanted();
        boolean isStillWanted =
                message != null
                        && message.isAside()
                        && message.isWanted()
                        && stream.session() != null
                        && stream.open().get(message.clientId()) == message;
        if (!isStillWanted) {
            shared.wanted.poll();
            stream.want(null);
            if (message != null && message.isAside()) {
                message.unwant();
            }
            stopReading();
            return 1;
        }
        if (reading == null && shared.crowd > 0) {
            return 0;
        }
        try {
            return readSome(message);
        } catch (DartException | java.io.UncheckedIOException e) {
            StreamSession session = stream.session();
            stopReading();
            shared.loseHalf(stream, message, e.getMessage());
            session.fail(FrameFlyweight.ERROR_STORE, e.getMessage());
            return 1;
        }
    }

    private int readSome(InboundMessage message) {
        if (piece == null) {
            piece = new UnsafeBuffer(new byte[PIECE]);
        }
        if (reading != message || readingName != message.temporaryName()) {
            stopReading();
            reader = files.store().read(message.temporaryName());
            reading = message;
            readingName = message.temporaryName();
            shared.readAgain(message);
        }
        for (int i = 0; i < PIECES_PER_CYCLE && message.isAside(); i++) {
            files.bringBack(message, reader, piece);
        }
        if (!message.isAside()) {
            stopReading();
        }
        return 1;
    }

    private void stopReading() {
        reading = null;
        readingName = null;
        if (reader != null) {
            reader.close();
            reader = null;
        }
    }
}
