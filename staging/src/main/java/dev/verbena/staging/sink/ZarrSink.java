package dev.verbena.staging.sink;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A folder as a store of Zarr, version 2: {@code VARIABLE/STEP} is the global array of a step,
 * which appears, by a rename, when its pieces have as many elements; a vector's scalars are its
 * last dimension. Chunks are the pieces where those fill the array regularly, else the whole array.
 * A second dataset of a key (variable, step, rank) is refused, unless it may be the same one sent
 * again.
 *
 * <p>{@code load_subtar} makes the group {@code TAR/LOW-HIGH_...} with an array for each attribute;
 * its ranges are ordered, its dimensions implicit, its datasets of the region's size. There are no
 * other commands. Thread-safe; one session at a time.
 */
public final class ZarrSink extends FolderSink {
    private static final Pattern CHUNKS = Pattern.compile("\"chunks\": \\[([0-9, ]*)]");

    private final Path begun;
    private final PieceIndex index;
    private final TarFolder tars;

    /**
     * A folder, which is made if it is absent.
     *
     * @throws UncheckedIOException naming the folder, if it cannot be used
     */
    public ZarrSink(Path folder) {
        super(folder, "a Zarr store runs no such commands");
        begun = folder.resolve(".verbena");
        try {
            Files.createDirectories(begun);
            index = new PieceIndex(begun);
            tars = new TarFolder(begun);
            group(folder);
        } catch (IOException e) {
            throw new UncheckedIOException("sink " + folder + ": " + e.getMessage(), e);
        }
    }

    private static void group(Path of) throws IOException {
        Files.createDirectories(of);
        if (!Files.exists(of.resolve(".zgroup"))) {
            FileSink.write(of.resolve(".zgroup"), ZarrText.GROUP);
        }
    }

    private Path complete(StagedPiece piece) {
        return folder().resolve(piece.variable()).resolve(Long.toString(piece.step()));
    }

    private Path begun(StagedPiece piece) {
        return begun.resolve(piece.variable() + "." + piece.step());
    }

    @Override
    protected synchronized void take(SinkDataset dataset, FileChannel data) throws IOException {
        StagedPiece piece = StagedPiece.of(dataset);
        if (!index.contains(piece)) {
            if (Files.exists(complete(piece))) {
                throw new SinkRejectedException("there is already " + complete(piece));
            }
            Path array = begun(piece);
            long[] chunks = begin(array, piece);
            Boxes from = new Boxes(data, 0, piece.start(), piece.shape(), element(piece));
            eachChunk(piece, chunks, (file, box) -> put(from, array.resolve(file), box));
            FileSink.force(array);
            index.add(dataset.name(), piece);
        } else {
            index.requireSame(dataset, piece);
            requireSameValues(piece, data);
        }
        if (index.isSealed(piece) && Files.exists(begun(piece))) {
            group(complete(piece).getParent());
            show(begun(piece), complete(piece));
        }
    }

    private static int element(StagedPiece piece) {
        return piece.scalar().size() * piece.vector();
    }

    /** Makes the array, if this is its first piece; shape of its chunks. */
    private static long[] begin(Path array, StagedPiece piece) throws IOException {
        Path description = array.resolve(".zarray");
        long[] chunks = ZarrText.isChunk(piece) ? piece.shape() : piece.global();
        if (Files.exists(description)) {
            String text = Files.readString(description);
            chunks = chunks(text, piece.global().length);
            if (!text.equals(text(piece, piece.global(), chunks))) {
                throw new SinkRejectedException("the step has another shape or type");
            }
            return chunks;
        }
        piece.requireFile(chunks);
        Files.createDirectories(array);
        List<String> names = ZarrText.dimensions(piece.global().length);
        FileSink.write(array.resolve(".zattrs"), ZarrText.attributes(names, piece.vector(), ""));
        FileSink.write(description, text(piece, piece.global(), chunks));
        return chunks;
    }

    private static String text(StagedPiece piece, long[] shape, long[] chunks) {
        return ZarrText.array(shape, chunks, piece.scalar(), piece.vector());
    }

    private static long[] chunks(String text, int dimensions) throws SinkRejectedException {
        Matcher found = CHUNKS.matcher(text);
        String[] parts = found.find() ? found.group(1).split(", ") : new String[0];
        if (parts.length < dimensions) {
            throw new SinkRejectedException("the step has another shape or type");
        }
        long[] chunks = new long[dimensions];
        for (int i = 0; i < dimensions; i++) {
            chunks[i] = Long.parseLong(parts[i]);
        }
        return chunks;
    }

    /** A part of a piece that is within one chunk. */
    private record ChunkBox(long[] origin, long[] chunk, long[] start, long[] shape) {}

    private interface ChunkWork {
        void with(String file, ChunkBox box) throws IOException;
    }

    private static void eachChunk(StagedPiece piece, long[] chunks, ChunkWork work)
            throws IOException {
        int n = chunks.length;
        long[] first = new long[n];
        long[] last = new long[n];
        for (int i = 0; i < n; i++) {
            first[i] = piece.start()[i] / chunks[i];
            last[i] = (piece.start()[i] + piece.shape()[i] - 1) / chunks[i];
        }
        long[] at = first.clone();
        int changed = 0;
        while (changed >= 0) {
            long[] origin = new long[n];
            long[] start = new long[n];
            long[] shape = new long[n];
            for (int i = 0; i < n; i++) {
                origin[i] = at[i] * chunks[i];
                start[i] = Math.max(origin[i], piece.start()[i]);
                long end = Math.min(origin[i] + chunks[i], piece.start()[i] + piece.shape()[i]);
                shape[i] = end - start[i];
            }
            work.with(ZarrText.key(at, piece.vector()), new ChunkBox(origin, chunks, start, shape));
            changed = next(at, first, last);
        }
    }

