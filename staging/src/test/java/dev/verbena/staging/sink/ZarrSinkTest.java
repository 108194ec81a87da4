package dev.verbena.staging.sink;

import static dev.verbena.staging.sink.SinkTester.doubles;
import static dev.verbena.staging.sink.SinkTester.numbered;
import static dev.verbena.staging.sink.SinkTester.piece;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.staging.metadata.PieceMetadata;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A folder that Debian's Zarr reads. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ZarrSinkTest {
    private static final long[] GLOBAL = {4, 6};

    @TempDir Path folder;
    private Path store;
    private SinkTester sink;

    @BeforeEach
    void open() throws IOException {
        store = folder.resolve("store");
        sink = new SinkTester(folder, Sinks.of("zarr:" + store, null).open());
    }

    private void send(int step, int rank, long[] start, long[] shape) throws IOException {
        sink.send(
                "t" + step + "_" + rank,
                "double",
                8,
                piece("Temperature", step, rank, GLOBAL, start, shape),
                false,
                numbered(GLOBAL, start, shape));
    }

    @Test
    void shouldShowAStepWhenItsPiecesAreThere() throws Exception {
        send(1, 0, new long[] {0, 0}, new long[] {2, 3});
        send(1, 1, new long[] {0, 3}, new long[] {2, 3});
        send(1, 2, new long[] {2, 0}, new long[] {2, 3});
        assertThat(store.resolve("Temperature/1")).doesNotExist();
        assertThatThrownBy(() -> send(1, 2, new long[] {2, 3}, new long[] {2, 3}))
                .isInstanceOf(SinkRejectedException.class);
        // Another process goes on.
        sink = new SinkTester(folder, new ZarrSink(store).open());
        send(1, 3, new long[] {2, 3}, new long[] {2, 3});
        // Pieces that are no regular grid.
        send(2, 0, new long[] {0, 0}, new long[] {3, 6});
        send(2, 1, new long[] {3, 0}, new long[] {1, 2});
        send(2, 2, new long[] {3, 2}, new long[] {1, 4});
        sink.send("vectors", "double:3", 24, null, false, doubles(1, 6));
        sink.send("again", "double", 8, null, false, doubles(1, 2));
        sink.send("again", "double", 8, null, true, doubles(1, 2));
        String script =
                """
                import sys, zarr
                g = zarr.open(sys.argv[1], mode='r')
                for step in ('1', '2'):
                    a = g['Temperature'][step]
                    print(a.shape, a.chunks, a.dtype, (a[...].ravel() == range(24)).all())
                print(sorted(g), g['vectors/0'][...].tolist(), g['again/0'][...].tolist())
                """;
        assertThat(SinkTester.python("zarr", script, store.toString()))
                .isEqualTo(
                        "(4, 6) (2, 3) float64 True\n(4, 6) (4, 6) float64 True\n"
                                + "['Temperature', 'again', 'vectors']"
                                + " [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] [1.0, 2.0]\n");
    }

    @Test
    void shouldMapArraysAndTheirRegions() throws Exception {
        sink.send("d0", "double", 8, null, false, doubles(0, 12));
        send(3, 0, new long[] {0, 2}, new long[] {4, 3});
        sink.run(
                "create_tar('vel', '*', 'implicit,t,int,0,*,1 | implicit,i,int,10,14,2 |"
                        + " implicit,j,double,0,1.5,0.5', 'v,double');");
        String load = "load_subtar('vel', 'ordered,t,0,0|ordered,i,#10,#14|ordered,j,0,3', 'v,d0')";
        sink.run(load);
        // Out of a piece of a step that is not complete.
        sink.run("load_subtar('vel', 'ordered,j,0,3|ordered,t,1,1|ordered,i,0,2', 'v,t3_0')");
        for (String wrong :
                new String[] {
                    load,
                    load.replace("0,0", "1,4"),
                    load.replace("0,0", "5,6"),
                    load.replace("ordered,t,0,0", "partial,t,5,5,d0"),
                    "show();",
                }) {
            assertThatThrownBy(() -> sink.run(wrong))
                    .as(wrong)
                    .isInstanceOf(SinkRejectedException.class);
        }
        String script =
                """
                import sys, zarr
                g = zarr.open(sys.argv[1], mode='r')['vel']
                print(sorted(g))
                a = g['0-0_0-2_0-3/v']
                print(a.shape, a.attrs['_ARRAY_DIMENSIONS'], a.attrs['offset'], a[0, 2, 3])
                print(g['1-1_0-2_0-3/v'][:, 0, :].tolist())
                """;
        assertThat(SinkTester.python("zarr", script, store.toString()))
                .isEqualTo(
                        "['0-0_0-2_0-3', '1-1_0-2_0-3']\n"
                                + "(1, 3, 4) ['t', 'i', 'j'] [0.0, 10.0, 0.0] 11.0\n"
                                + "[[2.0, 3.0, 4.0], [8.0, 9.0, 10.0], [14.0, 15.0, 16.0],"
                                + " [20.0, 21.0, 22.0]]\n");
    }

    /** The server gives a name to another dataset once the first one is here. */
    @Test
    void shouldLoadNoDatasetWhoseNameTwoPiecesHave() throws Exception {
        long[] size = {3};
        long[] none = {0};
        for (int step = 0; step < 2; step++) {
            PieceMetadata piece = piece("v", step, 0, size, none, size);
            sink.send("d", "double", 8, piece, false, doubles(step, 3));
        }
        sink.run("create_tar('a', '*', 'implicit,i,int,0,*,1', 'x,double')");
        assertThatThrownBy(() -> sink.run("load_subtar('a', 'ordered,i,0,2', 'x,d')"))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("variable v, step 0, rank 0")
                .hasMessageContaining("variable v, step 1, rank 0")
                .hasMessageContaining("a name of its own");
        // The first one is still known to be here.
        PieceMetadata first = piece("v", 0, 0, size, none, size);
        sink.send("d", "double", 8, first, true, doubles(0, 3));
    }

    /** A server that was killed before it began a transfer cannot tell. */
    @Test
    void shouldRefuseOtherValuesOfAPieceThatMayBeRepeated() throws Exception {
        send(1, 0, new long[] {0, 0}, new long[] {2, 3});
        send(1, 1, new long[] {0, 3}, new long[] {2, 3});
        requireOnlyTheSame();
        send(1, 2, new long[] {2, 0}, new long[] {2, 6});
        requireOnlyTheSame();
        sink.send("vectors", "double:3", 24, null, false, doubles(1, 6));
        sink.send("vectors", "double:3", 24, null, true, doubles(1, 6));
        assertThatThrownBy(() -> sink.send("vectors", "double:3", 24, null, true, doubles(2, 6)))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("variable vectors, step 0, rank 0 with other values");
    }

    private void requireOnlyTheSame() throws IOException {
        long[] start = {0, 3};
        long[] shape = {2, 3};
        PieceMetadata piece = piece("Temperature", 1, 1, GLOBAL, start, shape);
        sink.send("t1_1", "double", 8, piece, true, numbered(GLOBAL, start, shape));
        ByteBuffer other = numbered(GLOBAL, start, shape).putDouble(32, -1);
        assertThatThrownBy(() -> sink.send("t1_1", "double", 8, piece, true, other))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("variable Temperature, step 1, rank 1 with other values");
        long[] elsewhere = {2, 3};
        PieceMetadata moved = piece("Temperature", 1, 1, GLOBAL, elsewhere, shape);
        assertThatThrownBy(() -> sink.send("t1_1", "double", 8, moved, true, other))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("of another shape or type");
    }

    @Test
    void shouldRefuseAnotherShapeOrType() throws Exception {
        send(1, 0, new long[] {0, 0}, new long[] {2, 3});
        long[] other = {4, 7};
        long[] none = {0, 0};
        assertThatThrownBy(
                        () ->
                                sink.send(
                                        "x",
                                        "double",
                                        8,
                                        piece("Temperature", 1, 9, other, none, new long[] {2, 3}),
                                        false,
                                        doubles(0, 6)))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("another shape or type");
        assertThatThrownBy(
                        () ->
                                sink.send(
                                        "y",
                                        "int",
                                        4,
                                        piece("Temperature", 1, 9, GLOBAL, none, new long[] {2, 6}),
                                        false,
                                        doubles(0, 6)))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("another shape or type");
    }

    @Test
    void shouldRefuseAnArrayThatNoFileCanHold() {
        for (long[] global : new long[][] {{1L << 40, 1L << 40}, {1L << 43, 7}}) {
            assertThatThrownBy(
                            () ->
                                    sink.send(
                                            "x",
                                            "double",
                                            8,
                                            piece(
                                                    "Temperature",
                                                    1,
                                                    9,
                                                    global,
                                                    new long[2],
                                                    new long[] {3, 2}),
                                            false,
                                            doubles(0, 6)))
                    .isInstanceOf(SinkRejectedException.class)
                    .hasMessageContaining(Long.toString(global[0]));
        }
        assertThat(store.resolve(".verbena/Temperature.1")).doesNotExist();
    }
}
