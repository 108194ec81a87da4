package dev.verbena.sinks.postgres;

import dev.verbena.staging.sink.StagedPiece;

/** Scalars in the binary form of {@code COPY}. */
final class Types {
    private Types() {}

    /** Bytes in the database. */
    static int size(StagedPiece.Scalar scalar) {
        return scalar == StagedPiece.Scalar.CHAR ? 2 : scalar.size();
    }

    /** The number of the database's type. */
    static int oid(StagedPiece.Scalar scalar) {
        return switch (scalar) {
            case CHAR -> 21;
            case INT -> 23;
            case LONG -> 20;
            case FLOAT -> 700;
            case DOUBLE -> 701;
        };
    }
}
