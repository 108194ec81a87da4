package dev.verbena.staging.sink;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * {@link Tar}s and {@link Subtar}s in a database of SQL whose staged datasets are the rows of
 * tables: a variable's table has the columns {@code step}, {@code rank}, {@code i0}, {@code i1},
 * ... and {@code value}; {@code verbena_piece} lists the pieces. An array is a table with a column
 * for each dimension and attribute. What a sink runs in one transaction is made by one object, used
 * by one thread.
 */
public final class SqlTars {
    /** Lists what there is; a sink runs it once. */
    public static final String CATALOGUE =
            """
            CREATE TABLE IF NOT EXISTS verbena_piece (
                variable text, step bigint, rank integer, dataset text NOT NULL,
                type text NOT NULL, shape bigint[] NOT NULL, start bigint[] NOT NULL,
                size bigint[] NOT NULL, PRIMARY KEY (variable, step, rank));
            CREATE TABLE IF NOT EXISTS verbena_tar (
                name text PRIMARY KEY, definition text NOT NULL, loads bigint NOT NULL);
            CREATE TABLE IF NOT EXISTS verbena_subtar (tar text NOT NULL, box text NOT NULL)""";

    private final Database database;
    private final String division;

    /** A session, within a transaction that its owner commits. */
    public interface Database {
        /** Rows as text; an array as {@code 1,2}. */
        List<String[]> query(String sql) throws IOException;

        /** Rows that changed. */
        long update(String sql) throws IOException;
    }

    /**
     * Of a database.
     *
     * @param division its operator for the quotient of whole numbers
     */
    public SqlTars(Database database, String division) {
        this.database = database;
        this.division = division;
    }

    /** A dataset's rows: position and value. */
    private record Rows(String sql, long count, String type) {}

    /** SQL's type of a scalar or vector. */
    public static String type(StagedPiece.Scalar scalar, int vector) {
        String name =
                switch (scalar) {
                    case CHAR -> "smallint";
                    case INT -> "integer";
                    case LONG -> "bigint";
                    case FLOAT -> "real";
                    case DOUBLE -> "double precision";
                };
        return vector == 1 ? name : name + "[]";
    }

    /** Columns of a variable's table, with their types. */
    public static String columns(StagedPiece piece) {
        StringBuilder columns = new StringBuilder("step bigint NOT NULL, rank integer NOT NULL");
        for (int i = 0; i < piece.shape().length; i++) {
            columns.append(", i").append(i).append(" bigint NOT NULL");
        }
        return columns.append(", value ")
                .append(type(piece.scalar(), piece.vector()))
                .append(" NOT NULL")
                .toString();
    }

    /** Their names; a table of that name that is no variable's has others. */
    public static String columnNames(StagedPiece piece) {
        StringBuilder names = new StringBuilder("step, rank");
        for (int i = 0; i < piece.shape().length; i++) {
            names.append(", i").append(i);
        }
        return names.append(", value").toString();
    }

    /** A statement that lists a piece; it changes no row if there is one of its key. */
    public static String claim(SinkDataset dataset, StagedPiece piece) {
        return row(
                "INSERT INTO verbena_piece VALUES ('%s', %s, %s, '%s', '%s', %s, %s, %s) ON CONFLICT DO NOTHING",
                dataset, piece);
    }

    /** A query that finds a row if this dataset was this piece, of its type and shape. */
    public static String same(SinkDataset dataset, StagedPiece piece) {
        return row(
                "SELECT 1 FROM verbena_piece WHERE variable = '%s' AND step = %s AND rank = %s AND dataset = '%s' AND type = '%s' AND shape = %s AND start = %s AND size = %s",
                dataset, piece);
    }

    private static String row(String sql, SinkDataset dataset, StagedPiece piece) {
        return sql.formatted(
                piece.variable(),
                piece.step(),
                piece.rank(),
                dataset.name(),
                dataset.type(),
                array(piece.global()),
                array(piece.start()),
                array(piece.shape()));
    }

