package dev.verbena.sinks.hdf5;

import dev.verbena.staging.sink.Boxes;
import dev.verbena.staging.sink.FolderSink;
import dev.verbena.staging.sink.PieceIndex;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.StagedPiece;
import dev.verbena.staging.sink.Subtar;
import dev.verbena.staging.sink.Tar;
import dev.verbena.staging.sink.TarFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A folder with a file {@code VARIABLE.STEP.h5} for each step of a variable: the dataset {@code
 * /data/STEP/fields/VARIABLE} of openPMD 1.1.0, contiguous, of the global array's shape; a vector's
 * scalars are its last dimension. Pieces are written in place into {@code VARIABLE.STEP.h5.tmp},
 * which is renamed when they have as many elements as the array. A second dataset of a key
 * (variable, step, rank) is refused, unless it may be the same one sent again.
 *
 * <p>{@code load_subtar} makes {@code TAR.LOW-HIGH_....h5}, with a dataset for each attribute; its
 * ranges are ordered, its dimensions implicit, its datasets of the region's size and of 32
 * dimensions at most, a vector's scalars one of them. There are no other commands. Thread-safe; one
 * session at a time.
 */
public final class Hdf5Sink extends FolderSink {
    private static final String END = ".h5";

    /** {@code H5S_MAX_RANK}: no program can read an array of more. */
    private static final int DIMENSIONS_MAX = 32;

    private final PieceIndex index;
    private final TarFolder tars;

    /**
     * A folder, which is made if it is absent.
     *
     * @throws UncheckedIOException naming the folder, if it cannot be used
     */
    public Hdf5Sink(Path folder) {
        super(folder, "a folder of HDF5 files runs no such commands");
        this.tars = new TarFolder(folder);
        try {
            Files.createDirectories(folder);
            index = new PieceIndex(folder);
        } catch (IOException e) {
            throw new UncheckedIOException("sink " + folder + ": " + e.getMessage(), e);
        }
    }

    private static Hdf5Header header(StagedPiece piece) {
        long[] shape = Boxes.extended(piece.global(), piece.vector(), piece.vector());
        String[] labels = new String[shape.length];
        double[] spacing = new double[shape.length];
        for (int i = 0; i < shape.length; i++) {
            labels[i] = "i" + i;
        }
        Arrays.fill(spacing, 1);
        Hdf5Header.Field field =
                new Hdf5Header.Field(
                        piece.variable(),
                        piece.scalar(),
                        shape,
                        labels,
                        spacing,
                        new double[shape.length]);
        return Hdf5Header.of(piece.variable() + ".%T" + END, piece.step(), List.of(field));
    }

    /** The array in a file of its step. */
    private static Boxes whole(FileChannel file, StagedPiece piece) {
        long[] shape = Boxes.extended(piece.global(), piece.vector(), piece.vector());
        long address = header(piece).addresses()[0];
        return new Boxes(file, address, new long[shape.length], shape, piece.scalar().size());
    }

    private static Boxes alone(FileChannel file, long address, StagedPiece piece) {
        return new Boxes(
                file,
                address,
                Boxes.extended(piece.start(), piece.vector(), 0),
                Boxes.extended(piece.shape(), piece.vector(), piece.vector()),
                piece.scalar().size());
    }

    private Path file(StagedPiece piece) {
        return folder().resolve(piece.variable() + "." + piece.step() + END);
    }

    private static Path fresh(Path file) {
        return file.resolveSibling(file.getFileName() + ".tmp");
    }

