package dev.verbena.cli.sim;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.nsim.engine.EventRecordFlyweight;
import dev.verbena.nsim.engine.EventTrace;
import dev.verbena.softnic.NativeAccess;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Writes each event of simulations into a file: {@link #HEADER} bytes that say what it is, then a
 * record for each run that begins and for each event. Allocates nothing per event. One thread.
 */
final class SimEvents implements AutoCloseable {
    /** Bytes before the first record: {@link #MAGIC}, length of a record, 0. */
    static final int HEADER = 16;

    /** "VNSIMEV1" in this order of bytes. */
    static final long MAGIC = 0x3156_454d_4953_4e56L;

    private static final int BUFFER_LENGTH = 1 << 20;

    private final String option;
    private final Path file;
    private final FileChannel channel;
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(BUFFER_LENGTH);
    private final UnsafeBuffer buffer = new UnsafeBuffer(bytes);
    private int filled;

    private SimEvents(String option, Path file, FileChannel channel) {
        this.option = option;
        this.file = file;
        this.channel = channel;
        buffer.putLong(0, MAGIC, ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(8, EventRecordFlyweight.LENGTH, ByteOrder.LITTLE_ENDIAN);
        filled = HEADER;
    }

    /**
     * A new file, or what is no file: a pipe, a device.
     *
     * @throws Messages.Failure if there is such a file, or it cannot be made; says why
     */
    static SimEvents open(String option, Path file) {
        OpenOption how = OutputFolder.newOrPipe(option, file);
        openBuffers();
        try {
            return new SimEvents(
                    option, file, FileChannel.open(file, StandardOpenOption.WRITE, how));
        } catch (IOException e) {
            throw OutputFolder.failure(option, file, e, "; choose another place");
        }
    }

    /**
     * Agrona's buffers work once the native library is loaded, or with a flag of the JVM; a
     * simulation alone needs neither.
     *
     * @throws IllegalStateException saying what is missing and what to do about it
     */
    static void openBuffers() {
        NativeAccess.open();
    }

    /** For one run, which begins now. */
    EventTrace run(int processes, int nodes, int routers) {
        add(0, processes, nodes, EventRecordFlyweight.RUN, routers);
        return this::add;
    }

    private void add(long timePs, int target, int source, int kind, long argument) {
        if (filled + EventRecordFlyweight.LENGTH > BUFFER_LENGTH) {
            flush();
        }
        EventRecordFlyweight.encode(buffer, filled, timePs, target, source, kind, argument);
        filled += EventRecordFlyweight.LENGTH;
    }

    private void flush() {
        bytes.position(0).limit(filled);
        filled = 0;
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (IOException e) {
            throw OutputFolder.incomplete(option, file, e);
        }
    }

    /**
     * Writes what is left in memory, also of a run that failed.
     *
     * @throws Messages.Failure if it cannot be written; what is there is incomplete
     */
    @Override
    public void close() throws IOException {
        try (channel) {
            flush();
        }
    }
}
