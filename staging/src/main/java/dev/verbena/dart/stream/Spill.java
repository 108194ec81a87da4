package dev.verbena.dart.stream;

import dev.verbena.agent.ByteStreams;
import dev.verbena.dart.wire.StreamName;
import dev.verbena.staging.Counters;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * What t3 does with its spill directory: copies what the receiver does not take ({@link
 * SpillWriter}), and streams what servers before this one left ({@link SpillFound}). Owned by t3.
 */
public final class Spill implements AutoCloseable {
    /** A server that is asked to stop waits this long for a receiver that is away. */
    private static final long KEEP_NS = 1_000_000_000L;

    private static final long LOOK_AGAIN_NS = 50_000_000L;

    private final StreamOwner shared;
    private final SpillFiles files;
    private final ByteStreams streams;
    private final List<SpillFound> found = new ArrayList<>();
    private final ArrayDeque<ServerBuffer> confirmed = new ArrayDeque<>();
    private SpillWriter writer;
    private ReceiverLink link;
    private boolean isDraining;
    private long drainedNs;

    /**
     * @param streams by which the receiver is reached
     */
    public Spill(StreamOwner shared, ByteStreams streams) {
        this.shared = shared;
        this.streams = streams;
        this.files = new SpillFiles(shared);
        try {
            lookAround();
        } catch (RuntimeException e) {
            files.close();
            throw e;
        }
    }

    public SpillFiles files() {
        return files;
    }

    /** Copies what this link holds; {@code release} gets buffers whose copy is forced. */
    public void serve(
            ReceiverLink own, Consumer<ServerBuffer> release, Consumer<ServerBuffer> giveBack) {
        link = own;
        writer = new SpillWriter(shared, files, own, release, giveBack);
    }

    /** Takes over the streams in the directory of which no living server holds the lock. */
    private void lookAround() {
        Map<String, List<SpillFile>> streams = new TreeMap<>();
        for (String name : files.store().list()) {
            int frames = name.lastIndexOf('-', Math.max(0, name.lastIndexOf('-') - 1));
            if (name.endsWith(SpillFiles.SUFFIX) && frames > 0) {
                streams.computeIfAbsent(name.substring(0, frames), key -> new ArrayList<>())
                        .add(new SpillFile(name));
            }
        }
        streams.forEach(this::takeOver);
    }

    private void takeOver(String stream, List<SpillFile> frames) {
        StreamName name = SpillFound.parse(stream);
        if (name == null || !isOurs(stream) || !areReadable(stream, frames)) {
            return;
        }
        long bytes = 0;
        for (SpillFile file : frames) {
            bytes += file.length;
            files.add(file);
        }
        files.report(
                "found %s files, %s bytes, of server %s of an earlier run; they are "
                        + "delivered now",
                frames.size(), bytes, name.serverId());
        ReceiverLink other = new ReceiverLink(shared, this::replayed, streams, files, name, null);
        found.add(new SpillFound(shared, files, stream, frames, other));
    }

    private boolean isOurs(String stream) {
        try {
            return files.lock(stream);
        } catch (UncheckedIOException e) {
            leave(stream, e);
            return false;
        }
    }

    /** Looks how long they are; one that cannot be read now, the next server may be able to. */
    private boolean areReadable(String stream, List<SpillFile> frames) {
        try {
            for (SpillFile file : frames) {
                file.found(files.store().read(file.name));
                file.closeReader();
            }
            return true;
        } catch (UncheckedIOException e) {
            leave(stream, e);
            files.unlock(stream);
            return false;
        }
    }

    private void leave(String stream, UncheckedIOException why) {
        files.report(
                "what is left of %s is kept, and not delivered by this server: %s",
                stream, why.getMessage());
    }

    public int doWork(long now) {
        int work = writer.doWork(now);
        for (int i = 0; i < found.size(); i++) {
            work += found.get(i).doWork();
        }
        while (!confirmed.isEmpty() && shared.replayed.offer(confirmed.peek())) {
            confirmed.poll();
            work++;
        }
        if (work > 0 && !shared.replayed.isEmpty()) {
            shared.wakeT1();
        }
        return work;
    }

    public boolean isFree(ServerBuffer buffer) {
        return writer.isFree(buffer);
    }

    /** The receiver has acknowledged a part that was in a file. */
    public void replayed(ServerBuffer part) {
        files.released(part.spillFile);
        if (part.isCounted) {
            Counters.add(shared.spillMessages, -1);
        }
        if (part.isLast() && !part.isDropped) {
            Counters.add(shared.replayedMessages, 1);
            if (part.slot >= 0) {
                confirmed.add(part);
            }
        }
    }

    /**
     * Whether this server may end although the receiver has not everything: it is away, and what it
     * has not is in files, where the next server finds it.
     */
    public boolean isKept(long now, boolean isFinished) {
        if (!isDraining) {
            isDraining = true;
            drainedNs = now;
        }
        boolean isTold = confirmed.isEmpty();
        if (!isTold || !isFinished && !(writer.isAllForced() && isAway(link, now))) {
            return false;
        }
        for (int i = 0; i < found.size(); i++) {
            SpillFound other = found.get(i);
            if (!other.isEnded && !isAway(other.link, now)) {
                return false;
            }
        }
        return true;
    }

    private boolean isAway(ReceiverLink other, long now) {
        return other.isAway()
                && now - other.awaySinceNs() - KEEP_NS >= 0
                && now - drainedNs - KEEP_NS >= 0;
    }

    public long nextDeadlineNs(long now) {
        long next = writer.nextDeadlineNs(now);
        for (int i = 0; i < found.size(); i++) {
            if (!found.get(i).isEnded) {
                next = Math.min(next, found.get(i).link.nextDeadlineNs());
            }
        }
        return isDraining ? Math.min(next, now + LOOK_AGAIN_NS) : next;
    }

    @Override
    public void close() {
        writer.close();
        found.forEach(SpillFound::close);
        files.close();
    }
}