    private static FileChannel openFresh(Path file) throws IOException {
        return FileChannel.open(
                fresh(file),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
    }

    @Override
    protected synchronized void take(SinkDataset dataset, FileChannel data) throws IOException {
        StagedPiece piece = StagedPiece.of(dataset);
        Path file = file(piece);
        if (!index.contains(piece)) {
            piece.requireFile(piece.global());
            if (Files.exists(file)) {
                throw new SinkRejectedException("step " + file.getFileName() + " is complete");
            }
            try (FileChannel out = openFresh(file)) {
                begin(out, header(piece));
                Boxes from = alone(data, 0, piece);
                from.copyTo(whole(out, piece), from.start(), from.shape());
                out.force(true);
            }
            index.add(dataset.name(), piece);
        } else {
            index.requireSame(dataset, piece);
            requireSameValues(piece, data);
        }
        if (index.isSealed(piece) && Files.exists(fresh(file))) {
            show(fresh(file), file);
        }
    }

    /** Writes the header into a new file; one that is there must be of the same array. */
    private static void begin(FileChannel out, Hdf5Header header) throws IOException {
        byte[] found = new byte[header.bytes().length];
        int count = out.read(ByteBuffer.wrap(found), 0);
        if (count > 0 && found[0] != 0) {
            if (!Arrays.equals(found, header.bytes()) || out.size() != header.length()) {
                throw new SinkRejectedException("the step has another shape or type");
            }
            return;
        }
        out.write(ByteBuffer.allocate(1), header.length() - 1);
        ByteBuffer bytes = ByteBuffer.wrap(header.bytes());
        while (bytes.hasRemaining()) {
            out.write(bytes, bytes.position());
        }
    }

    @Override
    protected synchronized void load(Subtar subtar) throws IOException {
        Tar tar = tars.tar(subtar.tar());
        Subtar.Box box = TarFolder.free(tar, subtar, folder(), tar.name() + ".", END);
        long[] shape = TarFolder.grid(tar, subtar, box);
        List<Hdf5Header.Field> fields = new ArrayList<>();
        List<StagedPiece> pieces = new ArrayList<>();
        for (Subtar.Column column : subtar.columns()) {
            Tar.Attribute attribute = tar.attribute(column.attribute());
            pieces.add(index.cells(column, attribute, Subtar.cells(subtar, box)));
            fields.add(field(tar, subtar, box, shape, attribute));
        }
        Hdf5Header header = Hdf5Header.of(tar.name() + ".%T" + END, 0, fields);
        Path file = folder().resolve(tar.name() + "." + box.text() + END);
        Files.deleteIfExists(fresh(file));
        try (FileChannel out = openFresh(file)) {
            begin(out, header);
            for (int i = 0; i < pieces.size(); i++) {
                copy(pieces.get(i), out, header.addresses()[i]);
            }
            out.force(true);
        }
        show(fresh(file), file);
    }

    /** The file that a piece was written into. */
    private Path written(StagedPiece piece) {
        Path complete = file(piece);
        return Files.exists(complete) ? complete : fresh(complete);
    }

    /** Of what somebody has taken away since, nothing can be said. */
    private void requireSameValues(StagedPiece piece, FileChannel data) throws IOException {
        Path from = written(piece);
        if (!Files.exists(from)) {
            return;
        }
        try (FileChannel in = FileChannel.open(from)) {
            Boxes sent = alone(data, 0, piece);
            piece.requireSameValues(sent.isSame(whole(in, piece), sent.start(), sent.shape()));
        }
    }

    private void copy(StagedPiece piece, FileChannel out, long address) throws IOException {
        try (FileChannel in = FileChannel.open(written(piece))) {
            Boxes to = alone(out, address, piece);
            whole(in, piece).copyTo(to, to.start(), to.shape());
        }
    }

    private static int rank(Tar tar, Tar.Attribute attribute) throws SinkRejectedException {
        int rank = tar.dimensions().size() + (attribute.vector() == 1 ? 0 : 1);
        if (rank > DIMENSIONS_MAX) {
            throw new SinkRejectedException(
                    "attribute %s would have %s dimensions, HDF5 has %s at most"
                            .formatted(attribute.name(), rank, DIMENSIONS_MAX));
        }
        return rank;
    }

    private static Hdf5Header.Field field(
            Tar tar, Subtar subtar, Subtar.Box box, long[] shape, Tar.Attribute attribute)
            throws IOException {
        int vector = attribute.vector();
        int count = rank(tar, attribute);
        String[] labels = new String[count];
        double[] spacing = new double[count];
        double[] offset = new double[count];
        labels[count - 1] = "component";
        spacing[count - 1] = 1;
        for (int i = 0; i < shape.length; i++) {
            Tar.Dimension dimension = tar.dimension(subtar.ranges().get(i).dimension());
            labels[i] = dimension.name();
            spacing[i] = dimension.spacing();
            long low = box.low()[tar.dimensions().indexOf(dimension)];
            offset[i] = dimension.lower() + low * dimension.spacing();
        }
        return new Hdf5Header.Field(
                attribute.name(),
                attribute.scalar(),
                Boxes.extended(shape, vector, vector),
                labels,
                spacing,
                offset);
    }

    @Override
    protected synchronized void create(Tar tar) throws IOException {
        for (Tar.Attribute each : tar.attributes()) {
            rank(tar, each);
        }
        tars.create(tar);
    }
}
