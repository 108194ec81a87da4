package dev.verbena.examples.pic;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What a simulation without a staging service does: writes the file itself, and either waits until
 * the disk has it ({@code fsync}), as the receiver does before it confirms, or leaves that to the
 * kernel.
 */
final class FileOutput implements RestartOutput {
    private final Path folder;
    private final ByteBuffer scratch;
    private final boolean isForced;
    private final List<Path> cached = new ArrayList<>();

    /**
     * The scratch memory is borrowed; see {@link RestartFile#writePieces}.
     *
     * @param isForced whether {@link #write} waits for the disk; otherwise only {@link #drain} does
     */
    FileOutput(Path folder, ByteBuffer scratch, boolean isForced) {
        this.folder = folder;
        this.scratch = scratch;
        this.isForced = isForced;
    }

    @Override
    public void write(RestartFile file, String name) {
        Path path = folder.resolve(name);
        write(
                path,
                isForced,
                out -> file.writePieces((item, bytes) -> writeAll(out, bytes), scratch));
        if (!isForced) {
            cached.add(path);
        }
    }

    @Override
    public void drain() {
        for (Path path : cached) {
            try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
                file.force(true);
            } catch (IOException e) {
                throw cannotWrite(path, e);
            }
        }
        cached.clear();
    }

    /** Writes a new file. */
    static void write(Path path, boolean isForced, Consumer<FileChannel> content) {
        try (FileChannel out =
                FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            content.accept(out);
            if (isForced) {
                out.force(true);
            }
        } catch (IOException e) {
            throw cannotWrite(path, e);
        } catch (UncheckedIOException e) {
            throw cannotWrite(path, e.getCause());
        }
    }

    static void writeAll(FileChannel out, ByteBuffer bytes) {
        try {
            while (bytes.hasRemaining()) {
                out.write(bytes);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static UncheckedIOException cannotWrite(Path path, IOException e) {
        return new UncheckedIOException("cannot write " + path + ": " + e.getMessage(), e);
    }
}
