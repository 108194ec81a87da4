package dev.verbena.sinks.hdf5;

import static dev.verbena.staging.sink.SinkTester.doubles;
import static dev.verbena.staging.sink.SinkTester.numbered;
import static dev.verbena.staging.sink.SinkTester.piece;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.staging.metadata.PieceMetadata;
import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.SinkTester;
import dev.verbena.staging.sink.Sinks;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files that Debian's h5dump and h5py read. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class Hdf5SinkTest {
    private static final long[] GLOBAL = {4, 6};

    @TempDir Path folder;
    private Path files;
    private SinkTester sink;

    @BeforeEach
    void open() throws IOException {
        files = folder.resolve("files");
        ClassLoader loader = getClass().getClassLoader();
        sink = new SinkTester(folder, Sinks.of("hdf5:" + files, loader).open());
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
        Path step = files.resolve("Temperature.7.h5");
        send(7, 0, new long[] {0, 0}, new long[] {3, 6});
        send(7, 1, new long[] {3, 0}, new long[] {1, 2});
        assertThat(step).doesNotExist();
        // Another process goes on.
        sink = new SinkTester(folder, new Hdf5Sink(files).open());
        assertThatThrownBy(() -> send(7, 1, new long[] {3, 2}, new long[] {1, 4}))
                .isInstanceOf(SinkRejectedException.class);
        send(7, 2, new long[] {3, 2}, new long[] {1, 4});
        assertThat(step).isRegularFile();
        String dumped =
                SinkTester.print(
                        Path.of("/usr/bin/h5dump"),
                        "hdf5-tools",
                        "/usr/bin/h5dump",
                        "-p",
                        "-d",
                        "/data/7/fields/Temperature",
                        step.toString());
        assertThat(dumped)
                .contains("H5T_IEEE_F64LE", "CONTIGUOUS", "( 4, 6 )", "(3,0): 18, 19, 20");
        String script =
                """
                import sys, h5py
                f = h5py.File(sys.argv[1], 'r')
                d = f['data/7/fields/Temperature']
                print(f.attrs['openPMD'].decode(), f.attrs['basePath'].decode(), f['data/7'].attrs['time'])
                print(d.shape, d.dtype, (d[...].ravel() == range(24)).all(), d.attrs['axisLabels'].tolist())
                """;
        assertThat(SinkTester.python("h5py", script, step.toString()))
                .isEqualTo("1.1.0 /data/%T/ 7.0\n(4, 6) float64 True [b'i0', b'i1']\n");
    }

    @Test
    void shouldBringEachType() throws Exception {
        sink.send("a", "char", 1, null, false, ByteBuffer.wrap(new byte[] {1, -2, 127}));
        ByteBuffer bytes = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
        sink.send(
                "b",
                "int",
                4,
                null,
                false,
                bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN).putInt(-3).putInt(9));
        sink.send(
                "d",
                "float",
                4,
                null,
                false,
                ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(0.5f));
        sink.send("c", "long", 8, null, false, bytes.putLong(0, -1L << 60));
        sink.send("e", "double:3", 24, null, false, doubles(1, 6));
        String script =
                """
                import sys, h5py
                for v in 'abcde':
                    d = h5py.File(sys.argv[1] + '/' + v + '.0.h5', 'r')['data/0/fields/' + v]
                    print(d.dtype, d[...].tolist())
                """;
        assertThat(SinkTester.python("h5py", script, files.toString()))
                .isEqualTo(
                        "int8 [1, -2, 127]\nint32 [-3, 9]\nint64 [-1152921504606846976]\n"
                                + "float32 [0.5]\nfloat64 [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]\n");
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
    void shouldMapArraysAndTheirRegions() throws Exception {
        sink.send("d0", "double", 8, null, false, doubles(0, 12));
        send(3, 0, new long[] {0, 2}, new long[] {4, 3});
        sink.run(
                "create_tar('vel', '*', 'implicit,i,int,10,14,2 | implicit,j,double,0,4.5,0.5',"
                        + " 'v,double | w,double');");
        String load = "load_subtar('vel', 'ordered,i,#10,#14|ordered,j,4,7', 'v,d0 | w,t3_0')";
        sink.run(load);
        for (String wrong :
                new String[] {
                    load,
                    load.replace("4,7", "0,4"),
                    load.replace("4,7", "0,2"),
                    load.replace("4,7", "0,3").replace(" | w,t3_0", ""),
                    "show();",
                }) {
            assertThatThrownBy(() -> sink.run(wrong))
                    .as(wrong)
                    .isInstanceOf(SinkRejectedException.class);
        }
        String script =
                """
                import sys, h5py
                f = h5py.File(sys.argv[1], 'r')['data/0/fields']
                v, w = f['v'], f['w']
                print(v.shape, v[2, 3], v.attrs['axisLabels'].tolist(), v.attrs['gridGlobalOffset'].tolist())
                print(w[...].ravel().tolist())
                """;
        assertThat(SinkTester.python("h5py", script, files.resolve("vel.0-2_4-7.h5").toString()))
                .isEqualTo(
                        "(3, 4) 11.0 [b'i', b'j'] [10.0, 2.0]\n"
                                + "[2.0, 3.0, 4.0, 8.0, 9.0, 10.0, 14.0, 15.0, 16.0, 20.0, 21.0,"
                                + " 22.0]\n");
    }

    /** With the longest names; libhdf5 reads no array of more dimensions. */
    @Test
    void shouldMapArraysOf32DimensionsAtMost() throws Exception {
        sink.send("d", "double", 8, null, false, doubles(7, 1));
        sink.send("p", "double:2", 16, null, false, doubles(8, 2));
        sink.run(tar("most", 32, "double"));
        sink.run(subtar("most", 32, "d"));
        sink.run(tar("vectors", 31, "double:2"));
        sink.run(subtar("vectors", 31, "p"));
        for (String wrong : new String[] {tar("a", 33, "double"), tar("a", 32, "double:2")}) {
            assertThatThrownBy(() -> sink.run(wrong))
                    .isInstanceOf(SinkRejectedException.class)
                    .hasMessageContaining("33 dimensions, HDF5 has 32 at most");
        }
        Files.writeString(files.resolve("old.tar"), tar("old", 70, "double"));
        assertThatThrownBy(() -> sink.run(subtar("old", 70, "d")))
                .isInstanceOf(SinkRejectedException.class)
                .hasMessageContaining("70 dimensions");
        assertThat(dumped("most", 32)).contains(name(31), ": 7\n");
        assertThat(dumped("vectors", 31)).contains(name(30), ": 8,", ": 9\n");
    }

    private String dumped(String tar, int dimensions) throws Exception {
        String file = files + "/" + tar + "." + "0-0_".repeat(dimensions - 1) + "0-0.h5";
        Path program = Path.of("/usr/bin/h5dump");
        return SinkTester.print(program, "hdf5-tools", program.toString(), file);
    }

    private static String name(int number) {
        return "n%062d".formatted(number);
    }

    private static String tar(String name, int dimensions, String type) {
        return "create_tar('%s', '*', '%s', '%s,%s')"
                .formatted(name, each("implicit,%s,int,0,*,1", dimensions), name(99), type);
    }

    private static String subtar(String name, int dimensions, String dataset) {
        return "load_subtar('%s', '%s', '%s,%s')"
                .formatted(name, each("ordered,%s,0,0", dimensions), name(99), dataset);
    }

    private static String each(String format, int dimensions) {
        return IntStream.range(0, dimensions)
                .mapToObj(i -> format.formatted(name(i)))
                .collect(Collectors.joining("|"));
    }

    @Test
    void shouldRefuseAnotherShapeOrType() throws Exception {
        send(1, 0, new long[] {0, 0}, new long[] {2, 3});
        long[] none = {0, 0};
        for (long[] global : new long[][] {{4, 7}, {6, 4}}) {
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
                                                    none,
                                                    new long[] {2, 3}),
                                            false,
                                            doubles(0, 6)))
                    .isInstanceOf(SinkRejectedException.class)
                    .hasMessageContaining("another shape or type");
        }
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
        assertThat(files.resolve("Temperature.1.h5.tmp")).doesNotExist();
    }
}
