package dev.verbena.staging.sink;

import dev.verbena.staging.metadata.PieceMetadata;
import java.util.Arrays;

/**
 * A dataset as a piece of a variable, checked: its shape and its bytes fit together, and its
 * variable has a name that any sink can use. A dataset without metadata is the whole of a variable
 * of its own name, of one dimension, at step 0 and rank 0.
 *
 * @param variable 1 to 63 letters, digits or underscores that begin with no digit
 * @param global elements of the whole array in each dimension, the slowest first
 * @param start where the piece begins in it
 * @param shape elements of the piece in each dimension
 * @param scalar type of a scalar
 * @param vector scalars of an element, from 1
 */
public record StagedPiece(
        String variable,
        long step,
        int rank,
        long[] global,
        long[] start,
        long[] shape,
        Scalar scalar,
        int vector) {
    private static final int VECTOR_MAX = 4096;

    /** What a file of ext4 can have, and some room for a header. */
    private static final long FILE_MAX = (1L << 44) - (1L << 20);

    private static final String NAME = "[A-Za-z_][A-Za-z0-9_]{0,62}";

    /** Scalars as SAVIME names them, little-endian. */
    public enum Scalar {
        CHAR("char", 1),
        INT("int", 4),
        LONG("long", 8),
        FLOAT("float", 4),
        DOUBLE("double", 8);

        private final String text;
        private final int size;

        Scalar(String text, int size) {
            this.text = text;
            this.size = size;
        }

        /** Its shortest name. */
        public String text() {
            return text;
        }

        /** Bytes. */
        public int size() {
            return size;
        }

        /** Whether it is a whole number. */
        public boolean isInteger() {
            return this != FLOAT && this != DOUBLE;
        }

        /**
         * The scalar of this name.
         *
         * @throws SinkRejectedException if there is none
         */
        public static Scalar of(String name) throws SinkRejectedException {
            return switch (name) {
                case "char" -> CHAR;
                case "int", "int32" -> INT;
                case "long", "int64" -> LONG;
                case "float" -> FLOAT;
                case "double" -> DOUBLE;
                default -> throw new SinkRejectedException("type '" + name + "' is unknown");
            };
        }
    }

    /** Type of an element. */
    record Type(Scalar scalar, int vector) {
        static Type of(String text) throws SinkRejectedException {
            String[] parts = text.split(":", 2);
            return new Type(Scalar.of(parts[0]), parts.length == 1 ? 1 : length(parts[1]));
        }

        private static int length(String text) throws SinkRejectedException {
            int length = text.matches("[0-9]{1,4}") ? Integer.parseInt(text) : 0;
            if (length < 1 || length > VECTOR_MAX) {
                throw new SinkRejectedException("vectors of '" + text + "' elements");
            }
            return length;
        }
    }

    /**
     * Checks a dataset, which may come from anywhere.
     *
     * @throws SinkRejectedException if its parts do not fit together
     */
    public static StagedPiece of(SinkDataset dataset) throws SinkRejectedException {
        if (!dataset.name().matches(NAME)) {
            throw new SinkRejectedException("'" + dataset.name() + "' is no name of a dataset");
        }
        Type type = Type.of(dataset.type());
        long bytes = (long) type.scalar.size() * type.vector;
        long count = dataset.length() / bytes;
        if (count == 0 || dataset.length() != count * bytes) {
            throw new SinkRejectedException(
                    "%s bytes are not elements of type %s"
                            .formatted(dataset.length(), dataset.type()));
        }
        PieceMetadata piece = dataset.piece();
        if (piece == null) {
            long[] all = {count};
            piece = new PieceMetadata(dataset.name(), 0, 0, all, new long[1], all);
        }
        StagedPiece of =
                new StagedPiece(
                        piece.variable(),
                        piece.step(),
                        piece.rank(),
                        piece.global(),
                        piece.start(),
                        piece.shape(),
                        type.scalar,
                        type.vector);
        of.check(count);
        return of;
    }

    /** Whether a table, a file or an array can have this name; {@code verbena_} is for sinks. */
    static boolean isName(String name) {
        return name.matches(NAME) && !name.startsWith("verbena_");
    }

    private void check(long elements) throws SinkRejectedException {
        if (!isName(variable)) {
            throw new SinkRejectedException("variable '" + variable + "' is no name of a table");
        }
        long product = 1;
        for (long each : shape) {
            if (each > elements / product) {
                throw new SinkRejectedException(
                        "the shape has more than " + elements + " elements");
            }
            product *= each;
        }
        if (product != elements) {
            throw new SinkRejectedException(
                    "the shape has %s elements, the dataset %s".formatted(product, elements));
        }
    }

    /**
     * Of elements that a sink keeps in one file.
     *
     * @throws SinkRejectedException if no file can be as long as an array of this shape
     */
    public void requireFile(long[] of) throws SinkRejectedException {
        if (product(of) > FILE_MAX / (scalar.size() * vector)) {
            throw new SinkRejectedException("an array of " + Arrays.toString(of) + " elements");
        }
    }

    /** Elements of the piece. */
    public long count() {
        return product(shape);
    }

    /** Elements of the whole array; {@link Long#MAX_VALUE}: more than can be counted. */
    public long globalCount() {
        return product(global);
    }

    private static long product(long[] of) {
        long product = 1;
        for (long each : of) {
            product = each > Long.MAX_VALUE / product ? Long.MAX_VALUE : product * each;
        }
        return product;
    }

    /** For people. */
    public String describe() {
        return "variable %s, step %s, rank %s".formatted(variable, step, rank);
    }

    /**
     * Of a dataset whose piece is there.
     *
     * @param areSame its values are those that are there
     * @throws SinkRejectedException unless they are
     */
    public void requireSameValues(boolean areSame) throws SinkRejectedException {
        if (!areSame) {
            throw new SinkRejectedException(
                    "there is already "
                            + describe()
                            + " with other values; send it as another step");
        }
    }

    /** Whether it is as large, where the other is, and of its type. */
    boolean hasShapeOf(StagedPiece other) {
        return Arrays.equals(global, other.global)
                && Arrays.equals(start, other.start)
                && Arrays.equals(shape, other.shape)
                && scalar == other.scalar
                && vector == other.vector;
    }
}
