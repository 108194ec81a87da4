package dev.verbena.sinks.duckdb.engine;

import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.SinkSession;
import dev.verbena.staging.sink.SqlTars;
import dev.verbena.staging.sink.StagedPiece;
import dev.verbena.staging.sink.TarText;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A session. One thread. */
final class DuckSession implements SinkSession {
    private final DuckDb owner;
    private final Connection connection;
    private final Statements statements;
    private final SqlTars tars;

    /** Variables whose table is known to be their own. */
    private final Set<String> owners = new HashSet<>();

    private boolean isEnded;

    DuckSession(DuckDb owner, Connection connection) throws SQLException {
        this.owner = owner;
        this.connection = connection;
        connection.setAutoCommit(false);
        statements = new Statements(connection);
        tars = new SqlTars(statements, "//");
    }

    private interface Work {
        void run() throws IOException;
    }

    /** All of it or nothing; no other session writes meanwhile. */
    private void inTransaction(Work work) throws IOException {
        owner.writing().lock();
        try {
            work.run();
            connection.commit();
        } catch (SQLException e) {
            undo();
            throw Statements.failure(e);
        } catch (IOException | RuntimeException e) {
            undo();
            throw e;
        } finally {
            owner.writing().unlock();
        }
    }

    private void undo() {
        owners.clear(); // A variable that is new may be gone.
        rollBack();
    }

    private void rollBack() {
        try {
            connection.rollback();
        } catch (SQLException e) {
            // The caller's failure says why.
        }
    }

    @Override
    public void transfer(SinkDataset dataset, FileChannel data) throws IOException {
        StagedPiece piece = StagedPiece.of(dataset);
        inTransaction(() -> insert(dataset, piece, data));
        seal(piece);
    }

    @Override
    public void transferAll(List<SinkDataset> datasets, List<FileChannel> data) throws IOException {
        inTransaction(
                () -> {
                    for (int i = 0; i < datasets.size(); i++) {
                        SinkDataset dataset = datasets.get(i);
                        insert(dataset, StagedPiece.of(dataset), data.get(i));
                    }
                });
        for (SinkDataset dataset : datasets) {
            seal(StagedPiece.of(dataset));
        }
    }

    /** The piece is stored already: a failure is no reason to refuse it. */
    private void seal(StagedPiece piece) throws IOException {
        if (owner.parquet() == null) {
            return;
        }
        owner.writing().lock(); // Two sessions may have had the last two pieces.
        try {
            if (isSealed(piece)) {
                writeParquet(piece);
            }
        } catch (SinkRejectedException e) {
            throw new IOException("no Parquet file of " + piece.describe() + ": " + e, e);
        } finally {
            rollBack();
            owner.writing().unlock();
        }
    }

    private void insert(SinkDataset dataset, StagedPiece piece, FileChannel data)
            throws IOException {
        if (statements.update(SqlTars.claim(dataset, piece)) == 1) {
            requireOwnTable(piece);
            statements.update(
                    "CREATE TABLE IF NOT EXISTS \"%s\" (%s)"
                            .formatted(piece.variable(), SqlTars.columns(piece)));
            long key = owner.rows().add(data, piece);
            try {
                requireAll(statements.update(insertion(piece, key)), piece);
            } finally {
                owner.rows().remove(key);
            }
        } else if (!dataset.isRepeated()
                || statements.query(SqlTars.same(dataset, piece)).isEmpty()) {
            throw new SinkRejectedException("there is already " + piece.describe());
        } else {
            requireSameValues(piece, data);
        }
    }

    /** Of rows that somebody has deleted since, nothing can be said. */
    private void requireSameValues(StagedPiece piece, FileChannel data) throws IOException {
        String there =
                "FROM \"%s\" WHERE step = %s AND rank = %s"
                        .formatted(piece.variable(), piece.step(), piece.rank());
        List<String[]> known = statements.query(sums(piece, "value", there));
        if (known.get(0)[0].equals("0")) {
            return;
        }
        long key = owner.rows().add(data, piece);
        try {
            String sent = "FROM verbena_rows(" + key + ")";
            List<String[]> sums = statements.query(sums(piece, value(piece), sent));
            piece.requireSameValues(Arrays.equals(sums.get(0), known.get(0)));
        } finally {
            owner.rows().remove(key);
        }
    }

