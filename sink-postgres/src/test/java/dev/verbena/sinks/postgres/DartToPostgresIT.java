package dev.verbena.sinks.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.DartWorld;
import dev.verbena.dart.ElementType;
import dev.verbena.dart.ReceiverProcess;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A DART receiver, a process of its own, whose sink is a real server. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DartToPostgresIT {
    private static final int COUNT = 1000;

    private static boolean isReady(PostgresServer server) {
        try (Connection any = connect(server)) {
            return any.isValid(1);
        } catch (SQLException e) {
            return false;
        }
    }

    private static Connection connect(PostgresServer server) throws SQLException {
        return DriverManager.getConnection(server.url(), "verbena", "");
    }

    private static long number(Connection connection, String query) {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void send(DartClient client, int step) {
        ByteBuffer values = ByteBuffer.allocate(8 * COUNT).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < COUNT; i++) {
            values.putDouble(step);
        }
        DartMetadata metadata =
                new DartMetadata()
                        .variable("field")
                        .step(step)
                        .elementType(ElementType.FLOAT64)
                        .shape(COUNT);
        client.sendCopy(new UnsafeBuffer(values), 0, 8 * COUNT, metadata, 0);
    }

    /** The database hangs within its transactions, and the receiver is killed meanwhile. */
    @Test
    void shouldHaveEachMessageOnceWhenTheReceiverIsKilledWithinATransaction() throws Exception {
        try (PostgresServer server = new PostgresServer();
                DartWorld world = new DartWorld("shm")) {
            Await.until("PostgreSQL answers", () -> isReady(server));
            Path out = world.directory.resolve("out");
            String option = "sink=" + server.uri();
            DartServer master;
            DartClient client;
            try (Connection other = connect(server)) {
                try (ReceiverProcess receiver =
                        new ReceiverProcess(out, world.receiverAt(), option)) {
                    master = world.master(context -> context.bufferCount(8));
                    client = world.client(0, context -> context.maxInFlight(4));
                    send(client, 0);
                    client.flush(DartWorld.LIMIT_NS);
                    other.setAutoCommit(false);
                    try (Statement statement = other.createStatement()) {
                        // COPY waits, its row in the catalogue written, not committed.
                        statement.execute("LOCK TABLE field IN SHARE MODE");
                    }
                    send(client, 1);
                    send(client, 2);
                    String waiting =
                            "SELECT count(*) FROM pg_locks WHERE NOT granted"
                                    + " AND relation = 'field'::regclass";
                    Await.until("transactions wait", () -> number(other, waiting) > 0);
                    receiver.kill();
                }
                other.rollback();
            }
            try (ReceiverProcess receiver = new ReceiverProcess(out, world.receiverAt(), option);
                    Connection reading = connect(server)) {
                send(client, 3);
                client.flush(DartWorld.LIMIT_NS);
                assertThat(number(reading, "SELECT count(*) FROM field")).isEqualTo(4 * COUNT);
                String different = "SELECT count(*) FROM field WHERE value <> step";
                assertThat(number(reading, different)).isZero();
                assertThat(number(reading, "SELECT count(*) FROM verbena_piece")).isEqualTo(4);
                master.requestStop();
                assertThat(master.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
                receiver.await("finished true");
            }
        }
    }
}
