package dev.verbena.staging.sink;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.staging.metadata.PieceMetadata;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * A folder with a file {@code NAME.raw} for each dataset and {@code NAME.json} that describes it.
 * Each appears complete, by a rename, after its bytes were forced to the device; the description
 * first. A dataset of a name that is there is refused, unless it may be the same one sent again.
 *
 * <p>{@code create_tar} makes {@code NAME.tar}, {@code load_subtar} makes {@code NAME.LOW-HIGH_...
 * .subtar} with a pair of positions for each dimension; each holds the command, which names the
 * datasets.
 */
public final class FileSink extends FolderSink {
    private static final int SESSIONS_MAX = 64;

    private final FileTars tars;

    /**
     * A folder, which is made if it is absent.
     *
     * @throws UncheckedIOException naming it, if it cannot be made
     */
    public FileSink(Path folder) {
        super(folder, "a folder of files runs no commands");
        this.tars = new FileTars(folder);
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new UncheckedIOException("folder " + folder + " of the sink: " + e, e);
        }
    }

    @Override
    public int sessionsMax() {
        return SESSIONS_MAX;
    }

    @Override
    protected void take(SinkDataset dataset, FileChannel data) throws IOException {
        Path raw = folder().resolve(dataset.name() + ".raw");
        Path json = folder().resolve(dataset.name() + ".json");
        String text = describe(dataset);
        boolean isThere = Files.exists(raw);
        if (isThere) {
            requireSame(dataset, data, raw, json, text);
        }
        write(json, text);
        if (!isThere) {
            replace(raw, out -> copy(data, dataset.length(), out));
        }
        force(folder());
    }

    @Override
    protected void create(Tar tar) throws IOException {
        tars.create(tar);
    }

    @Override
    protected void load(Subtar subtar) throws IOException {
        tars.load(subtar);
    }

    static void force(Path folder) throws IOException {
        try (FileChannel directory = FileChannel.open(folder, StandardOpenOption.READ)) {
            directory.force(true);
        }
    }

    /** Puts a text into a file, which appears complete. */
    static void write(Path file, String text) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(UTF_8));
        replace(
                file,
                out -> {
                    while (bytes.hasRemaining()) {
                        out.write(bytes);
                    }
                });
    }

    private interface Content {
        void writeTo(FileChannel out) throws IOException;
    }

    private static void replace(Path file, Content content) throws IOException {
        Path fresh = file.resolveSibling(file.getFileName() + ".tmp");
        try (FileChannel out =
                FileChannel.open(
                        fresh,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.TRUNCATE_EXISTING)) {
            content.writeTo(out);
            out.force(true);
        }
        Files.move(
                fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static void copy(FileChannel data, long length, FileChannel out) throws IOException {
        for (long done = 0; done < length; ) {
            long count = data.transferTo(done, length - done, out);
            if (count <= 0) {
                throw new IOException("the staged file ends at " + done + " of " + length);
            }
            done += count;
        }
    }

    /** That a transfer may have been begun does not say that these files are of it. */
    private static void requireSame(
            SinkDataset dataset, FileChannel data, Path raw, Path json, String text)
            throws IOException {
        if (!dataset.isRepeated()) {
            throw new SinkRejectedException("there is a file " + raw);
        }
        if (!isSame(data, dataset.length(), raw)) {
            throw new SinkRejectedException(
                    "there is a file " + raw + " with other bytes; send it under another name");
        }
        if (Files.exists(json) && !Files.readString(json, UTF_8).equals(text)) {
            throw new SinkRejectedException(
                    "there is a file " + json + " of another dataset; send it under another name");
        }
    }

    private static boolean isSame(FileChannel data, long length, Path raw) throws IOException {
        try (FileChannel there = FileChannel.open(raw, StandardOpenOption.READ)) {
            long[] start = {0};
            long[] shape = {length};
            return there.size() == length
                    && new Boxes(data, 0, start, shape, 1)
                            .isSame(new Boxes(there, 0, start, shape, 1), start, shape);
        }
    }

    /** The side-car: JSON, one line. */
    private static String describe(SinkDataset dataset) {
        String piece = "";
        if (dataset.piece() != null) {
            PieceMetadata of = dataset.piece();
            piece =
                    ",\"variable\":\"%s\",\"step\":%s,\"rank\":%s,\"global\":%s,\"start\":%s,\"shape\":%s"
                            .formatted(
                                    escaped(of.variable()),
                                    of.step(),
                                    of.rank(),
                                    Arrays.toString(of.global()),
                                    Arrays.toString(of.start()),
                                    Arrays.toString(of.shape()));
        }
        String crc = dataset.crc() < 0 ? "" : ",\"crc32c\":\"%08x\"".formatted(dataset.crc());
        return "{\"name\":\"%s\",\"type\":\"%s\",\"bytes\":%s,\"elementSize\":%s,\"order\":\"little\"%s%s}\n"
                .formatted(
                        escaped(dataset.name()),
                        escaped(dataset.type()),
                        dataset.length(),
                        dataset.elementSize(),
                        crc,
                        piece);
    }

    private static String escaped(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.toString();
    }
}