    /** The next index; below 0: there is none. */
    private static int next(long[] at, long[] first, long[] last) {
        for (int i = at.length - 1; i >= 0; i--) {
            if (at[i] < last[i]) {
                at[i]++;
                return i;
            }
            at[i] = first[i];
        }
        return -1;
    }

    private static void put(Boxes from, Path file, ChunkBox box) throws IOException {
        try (FileChannel out =
                FileChannel.open(
                        file,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            Boxes to = new Boxes(out, 0, box.origin, box.chunk, from.element());
            long length = from.element();
            for (long each : box.chunk) {
                length *= each;
            }
            if (out.size() < length) {
                out.write(ByteBuffer.allocate(1), length - 1);
            }
            from.copyTo(to, box.start, box.shape);
            out.force(true);
        }
    }

    /** Of what somebody has taken away since, nothing can be said. */
    private void requireSameValues(StagedPiece piece, FileChannel data) throws IOException {
        Path array = Files.exists(complete(piece)) ? complete(piece) : begun(piece);
        if (!Files.exists(array.resolve(".zarray"))) {
            return;
        }
        long[] chunks = chunks(Files.readString(array.resolve(".zarray")), piece.global().length);
        Boxes sent = new Boxes(data, 0, piece.start(), piece.shape(), element(piece));
        eachChunk(
                piece,
                chunks,
                (file, box) -> piece.requireSameValues(areSame(sent, array.resolve(file), box)));
    }

    private static boolean areSame(Boxes sent, Path file, ChunkBox box) throws IOException {
        if (!Files.exists(file)) {
            return true;
        }
        try (FileChannel in = FileChannel.open(file)) {
            Boxes there = new Boxes(in, 0, box.origin, box.chunk, sent.element());
            return sent.isSame(there, box.start, box.shape);
        }
    }

    @Override
    protected synchronized void load(Subtar subtar) throws IOException {
        Tar tar = tars.tar(subtar.tar());
        Path group = folder().resolve(tar.name());
        Subtar.Box box = TarFolder.free(tar, subtar, group, "", "");
        long[] shape = TarFolder.grid(tar, subtar, box);
        Path fresh = begun.resolve(tar.name() + ".region");
        clear(fresh);
        group(fresh);
        for (Subtar.Column column : subtar.columns()) {
            Tar.Attribute attribute = tar.attribute(column.attribute());
            StagedPiece piece = index.cells(column, attribute, Subtar.cells(subtar, box));
            copy(tar, subtar, box, shape, piece, fresh.resolve(attribute.name()));
        }
        group(group);
        show(fresh, group.resolve(box.text()));
    }

    private static void clear(Path fresh) throws IOException {
        if (!Files.exists(fresh)) {
            return;
        }
        List<Path> found;
        try (var files = Files.walk(fresh)) {
            found = new ArrayList<>(files.toList());
        }
        for (int i = found.size() - 1; i >= 0; i--) {
            Files.delete(found.get(i));
        }
    }

    private void copy(
            Tar tar, Subtar subtar, Subtar.Box box, long[] shape, StagedPiece piece, Path array)
            throws IOException {
        Files.createDirectories(array);
        FileSink.write(array.resolve(".zattrs"), attributes(tar, subtar, box, piece.vector()));
        FileSink.write(array.resolve(".zarray"), text(piece, shape, shape));
        Path from = Files.exists(complete(piece)) ? complete(piece) : begun(piece);
        long[] chunks = chunks(Files.readString(from.resolve(".zarray")), piece.global().length);
        Path file = array.resolve(ZarrText.key(new long[shape.length], piece.vector()));
        try (FileChannel out =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            Boxes to = new Boxes(out, 0, piece.start(), piece.shape(), element(piece));
            eachChunk(
                    piece,
                    chunks,
                    (name, part) -> {
                        try (FileChannel in = FileChannel.open(from.resolve(name))) {
                            new Boxes(in, 0, part.origin, part.chunk, element(piece))
                                    .copyTo(to, part.start, part.shape);
                        }
                    });
            out.force(true);
        }
    }

    private static String attributes(Tar tar, Subtar subtar, Subtar.Box box, int vector)
            throws IOException {
        List<String> names = new ArrayList<>();
        List<String> spacing = new ArrayList<>();
        List<String> offset = new ArrayList<>();
        for (Subtar.Range range : subtar.ranges()) {
            Tar.Dimension dimension = tar.dimension(range.dimension());
            long low = box.low()[tar.dimensions().indexOf(dimension)];
            names.add(dimension.name());
            spacing.add(Double.toString(dimension.spacing()));
            offset.add(Double.toString(dimension.lower() + low * dimension.spacing()));
        }
        String more = ", \"spacing\": %s, \"offset\": %s".formatted(spacing, offset);
        return ZarrText.attributes(names, vector, more);
    }

    @Override
    protected synchronized void create(Tar tar) throws IOException {
        tars.create(tar);
        group(folder().resolve(tar.name()));
    }
}
