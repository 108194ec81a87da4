package dev.verbena.examples.pic;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * What a simulation without a staging service can do better: packs the file into memory and goes
 * on, while a thread of its own writes the file and waits until the disk has it.
 *
 * <p>Memories are used by turns, as many as Verbena gets for whole files.
 */
final class BackgroundOutput implements RestartOutput, AutoCloseable {
    private final Path folder;
    private final ByteBuffer scratch;
    private final Slot[] slots;
    private final ExecutorService writer = Executors.newSingleThreadExecutor(this::thread);
    private long fileCount;

    /** Memory that grows with the files, and the writing of what is in it. */
    private static final class Slot {
        private ByteBuffer memory = ByteBuffer.allocate(0);
        private Future<?> writing;

        void awaitWritten() {
            try {
                if (writing != null) {
                    writing.get();
                }
            } catch (ExecutionException e) {
                throw e.getCause() instanceof RuntimeException cause
                        ? cause
                        : new IllegalStateException(e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while a file was written", e);
            }
        }

        ByteBuffer prepare(long length) {
            awaitWritten();
            if (memory.capacity() < length) {
                memory = ByteBuffer.allocateDirect(Math.toIntExact(length + length / 32));
            }
            return memory.clear();
        }
    }

    /** The scratch memory is borrowed; see {@link RestartFile#writePieces}. */
    BackgroundOutput(Path folder, ByteBuffer scratch, int slotCount) {
        this.folder = folder;
        this.scratch = scratch;
        this.slots = new Slot[slotCount];
        java.util.Arrays.setAll(slots, i -> new Slot());
    }

    private Thread thread(Runnable task) {
        Thread thread = new Thread(task, "file writer");
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public void write(RestartFile file, String name) {
        Slot slot = slots[(int) (fileCount++ % slots.length)];
        ByteBuffer memory = slot.prepare(file.length());
        file.writePieces((item, bytes) -> memory.put(bytes), scratch);
        memory.flip();
        Path path = folder.resolve(name);
        slot.writing =
                writer.submit(
                        () ->
                                FileOutput.write(
                                        path, true, out -> FileOutput.writeAll(out, memory)));
    }

    @Override
    public void drain() {
        for (Slot slot : slots) {
            slot.awaitWritten();
        }
    }

    @Override
    public void close() {
        writer.shutdown();
    }
}
