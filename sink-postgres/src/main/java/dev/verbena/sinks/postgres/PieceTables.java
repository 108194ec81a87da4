package dev.verbena.sinks.postgres;

import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SqlTars;
import dev.verbena.staging.sink.StagedPiece;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Tables of variables, and the one that lists the pieces that there are. */
final class PieceTables {
    /** Two sessions that create one table at the same time would meet in the system's tables. */
    private static final long CREATION_LOCK = 0x766572_62656e61L;

    private PieceTables() {}

    private static void lockCreation(Statement statement) throws SQLException {
        statement.execute("SELECT pg_advisory_xact_lock(" + CREATION_LOCK + ")");
    }

    static void createCatalogue(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET client_min_messages = warning");
            lockCreation(statement);
            statement.execute(SqlTars.CATALOGUE);
        }
        connection.commit();
    }

    /** Lists a piece; false: there is one of its key. Waits for a transaction that has it. */
    static boolean claim(Connection connection, SinkDataset dataset, StagedPiece piece)
            throws SQLException {
        String insert =
                "INSERT INTO verbena_piece VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
        try (PreparedStatement statement = connection.prepareStatement(insert)) {
            statement.setString(1, piece.variable());
            statement.setLong(2, piece.step());
            statement.setInt(3, piece.rank());
            statement.setString(4, dataset.name());
            statement.setString(5, dataset.type());
            statement.setObject(6, piece.global());
            statement.setObject(7, piece.start());
            statement.setObject(8, piece.shape());
            return statement.executeUpdate() == 1;
        }
    }

    /** Whether this dataset was this piece; its values are not compared. */
    static boolean isSame(Connection connection, SinkDataset dataset, StagedPiece piece)
            throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery(SqlTars.same(dataset, piece))) {
            return found.next();
        }
    }

    /** Creates the variable's table if there is none; one of other columns makes COPY fail. */
    static void create(Connection connection, StagedPiece piece) throws SQLException {
        String table = '"' + piece.variable() + '"';
        try (Statement statement = connection.createStatement()) {
            try (var found = statement.executeQuery("SELECT to_regclass('" + table + "')")) {
                found.next();
                if (found.getString(1) != null) {
                    return;
                }
            }
            lockCreation(statement);
            statement.execute(
                    "CREATE TABLE IF NOT EXISTS %s (%s)".formatted(table, SqlTars.columns(piece)));
        }
    }
}
