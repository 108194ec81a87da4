package dev.verbena.sinks.postgres;

import dev.verbena.staging.metadata.PieceMetadata;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkRejectedException;

/**
 * A dataset as rows of a table.
 *
 * @param shape elements in each dimension; their product is the number of rows
 * @param scalar type of a scalar
 * @param vector scalars of a value
 */
record PieceRows(
        String variable,
        long step,
        int rank,
        long[] global,
        long[] start,
        long[] shape,
        Scalar scalar,
        int vector) {
    /** A variable's name is that of a table: PostgreSQL cuts longer ones. */
    private static final int NAME_MAX = 63;

    private static final int VECTOR_MAX = 4096;

    /** Scalars of SAVIME, with the number of the database's type. */
    enum Scalar {
        CHAR(1, "smallint", 2, 21),
        INT(4, "integer", 4, 23),
        LONG(8, "bigint", 8, 20),
        FLOAT(4, "real", 4, 700),
        DOUBLE(8, "double precision", 8, 701);

        private final int size;
        private final String sql;
        private final int sqlSize;
        private final int oid;

        Scalar(int size, String sql, int sqlSize, int oid) {
            this.size = size;
            this.sql = sql;
            this.sqlSize = sqlSize;
            this.oid = oid;
        }

        /** Bytes in a staged file. */
        int size() {
            return size;
        }

        /** Bytes in the database. */
        int sqlSize() {
            return sqlSize;
        }

        int oid() {
            return oid;
        }

        private static Scalar of(String name) throws SinkRejectedException {
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

    /**
     * Checks a dataset, which may come from anywhere.
     *
     * @throws SinkRejectedException if its parts do not fit together
     */
    static PieceRows of(SinkDataset dataset) throws SinkRejectedException {
        String[] type = dataset.type().split(":", 2);
        Scalar scalar = Scalar.of(type[0]);
        int vector = type.length == 1 ? 1 : length(type[1]);
        long bytes = (long) scalar.size() * vector;
        long count = dataset.length() / bytes;
        if (dataset.length() != count * bytes) {
            throw new SinkRejectedException(
                    "%s bytes are not elements of type %s"
                            .formatted(dataset.length(), dataset.type()));
        }
        PieceMetadata piece =
                dataset.piece() == null
                        ? new PieceMetadata(
                                dataset.name(),
                                0,
                                0,
                                new long[] {count},
                                new long[] {0},
                                new long[] {count})
                        : dataset.piece();
        PieceRows rows =
                new PieceRows(
                        piece.variable(),
                        piece.step(),
                        piece.rank(),
                        piece.global(),
                        piece.start(),
                        piece.shape(),
                        scalar,
                        vector);
        rows.check(count);
        return rows;
    }

    private static int length(String text) throws SinkRejectedException {
        int length = text.matches("[0-9]{1,4}") ? Integer.parseInt(text) : 0;
        if (length < 1 || length > VECTOR_MAX) {
            throw new SinkRejectedException("vectors of '" + text + "' elements");
        }
        return length;
    }

    private void check(long elements) throws SinkRejectedException {
        boolean isName =
                variable.matches("[A-Za-z_][A-Za-z0-9_]*") && variable.length() <= NAME_MAX;
        if (!isName || variable.equals("verbena_piece")) {
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

    /** Quoted: names differ by case. */
    String table() {
        return '"' + variable + '"';
    }

    String sqlType() {
        return vector == 1 ? scalar.sql : scalar.sql + "[]";
    }

    /** Rows. */
    long count() {
        long product = 1;
        for (long each : shape) {
            product *= each;
        }
        return product;
    }

    /** For people. */
    String describe() {
        return "variable %s, step %s, rank %s".formatted(variable, step, rank);
    }
}
