package dev.verbena.staging.sink;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The pieces that a folder holds, listed in its file {@code verbena_pieces}: a line of eight fields
 * for each, which is added when the piece's elements are on the device. Not thread-safe.
 */
public final class PieceIndex {
    private static final int FIELDS = 8;

    private final Path file;
    private final Map<String, List<StagedPiece>> byDataset = new HashMap<>();
    private final Set<String> keys = new HashSet<>();
    private final Map<String, Long> elements = new HashMap<>();
    private long length;

    /**
     * Reads the list, if there is one; a line that was not completed is cut off.
     *
     * @throws IOException if it cannot be read, or is not such a list
     */
    public PieceIndex(Path folder) throws IOException {
        file = folder.resolve("verbena_pieces");
        if (Files.exists(file)) {
            String text = Files.readString(file, UTF_8);
            String whole = text.substring(0, text.lastIndexOf('\n') + 1);
            length = whole.getBytes(UTF_8).length;
            for (String line : whole.lines().toList()) {
                read(line.split(" "));
            }
        }
    }

    private void read(String[] fields) throws IOException {
        if (fields.length != FIELDS) {
            throw new IOException(file + " is no list of pieces");
        }
        try {
            StagedPiece.Type type = StagedPiece.Type.of(fields[4]);
            put(
                    fields[0],
                    new StagedPiece(
                            fields[1],
                            Long.parseLong(fields[2]),
                            Integer.parseInt(fields[3]),
                            numbers(fields[5]),
                            numbers(fields[6]),
                            numbers(fields[7]),
                            type.scalar(),
                            type.vector()));
        } catch (NumberFormatException e) {
            throw new IOException(file + " is no list of pieces", e);
        }
    }

    private static long[] numbers(String text) {
        return Stream.of(text.split(","))
                .filter(each -> !each.equals("-"))
                .mapToLong(Long::parseLong)
                .toArray();
    }

    private static String text(long[] numbers) {
        return numbers.length == 0
                ? "-"
                : LongStream.of(numbers).mapToObj(Long::toString).collect(Collectors.joining(","));
    }

    private void put(String dataset, StagedPiece piece) {
        byDataset.computeIfAbsent(dataset, name -> new ArrayList<>(1)).add(piece);
        keys.add(piece.describe());
        elements.merge(step(piece), piece.count(), Long::sum);
    }

    private static String step(StagedPiece piece) {
        return piece.variable() + " " + piece.step();
    }

    /** Whether there is a piece of its variable, step and rank. */
    public boolean contains(StagedPiece piece) {
        return keys.contains(piece.describe());
    }

    /**
     * Of a piece that there is.
     *
     * @throws SinkRejectedException unless it may be this very dataset, sent again; its values are
     *     not compared
     */
    public void requireSame(SinkDataset dataset, StagedPiece piece) throws SinkRejectedException {
        StagedPiece known =
                byDataset.getOrDefault(dataset.name(), List.of()).stream()
                        .filter(each -> each.describe().equals(piece.describe()))
                        .findFirst()
                        .orElse(null);
        if (!dataset.isRepeated() || known == null) {
            throw new SinkRejectedException("there is already " + piece.describe());
        }
        if (!known.hasShapeOf(piece)) {
            throw new SinkRejectedException(
                    "there is already " + piece.describe() + ", of another shape or type");
        }
    }

    /** Whether the pieces of its step have as many elements as the whole array. */
    public boolean isSealed(StagedPiece piece) {
        return elements.getOrDefault(step(piece), 0L) >= piece.globalCount();
    }

    /**
     * The piece that this dataset was.
     *
     * @throws SinkRejectedException if there is none, or more than one
     */
    public StagedPiece piece(String dataset) throws SinkRejectedException {
        List<StagedPiece> pieces = byDataset.getOrDefault(dataset, List.of());
        if (pieces.isEmpty()) {
            throw new SinkRejectedException("there is no dataset '" + dataset + "'");
        }
        if (pieces.size() > 1) {
            throw new SinkRejectedException(
                    "dataset '%s' is both %s and %s; send one of them as another variable, under a name of its own"
                            .formatted(
                                    dataset, pieces.get(0).describe(), pieces.get(1).describe()));
        }
        return pieces.get(0);
    }

    /**
     * The piece of a dataset whose elements are an attribute's cells.
     *
     * @param cells of the region
     * @throws SinkRejectedException if there is none, or of another type or size
     */
    public StagedPiece cells(Subtar.Column column, Tar.Attribute attribute, long cells)
            throws SinkRejectedException {
        StagedPiece piece = piece(column.dataset());
        if (piece.scalar() != attribute.scalar()
                || piece.vector() != attribute.vector()
                || piece.count() != cells) {
            throw new SinkRejectedException(
                    "dataset %s has %s elements of type %s, the region %s cells of type %s"
                            .formatted(
                                    column.dataset(),
                                    piece.count(),
                                    piece.scalar().text(),
                                    cells,
                                    attribute.scalar().text()));
        }
        return piece;
    }

    /** Lists a piece; it is durable on return. */
    public void add(String dataset, StagedPiece piece) throws IOException {
        String type = piece.scalar().text() + (piece.vector() == 1 ? "" : ":" + piece.vector());
        String line =
                String.join(
                        " ",
                        dataset,
                        piece.variable(),
                        Long.toString(piece.step()),
                        Integer.toString(piece.rank()),
                        type,
                        text(piece.global()),
                        text(piece.start()),
                        text(piece.shape()));
        ByteBuffer bytes = ByteBuffer.wrap((line + '\n').getBytes(UTF_8));
        try (FileChannel out =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            out.truncate(length);
            int count = bytes.remaining();
            while (bytes.hasRemaining()) {
                out.write(bytes, length + bytes.position());
            }
            out.force(true);
            length += count;
        }
        put(dataset, piece);
    }
}
