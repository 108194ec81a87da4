package dev.verbena.dart;

import dev.verbena.agent.DurableStore.ReadableFile;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A stream that a server before this one left in files. Its frames are looked up, a few at a time,
 * and streamed under the name of that server, so that the receiver goes on where it was and takes
 * nothing twice. What follows a frame that is not complete was never promised to anybody. Owned by
 * t3.
 */
final class SpillFound {
    private static final int FRAMES_PER_CYCLE = 64;

    private final ServerShared shared;
    private final SpillFiles files;
    private final String stream;
    private final List<SpillFile> found;
    private final UnsafeBuffer header = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH]);
    private final FrameFlyweight frame = new FrameFlyweight();
    private final ReceiverLink link;
    private int fileAt;
    private long position;
    private long expected;
    private boolean isScanned;
    private boolean isEnded;

    SpillFound(
            ServerShared shared,
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
        int work = link.doWork();
        if (link.finish()) {
            isEnded = true;
            found.forEach(files::delete);
            files.unlock(stream);
            return work + 1;
        }
        return work;
    }

    boolean isEnded() {
        return isEnded;
    }

    ReceiverLink link() {
        return link;
    }

    private int scan() {
        for (int i = 0; i < FRAMES_PER_CYCLE; i++) {
            if (fileAt == found.size()) {
                isScanned = true;
                found.removeIf(this::isUseless);
                if (found.isEmpty()) {
                    isEnded = true;
                    files.unlock(stream);
                }
                break;
            }
            SpillFile file = found.get(fileAt);
            if (!hasFrame(file)) {
                if (position < file.length) {
                    files.report(
                            file.name
                                    + " is taken up to byte "
                                    + position
                                    + " of "
                                    + file.length
                                    + ": what follows is not complete");
                }
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
            if (file.reader == null) {
                file.reader = files.store().read(file.name);
            }
            return file.reader != null && hasFrame(file, file.reader);
        } catch (DartException | UncheckedIOException e) {
            files.report(file.name + ", byte " + position + ": " + e.getMessage());
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
        if (expected == 0 || frame.sequence() == expected) {
            add(file);
        } else if (frame.sequence() > expected) {
            keepRest(file);
            return false;
        }
        position = end;
        return true;
    }

    /** A frame is missing before this file: nobody can take what follows, but nobody deletes it. */
    private void keepRest(SpillFile file) {
        files.report(
                file.name
                        + " goes on with frame "
                        + frame.sequence()
                        + " where "
                        + expected
                        + " is missing: this and later files are kept, and not delivered");
        while (found.size() > fileAt) {
            found.remove(found.size() - 1).live++;
        }
        fileAt--;
    }

    private void add(SpillFile file) {
        ServerBuffer part = new ServerBuffer(-1, 0, null);
        part.slot = -1;
        part.clientId = frame.clientId();
        part.tag = frame.tag();
        part.sequence = frame.messageSequence();
        part.position = frame.position();
        part.length = frame.payloadLength();
        part.flags = frame.flags();
        part.isDropped = (frame.flags() & FrameFlyweight.GIVEN_UP) != 0;
        part.firstFrame = frame.sequence();
        part.frameCount = 1;
        part.spillFile = file;
        part.spillOffset = position;
        file.live++;
        expected = frame.sequence() + 1;
        link.held().addFound(part);
        part.isCounted = part.isLast() && !part.isDropped;
        if (part.isCounted) {
            ServerShared.add(shared.spillMessages, 1);
        }
    }

    void close() {
        link.close();
    }
}
