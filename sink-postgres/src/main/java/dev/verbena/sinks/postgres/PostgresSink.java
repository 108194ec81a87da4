package dev.verbena.sinks.postgres;

import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.SinkSession;
import dev.verbena.staging.sink.SqlTars;
import dev.verbena.staging.sink.StagedPiece;
import dev.verbena.staging.sink.TarText;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Properties;
import org.postgresql.Driver;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;

/**
 * A database of PostgreSQL 12 or newer. A variable is a table of its name: {@code step}, {@code
 * rank}, one index {@code i0}, {@code i1}, ... for each dimension of the global array, and {@code
 * value}. A dataset without metadata is a variable of its own name, one dimension, step and rank 0.
 *
 * <p>A dataset is one transaction: its rows and its row in the table {@code verbena_piece}, whose
 * key is variable, step and rank, appear together or not at all. A second dataset of a key is
 * refused, unless it may be the same one sent again: then it counts as taken. Element types are
 * SAVIME's; a vector is an array. {@code create_tar} makes a table with a column for each dimension
 * and attribute, which {@code load_subtar} fills in one transaction; other commands are SQL.
 * Thread-safe.
 */
public final class PostgresSink implements Sink {
    private static final int SESSIONS_MAX = 16;
    private static final int TIMEOUT_SECONDS = 10;

    private final String url;
    private final Properties properties = new Properties();

    /**
     * Nothing is connected yet.
     *
     * @param url of JDBC: {@code jdbc:postgresql://HOST:PORT/DATABASE}
     * @param user its role
     * @param password empty: none
     */
    public PostgresSink(String url, String user, String password) {
        if (!url.startsWith("jdbc:postgresql:")) {
            throw new IllegalArgumentException("'" + url + "' is no URL jdbc:postgresql:...");
        }
        this.url = url;
        properties.setProperty("user", user);
        if (!password.isEmpty()) {
            properties.setProperty("password", password);
        }
        properties.setProperty("connectTimeout", Integer.toString(TIMEOUT_SECONDS));
        properties.setProperty("loginTimeout", Integer.toString(TIMEOUT_SECONDS));
        properties.setProperty("tcpKeepAlive", "true");
        properties.setProperty("ApplicationName", "verbena");
    }

    @Override
    public int sessionsMax() {
        return SESSIONS_MAX;
    }

    @Override
    public SinkSession open() throws IOException {
        try {
            // A DriverManager does not see drivers of a class loader that is made for a sink.
            Connection connection = new Driver().connect(url, properties);
            try {
                connection.setAutoCommit(false);
                Session session = new Session(connection);
                session.inTransaction(session.statements::createCatalogue);
                return session;
            } catch (SQLException | IOException e) {
                connection.close();
                throw e;
            }
        } catch (SQLException | IOException e) {
            throw new IOException(url + ": " + e.getMessage(), e);
        }
    }

    /**
     * Whether trying it again may help: the server is away, full, stopping, had a conflict, or has
     * closed the session, which was idle or in one transaction for too long. A dataset may succeed
     * later also where somebody cancelled it, or the server only reads because its disk is full.
     */
    static boolean isPassing(SQLException e, boolean isDataset) {
        String state = e.getSQLState() == null ? "08" : e.getSQLState();
        return state.matches("(08|40|53|55|57P|58|25P0[34]).*")
                || isDataset && state.matches("57014|25006");
    }

    private interface Work {
        void run() throws IOException, SQLException;
    }

    private static final class Session implements SinkSession {
        private final Connection connection;
        private final RowWriter rows = new RowWriter();
        private final Statements statements;
        private final SqlTars tars;

        Session(Connection connection) {
            this.connection = connection;
            statements = new Statements(connection);
            tars = new SqlTars(statements, "/");
        }

        private void inTransaction(Work work) throws IOException {
            inTransaction(work, false);
        }

        /** All of it or nothing. */
        private void inTransaction(Work work, boolean isDataset) throws IOException {
            try {
                work.run();
                connection.commit();
            } catch (SQLException e) {
                throw failure(e, isDataset);
            } catch (IOException e) {
                rollBack();
                throw e.getCause() instanceof SQLException cause ? failure(cause, isDataset) : e;
            }
        }

        private IOException failure(SQLException e, boolean isDataset) {
            rollBack();
            return isPassing(e, isDataset)
                    ? new IOException(e.getMessage(), e)
                    : new SinkRejectedException(e.getMessage());
        }

        private void rollBack() {
            try {
                connection.rollback();
            } catch (SQLException e) {
                // The connection is of no use any more; the caller's failure says why.
            }
        }

        @Override
        public void transfer(SinkDataset dataset, FileChannel data) throws IOException {
            transferAll(List.of(dataset), List.of(data));
        }

        @Override
        public void transferAll(List<SinkDataset> datasets, List<FileChannel> data)
                throws IOException {
            inTransaction(
                    () -> {
                        for (int i = 0; i < datasets.size(); i++) {
                            insert(datasets.get(i), data.get(i));
                        }
                    },
                    true);
        }

        private void insert(SinkDataset dataset, FileChannel data)
                throws IOException, SQLException {
            StagedPiece piece = StagedPiece.of(dataset);
            // Waits for a transaction that has a piece of this key.
            if (statements.update(SqlTars.claim(dataset, piece)) == 1) {
                statements.createTable(piece);
                copy(piece, data);
            } else if (!dataset.isRepeated()
                    || statements.query(SqlTars.same(dataset, piece)).isEmpty()) {
                throw new SinkRejectedException("there is already " + piece.describe());
            }
        }

        private void copy(StagedPiece piece, FileChannel data) throws SQLException, IOException {
            CopyIn copy =
                    connection
                            .unwrap(PGConnection.class)
                            .getCopyAPI()
                            .copyIn(
                                    "COPY \"%s\" (%s) FROM STDIN (FORMAT BINARY)"
                                            .formatted(
                                                    piece.variable(), SqlTars.columnNames(piece)));
            try {
                rows.write(piece, data, copy);
                long count = copy.endCopy();
                if (count != piece.count()) {
                    throw new IOException(count + " rows instead of " + piece.count());
                }
            } finally {
                if (copy.isActive()) {
                    copy.cancelCopy();
                }
            }
        }

        @Override
        public String command(String text) throws IOException {
            String[] answer = new String[1];
            inTransaction(() -> answer[0] = statements.answer(text));
            return answer[0];
        }

        @Override
        public String query(String text, int rowsMax) throws IOException {
            // Another statement could end the transaction that lets it read only.
            if (text.indexOf(';') >= 0) {
                throw new SinkRejectedException("a query is one statement, without a semicolon");
            }
            try {
                return statements.table(text, rowsMax);
            } catch (SQLException e) {
                throw failure(e, false);
            } finally {
                rollBack();
            }
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
        public void close() throws IOException {
            try {
                connection.close();
            } catch (SQLException e) {
                throw new IOException(e);
            }
        }
    }
}
