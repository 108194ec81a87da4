package dev.verbena.staging.sink;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * A sink in a folder, which holds datasets and regions of arrays and runs no commands in a language
 * of its own. Its sessions have no state: what they are given goes to the sink.
 */
public abstract class FolderSink implements Sink {
    private final Path folder;
    private final String refusal;

    /**
     * Of a folder, which the subclass makes.
     *
     * @param refusal answer to a command that is neither {@code create_tar} nor {@code load_subtar}
     */
    protected FolderSink(Path folder, String refusal) {
        this.folder = folder;
        this.refusal = refusal;
    }

    /** As of {@link SinkSession#transfer}. */
    protected abstract void take(SinkDataset dataset, FileChannel data) throws IOException;

    /** As of {@link SinkSession#createTar}. */
    protected abstract void create(Tar tar) throws IOException;

    /** As of {@link SinkSession#loadSubtar}. */
    protected abstract void load(Subtar subtar) throws IOException;

    /** Where it is. */
    protected final Path folder() {
        return folder;
    }

    /** Gives what is complete the name under which it is seen, durably. */
    protected static void show(Path fresh, Path complete) throws IOException {
        Files.move(fresh, complete, StandardCopyOption.ATOMIC_MOVE);
        FileSink.force(complete.toAbsolutePath().getParent());
    }

    @Override
    public int sessionsMax() {
        return 1;
    }

    @Override
    public final SinkSession open() throws IOException {
        if (!Files.isDirectory(folder)) {
            throw new IOException("there is no folder " + folder);
        }
        return new Session();
    }

    private final class Session implements SinkSession {
        @Override
        public void transfer(SinkDataset dataset, FileChannel data) throws IOException {
            take(dataset, data);
        }

        @Override
        public String createTar(String command) throws IOException {
            create(TarText.createTar(command));
            return TarText.DONE;
        }

        @Override
        public String loadSubtar(String command) throws IOException {
            load(TarText.loadSubtar(command));
            return TarText.DONE;
        }

        @Override
        public String command(String text) throws IOException {
            throw new SinkRejectedException(refusal);
        }

        @Override
        public void close() {}
    }
}