    /**
     * Creates the array's table.
     *
     * @throws SinkRejectedException if there is one of its name
     */
    public void create(Tar tar) throws IOException {
        List<String> columns = new ArrayList<>();
        for (Tar.Dimension each : tar.dimensions()) {
            StagedPiece.Scalar type =
                    each.isExplicit()
                            ? StagedPiece.Scalar.of(rows(each.dataset()).type)
                            : each.type();
            columns.add("\"%s\" %s NOT NULL".formatted(each.name(), type(type, 1)));
        }
        for (Tar.Attribute each : tar.attributes()) {
            columns.add("\"%s\" %s".formatted(each.name(), type(each.scalar(), each.vector())));
        }
        database.update(
                "INSERT INTO verbena_tar VALUES ('%s', '%s', 0)"
                        .formatted(tar.name(), tar.text().replace("'", "''")));
        database.update(
                "CREATE TABLE \"%s\" (%s)".formatted(tar.name(), String.join(", ", columns)));
    }

    /**
     * Loads a region.
     *
     * @throws SinkRejectedException if it overlaps another, or its datasets do not fit
     */
    public void load(Subtar subtar) throws IOException {
        // Others that load into this array wait for this transaction.
        database.update(
                "UPDATE verbena_tar SET loads = loads + 1 WHERE name = '%s'"
                        .formatted(subtar.tar()));
        Tar tar = tar(subtar.tar());
        Subtar.Box box = subtar.box(tar);
        String boxes = "SELECT box FROM verbena_subtar WHERE tar = '%s'".formatted(subtar.tar());
        for (String[] row : database.query(boxes)) {
            if (Subtar.Box.of(row[0]).meets(box)) {
                throw new SinkRejectedException("the subtar overlaps " + row[0]);
            }
        }
        database.update(
                "INSERT INTO verbena_subtar VALUES ('%s', '%s')"
                        .formatted(subtar.tar(), box.text()));
        insert(tar, subtar, box);
    }

    private Tar tar(String name) throws IOException {
        List<String[]> found =
                database.query(
                        "SELECT definition FROM verbena_tar WHERE name = '%s'".formatted(name));
        if (found.isEmpty()) {
            throw new SinkRejectedException("there is no TAR '" + name + "'");
        }
        return TarText.createTar(found.get(0)[0]);
    }

    private void insert(Tar tar, Subtar subtar, Subtar.Box box) throws IOException {
        List<String> names = new ArrayList<>();
        List<String> values = new ArrayList<>();
        StringBuilder from = new StringBuilder();
        long cells = columns(tar, subtar, names, values, from);
        long wanted = ranges(tar, subtar, box, names, values, from);
        if (cells < wanted) {
            throw new SinkRejectedException(
                    "the region has %s cells, a dataset %s".formatted(wanted, cells));
        }
        long count =
                database.update(
                        "INSERT INTO \"%s\" (%s) SELECT %s FROM %s WHERE c0.n < %s"
                                .formatted(
                                        tar.name(),
                                        String.join(", ", names),
                                        String.join(", ", values),
                                        from,
                                        wanted));
        if (count != wanted) {
            throw new SinkRejectedException(
                    "%s cells of %s have values for each dimension".formatted(count, wanted));
        }
    }

    /** Adds the attributes; the fewest elements that one of their datasets has. */
    private long columns(
            Tar tar, Subtar subtar, List<String> names, List<String> values, StringBuilder from)
            throws IOException {
        long fewest = Long.MAX_VALUE;
        for (int i = 0; i < subtar.columns().size(); i++) {
            Subtar.Column column = subtar.columns().get(i);
            Tar.Attribute attribute = tar.attribute(column.attribute());
            Rows rows = rows(column.dataset());
            StagedPiece.Type type = StagedPiece.Type.of(rows.type);
            if (type.scalar() != attribute.scalar() || type.vector() != attribute.vector()) {
                throw new SinkRejectedException(
                        "dataset %s is of type %s, not that of %s"
                                .formatted(column.dataset(), rows.type, attribute.name()));
            }
            fewest = Math.min(fewest, rows.count);
            join(from, rows, "c" + i, "c0.n");
            names.add('"' + attribute.name() + '"');
            values.add("c" + i + ".value");
        }
        return fewest;
    }

    private static void join(StringBuilder from, Rows rows, String alias, String key) {
        boolean isFirst = from.isEmpty();
        from.append(isFirst ? "" : " JOIN ").append(rows.sql).append(' ').append(alias);
        from.append(isFirst ? "" : " ON %s.n = %s".formatted(alias, key));
    }

