package dev.verbena.sinks.postgres;

import static dev.verbena.staging.sink.SinkTester.doubles;
import static dev.verbena.staging.sink.SinkTester.half;
import static dev.verbena.staging.sink.SinkTester.piece;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.ElementType;
import dev.verbena.savime.StagingFixture;
import dev.verbena.savime.StagingServer;
import dev.verbena.staging.metadata.PieceMetadata;
import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.SinkSession;
import dev.verbena.staging.sink.SinkTester;
import dev.verbena.staging.sink.Sinks;
import dev.verbena.staging.sink.TarText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The sink against a real server. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PostgresSinkIT {
    @TempDir Path folder;
    private PostgresServer server;
    private SinkSession session;
    private SinkTester tester;

    @BeforeEach
    void open() throws Exception {
        server = new PostgresServer();
        Await.until("PostgreSQL answers", this::isOpened);
    }

    /** It refuses sessions while it starts. */
    private boolean isOpened() {
        try {
            session = server.sink().open();
            tester = new SinkTester(folder, session);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @AfterEach
    void close() throws Exception {
        if (session != null) {
            session.close();
        }
        if (server != null) {
            server.close();
        }
    }

    @Test
    void shouldBringThePiecesOfAVariableToOneTable() throws Exception {
        tester.send("t0", "double", 8, half(0), false, doubles(0, 12));
        tester.send("t1", "double", 8, half(1), false, doubles(12, 12));
        assertThat(session.command("SELECT count(*), sum(value) FROM \"Temperature\""))
                .isEqualTo("24\t276\n");
        String wrong =
                "SELECT count(*) FROM \"Temperature\" WHERE value <> 6 * i0 + i1 OR step <> 7";
        assertThat(session.command(wrong)).isEqualTo("0\n");
        assertThat(session.command("SELECT dataset, start FROM verbena_piece ORDER BY rank"))
                .isEqualTo("t0\t{0,0}\nt1\t{2,0}\n");
    }

    @Test
    void shouldBringEachTypeAndManyRows() throws Exception {
        int count = 300_000;
        ByteBuffer large = ByteBuffer.allocate(4 * count).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            large.putInt(4 * i, 5 - i);
        }
        tester.send("ints", "int", 4, null, false, large);
        assertThat(session.command("SELECT count(*) FROM ints WHERE value <> 5 - i0"))
                .isEqualTo("0\n");
        assertThat(session.command("SELECT count(*), max(i0) FROM ints"))
                .isEqualTo("300000\t299999\n");
        tester.send("chars", "char", 1, null, false, ByteBuffer.wrap(new byte[] {1, -2, 127}));
        assertThat(session.command("SELECT value FROM chars ORDER BY i0"))
                .isEqualTo("1\n-2\n127\n");
        tester.send("vectors", "double:3", 24, null, false, doubles(1, 6));
        assertThat(session.command("SELECT value FROM vectors ORDER BY i0"))
                .isEqualTo("{1,2,3}\n{4,5,6}\n");
        ByteBuffer floats = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(0.5f);
        tester.send("floats", "float", 4, null, false, floats);
        assertThat(session.command("SELECT value FROM floats")).isEqualTo("0.5\n");
        ByteBuffer longs = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(-1L << 60);
        tester.send("longs", "int64", 8, null, false, longs);
        assertThat(session.command("SELECT value FROM longs")).isEqualTo((-1L << 60) + "\n");
    }

    @Test
    void shouldTakeAPieceOnce() throws Exception {
        tester.send("t0", "double", 8, half(0), false, doubles(0, 12));
        assertThatThrownBy(() -> tester.send("u0", "double", 8, half(0), false, doubles(0, 12)))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("variable Temperature, step 7, rank 0");
        // Sent again because its end was unknown: it is there.
        tester.send("t0", "double", 8, half(0), true, doubles(0, 12));
        assertThat(session.command("SELECT count(*) FROM \"Temperature\"")).isEqualTo("12\n");
    }

    /** A server that was killed before it began a transfer cannot tell. */
    @Test
    void shouldRefuseAnotherPieceOfANameThatMayBeRepeated() throws Exception {
        tester.send("t0", "double", 8, half(0), false, doubles(0, 12));
        tester.send("t0", "double", 8, half(0), true, doubles(0, 12));
        PieceMetadata moved =
                piece("Temperature", 7, 0, new long[] {4, 6}, new long[] {1, 0}, new long[] {2, 6});
        assertThatThrownBy(() -> tester.send("t0", "double", 8, moved, true, doubles(0, 12)))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("variable Temperature, step 7, rank 0");
        assertThatThrownBy(() -> tester.send("t0", "long", 8, half(0), true, doubles(0, 12)))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("variable Temperature, step 7, rank 0");
        assertThat(session.command("SELECT count(*), sum(value) FROM \"Temperature\""))
                .isEqualTo("12\t66\n");
    }

    @Test
    void shouldRefuseWhatDoesNotFitAndLeaveNothing() throws Exception {
        tester.send("a", "double", 8, null, false, doubles(0, 3));
        PieceMetadata other =
                new PieceMetadata("a", 1, 0, new long[] {1, 3}, new long[2], new long[] {1, 3});
        assertThatThrownBy(() -> tester.send("b", "double", 8, other, false, doubles(0, 3)))
                .isInstanceOf(SinkRejectedException.class);
        PieceMetadata tooMany =
                new PieceMetadata("c", 0, 0, new long[] {9}, new long[1], new long[] {9});
        assertThatThrownBy(() -> tester.send("c", "double", 8, tooMany, false, doubles(0, 3)))
                .isInstanceOf(SinkRejectedException.class);
        PieceMetadata hostile =
                new PieceMetadata(
                        "x\"; DROP TABLE a", 0, 0, new long[] {3}, new long[1], new long[] {3});
        assertThatThrownBy(() -> tester.send("d", "double", 8, hostile, false, doubles(0, 3)))
                .isInstanceOf(SinkRejectedException.class);
        for (String type : new String[] {"text", "double:0", "double:x", "double:7", "char\""}) {
            assertThatThrownBy(() -> tester.send("e", type, 8, null, false, doubles(0, 3)))
                    .as(type)
                    .isInstanceOf(SinkRejectedException.class);
        }
        assertThatThrownBy(() -> session.command("SELECT nothing FROM nowhere"))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("nowhere");
        assertThat(session.command("SELECT count(*) FROM a")).isEqualTo("3\n");
        assertThat(session.command("SELECT count(*) FROM verbena_piece")).isEqualTo("1\n");
        assertThat(session.command("CREATE TABLE own (x integer)")).isEqualTo("0 rows");
        assertThat(session.command("INSERT INTO own VALUES (1), (2)")).isEqualTo("2 rows");
    }

    /** The server gives a name to another dataset once the first one is here. */
    @Test
    void shouldLoadNoDatasetWhoseNameTwoPiecesHave() throws Exception {
        long[] size = {3};
        tester.send(
                "d", "double", 8, piece("v", 0, 0, size, new long[1], size), false, doubles(0, 3));
        tester.send(
                "d", "double", 8, piece("v", 1, 0, size, new long[1], size), false, doubles(5, 3));
        tester.run("create_tar('a', '*', 'implicit,i,int,0,*,1', 'x,double')");
        String load = "load_subtar('a', 'ordered,i,0,2', 'x,d')";
        assertThatThrownBy(() -> tester.run(load))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("variable v, step 0, rank 0")
                .hasMessageContaining("variable v, step 1, rank 0")
                .hasMessageContaining("rename one");
        session.command(
                "UPDATE verbena_piece SET dataset = 'e' WHERE variable = 'v' AND step = 0 AND rank = 0");
        tester.run(load);
        assertThat(session.command("SELECT sum(x) FROM a")).isEqualTo("18\n");
    }

    @Test
    void shouldSayThatAServerIsAway() throws Exception {
        server.kill();
        assertThatThrownBy(() -> tester.send("a", "double", 8, null, false, doubles(0, 3)))
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(SinkRejectedException.class);
        assertThatThrownBy(() -> server.sink().open())
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(SinkRejectedException.class);
        session.close();
        server.start();
        Await.until("PostgreSQL answers", this::isOpened);
        tester.send("a", "double", 8, null, true, doubles(0, 3));
        assertThat(session.command("SELECT count(*) FROM a")).isEqualTo("3\n");
    }

    /** Specification, section 8.4, and the other kinds of ranges and dimensions. */
    @Test
    void shouldMapArraysAndTheirRegions() throws Exception {
        tester.send("vel_t0", "double", 8, null, false, doubles(0, 12));
        tester.run(
                "create_tar(\"vel\", \"*\", \"implicit,t,int,0,*,1 | implicit,i,int,10,14,2 |"
                        + " implicit,j,double,0,1.5,0.5\", \"v,double\");");
        tester.run(
                "load_subtar(\"vel\", \"ordered,t,0,0|ordered,i,#10,#14|ordered,j,0,3\", \"v,vel_t0\")");
        assertThat(session.command("SELECT * FROM vel WHERE v IN (0, 5, 11) ORDER BY v"))
                .isEqualTo("0\t10\t0\t0\n0\t12\t0.5\t5\n0\t14\t1.5\t11\n");
        tester.send("v1", "double", 8, half(0), false, doubles(100, 12));
        ByteBuffer positions = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
        positions.putLong(3).putLong(1).putLong(0).putLong(2);
        tester.send("order", "long", 8, null, false, positions);
        tester.run(
                "load_subtar('vel', 'ordered,i,0,2|ordered,t,1,1|partial,j,0,3,order', 'v,v1');");
        assertThat(session.command("SELECT i, j FROM vel WHERE v IN (100, 109) ORDER BY v"))
                .isEqualTo("10\t1.5\n14\t0.5\n");
        tester.run("create_tar('e', '*', 'explicit,x,order', 'v,double')");
        tester.run("load_subtar('e', 'total,x,0,3,order', 'v,vel_t0');");
        assertThat(session.command("SELECT x, v FROM e ORDER BY v"))
                .isEqualTo("2\t0\n1\t1\n3\t2\n0\t3\n");
    }

    @Test
    void shouldRefuseRegionsThatDoNotFitAndLoadNothing() throws Exception {
        tester.send("few", "double", 8, null, false, doubles(0, 3));
        tester.send("ints", "int", 4, null, false, doubles(0, 3));
        String create = "create_tar('a', '*', 'implicit,x,int,0,9,1', 'v,double');";
        tester.run(create);
        tester.run("load_subtar('a', 'ordered,x,2,4', 'v,few');");
        for (String wrong :
                new String[] {
                    create,
                    "create_tar('few', '*', 'implicit,x,int,0,9,1', 'v,double');",
                    "load_subtar('a', 'ordered,x,4,5', 'v,few');",
                    "load_subtar('a', 'ordered,x,5,9', 'v,few');",
                    "load_subtar('a', 'ordered,x,9,10', 'v,few');",
                    "load_subtar('a', 'ordered,x,5,6', 'v,ints');",
                    "load_subtar('a', 'ordered,x,5,6', 'v,absent');",
                    "load_subtar('b', 'ordered,x,5,6', 'v,few');",
                    "load_subtar('a', 'ordered,y,5,6', 'v,few');",
                    "load_subtar(a)",
                }) {
            assertThatThrownBy(() -> tester.run(wrong))
                    .as(wrong)
                    .isInstanceOf(SinkRejectedException.class);
        }
        assertThat(session.command("SELECT x FROM a ORDER BY x")).isEqualTo("2\n3\n4\n");
        tester.run("load_subtar('a', 'ordered,x,5,6', 'v,few');");
    }

    @Test
    void shouldRefuseAVariableWhoseNameAnArrayHas() throws Exception {
        tester.run(
                "create_tar('velocity', '*', 'implicit,x,long,0,*,1|implicit,y,int,0,*,1|"
                        + "implicit,z,long,0,*,1', 'v,double')");
        assertThatThrownBy(() -> tester.send("velocity", "double", 8, null, false, doubles(0, 3)))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("step");
        assertThat(session.command("SELECT count(*) FROM velocity")).isEqualTo("0\n");
    }

    @Test
    void shouldAnswerQueriesThatChangeNothing() throws Exception {
        tester.send("t0", "double", 8, half(0), false, doubles(0, 12));
        String query = "SELECT i1, value FROM \"Temperature\" WHERE i0 = 0 ORDER BY i1;";
        assertThat(TarText.run(session, TarText.query(query, 2)))
                .isEqualTo("i1\tvalue\n0\t0\n1\t1\n...\n");
        for (String wrong :
                new String[] {
                    "DROP TABLE \"Temperature\"",
                    "COMMIT; DROP TABLE \"Temperature\"",
                    "COMMIT; DELETE FROM \"Temperature\"; COMMIT; SELECT 1",
                    "DELETE FROM \"Temperature\" RETURNING value",
                }) {
            assertThatThrownBy(() -> TarText.run(session, TarText.query(wrong, 5)))
                    .as(wrong)
                    .isInstanceOf(SinkRejectedException.class);
            assertThatThrownBy(() -> session.query(wrong, 5))
                    .as(wrong)
                    .isInstanceOf(SinkRejectedException.class);
        }
        assertThat(session.command("SELECT count(*) FROM \"Temperature\"")).isEqualTo("12\n");
    }

    /** As one is whose administrator waits for a larger disk. */
    @Test
    void shouldSendADatasetAgainThatAServerThatOnlyReadsDidNotTake() throws Exception {
        session.command("SET default_transaction_read_only = on");
        assertThatThrownBy(() -> tester.send("a", "double", 8, null, false, doubles(0, 3)))
                .isExactlyInstanceOf(IOException.class);
        session.command("SET default_transaction_read_only = off");
        tester.send("a", "double", 8, null, true, doubles(0, 3));
        assertThat(session.command("SELECT count(*) FROM a")).isEqualTo("3\n");
    }

    /** The server is there, and would cancel it again. */
    @Test
    void shouldRefuseAQueryThatReachesItsTimeLimit() throws Exception {
        session.command("SET statement_timeout = 1");
        assertThatThrownBy(() -> session.query("SELECT pg_sleep(100)", 1))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("statement timeout");
    }

    @Test
    void shouldBeFoundByItsUri() {
        try (Sink sink =
                Sinks.of("postgres://user@localhost:1/base", getClass().getClassLoader())) {
            assertThat(sink).isInstanceOf(PostgresSink.class);
        }
        assertThatThrownBy(() -> Sinks.of("postgres:x", getClass().getClassLoader()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("postgres://[USER@]HOST[:PORT]/DATABASE");
        assertThatThrownBy(() -> Sinks.of("postgres://h:70000/base", getClass().getClassLoader()))
                .hasMessageContaining("postgres://[USER@]HOST[:PORT]/DATABASE");
    }

    @Test
    void shouldTakeWhatAStagingServerSends() throws Exception {
        try (StagingFixture stage = new StagingFixture(folder, true)) {
            stage.launch(stage.context(server.sink()).senders(4));
            StagingServer client = stage.connect();
            OffHeapMemory memory = stage.memory(3, 8000);
            for (int i = 0; i < 20; i++) {
                client.dataset("piece" + i, ElementType.INT64)
                        .piece(
                                new PieceMetadata(
                                        "staged",
                                        i / 4,
                                        i % 4,
                                        new long[] {4000},
                                        new long[] {1000L * (i % 4)},
                                        new long[] {1000}))
                        .write(memory);
            }
            client.drain(Duration.ofSeconds(120));
            assertThat(client.run("SELECT count(*), max(step), max(i0) FROM staged").text())
                    .isEqualTo("20000\t4\t3999\n");
            // The paper's listing.
            client.run("create_tar('D_tar', '*', 'implicit,x,int,0,999,1', 'v,long');");
            client.dataset("D", "long").write(memory);
            client.sync();
            client.run("load_subtar('D_tar', 'ordered,x,0,999', 'v,D');");
            assertThat(client.run("SELECT count(*), max(x) FROM \"D_tar\"").text())
                    .isEqualTo("1000\t999\n");
            assertThat(stage.errors).isEmpty();
        }
    }
}
