package dev.verbena.staging.sink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.staging.metadata.PieceMetadata;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** Sends datasets to a sink, and lets programs of others read what it wrote. */
public final class SinkTester {
    private final Path folder;
    private final SinkSession session;

    public SinkTester(Path folder, SinkSession session) {
        this.folder = folder;
        this.session = session;
    }

    public void send(
            String name, String type, int size, PieceMetadata piece, boolean again, ByteBuffer data)
            throws IOException {
        Path file = Files.write(folder.resolve(name), data.array());
        try (FileChannel channel = FileChannel.open(file)) {
            session.transfer(
                    new SinkDataset(name, type, data.capacity(), size, piece, again), channel);
        }
    }

    public void run(String command) throws IOException {
        assertThat(TarText.run(session, command)).isEqualTo(TarText.DONE);
    }

    public static ByteBuffer doubles(double first, int count) {
        ByteBuffer bytes = ByteBuffer.allocate(8 * count).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            bytes.putDouble(first + i);
        }
        return bytes;
    }

    public static PieceMetadata piece(
            String variable, long step, int rank, long[] global, long[] start, long[] shape) {
        return new PieceMetadata(variable, step, rank, global, start, shape);
    }

    /** The upper or lower half of a variable's step, of one rank. */
    public static PieceMetadata half(int rank) {
        return piece(
                "Temperature",
                7,
                rank,
                new long[] {4, 6},
                new long[] {2L * rank, 0},
                new long[] {2, 6});
    }

    /** Values of columns of an array of this shape whose elements are numbered, in a box. */
    public static ByteBuffer numbered(long[] global, long[] start, long[] shape) {
        ByteBuffer bytes =
                ByteBuffer.allocate((int) (8 * shape[0] * shape[1])).order(ByteOrder.LITTLE_ENDIAN);
        for (long i = 0; i < shape[0]; i++) {
            for (long j = 0; j < shape[1]; j++) {
                bytes.putDouble((start[0] + i) * global[1] + start[1] + j);
            }
        }
        return bytes;
    }

    /** What a program prints; the test is skipped where Debian's package is not installed. */
    public static String print(Path needed, String debian, String... command) throws Exception {
        Assumptions.assumeTrue(Files.exists(needed), debian + " is not installed");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(said).isTrue();
        assertThat(process.exitValue()).as(said).isZero();
        return said;
    }

    /** What a script for Debian's Python prints, which needs this module. */
    public static String python(String module, String script, String... arguments)
            throws Exception {
        String[] command = new String[3 + arguments.length];
        command[0] = "/usr/bin/python3";
        command[1] = "-c";
        command[2] = script;
        System.arraycopy(arguments, 0, command, 3, arguments.length);
        Path needed = Path.of("/usr/lib/python3/dist-packages", module);
        return print(needed, "python3-" + module, command);
    }
}
