package dev.verbena.staging.sink;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What {@code load_subtar} loads (specification, section 8): a region of a {@link Tar}, and for
 * each attribute the dataset of its cells, row-major in the order of the regions' ranges. It
 * becomes visible as a whole or not at all. Immutable.
 *
 * @param ranges the slowest first
 * @param text the command as it was given
 */
public record Subtar(String tar, List<Range> ranges, List<Column> columns, String text) {
    /** See the record. */
    public Subtar {
        ranges = List.copyOf(ranges);
        columns = List.copyOf(columns);
    }

    /** Which positions of a range have cells. */
    public enum Kind {
        /** All, in order. */
        ORDERED,
        /** Those that a dataset lists. */
        PARTIAL,
        /** A dataset lists one for each cell. */
        TOTAL
    }

    /** A bound: a position, or a value of the dimension. */
    public record Bound(double number, boolean isValue) {
        long in(Tar.Dimension dimension) throws SinkRejectedException {
            if (isValue) {
                return dimension.position(number);
            }
            if (number != Math.rint(number)) {
                throw new SinkRejectedException("position " + number + " is no whole number");
            }
            return (long) number;
        }
    }

    /**
     * A range of a dimension.
     *
     * @param dataset null: {@link Kind#ORDERED}
     */
    public record Range(Kind kind, String dimension, Bound low, Bound high, String dataset) {}

    /** An attribute and the dataset of its cells. */
    public record Column(String attribute, String dataset) {}

    /** First and last position of each range, counted from 0. */
    public record Box(long[] low, long[] high) {
        /** Whether some position is in both; their dimensions have one order. */
        public boolean meets(Box other) {
            for (int i = 0; i < low.length; i++) {
                if (low[i] > other.high[i] || other.low[i] > high[i]) {
                    return false;
                }
            }
            return true;
        }

        /** As part of a file's name, {@code 0-2_5-9}. */
        public String text() {
            StringBuilder out = new StringBuilder();
            for (int i = 0; i < low.length; i++) {
                out.append(i == 0 ? "" : "_").append(low[i]).append('-').append(high[i]);
            }
            return out.toString();
        }

        /** Of {@link #text()}. */
        public static Box of(String text) {
            String[] parts = text.split("_");
            long[] low = new long[parts.length];
            long[] high = new long[parts.length];
            for (int i = 0; i < parts.length; i++) {
                String[] bounds = parts[i].split("-");
                low[i] = Long.parseLong(bounds[0]);
                high[i] = Long.parseLong(bounds[1]);
            }
            return new Box(low, high);
        }
    }

    /**
     * Its region, in the order of the array's dimensions.
     *
     * @throws SinkRejectedException unless each dimension has one range within it, kinds are not
     *     mixed with {@link Kind#TOTAL}, and the attributes are those of the array
     */
    public Box box(Tar of) throws SinkRejectedException {
        Set<String> seen = new HashSet<>();
        long[] low = new long[of.dimensions().size()];
        long[] high = new long[low.length];
        int totals = 0;
        for (Range range : ranges) {
            Tar.Dimension dimension = of.dimension(range.dimension);
            int i = of.dimensions().indexOf(dimension);
            low[i] = range.low.in(dimension);
            high[i] = range.high.in(dimension);
            totals += range.kind == Kind.TOTAL ? 1 : 0;
            if (!seen.add(range.dimension)
                    || low[i] < 0
                    || high[i] < low[i]
                    || high[i] > dimension.last()) {
                throw new SinkRejectedException(
                        "dimension '%s' from position %s to %s"
                                .formatted(range.dimension, low[i], high[i]));
            }
        }
        if (seen.size() != low.length || totals > 0 && totals < low.length) {
            throw new SinkRejectedException(
                    "a subtar needs a range of each dimension, all of them total or none");
        }
        checkColumns(of);
        return new Box(low, high);
    }

    private void checkColumns(Tar of) throws SinkRejectedException {
        List<String> wanted = new ArrayList<>();
        of.attributes().forEach(each -> wanted.add(each.name()));
        for (Column column : columns) {
            if (!wanted.remove(column.attribute)) {
                throw new SinkRejectedException(
                        "'%s' is no attribute of %s, or is there twice"
                                .formatted(column.attribute, tar));
            }
        }
        if (!wanted.isEmpty()) {
            throw new SinkRejectedException("no dataset for the attributes " + wanted);
        }
    }

    /** Cells of the region if all its ranges are ordered; 0: they are not. */
    public static long cells(Subtar of, Box box) {
        long cells = 1;
        for (Range each : of.ranges) {
            cells = each.kind == Kind.ORDERED ? cells : 0;
        }
        for (int i = 0; i < box.low.length; i++) {
            long count = box.high[i] - box.low[i] + 1;
            cells = cells > Long.MAX_VALUE / count ? Long.MAX_VALUE : cells * count;
        }
        return cells;
    }
}