    /** Of rows in any order. */
    private static String sums(StagedPiece piece, String value, String from) {
        String hash = "hash(CAST(%s AS %s)%s)";
        String row =
                hash.formatted(value, SqlTars.type(piece.scalar(), piece.vector()), indices(piece));
        return "SELECT count(*), coalesce(sum(%1$s), 0), coalesce(bit_xor(%1$s), 0) %2$s"
                .formatted(row, from);
    }

    /** Names of tables that differ only in case are one name to the database. */
    private void requireOwnTable(StagedPiece piece) throws IOException {
        if (owners.contains(piece.variable())) {
            return;
        }
        List<String[]> others =
                statements.query(
                        "SELECT variable FROM verbena_piece WHERE lower(variable) = lower('%1$s') AND variable <> '%1$s' LIMIT 1"
                                .formatted(piece.variable()));
        if (!others.isEmpty()) {
            throw new SinkRejectedException(
                    "variable %s would have the table of variable %s"
                            .formatted(piece.variable(), others.get(0)[0]));
        }
        owners.add(piece.variable());
    }

    private static void requireAll(long count, StagedPiece piece) throws IOException {
        if (count != piece.count()) {
            throw new IOException(count + " rows instead of " + piece.count());
        }
    }

    private static String insertion(StagedPiece piece, long key) {
        return "INSERT INTO \"%s\" (%s) SELECT %s, %s%s, %s FROM verbena_rows(%s)"
                .formatted(
                        piece.variable(),
                        SqlTars.columnNames(piece),
                        piece.step(),
                        piece.rank(),
                        indices(piece),
                        value(piece),
                        key);
    }

    private static String indices(StagedPiece piece) {
        return IntStream.range(0, piece.shape().length)
                .mapToObj(each -> ", i" + each)
                .collect(Collectors.joining());
    }

    private static String value(StagedPiece piece) {
        return piece.vector() == 1
                ? "v0"
                : IntStream.range(0, piece.vector())
                        .mapToObj(each -> "v" + each)
                        .collect(Collectors.joining(", ", "list_value(", ")"));
    }

    private boolean isSealed(StagedPiece piece) throws IOException {
        List<String[]> sizes =
                statements.query(
                        "SELECT size FROM verbena_piece WHERE variable = '%s' AND step = %s"
                                .formatted(piece.variable(), piece.step()));
        long count = 0;
        for (String[] size : sizes) {
            long product = 1;
            for (String each : size[0].split(",")) {
                product *= each.isBlank() ? 1 : Long.parseLong(each.strip());
            }
            count += product;
        }
        return count == piece.globalCount();
    }

    private void writeParquet(StagedPiece piece) throws IOException {
        String name = piece.variable() + "." + piece.step() + ".parquet";
        Path fresh = owner.parquet().resolve(name + ".tmp");
        Path file = owner.parquet().resolve(name);
        if (Files.exists(file)) {
            return;
        }
        statements.update(
                "COPY (SELECT * FROM \"%s\" WHERE step = %s) TO '%s' (FORMAT parquet)"
                        .formatted(piece.variable(), piece.step(), DuckDb.quoted(fresh)));
        try (FileChannel written = FileChannel.open(fresh)) {
            written.force(true);
        }
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public String createTar(String command) throws IOException {
        inTransaction(() -> tars.create(TarText.createTar(command)));
        return TarText.DONE;
    }

    @Override
    public String loadSubtar(String command) throws IOException {
        inTransaction(() -> tars.load(TarText.loadSubtar(command)));
        return TarText.DONE;
    }

    @Override
    public String command(String text) throws IOException {
        String[] answer = new String[1];
        inTransaction(() -> answer[0] = statements.answer(text));
        return answer[0];
    }

    @Override
    public String query(String text, int rowsMax) throws IOException {
        try {
            statements.beginReadOnly();
            return statements.table(text, rowsMax);
        } finally {
            statements.endReadOnly();
        }
    }

    @Override
    public void close() throws IOException {
        try {
            connection.close();
        } catch (SQLException e) {
            throw new IOException(e);
        } finally {
            if (!isEnded) {
                isEnded = true;
                owner.ended();
            }
        }
    }
}