    /** Adds the dimensions; cells of the region. */
    private long ranges(
            Tar tar,
            Subtar subtar,
            Subtar.Box box,
            List<String> names,
            List<String> values,
            StringBuilder from)
            throws IOException {
        long cells = 1;
        for (int i = subtar.ranges().size() - 1; i >= 0; i--) {
            Subtar.Range range = subtar.ranges().get(i);
            Tar.Dimension dimension = tar.dimension(range.dimension());
            int at = tar.dimensions().indexOf(dimension);
            Rows listed = range.dataset() == null ? null : rows(range.dataset());
            long count = listed == null ? box.high()[at] - box.low()[at] + 1 : listed.count;
            boolean isTotal = range.kind() == Subtar.Kind.TOTAL;
            if (isTotal && i < subtar.ranges().size() - 1 && count != cells) {
                throw new SinkRejectedException(
                        "dimension %s has %s entries, and another one %s"
                                .formatted(dimension.name(), count, cells));
            }
            String local =
                    isTotal ? "c0.n" : "((c0.n %s %s) %% %s)".formatted(division, cells, count);
            String position = "(" + box.low()[at] + " + " + local + ")";
            if (listed != null) {
                join(from, listed, "p" + i, local);
                from.append(
                        " AND p%s.value BETWEEN %s AND %s"
                                .formatted(i, box.low()[at], box.high()[at]));
                position = "p" + i + ".value";
            }
            names.add('"' + dimension.name() + '"');
            values.add(value(dimension, position, "e" + i, from));
            cells = isTotal ? count : Math.multiplyExact(cells, count);
        }
        return cells;
    }

    private String value(Tar.Dimension dimension, String position, String alias, StringBuilder from)
            throws IOException {
        if (dimension.isExplicit()) {
            join(from, rows(dimension.dataset()), alias, position);
            return alias + ".value";
        }
        boolean isWhole = dimension.type().isInteger();
        String lower = isWhole ? Long.toString((long) dimension.lower()) : "" + dimension.lower();
        String spacing =
                isWhole ? Long.toString((long) dimension.spacing()) : "" + dimension.spacing();
        return "CAST(%s + %s * %s AS %s)"
                .formatted(lower, position, spacing, type(dimension.type(), 1));
    }

    private Rows rows(String dataset) throws IOException {
        List<String[]> found =
                database.query(
                        "SELECT variable, step, rank, type, start, size FROM verbena_piece WHERE dataset = '%s' ORDER BY variable, step, rank LIMIT 2"
                                .formatted(dataset));
        if (found.isEmpty()) {
            throw new SinkRejectedException("there is no dataset '" + dataset + "'");
        }
        if (found.size() > 1) {
            String key = "variable = '%s' AND step = %s AND rank = %s";
            throw new SinkRejectedException(
                    "dataset '%s' is both variable %s, step %s, rank %s and variable %s, step %s, rank %s; rename one: UPDATE verbena_piece SET dataset = 'OTHER' WHERE %s"
                            .formatted(
                                    dataset,
                                    found.get(0)[0],
                                    found.get(0)[1],
                                    found.get(0)[2],
                                    found.get(1)[0],
                                    found.get(1)[1],
                                    found.get(1)[2],
                                    key.formatted((Object[]) found.get(1))));
        }
        String[] row = found.get(0);
        long[] start = numbers(row[4]);
        long[] size = numbers(row[5]);
        StringBuilder position = new StringBuilder("0");
        for (int i = 0; i < size.length; i++) {
            position.insert(0, '(').append(") * " + size[i] + " + (i" + i + " - " + start[i] + ")");
        }
        String sql =
                "(SELECT %s AS n, value FROM \"%s\" WHERE step = %s AND rank = %s)"
                        .formatted(position, row[0], row[1], row[2]);
        return new Rows(sql, LongStream.of(size).reduce(1, (a, b) -> a * b), row[3]);
    }

    private static long[] numbers(String text) {
        return Stream.of(text.split(","))
                .filter(each -> !each.isBlank())
                .mapToLong(each -> Long.parseLong(each.strip()))
                .toArray();
    }

    /** An array of numbers in SQL. */
    public static String array(long[] of) {
        return LongStream.of(of)
                .mapToObj(Long::toString)
                .collect(Collectors.joining(", ", "CAST(ARRAY[", "] AS bigint[])"));
    }
}
