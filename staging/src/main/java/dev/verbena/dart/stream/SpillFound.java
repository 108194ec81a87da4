package dev.verbena.dart.stream;

import dev.verbena.agent.DurableStore.Completion;
import dev.verbena.agent.DurableStore.ReadableFile;
import dev.verbena.dart.DartException;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.StreamName;
import dev.verbena.staging.Counters;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.collections.Long2LongHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A stream that a server before this one left in files. Its frames are looked up, a few at a time,
 * and streamed under the name of that server, so that the receiver goes on where it was and takes
 * nothing twice. What is torn at the end of the last file was never promised to anybody, and what
 * is torn at the end of another may be whole in the next. Whatever else cannot be read was
 * promised: nobody can take what follows then, but nobody deletes it. Owned by t3.
 */
final class SpillFound {
    private static final int FRAMES_PER_CYCLE = 64;

    /** No message of a client is begun. */
    private static final long NOTHING = -1;

    private final StreamOwner shared;
    private final SpillFiles files;
    private final String stream;
    private final List<SpillFile> found;
    private final UnsafeBuffer header = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH]);
    private final FrameFlyweight frame = new FrameFlyweight();
    final ReceiverLink link;
    private int fileAt;
    private long position;
    private long expected;
    private boolean isScanned;
    boolean isEnded;

    /** Why the file at hand is not read on, if it is not for nonsense in it. */
    private String trouble = "";

    private boolean isDeviceBad;

    /** By client, the message that was begun and has not ended. */
    private final Long2LongHashMap begun = new Long2LongHashMap(0);

    /** Files of which something is lost: kept under another name in the end. */
    private final List<SpillFile> damaged = new ArrayList<>();

    private final ArrayDeque<Completion> renames = new ArrayDeque<>();
    private boolean isKeeping;

    SpillFound(
            StreamOwner shared,
            SpillFiles files,
            String stream,
            List<SpillFile> found,
            ReceiverLink link) {
        this.shared = shared;
        this.files = files;
        this.stream = stream;
        this.found = found;
        this.link = link;
    }

    /** Run and server of a stream's name; null if it is not one. */
    static StreamName parse(String name) {
        int end = name.length();
        int at = SpillFiles.PREFIX.length() + 36;
        if (!name.startsWith(SpillFiles.PREFIX) || end < at + 2 || name.charAt(at) != '-') {
            return null;
        }
        try {
            return new StreamName(
                    UUID.fromString(name.substring(SpillFiles.PREFIX.length(), at)),
                    Integer.parseUnsignedInt(name, at + 1, end, 10));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    int doWork() {
        if (isEnded) {
            return 0;
        }
        if (!isScanned) {
            return scan();
        }
        if (isKeeping) {
            return keep();
        }
        int work = link.doWork();
        if (link.finish()) {
            found.forEach(files::delete);
            keepDamaged();
            return work + keep();
        }
        return work;
    }

    /**
     * The next server must not take damaged files for new ones; it may read what this one cannot.
     */
    private void keepDamaged() {
        isKeeping = true;
        if (!isDeviceBad) {
            damaged.forEach(file -> renames.add(files.keepDamaged(file)));
        }
    }

    private int keep() {
        int work = 0;
        while (!renames.isEmpty() && renames.peek().isDone()) {
            String error = renames.poll().error();
            if (!error.isEmpty()) {
                files.report("a damaged file stays under its name: %s", error);
            }
            work++;
        }
        if (renames.isEmpty()) {
            isEnded = true;
            files.unlock(stream);
            return work + 1;
        }
        return work;
    }

    private int scan() {
        for (int i = 0; i < FRAMES_PER_CYCLE; i++) {
            if (fileAt == found.size()) {
                isScanned = true;
                found.removeIf(this::isUseless);
                if (found.isEmpty() && link.held().isEmpty()) {
                    keepDamaged();
                }
                break;
            }
            SpillFile file = found.get(fileAt);
            if (!hasFrame(file)) {
                ended(file);
                // Its parts open it again when they are sent.
                file.closeReader();
                trouble = "";
                fileAt++;
                position = 0;
            }
        }
        return 1;
    }

    private boolean isUseless(SpillFile file) {
        if (file.live == 0) {
            files.delete(file);
            return true;
        }
        return false;
    }

    /** Looks at the next frame of the file; false if there is none. */
    private boolean hasFrame(SpillFile file) {
        try {
            ReadableFile reader = file.openReader(files.store());
            return reader != null && hasFrame(file, reader);
        } catch (DartException | UncheckedIOException e) {
            boolean isMalformed =
                    e instanceof DartException
                            && ((DartException) e).code() == DartException.Code.MALFORMED;
            isDeviceBad |= !isMalformed;
            trouble = isMalformed ? "" : String.valueOf(e.getMessage());
            return false;
        }
    }

    private boolean hasFrame(SpillFile file, ReadableFile reader) {
        if (reader.read(position, header, 0, FrameFlyweight.LENGTH) < FrameFlyweight.LENGTH) {
            return false;
        }
        frame.wrap(header, 0).check();
        long end = position + FrameFlyweight.LENGTH + frame.payloadLength();
        if (frame.type() != FrameFlyweight.DATA || end > reader.length()) {
            return false;
        }
        boolean isNext = expected == 0 || frame.sequence() == expected;
        if (frame.sequence() > expected && !isNext) {
            trouble = "it goes on with frame " + frame.sequence() + ", " + expected + " is missing";
            return false;
        }
        if (isNext && !goesOn()) {
            trouble = "a frame of another message than the one that was begun";
            return false;
        }
        if (isNext) {
            add(file);
        }
        position = end;
        return true;
    }

    /** Nothing more of this file can be taken. */
    private void ended(SpillFile file) {
        if (position >= file.length && trouble.isEmpty()) {
            return;
        }
        SpillDamage rest = new SpillDamage();
        long behind = look(rest, file, position);
        boolean isTail = trouble.isEmpty() && behind == 0;
        if (isTail && isNothingMissing(file)) {
            files.report(
                    "%s is taken up to byte %s of %s: what follows is not complete",
                    file.name, position, file.length);
            return;
        }
        setAside(file, rest);
    }

    /** How many frames are behind; none if it cannot be read. */
    private long look(SpillDamage rest, SpillFile file, long from) {
        try {
            ReadableFile reader = file.openReader(files.store());
            return reader == null ? 0 : rest.look(reader, from);
        } catch (UncheckedIOException e) {
            return 0;
        } finally {
            file.closeReader();
        }
    }

    /**
     * Whether the next file, if there is one, has what is cut at the end of this: when a device was
     * full, what was not forced was copied again, into another file.
     */
    private boolean isNothingMissing(SpillFile file) {
        if (fileAt == found.size() - 1) {
            return true;
        }
        long wanted = expected == 0 ? SpillFiles.firstFrame(file.name) : expected;
        return SpillFiles.firstFrame(found.get(fileAt + 1).name) <= wanted;
    }

    /** Nobody can take what follows a frame that is lost, for the receiver wants each number. */
    private void setAside(SpillFile file, SpillDamage rest) {
        for (int i = fileAt; i < found.size(); i++) {
            SpillFile later = found.get(i);
            later.holdsPart(); // Not to be deleted.
            damaged.add(later);
            if (i > fileAt) {
                look(rest, later, 0);
            }
        }
        while (found.size() > fileAt) {
            found.remove(found.size() - 1);
        }
        fileAt--;
        files.report(
                "%s is damaged at byte %s of %s%s: what comes before is delivered, what "
                        + "follows in this and %s later files is not, for frames between are "
                        + "lost. Send again what the receiver lacks (%s). %s",
                file.name,
                position,
                file.length,
                trouble.isEmpty() ? "" : " (" + trouble + ")",
                damaged.size() - 1,
                rest,
                isDeviceBad
                        ? "The files are kept for the next server with this directory"
                        : "The files are kept, with "
                                + SpillFiles.DAMAGED_SUFFIX
                                + " at the end of their names; delete them when you need"
                                + " them no more");
    }

    /** A header whose message is not the one at hand would end another message at the receiver. */
    private boolean goesOn() {
        int flags = frame.flags();
        if ((flags & FrameFlyweight.NOTICES) != 0) {
            return true;
        }
        long open = begun.get(frame.clientId());
        boolean isFirst = (flags & FrameFlyweight.FIRST) != 0;
        boolean isEnd = (flags & (FrameFlyweight.LAST | FrameFlyweight.GIVEN_UP)) != 0;
        begun.put(frame.clientId(), isEnd ? NOTHING : frame.messageSequence());
        // What the first files say of a client may go on with what earlier ones had.
        return isFirst || open == 0 || open == frame.messageSequence() || isEnd && open == NOTHING;
    }

    private void add(SpillFile file) {
        ServerBuffer part = ServerBuffer.found(frame, file, position);
        file.holdsPart();
        expected = frame.sequence() + 1;
        link.held().addFound(part);
        if (part.isCounted) {
            Counters.add(shared.spillMessages, 1);
        }
    }

    void close() {
        link.close();
    }
}
