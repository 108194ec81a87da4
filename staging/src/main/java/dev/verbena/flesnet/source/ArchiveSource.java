package dev.verbena.flesnet.source;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.flesnet.MicrosliceFlyweight;
import dev.verbena.flesnet.MicrosliceSink;
import dev.verbena.flesnet.MicrosliceSource;
import dev.verbena.flesnet.archive.ArchiveHead;
import dev.verbena.flesnet.archive.ArchiveReader;
import dev.verbena.flesnet.archive.ArchivedMicroslice;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.agrona.CloseHelper;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The microslices of archives ({@code .msa}), as fast as there is room for them. Files are read on
 * a thread of its own, so that a slow disk does not stop the engine; at most 256 microslices and
 * about 64 MiB are read ahead. {@link MicrosliceSource}'s methods are the engine's, {@link #close}
 * is for any thread.
 */
public final class ArchiveSource implements MicrosliceSource, AutoCloseable {
    private static final int AHEAD_COUNT = 256;
    private static final long AHEAD_BYTES = 64L << 20;
    private static final int BATCH = 64;

    private final OneToOneConcurrentArrayQueue<ArchivedMicroslice> ahead =
            new OneToOneConcurrentArrayQueue<>(AHEAD_COUNT);
    private final MicrosliceFlyweight microslice = new MicrosliceFlyweight();
    private final UnsafeBuffer descriptor = new UnsafeBuffer(0, 0);
    private final UnsafeBuffer content = new UnsafeBuffer(0, 0);
    private final Reader reader;
    private final AgentThread thread;
    private volatile long takenBytes;

    /** Bytes of the longest content that the engine takes; 0: it has not asked for any yet. */
    private volatile int contentMax;

    private String refused;

    private ArchiveSource(Environment environment, List<Path> files) throws IOException {
        reader = new Reader(List.copyOf(files));
        thread =
                AgentThread.builder("flesnet-archive", environment)
                        .sleepMaxNs(1_000_000)
                        .agent(reader)
                        .start();
    }

    /**
     * Reads these files, one after the other.
     *
     * @throws IOException if the first cannot be opened, or is no archive of microslices
     */
    public static ArchiveSource launch(Environment environment, List<Path> files)
            throws IOException {
        if (files.isEmpty()) {
            throw new IllegalArgumentException("no archive to read");
        }
        return new ArchiveSource(environment, files);
    }

    /** The reading thread's part. */
    private final class Reader implements ProtocolAgent {
        private final List<Path> files;
        private ArchiveReader archive;
        private int file;
        private ArchivedMicroslice next;
        private long readBytes;
        private volatile boolean isOver;
        private volatile String failure;

        Reader(List<Path> files) throws IOException {
            this.files = files;
            archive = open();
        }

        private ArchiveReader open() throws IOException {
            ArchiveReader opened =
                    new ArchiveReader(
                            new BufferedInputStream(Files.newInputStream(files.get(file)), 1 << 16),
                            ArchiveHead.MICROSLICES);
            if (opened.head().type() != ArchiveHead.MICROSLICES) {
                opened.close();
                throw new IOException(files.get(file) + " is no archive of microslices");
            }
            return opened;
        }

        @Override
        public int doWork() {
            int work = 0;
            try {
                while (work < BATCH && !isOver && step()) {
                    work++;
                }
            } catch (IOException e) {
                fail(e.getMessage());
            } catch (Throwable e) {
                // Also when memory ends: the engine waits for what this thread does.
                fail(e.toString());
            }
            return work;
        }

        private void fail(String why) {
            failure = files.get(file) + ": " + why;
            isOver = true;
        }

        private boolean step() throws IOException {
            if (contentMax == 0) {
                return false;
            }
            if (next == null) {
                next = archive.nextMicroslice(contentMax);
                if (next == null) {
                    nextFile();
                    return true;
                }
            }
            boolean isRoom = readBytes - takenBytes < AHEAD_BYTES;
            if (!isRoom || !ahead.offer(next)) {
                return false;
            }
            readBytes += next.content().length;
            next = null;
            return true;
        }

        private void nextFile() throws IOException {
            archive.close();
            file++;
            if (file < files.size()) {
                archive = open();
            } else {
                // A reader that sees this also sees what was offered before.
                isOver = true;
            }
        }

        @Override
        public long nextDeadlineNs() {
            return NO_DEADLINE;
        }

        @Override
        public void onClose() {
            CloseHelper.quietClose(archive);
        }

        @Override
        public String roleName() {
            return "flesnet-archive";
        }
    }

    @Override
    public int poll(MicrosliceSink sink, long nowNs) {
        int work = 0;
        contentMax = sink.contentMax();
        while (work < BATCH && refused == null) {
            ArchivedMicroslice head = ahead.peek();
            if (head == null || !canAdd(head, sink)) {
                break;
            }
            ahead.poll();
            takenBytes += head.content().length;
            work++;
        }
        return work;
    }

    private boolean canAdd(ArchivedMicroslice head, MicrosliceSink sink) {
        int length = head.content().length;
        if (!sink.hasRoom(length)) {
            return false;
        }
        descriptor.wrap(head.descriptor());
        content.wrap(head.content());
        microslice.wrap(descriptor, 0);
        try {
            microslice.check();
        } catch (IllegalArgumentException e) {
            refused = e.getMessage();
            return false;
        }
        if (microslice.size() != length) {
            refused =
                    "a microslice of %s bytes whose descriptor says %s"
                            .formatted(length, microslice.size());
            return false;
        }
        sink.add(
                microslice.equipment(),
                microslice.flags(),
                microslice.system(),
                microslice.format(),
                microslice.index(),
                microslice.checksum(),
                content,
                0,
                length);
        return true;
    }

    @Override
    public boolean isEnded() {
        return reader.isOver && reader.failure == null && ahead.isEmpty();
    }

    /** What was read before a damaged item goes first. */
    @Override
    public String failure() {
        String broken = reader.failure;
        return refused != null ? refused : ahead.isEmpty() ? broken : null;
    }

    @Override
    public long nextDueNs() {
        return NEVER;
    }

    /** Ends the thread. */
    @Override
    public void close() {
        thread.close();
    }
}
