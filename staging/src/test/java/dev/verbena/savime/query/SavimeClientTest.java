package dev.verbena.savime.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.savime.query.FakeSavimeServer.Block;
import dev.verbena.savime.query.SavimeQueries.CreateTar;
import dev.verbena.savime.query.SavimeQueries.LoadSubtar;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SavimeClientTest {
    private static final SavimeClient.Limits LIMITS =
            new SavimeClient.Limits(
                    Duration.ofSeconds(5),
                    Duration.ofMillis(300),
                    Duration.ofSeconds(5),
                    Duration.ofSeconds(5),
                    () -> {});
    private static final String CREATE = "create_dataset(\"base:double\", \"@0\");";

    @TempDir Path folder;
    private FakeSavimeServer server;

    @BeforeEach
    void start() throws IOException {
        server = new FakeSavimeServer();
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
    }

    private SavimeClient connect() throws IOException {
        return SavimeClient.connect("127.0.0.1", server.port(), LIMITS);
    }

    private static byte[] doubles(double... values) {
        ByteBuffer bytes = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (double each : values) {
            bytes.putDouble(each);
        }
        return bytes.array();
    }

    private static byte[] ints(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int each : values) {
            bytes.putInt(each);
        }
        return bytes.array();
    }

    @Test
    @Tag("savime-41")
    @Tag("savime-42")
    @Tag("savime-43")
    @Tag("savime-49")
    @Tag("savime-50")
    void shouldProduceTheGoldenBytes() throws IOException {
        try (SavimeClient client = connect()) {
            ByteBuffer values = ByteBuffer.wrap(doubles(1, 2, 3, 4));
            assertThat(client.command(CREATE, SavimeParameter.of("@0", values)))
                    .isEqualTo(SavimeClient.SUCCESS);
        }
        assertThat(new ArrayList<>(server.dialogue).subList(0, 20))
                .containsExactly(
                        "C 420100000000000000000000000000000000000000002a010000000000000000000000000000",
                        "S 4201000000000100000000000000000000000a0000002a010000000000000000000000000000",
                        "C 420100000000010000000000000000000000010000002a010000000000000000000000000000",
                        "S 4201000000000200000000000000000000000b0000002a010000000000000000000000000000",
                        "C 420100000000020000000000000000000000020000004f010000000000002500000000000000",
                        "S 420100000000020000000000000000000000140000002a010000000000000000000000000000",
                        "C 420100000000030000000000000000000000030000002a010000000000000000000000000000",
                        "S 420100000000030000000000000000000000140000002a010000000000000000000000000000",
                        "C 420100000000040000000000000000000000040000002a010000000000000000000000000000",
                        "S 420100000000040000000000000000000000140000002a010000000000000000000000000000",
                        "C 420100000000050000000000000000000000050000004a010000000000002000000000000000",
                        "S 420100000000050000000000000000000000140000002a010000000000000000000000000000",
                        "C 420100000000060000000000000000000000060000002a010000000000000000000000000000",
                        "S 420100000000060000000000000000000000140000002a010000000000000000000000000000",
                        "C 420100000000070000000000000000000000070000002a010000000000000000000000000000",
                        "S 4201000000000800000000000000000000000d0000002a010000000000000000000000000000",
                        "C 420100000000080000000000000000000000090000002a010000000000000000000000000000",
                        "S 4201000000000000000000000000000000000e00000046010000000000001c00000000000000",
                        "C 420100000000090000000000000000000000090000002a010000000000000000000000000000",
                        "S 420100000000070000000000000000000000130000002a010000000000000000000000000000");
        assertThat(server.ackCount).isEqualTo(2);
        assertThat(server.datasets.get("base")).isEqualTo(doubles(1, 2, 3, 4));
    }

    /** Calls of this thread that wrote, by the kernel's count. */
    private static long writingCalls() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/thread-self/io"))) {
            if (line.startsWith("syscw: ")) {
                return Long.parseLong(line.substring("syscw: ".length()));
            }
        }
        throw new IOException("no syscw");
    }

    private long sentMessages() {
        return server.dialogue.stream().filter(line -> line.startsWith("C ")).count();
    }

    @Test
    @Tag("savime-53")
    void shouldSendAHeaderWithItsPayloadInOneCall() throws IOException {
        boolean isCounted = Files.isReadable(Path.of("/proc/thread-self/io"));
        Assumptions.assumeTrue(isCounted, "the kernel does not count system calls of threads");
        try (SavimeClient client = connect()) {
            client.command(CREATE, SavimeParameter.of("@0", ByteBuffer.wrap(doubles(1, 2))));
            long calls = writingCalls();
            long messages = sentMessages();
            ByteBuffer values = ByteBuffer.wrap(doubles(3, 4));
            client.command(CREATE.replace("base", "next"), SavimeParameter.of("@0", values));
            assertThat(sentMessages()).isGreaterThan(messages);
            assertThat(writingCalls() - calls).isEqualTo(sentMessages() - messages);

            Path file = Files.write(folder.resolve("values"), doubles(5, 6));
            try (FileChannel data = FileChannel.open(file)) {
                calls = writingCalls();
                messages = sentMessages();
                client.command(CREATE.replace("base", "file"), SavimeParameter.of("@0", data, 16));
                assertThat(writingCalls() - calls).isEqualTo(sentMessages() - messages + 1);
            }
        }
        assertThat(server.datasets.get("next")).isEqualTo(doubles(3, 4));
        assertThat(server.datasets.get("file")).isEqualTo(doubles(5, 6));
    }

    @Test
    @Tag("savime-44")
    @Tag("savime-45")
    @Tag("savime-46")
    void shouldDeliverSubtarsByName() throws IOException {
        server.answers.put(
                "where(t);",
                List.of(
                        "#j,d,int32|v,a,double:2:2",
                        new Block("v", doubles(1, 2, 3, 4)),
                        new Block("j", ints(5, 6)),
                        new Block("j", ints(7)),
                        new Block("v", doubles(8, 9))));
        server.answers.put("where(none);", List.of("#j,d,int32|v,a,double:2:2"));
        try (SavimeClient client = connect()) {
            try (SavimeResult result = client.execute("where(t);")) {
                SavimeSchema.Element v = result.schema().element("v");
                assertThat(v.type()).isEqualTo("double");
                assertThat(v.length()).isEqualTo(2);
                assertThat(result.next()).isTrue();
                assertThat(result.cells()).isEqualTo(2);
                assertThat(result.column("v").getDouble(24, ByteOrder.LITTLE_ENDIAN)).isEqualTo(4);
                assertThat(result.column("j").getInt(4, ByteOrder.LITTLE_ENDIAN)).isEqualTo(6);
                assertThat(result.next()).isTrue();
                assertThat(result.column("j").getInt(0, ByteOrder.LITTLE_ENDIAN)).isEqualTo(7);
                assertThat(result.next()).isFalse();
                assertThatThrownBy(() -> result.column("j"))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            try (SavimeResult result = client.execute("where(none);")) {
                assertThat(result.next()).isFalse();
            }
        }
    }

    @Test
    @Tag("savime-47")
    @Tag("savime-48")
    void shouldReportErrorsAndGoOn() throws IOException {
        server.answers.put(
                "bad;", List.of("#j,d,int32", new Block("j", ints(1)), "it broke in the middle"));
        server.answers.put("odd;", List.of("something else"));
        try (SavimeClient client = connect()) {
            SavimeResult result = client.execute("bad;");
            assertThat(result.next()).isTrue();
            assertThatThrownBy(result::next)
                    .isInstanceOf(SavimeQueryException.class)
                    .hasMessage("it broke in the middle");
            result.close();
            assertThatThrownBy(() -> client.command("odd;"))
                    .isInstanceOf(SavimeQueryException.class)
                    .hasMessage("something else");
            assertThatThrownBy(() -> client.command("nonsense;"))
                    .hasMessageStartingWith("Error during operation execution:");
            assertThat(client.command("create_tar(\"x\");")).isEqualTo(SavimeClient.SUCCESS);
            assertThatThrownBy(() -> client.execute("a\nb"))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    @Tag("savime-52")
    void shouldWaitForTheSessionBefore() throws IOException {
        SavimeClient first = connect();
        assertThatThrownBy(this::connect)
                .isInstanceOf(SavimeProtocolException.class)
                .hasMessageContaining("no answer within");
        first.close();
        connect().close();
    }

    @Test
    @Tag("savime-51")
    void shouldSendZerosForWhatCannotBeRead() throws IOException {
        byte[] bytes = doubles(1, 2, 3, 4);
        Path file = folder.resolve("data");
        Files.write(file, bytes);
        try (SavimeClient client = connect();
                FileChannel data = FileChannel.open(file, StandardOpenOption.READ)) {
            assertThatThrownBy(
                            () ->
                                    client.command(
                                            CREATE,
                                            SavimeParameter.of("@0", new Broken(data, 8), 32)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("could not be read");
        }
        assertThat(server.isWedged).isFalse();
        assertThat(server.datasets).isEmpty();
        assertThat(server.queries).containsExactly(CREATE, "drop_dataset(\"base\");");
        try (SavimeClient client = connect();
                FileChannel data = FileChannel.open(file, StandardOpenOption.READ)) {
            assertThatThrownBy(() -> client.command(CREATE, SavimeParameter.of("@0", data, 33)))
                    .hasMessageContaining("too short");
        }
        try (SavimeClient client = connect();
                FileChannel data = FileChannel.open(file, StandardOpenOption.READ)) {
            client.command(CREATE, SavimeParameter.of("@0", data, 32));
        }
        assertThat(server.datasets.get("base")).isEqualTo(bytes);
    }

    @Test
    void shouldEndAnHostileSessionWithAnException() throws IOException {
        List<List<Object>> hostile = new ArrayList<>();
        hostile.add(List.of("#"));
        hostile.add(List.of("#a,x,int"));
        hostile.add(List.of("#a,d,int|a,d,int"));
        hostile.add(List.of("#a,a,double:0:0"));
        hostile.add(List.of("#a,d,int32", new Block("b", ints(1))));
        hostile.add(List.of("#a,d,int32", new Block("a", new byte[3])));
        hostile.add(List.of("#a,d,int32|b,d,int32", new Block("a", ints(1))));
        hostile.add(
                List.of("#a,d,int32|b,d,int32", new Block("a", ints(1)), new Block("a", ints(1))));
        for (List<Object> each : hostile) {
            server.answers.put("q;", each);
            try (SavimeClient client = connect()) {
                assertThatThrownBy(
                                () -> {
                                    try (SavimeResult result = client.execute("q;")) {
                                        assertThat(result.next()).isFalse();
                                    }
                                })
                        .as(each.toString())
                        .isInstanceOf(IOException.class);
                assertThatThrownBy(() -> client.command("create_tar(\"x\");"))
                        .isInstanceOf(SavimeProtocolException.class);
            }
        }
    }

    @Test
    @Tag("savime-54")
    void shouldBuildQueriesThatAreRight() {
        assertThat(
                        new CreateTar("vel")
                                .unbounded("t", "int", 0, 1)
                                .dimension("i", "int", 0, 2, 1)
                                .dimension("j", "int", 0, 3, 1)
                                .attribute("v", "double")
                                .text())
                .isEqualTo(
                        "create_tar(\"vel\", \"*\", \"implicit,t,int,0,*,1 | implicit,i,int,0,2,1 |"
                                + " implicit,j,int,0,3,1\", \"v,double\");");
        assertThat(
                        new LoadSubtar("vel", "t", "i", "j")
                                .ordered("t", 0, 0)
                                .ordered("i", 0, 2)
                                .ordered("j", 0, 3)
                                .attribute("v", "vel_t0")
                                .text())
                .isEqualTo(
                        "load_subtar(\"vel\", \"ordered,t,0,0 | ordered,i,0,2 | ordered,j,0,3\","
                                + " \"v,vel_t0\");");
        List<Runnable> wrong =
                List.of(
                        () -> new CreateTar("a b"),
                        () -> new CreateTar("a\n"),
                        () -> new CreateTar("t").dimension("i", "int", 2, 2, 1),
                        () -> new CreateTar("t").dimension("i", "int", 0, 2, 0),
                        () -> new CreateTar("t").dimension("i\"", "int", 0, 2, 1),
                        () -> new CreateTar("t").dimension("i", "double", 0.0, 0.0, 1.0),
                        () -> new CreateTar("t").unbounded("i", "int", 0, 1).text(),
                        () ->
                                new LoadSubtar("t", "i", "j")
                                        .ordered("i", 0, 1)
                                        .attribute("v", "d")
                                        .text(),
                        () -> new LoadSubtar("t", "i").ordered("k", 0, 1),
                        () -> new LoadSubtar("t", "i").ordered("i", 1, 0),
                        () ->
                                new LoadSubtar("t", "i", "j")
                                        .ordered("i", 0, 1)
                                        .total("j", 0, 1, "d")
                                        .attribute("v", "d")
                                        .text(),
                        () -> SavimeQueries.createDataset("d", "dou\"ble", "@0"),
                        () -> SavimeQueries.dropTar("x'"));
        for (int i = 0; i < wrong.size(); i++) {
            assertThatThrownBy(wrong.get(i)::run)
                    .as("wrong query %s", i)
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** A file whose medium fails behind some bytes. */
    private static final class Broken extends FileChannel {
        private final FileChannel file;
        private final long readable;

        Broken(FileChannel file, long readable) {
            this.file = file;
            this.readable = readable;
        }

        @Override
        public long transferTo(long position, long count, WritableByteChannel target)
                throws IOException {
            if (position >= readable) {
                throw new IOException("Input/output error");
            }
            return file.transferTo(position, Math.min(count, readable - position), target);
        }

        @Override
        public long size() throws IOException {
            return file.size();
        }

        @Override
        public int read(ByteBuffer target) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long read(ByteBuffer[] targets, int offset, int length) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int write(ByteBuffer source) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long write(ByteBuffer[] sources, int offset, int length) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long position() {
            throw new UnsupportedOperationException();
        }

        @Override
        public FileChannel position(long position) {
            throw new UnsupportedOperationException();
        }

        @Override
        public FileChannel truncate(long size) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void force(boolean metaData) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long transferFrom(ReadableByteChannel source, long position, long count) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int read(ByteBuffer target, long position) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int write(ByteBuffer source, long position) {
            throw new UnsupportedOperationException();
        }

        @Override
        public MappedByteBuffer map(MapMode mode, long position, long size) {
            throw new UnsupportedOperationException();
        }

        @Override
        public FileLock lock(long position, long size, boolean isShared) {
            throw new UnsupportedOperationException();
        }

        @Override
        public FileLock tryLock(long position, long size, boolean isShared) {
            throw new UnsupportedOperationException();
        }

        @Override
        protected void implCloseChannel() {}
    }
}
