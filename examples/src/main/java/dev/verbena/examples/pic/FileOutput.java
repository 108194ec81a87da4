package dev.verbena.examples.pic;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What a simulation without a staging service does: writes the file itself, and waits until the
 * disk has it ({@code fsync}), as the receiver does before it confirms.
 */
final class FileOutput implements RestartOutput {
    private final Path folder;
    private final ByteBuffer scratch;

    /** The scratch memory is borrowed; see {@link RestartFile#writePieces}. */
    FileOutput(Path folder, ByteBuffer scratch) {
        this.folder = folder;
        this.scratch = scratch;
    }

    @Override
    public void write(RestartFile file, String name) {
        Path path = folder.resolve(name);
        try (FileChannel out =
                FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            file.writePieces((item, bytes) -> writeAll(out, bytes), scratch);
            out.force(true);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + path + ": " + e.getMessage(), e);
        } catch (UncheckedIOException e) {
            throw new UncheckedIOException(
                    "cannot write " + path + ": " + e.getCause().getMessage(), e.getCause());
        }
    }

    private static void writeAll(FileChannel out, ByteBuffer bytes) {
        try {
            while (bytes.hasRemaining()) {
                out.write(bytes);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
