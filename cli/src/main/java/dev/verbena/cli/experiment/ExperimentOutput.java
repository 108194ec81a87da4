package dev.verbena.cli.experiment;

import dev.verbena.cli.experiment.ExperimentPoint.Manner;
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
final class ExperimentOutput implements AutoCloseable {
    private static final int PREFAULT = 1 << 20;

    private final Manner manner;
    private final DartClient client;
    private final long size;
    private final Path file;
    private final DartMetadata metadata = new DartMetadata();

    /** Only of {@link Manner#MESSAGE}. */
    private final RegisteredRegion region;

    /** Of all others. */
    private final RestartItems items;

    private final Packer packer;

    /** Only of {@link Manner#FILE}. */
    private final ByteBuffer bytes;

    /** The client's sums before the present step. */
    private long headerBefore;

    private long waitBefore;
    private DartTicket last;

    /**
     * What a process does.
     *
     * @param client null if the manner needs none
     * @param folder for a file of its own
     */
    ExperimentOutput(Manner manner, DartClient client, int rank, long size, Path folder) {
        this.manner = manner;
        this.client = client;
        this.size = size;
        file = folder.resolve("restart-" + rank);
        metadata.name("process-" + rank).rank(rank);
        bytes = manner == Manner.FILE ? ByteBuffer.allocateDirect(RestartItems.LENGTH) : null;
        if (manner == Manner.MESSAGE) {
            items = null;
            packer = null;
            region = client.allocate(Math.max(1, size));
            for (long at = 0; at < size; at += PREFAULT) {
                int piece = (int) Math.min(PREFAULT, size - at);
                region.buffer(at, piece).setMemory(0, piece, (byte) (rank + 1));
            }
        } else {
            region = null;
            items = new RestartItems();
            packer = new Packer(RestartItems.LENGTH);
            metadata.elementType(ElementType.PACKED);
            items.pack(packer, 0);
            packer.clear();
        }
    }

    /** Gives this step's output away. */
    void write(int step) throws IOException {
        if (client != null) {
            DartStatistics statistics = client.statistics();
            headerBefore = statistics.headerTime().totalNs();
            waitBefore = statistics.waitTime().totalNs();
        }
        output(step);
    }

    private void output(int step) throws IOException {
        switch (manner) {
            case MESSAGE -> sent(client.send(region, 0, size, metadata.step(step), step));
            case BUFFERED -> {
                items.pack(packer, step);
                sent(packer.commit(client, metadata.step(step), step));
            }
            case UNBUFFERED ->
                    items.each(
                            packer,
                            step,
                            item -> sent(item.commit(client, metadata.step(step), step)));
            case FILE -> toFile(step);
            default -> {
                items.pack(packer, step);
                packer.clear();
            }
        }
    }

    /** th of the step just written. */
    long headerNs() {
        return client == null ? 0 : client.statistics().headerTime().totalNs() - headerBefore;
    }

    /** tw of the step just written. */
    long waitNs() {
        return client == null ? 0 : client.statistics().waitTime().totalNs() - waitBefore;
    }

    /** Waits until the last message has left this process. */
    void settle(long timeoutNs) {
        if (last != null) {
            last.await(TicketState.TRANSFERRED, timeoutNs);
        }
    }

    /** A ticket is kept until the next message, to be able to wait for the last one. */
    private void sent(DartTicket ticket) {
        if (last != null) {
            last.release();
        }
        last = ticket;
    }

    private void toFile(int step) throws IOException {
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
