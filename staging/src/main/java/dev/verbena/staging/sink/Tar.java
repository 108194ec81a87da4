package dev.verbena.staging.sink;

import java.util.List;

/**
 * What {@code create_tar} defines (specification, section 8): an array with named dimensions and
 * attributes, which {@link Subtar}s fill. Immutable.
 *
 * @param name also of the table, group or file that a sink makes of it
 * @param text the definition as it was given
 */
public record Tar(
        String name, List<Dimension> dimensions, List<Attribute> attributes, String text) {
    /** See the record. */
    public Tar {
        dimensions = List.copyOf(dimensions);
        attributes = List.copyOf(attributes);
    }

    /**
     * A dimension: values from {@code lower} to {@code upper} by {@code spacing}, or those that a
     * dataset lists.
     *
     * @param type of its values; null: that of the dataset
     * @param dataset null: implicit
     * @param upper infinite: without an end
     */
    public record Dimension(
            String name,
            StagedPiece.Scalar type,
            String dataset,
            double lower,
            double upper,
            double spacing) {
        /** Whether a dataset lists its values. */
        public boolean isExplicit() {
            return dataset != null;
        }

        /** Last position, counted from 0; {@link Long#MAX_VALUE}: without an end, or not known. */
        public long last() {
            double last = Math.floor((upper - lower) / spacing + 1e-9);
            return isExplicit() || last >= Long.MAX_VALUE ? Long.MAX_VALUE : (long) last;
        }

        /**
         * Position of a value.
         *
         * @throws SinkRejectedException if the dimension is explicit or has no such value
         */
        public long position(double value) throws SinkRejectedException {
            double at = (value - lower) / spacing;
            if (isExplicit() || Math.abs(at - Math.rint(at)) > 1e-9 || Math.abs(at) > 1L << 53) {
                throw new SinkRejectedException(
                        "dimension '%s' has no position for the value %s".formatted(name, value));
            }
            return (long) Math.rint(at);
        }
    }

    /**
     * An attribute of each cell.
     *
     * @param vector scalars of a cell, from 1
     */
    public record Attribute(String name, StagedPiece.Scalar scalar, int vector) {}

    /**
     * The dimension of this name.
     *
     * @throws SinkRejectedException if there is none
     */
    public Dimension dimension(String of) throws SinkRejectedException {
        for (Dimension each : dimensions) {
            if (each.name().equals(of)) {
                return each;
            }
        }
        throw new SinkRejectedException("'%s' is no dimension of %s".formatted(of, name));
    }

    /**
     * The attribute of this name.
     *
     * @throws SinkRejectedException if there is none
     */
    public Attribute attribute(String of) throws SinkRejectedException {
        for (Attribute each : attributes) {
            if (each.name().equals(of)) {
                return each;
            }
        }
        throw new SinkRejectedException("'%s' is no attribute of %s".formatted(of, name));
    }
}
