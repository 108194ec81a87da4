package dev.verbena.savime.query;

import dev.verbena.savime.wire.DatasetNames;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Texts of SAVIME's definition queries (specification, section 8.3), which cannot be wrong in form:
 * names are identifiers, every dimension is there once, bounds are in order.
 */
public final class SavimeQueries {
    private SavimeQueries() {}

    /** {@code create_dataset} of an uploaded parameter. */
    public static String createDataset(String name, String type, String parameter) {
        return "create_dataset(\"%s:%s\", \"%s\");"
                .formatted(DatasetNames.require(name), plain(type), plain(parameter));
    }

    /** {@code drop_dataset}. */
    public static String dropDataset(String name) {
        return "drop_dataset(\"%s\");".formatted(DatasetNames.require(name));
    }

    /** {@code drop_tar}. */
    public static String dropTar(String name) {
        return "drop_tar(\"%s\");".formatted(DatasetNames.require(name));
    }

    /** Text without what would end it, or the query. */
    private static String plain(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c == '"' || c == '\'' || c == '|' || c == ',') {
                throw new IllegalArgumentException(
                        "'%s' has a quote, comma, bar or control character".formatted(text));
            }
        }
        return text;
    }

    private static boolean isInteger(String type) {
        return List.of("int", "int32", "long", "int64", "char").contains(type);
    }

    /** Builds {@code create_tar}. */
    public static final class CreateTar {
        private final String name;
        private final Set<String> names = new LinkedHashSet<>();
        private final List<String> dimensions = new ArrayList<>();
        private final List<String> attributes = new ArrayList<>();

        /** Of this name, of no type. */
        public CreateTar(String name) {
            this.name = DatasetNames.require(name);
        }

        private String unique(String element) {
            if (!names.add(DatasetNames.require(element))) {
                throw new IllegalArgumentException("two elements '" + element + "'");
            }
            return element;
        }

        /**
         * A dimension of integers from {@code lower} to {@code upper}.
         *
         * @throws IllegalArgumentException unless lower &lt; upper and spacing &gt; 0
         */
        public CreateTar dimension(
                String element, String type, long lower, long upper, long spacing) {
            if (!isInteger(type) || upper <= lower || spacing < 1) {
                throw new IllegalArgumentException(
                        "dimension %s of type %s from %s to %s by %s"
                                .formatted(element, type, lower, upper, spacing));
            }
            return implicit(element, type, lower, Long.toString(upper), spacing);
        }

        /** A dimension of integers from {@code lower} without an end. */
        public CreateTar unbounded(String element, String type, long lower, long spacing) {
            if (!isInteger(type) || spacing < 1) {
                throw new IllegalArgumentException(
                        "dimension %s of type %s by %s".formatted(element, type, spacing));
            }
            return implicit(element, type, lower, "*", spacing);
        }

        /** A dimension of {@code float} or {@code double}. */
        public CreateTar dimension(
                String element, String type, double lower, double upper, double spacing) {
            boolean isReal = type.equals("double") || type.equals("float");
            if (!isReal || !(upper > lower) || !(spacing > 0)) {
                throw new IllegalArgumentException(
                        "dimension %s of type %s from %s to %s by %s"
                                .formatted(element, type, lower, upper, spacing));
            }
            return implicit(element, type, lower, Double.toString(upper), spacing);
        }

        private CreateTar implicit(
                String element, String type, Object lower, String upper, Object spacing) {
            String text = unique(element) + "," + type + "," + lower + "," + upper + "," + spacing;
            dimensions.add("implicit," + text);
            return this;
        }

        /** A dimension whose values a dataset lists. */
        public CreateTar explicit(String element, String dataset) {
            dimensions.add("explicit," + unique(element) + "," + DatasetNames.require(dataset));
            return this;
        }

        /** An attribute; {@code double:3} for vectors. */
        public CreateTar attribute(String element, String type) {
            attributes.add(unique(element) + "," + plain(type));
            return this;
        }

        /**
         * The query.
         *
         * @throws IllegalArgumentException without a dimension or an attribute
         */
        public String text() {
            if (dimensions.isEmpty() || attributes.isEmpty()) {
                throw new IllegalArgumentException(name + " needs a dimension and an attribute");
            }
            return "create_tar(\"%s\", \"*\", \"%s\", \"%s\");"
                    .formatted(
                            name, String.join(" | ", dimensions), String.join(" | ", attributes));
        }
    }

    /** Builds {@code load_subtar}; the dimension listed first varies slowest. */
    public static final class LoadSubtar {
        private final String tar;
        private final Set<String> wanted;
        private final Set<String> dimensions = new LinkedHashSet<>();
        private final List<String> specifications = new ArrayList<>();
        private final Set<String> attributes = new LinkedHashSet<>();
        private final List<String> columns = new ArrayList<>();
        private int totalCount;

        /** Of this TAR, which has these dimensions. */
        public LoadSubtar(String tar, String... dimensions) {
            this.tar = DatasetNames.require(tar);
            this.wanted = new LinkedHashSet<>(List.of(dimensions));
        }

        private LoadSubtar add(String kind, String dimension, long low, long high, String more) {
            if (!wanted.contains(dimension) || !dimensions.add(dimension)) {
                throw new IllegalArgumentException(
                        "'%s' is no dimension of %s, or is there already"
                                .formatted(dimension, tar));
            }
            if (high < low) {
                throw new IllegalArgumentException(
                        "%s from %s to %s".formatted(dimension, low, high));
            }
            specifications.add(
                    "%s,%s,%s,%s%s"
                            .formatted(kind, DatasetNames.require(dimension), low, high, more));
            return this;
        }

        /** All positions from low to high, counted from 0. */
        public LoadSubtar ordered(String dimension, long low, long high) {
            return add("ordered", dimension, low, high, "");
        }

        /** The positions that a dataset lists. */
        public LoadSubtar partial(String dimension, long low, long high, String dataset) {
            return add("partial", dimension, low, high, "," + DatasetNames.require(dataset));
        }

        /** A position for each cell, in a dataset. */
        public LoadSubtar total(String dimension, long low, long high, String dataset) {
            totalCount++;
            return add("total", dimension, low, high, "," + DatasetNames.require(dataset));
        }

        /** An attribute's cells are this dataset. */
        public LoadSubtar attribute(String attribute, String dataset) {
            if (!attributes.add(DatasetNames.require(attribute))) {
                throw new IllegalArgumentException("attribute '" + attribute + "' twice");
            }
            columns.add(attribute + "," + DatasetNames.require(dataset));
            return this;
        }

        /**
         * The query.
         *
         * @throws IllegalArgumentException if a dimension is missing, total is mixed with others,
         *     or there is no attribute
         */
        public String text() {
            if (!dimensions.containsAll(wanted) || columns.isEmpty()) {
                Set<String> missing = new LinkedHashSet<>(wanted);
                missing.removeAll(dimensions);
                throw new IllegalArgumentException(
                        "subtar of %s: dimensions %s and %s attributes"
                                .formatted(tar, missing, columns.isEmpty() ? "all" : "no"));
            }
            if (totalCount > 0 && totalCount < dimensions.size()) {
                throw new IllegalArgumentException("if one dimension is total, all must be");
            }
            return "load_subtar(\"%s\", \"%s\", \"%s\");"
                    .formatted(
                            tar, String.join(" | ", specifications), String.join(" | ", columns));
        }
    }
}
