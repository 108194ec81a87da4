package dev.verbena.dart.stream;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.staging.Counters;
import java.util.function.Consumer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Copies parts that the receiver does not take into files, the oldest first, so that everything
 * before the first part that is only in memory is in files: a server that goes on after a crash
 * finds the stream without holes. A buffer is free once its copy was forced to the device. Owned by
 * t3.
 */
final class SpillWriter {
    /** Parts that may be in files, which bounds what this server remembers of them. */
    static final int PARTS_MAX = 1 << 18;

    /** The receiver is given this long to come back before anything is spilled. */
    private static final long AWAY_NS = 200_000_000L;

    /** Headers have waited this long because no buffer was empty. */
    private static final long PRESSED_NS = 50_000_000L;

    /** After a device was full or failed. */
    private static final long RETRY_NS = 1_000_000_000L;

    private static final int WRITE_LIMIT = 4 * 1024 * 1024;
    private static final long FORCE_EACH = 16L * 1024 * 1024;

    private final StreamOwner shared;
    private final SpillFiles files;
    private final ReceiverLink link;
    private final HeldBuffers held;
    private final Consumer<ServerBuffer> release;
    private final Consumer<ServerBuffer> giveBack;
    private final FrameFlyweight frame = new FrameFlyweight();
    private final UnsafeBuffer header = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH]);
    private SpillFile file;
    private long forcedUpTo;
    private long writeAt;
    private long pressedSinceNs;
    private boolean isPressed;
    private long retryAtNs;
    private boolean isRetrying;
    private boolean isReported;

    // The part that is being copied.
    private ServerBuffer part;

    /** Its place in the stream; the receiver may acknowledge it before its copy is complete. */
    private long partAt;

    private int partFrame;
    private int frameDone;
    private int frameLength;

    SpillWriter(
            StreamOwner shared,
            SpillFiles files,
            ReceiverLink link,
            Consumer<ServerBuffer> release,
            Consumer<ServerBuffer> giveBack) {
        this.shared = shared;
        this.files = files;
        this.link = link;
        this.held = link.held();
        this.release = release;
        this.giveBack = giveBack;
    }

    int doWork(long now) {
        forcedUpTo = Math.max(forcedUpTo, held.head());
        writeAt = Math.max(writeAt, forcedUpTo);
        if (file != null && !file.writer.error().isEmpty()) {
            failed(now, file.writer.error());
            return 1;
        }
        int work = releaseForced();
        isReported &= !isAllForced();
        work += write(now, isDue(now));
        return work + tidy();
    }

    /** Nothing is in memory only. */
    boolean isAllForced() {
        return part == null && forcedUpTo >= held.tail();
    }

    private boolean isDue(long now) {
        if (writeAt >= held.tail() || isRetrying && now - retryAtNs < 0) {
            return false;
        }
        if (link.isAway()) {
            isPressed = false;
            return now - link.awaySinceNs() - AWAY_NS >= 0;
        }
        boolean wasPressed = isPressed;
        isPressed = shared.parkedCount() > 0 && shared.emptyCount() == 0;
        if (isPressed && !wasPressed) {
            pressedSinceNs = now;
        }
        return isPressed && now - pressedSinceNs - PRESSED_NS >= 0;
    }

    /** Looks again soon as long as something is in memory only. */
    long nextDeadlineNs(long now) {
        if (forcedUpTo >= held.tail()) {
            return ProtocolAgent.NO_DEADLINE;
        }
        return now + PRESSED_NS;
    }

    // ---- copying

    private int write(long now, boolean isDue) {
        int budget = WRITE_LIMIT;
        while (budget > 0 && (part != null || isDue && beginPart(now))) {
            boolean isHeader = frameDone < FrameFlyweight.LENGTH;
            int payloadDone = frameDone - FrameFlyweight.LENGTH;
            int n =
                    isHeader
                            ? file.writer.append(
                                    header, frameDone, FrameFlyweight.LENGTH - frameDone)
                            : file.writer.append(
                                    part.window,
                                    partFrame * shared.settings.framePayloadMax() + payloadDone,
                                    frameLength - frameDone);
            if (n < 0) {
                failed(now, file.writer.error());
                return 1;
            }
            if (n == 0 && frameDone < frameLength) {
                break;
            }
            budget -= n;
            frameDone += n;
            file.appended(n);
            files.grew(n);
            if (frameDone == frameLength) {
                frameCopied();
            }
        }
        return budget < WRITE_LIMIT ? 1 : 0;
    }

    private boolean beginPart(long now) {
        if (writeAt >= held.tail()) {
            return false;
        }
        // What was acknowledged meanwhile would be missing behind the parts in it.
        deleteIfUseless();
        ServerBuffer next = held.at(writeAt);
        long length = next.length + (long) next.frameCount * FrameFlyweight.LENGTH;
        if (!files.hasRoom(length) || held.count() > PARTS_MAX) {
            if (!isReported) {
                isReported = true;
                Counters.add(shared.spillFailures, 1);
                files.report(
                        "the limit of %s bytes is reached; processes wait until the receiver "
                                + "takes something",
                        shared.settings.spillLimit());
            }
            return false;
        }
        if (file != null && file.length >= files.lengthMax()) {
            if (file.forced() < file.length) {
                return false;
            }
            files.endWriting(file);
            file = null;
        }
        String unlocked = file == null ? files.lockOwn() : "";
        if (!unlocked.isEmpty()) {
            failed(now, unlocked);
            return false;
        }
        if (file == null) {
            file = files.begin(next.firstFrame);
            if (!file.writer.error().isEmpty()) {
                failed(now, file.writer.error());
                return false;
            }
        }
        part = next;
        partAt = writeAt;
        part.copiedTo(file, file.length);
        file.holdsPart();
        beginFrame(0);
        return true;
    }

    private void beginFrame(int number) {
        partFrame = number;
        frameDone = 0;
        int payload = held.frameLength(part, number);
        frameLength = FrameFlyweight.LENGTH + payload;
        DataFrames.encode(
                frame, header, part, number, number * shared.settings.framePayloadMax(), payload);
    }

    private void frameCopied() {
        if (partFrame + 1 < part.frameCount) {
            beginFrame(partFrame + 1);
            return;
        }
        ServerBuffer copied = part;
        part = null;
        writeAt = Math.max(writeAt, partAt + 1);
        if (copied.isReleasedLate) {
            giveBack.accept(copied);
        }
    }

    /**
     * Whether an acknowledged buffer may be used again; if not, it is given back once its copy is
     * complete, for half of a frame would make the rest of the file unreadable.
     */
    boolean isFree(ServerBuffer buffer) {
        if (buffer == part) {
            buffer.releasedLate(true);
            return false;
        }
        buffer.releasedLate(false);
        if (buffer.spillFile != null) {
            files.released(buffer.leaveFile());
        }
        return true;
    }

    // ---- forcing

    private int releaseForced() {
        int work = 0;
        while (forcedUpTo < writeAt) {
            ServerBuffer buffer = held.at(forcedUpTo);
            long end =
                    buffer.spillOffset
                            + buffer.length
                            + (long) buffer.frameCount * FrameFlyweight.LENGTH;
            if (buffer.spillFile.forced() < end || link.isSending(buffer)) {
                break;
            }
            ServerBuffer standIn = buffer.standIn();
            held.standIn(forcedUpTo, standIn);
            forcedUpTo++;
            buffer.leaveFile();
            isRetrying = false;
            Counters.add(shared.spilledBytes, buffer.length);
            if (standIn.isCounted) {
                Counters.add(shared.spillMessages, 1);
            }
            shared.events.spilled(buffer.clientId, buffer.sequence, buffer.length);
            release.accept(buffer);
            work++;
        }
        return work;
    }

    /** Asks for a force when enough was written or nothing more is; a file of no use goes. */
    private int tidy() {
        if (file == null || part != null) {
            return 0;
        }
        if (deleteIfUseless()) {
            return 1;
        }
        long unasked = file.length - file.forceAsked;
        // A file of which nothing was forced says -1.
        boolean isForcing = Math.max(0, file.forced()) < file.forceAsked;
        boolean isWorthIt = unasked >= FORCE_EACH || writeAt >= held.tail() || !isForcing;
        if (unasked > 0 && isWorthIt && file.writer.error().isEmpty()) {
            file.force();
            return 1;
        }
        return 0;
    }

    /** The receiver has all that is in the file. */
    private boolean deleteIfUseless() {
        if (file == null || file.live > 0) {
            return false;
        }
        files.delete(file);
        file = null;
        return true;
    }

    /** What is not forced is still in memory, and is copied again into another file. */
    private void failed(long now, String why) {
        if (!isReported) {
            isReported = true;
            files.report(
                    "cannot be written, processes wait until it can or the receiver is back: %s",
                    why);
        }
        Counters.add(shared.spillFailures, 1);
        isRetrying = true;
        retryAtNs = now + RETRY_NS;
        SpillFile broken = file;
        file = null;
        for (long i = forcedUpTo; i < writeAt; i++) {
            ServerBuffer buffer = held.at(i);
            files.released(buffer.leaveFile());
        }
        writeAt = forcedUpTo;
        ServerBuffer half = part;
        part = null;
        if (half != null) {
            half.leaveFile();
            broken.partReleased();
            if (half.isReleasedLate) {
                giveBack.accept(half);
            }
        }
        if (broken != null) {
            files.endWriting(broken);
        }
    }

    /** At the end of the server: what was not forced stays in memory, and is lost with it. */
    void close() {
        if (file != null) {
            files.endWriting(file);
            file = null;
        }
    }
}
