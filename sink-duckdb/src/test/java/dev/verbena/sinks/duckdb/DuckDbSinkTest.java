package dev.verbena.sinks.duckdb;

import static dev.verbena.staging.sink.SinkTester.doubles;
import static dev.verbena.staging.sink.SinkTester.half;
import static dev.verbena.staging.sink.SinkTester.piece;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartStepContext;
import dev.verbena.dart.DartWorld;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.ElementType;
import dev.verbena.savime.StagingFixture;
import dev.verbena.savime.StagingServer;
import dev.verbena.staging.metadata.PieceMetadata;
import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.SinkSession;
import dev.verbena.staging.sink.SinkTester;
import dev.verbena.staging.sink.Sinks;
import dev.verbena.staging.sink.TarText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The sink with a real database. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DuckDbSinkTest {
    @TempDir static Path cache;
    @TempDir Path folder;
    private Sink sink;
    private SinkSession session;
    private SinkTester tester;

    @BeforeAll
    static void keepTheCacheHere() {
        System.setProperty("verbena.cache", cache.toString());
    }

    @BeforeEach
    void open() throws IOException {
        String uri = "duckdb:" + folder.resolve("base") + "?parquet=" + folder.resolve("steps");
        sink = Sinks.of(uri, getClass().getClassLoader());
        session = sink.open();
        tester = new SinkTester(folder, session);
    }

    @AfterEach
    void close() throws IOException {
        session.close();
        sink.close();
    }

    @Test
    void shouldBringThePiecesOfAVariableToOneTableAndASealedStepToAFile() throws Exception {
        Path step = folder.resolve("steps/Temperature.7.parquet");
        tester.send("t0", "double", 8, half(0), false, doubles(0, 12));
        assertThat(step).doesNotExist();
        tester.send("t1", "double", 8, half(1), false, doubles(12, 12));
        assertThat(step).isRegularFile();
        assertThat(session.command("SELECT count(*), sum(value) FROM Temperature"))
                .isEqualTo("24\t276.0\n");
        assertThat(
                        session.command(
                                "SELECT count(*) FROM Temperature WHERE value <> 6 * i0 + i1 OR step <> 7"))
                .isEqualTo("0\n");
        assertThat(session.command("SELECT dataset, start FROM verbena_piece ORDER BY rank"))
                .isEqualTo("t0\t[0, 0]\nt1\t[2, 0]\n");
        // A copy of the file can be read: it is complete.
        assertThat(session.command("SELECT sum(value) FROM '" + step.toRealPath() + "'"))
                .isEqualTo("276.0\n");
    }

    @Test
    void shouldBringEachTypeAndManyRows() throws Exception {
        int count = 700_000;
        ByteBuffer large = ByteBuffer.allocate(4 * count).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            large.putInt(4 * i, 5 - i);
        }
        tester.send("ints", "int", 4, null, false, large);
        assertThat(session.command("SELECT count(*) FILTER (value <> 5 - i0), max(i0) FROM ints"))
                .isEqualTo("0\t699999\n");
        tester.send("chars", "char", 1, null, false, ByteBuffer.wrap(new byte[] {1, -2, 127}));
        assertThat(session.command("SELECT value FROM chars ORDER BY i0"))
                .isEqualTo("1\n-2\n127\n");
        tester.send("vectors", "double:3", 24, null, false, doubles(1, 6));
        assertThat(session.command("SELECT value FROM vectors ORDER BY i0"))
                .isEqualTo("[1.0, 2.0, 3.0]\n[4.0, 5.0, 6.0]\n");
        ByteBuffer floats = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(0.5f);
        tester.send("floats", "float", 4, null, false, floats);
        assertThat(session.command("SELECT value FROM floats")).isEqualTo("0.5\n");
        ByteBuffer longs = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(-1L << 60);
        tester.send("longs", "int64", 8, null, false, longs);
        assertThat(session.command("SELECT value FROM longs")).isEqualTo((-1L << 60) + "\n");
    }

    @Test
    void shouldTakeAPieceOnceAndLeaveNothingOfWhatItRefuses() throws Exception {
        tester.send("t0", "double", 8, half(0), false, doubles(0, 12));
        assertThatThrownBy(() -> tester.send("u0", "double", 8, half(0), false, doubles(0, 12)))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("variable Temperature, step 7, rank 0");
        tester.send("t0", "double", 8, half(0), true, doubles(0, 12));
        assertThat(session.command("SELECT count(*) FROM Temperature")).isEqualTo("12\n");
        PieceMetadata other =
                new PieceMetadata("Temperature", 1, 0, new long[] {3}, new long[1], new long[] {3});
        assertThatThrownBy(() -> tester.send("b", "double", 8, other, false, doubles(0, 3)))
                .isInstanceOf(SinkRejectedException.class);
        Path file = Files.write(folder.resolve("short"), new byte[80]);
        try (FileChannel channel = FileChannel.open(file)) {
            SinkDataset cut = new SinkDataset("cut", "double", 96, 8, null, false);
            assertThatThrownBy(() -> session.transfer(cut, channel))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("ends at");
        }
        assertThat(session.command("SELECT count(*) FROM verbena_piece")).isEqualTo("1\n");
        assertThatThrownBy(() -> session.command("SELECT nothing FROM nowhere"))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("nowhere");
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
        assertThatThrownBy(() -> tester.send("t0", "double", 8, half(0), true, doubles(1, 12)))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("variable Temperature, step 7, rank 0 with other values");
        tester.send("v", "double:3", 24, null, false, doubles(1, 6));
        tester.send("v", "double:3", 24, null, true, doubles(1, 6));
        assertThatThrownBy(() -> tester.send("v", "double:3", 24, null, true, doubles(2, 6)))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("variable v, step 0, rank 0 with other values");
        tester.send("n", "double", 8, null, false, doubles(Double.NaN, 2));
        tester.send("n", "double", 8, null, true, doubles(Double.NaN, 2));
        session.command("DELETE FROM Temperature WHERE step = 7");
        tester.send("t0", "double", 8, half(0), true, doubles(0, 12));
        assertThat(session.command("SELECT count(*) FROM Temperature")).isEqualTo("0\n");
    }

    /** To DuckDB their tables would be one. */
    @Test
    void shouldRefuseAVariableWhoseNameDiffersFromAnotherInCaseOnly() throws Exception {
        tester.send("v", "double", 8, null, false, doubles(0, 3));
        assertThatThrownBy(() -> tester.send("V", "double", 8, null, false, doubles(3, 3)))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("variable V would have the table of variable v");
        assertThat(session.command("SELECT count(*) FROM v")).isEqualTo("3\n");
        assertThat(session.command("SELECT dataset FROM verbena_piece")).isEqualTo("v\n");
    }

    /** Specification, section 8.4, and the other kinds of ranges and dimensions. */
    @Test
    void shouldMapArraysAndTheirRegions() throws Exception {
        tester.send("vel_t0", "double", 8, null, false, doubles(0, 12));
        tester.run(
                "create_tar('vel', '*', 'implicit,t,int,0,*,1 | implicit,i,int,10,14,2 |"
                        + " implicit,j,double,0,1.5,0.5', 'v,double');");
        String load =
                "load_subtar('vel', 'ordered,t,0,0|ordered,i,#10,#14|ordered,j,0,3', 'v,vel_t0')";
        tester.run(load);
        assertThat(session.command("SELECT * FROM vel WHERE v IN (0, 5, 11) ORDER BY v"))
                .isEqualTo("0\t10\t0.0\t0.0\n0\t12\t0.5\t5.0\n0\t14\t1.5\t11.0\n");
        assertThatThrownBy(() -> tester.run(load))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("overlaps");
        tester.send("v1", "double", 8, half(0), false, doubles(100, 12));
        ByteBuffer positions = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
        positions.putLong(3).putLong(1).putLong(0).putLong(2);
        tester.send("listed", "long", 8, null, false, positions);
        tester.run(
                "load_subtar('vel', 'ordered,i,0,2|ordered,t,1,1|partial,j,0,3,listed', 'v,v1');");
        assertThat(session.command("SELECT i, j FROM vel WHERE v IN (100, 109) ORDER BY v"))
                .isEqualTo("10\t1.5\n14\t0.5\n");
        tester.run("create_tar('e', '*', 'explicit,x,listed', 'v,double')");
        tester.run("load_subtar('e', 'total,x,0,3,listed', 'v,vel_t0');");
        assertThat(session.command("SELECT x, v FROM e ORDER BY v"))
                .isEqualTo("2\t0.0\n1\t1.0\n3\t2.0\n0\t3.0\n");
    }

    @Test
    void shouldRefuseAVariableWhoseNameAnArrayHas() throws Exception {
        tester.run(
                "create_tar('velocity', '*', 'implicit,x,int,0,*,1|implicit,y,int,0,*,1|"
                        + "implicit,z,int,0,*,1', 'v,double')");
        assertThatThrownBy(() -> tester.send("velocity", "double", 8, null, false, doubles(0, 3)))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("step");
        assertThat(session.command("SELECT count(*) FROM velocity")).isEqualTo("0\n");
    }

    @Test
    void shouldRefuseListsOfPositionsThatDifferInLength() throws Exception {
        ByteBuffer positions = ByteBuffer.allocate(40).order(ByteOrder.LITTLE_ENDIAN);
        tester.send("xs", "long", 8, null, false, positions.limit(24).slice());
        tester.send("ys", "long", 8, null, false, positions.limit(40).slice());
        tester.send("vs", "double", 8, null, false, doubles(0, 5));
        tester.run("create_tar('t', '*', 'implicit,x,int,0,9,1|implicit,y,int,0,9,1', 'v,double')");
        assertThatThrownBy(
                        () ->
                                tester.run(
                                        "load_subtar('t', 'total,x,0,9,xs|total,y,0,9,ys', 'v,vs')"))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("dimension x has 3 entries, and another one 5");
        assertThat(session.command("SELECT count(*) FROM t")).isEqualTo("0\n");
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
        assertThat(session.command("SELECT sum(x) FROM a")).isEqualTo("18.0\n");
    }

    @Test
    void shouldAnswerQueriesThatChangeNothing() throws Exception {
        tester.send("t0", "double", 8, half(0), false, doubles(0, 12));
        String query = "SELECT i1, value FROM Temperature WHERE i0 = 0 ORDER BY i1;";
        assertThat(TarText.run(session, TarText.query(query, 2)))
                .isEqualTo("i1\tvalue\n0\t0.0\n1\t1.0\n...\n");
        for (String wrong :
                new String[] {
                    "DROP TABLE Temperature",
                    "SELECT 1); COMMIT; DELETE FROM Temperature; SELECT * FROM (SELECT 2",
                    "SELECT 1) ; DROP TABLE Temperature; SELECT * FROM (SELECT 1",
                    "SELECT * FROM read_text('/etc/passwd')",
                    "COPY Temperature TO '" + folder.resolve("stolen") + "'",
                    "SET enable_external_access = true",
                    "DELETE FROM Temperature RETURNING value",
                }) {
            assertThatThrownBy(() -> TarText.run(session, TarText.query(wrong, 5)))
                    .as(wrong)
                    .isInstanceOf(SinkRejectedException.class);
            assertThatThrownBy(() -> session.query(wrong, 5))
                    .as(wrong)
                    .isInstanceOf(SinkRejectedException.class);
        }
        assertThatThrownBy(() -> session.command("COPY Temperature TO '" + folder + "/stolen'"))
                .isInstanceOf(SinkRejectedException.class);
        assertThat(session.command("SELECT count(*) FROM Temperature")).isEqualTo("12\n");
    }

    /** A step is one transaction: of one that is refused nothing is there. */
    @Test
    void shouldTakeAStepAtOnce() throws Exception {
        tester.send("other", "double", 8, half(1), false, doubles(0, 12));
        Path file = Files.write(folder.resolve("data"), doubles(0, 12).array());
        SinkDataset first = new SinkDataset("t0", "double", 96, 8, half(0), true);
        SinkDataset second = new SinkDataset("t1", "double", 96, 8, half(1), true);
        try (FileChannel data = FileChannel.open(file)) {
            assertThatThrownBy(
                            () -> session.transferAll(List.of(first, second), List.of(data, data)))
                    .isInstanceOf(SinkRejectedException.class)
                    .hasMessageContaining("variable Temperature, step 7, rank 1");
            assertThat(session.command("SELECT count(*) FROM Temperature")).isEqualTo("12\n");
            session.transferAll(List.of(first), List.of(data));
            session.transferAll(List.of(first), List.of(data));
        }
        assertThat(session.command("SELECT count(*) FROM Temperature")).isEqualTo("24\n");
    }

    @Test
    void shouldTakeWhatADartReceiverGets() throws Exception {
        try (DartWorld world = new DartWorld("shm")) {
            String directory = world.directory.resolve("out").toString();
            Sink other = new DuckDbSink(folder.resolve("received"), null);
            DartStepContext steps = new DartStepContext(step -> {}).messagesPerRank(1);
            world.receive(
                    world.receiverContext()
                            .handler(null)
                            .directory(directory)
                            .sink(other)
                            .steps(steps));
            world.master(context -> context.bufferCount(16).clientCount(2));
            List<DartClient> clients =
                    List.of(
                            world.client(0, context -> context.rankCount(2)),
                            world.client(1, context -> context.rankCount(2)));
            for (int step = 0; step < 5; step++) {
                for (DartClient client : clients) {
                    DartMetadata metadata =
                            new DartMetadata()
                                    .variable("density")
                                    .step(step)
                                    .elementType(dev.verbena.dart.ElementType.FLOAT64)
                                    .shape(100);
                    UnsafeBuffer data = new UnsafeBuffer(doubles(step, 100).array());
                    client.sendCopy(data, 0, 800, metadata, 0);
                }
            }
            for (DartClient client : clients) {
                client.flush(DartWorld.LIMIT_NS);
            }
            try (SinkSession reading = other.open()) {
                String query = "SELECT count(*), sum(value), max(step), max(i0) FROM density";
                assertThat(reading.command(query)).isEqualTo("1000\t51500.0\t4\t1\n");
            }
            assertThat(world.errors()).isEmpty();
        }
    }

    @Test
    void shouldUnpackTheNativeLibraryOnce() throws Exception {
        try (var files = Files.walk(cache)) {
            assertThat(files.filter(Files::isRegularFile)).hasSize(1);
        }
        try (var files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            assertThat(files.map(each -> each.getFileName().toString()))
                    .noneMatch(each -> each.startsWith("libduckdb_java"));
        }
    }

    @Test
    void shouldKeepWhatItHasWhenItIsOpenedAgain() throws Exception {
        tester.send("t0", "double", 8, half(0), false, doubles(0, 12));
        session.close();
        sink.close();
        open();
        tester.send("t1", "double", 8, half(1), false, doubles(12, 12));
        assertThat(session.command("SELECT sum(value) FROM Temperature")).isEqualTo("276.0\n");
        assertThatThrownBy(() -> Sinks.of("duckdb:", getClass().getClassLoader()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** As on a full device: the file may not grow for a while. */
    @Test
    void shouldGoOnAfterACheckpointThatFailed() throws Exception {
        tester.send("t0", "double", 8, half(0), false, doubles(0, 12));
        session.command("CHECKPOINT");
        tester.send("t1", "double", 8, half(1), false, doubles(12, 12));
        SinkSession idle = sink.open();
        limitFiles(Long.toString(Files.size(folder.resolve("base"))));
        try {
            assertThatThrownBy(() -> session.command("CHECKPOINT"))
                    .isExactlyInstanceOf(IOException.class)
                    .hasMessageContaining("Failed to create checkpoint");
        } finally {
            limitFiles("unlimited");
        }
        assertThatThrownBy(() -> tester.send("t2", "double", 8, null, false, doubles(0, 3)))
                .isExactlyInstanceOf(IOException.class)
                .hasMessageContaining("has been invalidated");
        session.close();
        assertThatThrownBy(sink::open).hasMessageContaining("once its sessions end");
        idle.close();
        session = sink.open();
        tester = new SinkTester(folder, session);
        tester.send("t1", "double", 8, half(1), true, doubles(12, 12));
        tester.send("t2", "double", 8, null, false, doubles(0, 3));
        assertThat(session.command("SELECT sum(value) FROM Temperature")).isEqualTo("276.0\n");
        assertThat(session.command("SELECT count(*) FROM t2")).isEqualTo("3\n");
    }

    /** Sets the length, in bytes, beyond which this process can write no file. */
    private static void limitFiles(String length) throws Exception {
        String pid = Long.toString(ProcessHandle.current().pid());
        SinkTester.print(
                Path.of("/usr/bin/prlimit"),
                "util-linux",
                "prlimit",
                "--pid=" + pid,
                "--fsize=" + length + ":");
    }

    @Test
    void shouldTakeWhatAStagingServerSends() throws Exception {
        Sink other = new DuckDbSink(folder.resolve("staged"), null);
        try (StagingFixture stage = new StagingFixture(folder, true)) {
            stage.launch(stage.context(other).senders(4));
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
            String query = TarText.query("SELECT count(*) n, max(i0) FROM staged", 9);
            assertThat(client.run(query).text()).isEqualTo("n\tmax(i0)\n20000\t3999\n");
            // The paper's listing.
            client.run("create_tar('D_tar', '*', 'implicit,x,int,0,999,1', 'v,long');");
            client.dataset("D", "long").write(memory);
            client.sync();
            client.run("load_subtar('D_tar', 'ordered,x,0,999', 'v,D');");
            assertThat(client.run("SELECT count(*), max(x) FROM D_tar").text())
                    .isEqualTo("1000\t999\n");
            assertThat(stage.errors).isEmpty();
        }
    }
}
