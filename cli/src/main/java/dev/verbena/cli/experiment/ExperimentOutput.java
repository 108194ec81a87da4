package dev.verbena.cli.experiment;

import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartStatistics;
import dev.verbena.dart.DartTicket;
import dev.verbena.dart.ElementType;
import dev.verbena.dart.Packer;
import dev.verbena.dart.TicketState;
import dev.verbena.memory.RegisteredRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** What one logical process does at the end of each step. One thread. */
abstract class ExperimentOutput implements AutoCloseable {
    private static final int PREFAULT = 1 << 20;

    /** The client's sums before the present step. */
    private long headerBefore;

    private long waitBefore;
    final DartClient client;
    final DartMetadata metadata = new DartMetadata();
    DartTicket last;

    private ExperimentOutput(DartClient client, int rank) {
        this.client = client;
        metadata.name("process-" + rank).rank(rank);
    }

    static ExperimentOutput of(
            ExperimentPoint.Manner manner, DartClient client, int rank, long size, Path folder) {
        return switch (manner) {
            case MESSAGE -> new ByReference(client, rank, size);
            case BUFFERED -> new Buffered(client, rank);
            case UNBUFFERED -> new Unbuffered(client, rank);
            case FILE -> new ToFile(rank, folder);
            default -> new Nowhere(rank);
        };
    }

    /** Gives this step's output away. */
    final void write(int step) throws IOException {
        if (client != null) {
            DartStatistics statistics = client.statistics();
            headerBefore = statistics.headerTime().totalNs();
            waitBefore = statistics.waitTime().totalNs();
        }
        output(step);
    }

    abstract void output(int step) throws IOException;

    /** th of the step just written. */
    final long headerNs() {
        return client == null ? 0 : client.statistics().headerTime().totalNs() - headerBefore;
    }

    /** tw of the step just written. */
    final long waitNs() {
        return client == null ? 0 : client.statistics().waitTime().totalNs() - waitBefore;
    }

    /** Waits until the last message has left this process. */
    final void settle(long timeoutNs) {
        if (last != null) {
            last.await(TicketState.TRANSFERRED, timeoutNs);
        }
    }

    /** A ticket is kept until the next message, to be able to wait for the last one. */
    final void sent(DartTicket ticket) {
        if (last != null) {
            last.release();
        }
        last = ticket;
    }

    @Override
    public void close() {}

    private static final class ByReference extends ExperimentOutput {
        private final RegisteredRegion region;
        private final long size;

        ByReference(DartClient client, int rank, long size) {
            super(client, rank);
            this.size = size;
            region = client.allocate(Math.max(1, size));
            for (long at = 0; at < size; at += PREFAULT) {
                int piece = (int) Math.min(PREFAULT, size - at);
                region.buffer(at, piece).setMemory(0, piece, (byte) (rank + 1));
            }
        }

        @Override
        void output(int step) {
            sent(client.send(region, 0, size, metadata.step(step), step));
        }
    }

    /** Manners with a restart file. */
    private abstract static class WithItems extends ExperimentOutput {
        final RestartItems items = new RestartItems();
        final Packer packer = new Packer(RestartItems.LENGTH);

        WithItems(DartClient client, int rank) {
            super(client, rank);
            metadata.elementType(ElementType.PACKED);
            items.pack(packer, 0);
            packer.clear();
        }
    }

    private static final class Buffered extends WithItems {
        Buffered(DartClient client, int rank) {
            super(client, rank);
        }

        @Override
        void output(int step) {
            items.pack(packer, step);
            sent(packer.commit(client, metadata.step(step), step));
        }
    }

    private static final class Unbuffered extends WithItems {
        Unbuffered(DartClient client, int rank) {
            super(client, rank);
        }

        @Override
        void output(int step) {
            items.each(packer, step, item -> sent(item.commit(client, metadata.step(step), step)));
        }
    }

    private static final class ToFile extends WithItems {
        private final Path file;
        private final ByteBuffer bytes = ByteBuffer.allocateDirect(RestartItems.LENGTH);

        ToFile(int rank, Path folder) {
            super(null, rank);
            file = folder.resolve("restart-" + rank);
        }

        @Override
        void output(int step) throws IOException {
            items.pack(packer, step);
            packer.buffer().getBytes(0, bytes, 0, packer.length());
            bytes.clear().limit(packer.length());
            packer.clear();
            try (FileChannel channel =
                    FileChannel.open(
                            file,
                            StandardOpenOption.CREATE,
                            StandardOpenOption.TRUNCATE_EXISTING,
                            StandardOpenOption.WRITE)) {
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                channel.force(true);
            }
        }

        @Override
        public void close() {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                System.err.println(file + " cannot be deleted: " + e.getMessage());
            }
        }
    }

    private static final class Nowhere extends WithItems {
        Nowhere(int rank) {
            super(null, rank);
        }

        @Override
        void output(int step) {
            items.pack(packer, step);
            packer.clear();
        }
    }
}
