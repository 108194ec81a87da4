package dev.verbena.agent;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.Fuzz;
import dev.verbena.memory.RemoteDescriptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersReader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Readers of what other processes left: whatever the bytes, only what they document comes out. */
@Timeout(240)
@Tag("seeded")
@Tag("once")
class AgentDecodersFuzzTest {
    private static final long MIB = 1 << 20;
    private static final int HEAD_LENGTH = 128;
    private static final int METADATA_LENGTH = 16 * CountersReader.METADATA_LENGTH;
    private static final int VALUES_LENGTH = 16 * CountersReader.COUNTER_LENGTH;
    private static final int ERRORS_LENGTH = 8 * 1024;

    @TempDir private Path folder;

    /** The same file with room for fewer counters and errors: most of a real one is empty. */
    private static byte[] shortened(byte[] whole) {
        UnsafeBuffer real = new UnsafeBuffer(whole);
        int metadata = real.getInt(32, LITTLE_ENDIAN);
        int values = real.getInt(36, LITTLE_ENDIAN);
        int errorsAt = HEAD_LENGTH + metadata + values;
        UnsafeBuffer file =
                new UnsafeBuffer(
                        new byte[HEAD_LENGTH + METADATA_LENGTH + VALUES_LENGTH + ERRORS_LENGTH]);
        file.putBytes(0, real, 0, HEAD_LENGTH + METADATA_LENGTH);
        file.putBytes(HEAD_LENGTH + METADATA_LENGTH, real, HEAD_LENGTH + metadata, VALUES_LENGTH);
        file.putBytes(file.capacity() - ERRORS_LENGTH, real, errorsAt, ERRORS_LENGTH);
        file.putInt(32, METADATA_LENGTH, LITTLE_ENDIAN);
        file.putInt(36, VALUES_LENGTH, LITTLE_ENDIAN);
        file.putInt(40, ERRORS_LENGTH, LITTLE_ENDIAN);
        return file.byteArray();
    }

    /** Not by cutting it to nothing first: ext4 then writes it to the disk at once. */
    private static void overwrite(Path file, byte[] bytes) throws IOException {
        try (FileChannel channel = FileChannel.open(file, CREATE, WRITE)) {
            channel.write(ByteBuffer.wrap(bytes));
            channel.truncate(bytes.length);
        }
    }

    @Test
    void shouldReadCountersAndErrorsOfAnyFile() throws IOException {
        byte[] whole;
        try (RealEnvironment environment =
                RealEnvironment.builder()
                        .shmDirectory(folder)
                        .job("fuzz")
                        .errorHandler(e -> {})
                        .build()) {
            environment.counters().newCounter("counter").setOrdered(5);
            environment.counters().newCounter("another counter").setOrdered(-5);
            for (int i = 0; i < 5; i++) {
                environment.errorHandler().onError(new IllegalStateException("error " + i % 2));
            }
            whole = shortened(Files.readAllBytes(environment.countersPath()));
        }
        Path file = folder.resolve("fuzzed.counters");
        long tried =
                new Fuzz("counters", List.of(whole), 16L * whole.length + MIB)
                        .run(
                                input -> {
                                    overwrite(file, input);
                                    readCounters(file);
                                });
        assertThat(tried).isPositive();
        Files.write(file, whole);
        assertThat(readCounters(file)).isEqualTo(4);
    }

    /** Counters and errors in the file; none if it is refused. */
    private static int readCounters(Path file) {
        int[] count = new int[1];
        try {
            CountersFile read = CountersFile.read(file);
            read.counters().forEach((value, id, label) -> count[0]++);
            read.application().length();
            read.isAlive();
            read.errors((occurrences, first, last, text) -> count[0]++);
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("counters");
        }
        return count[0];
    }

    /** The parts that others look at are the first: damage these more than the empty rest. */
    @Test
    void shouldReadHeadAndErrorLogOfAnyFile() throws IOException {
        byte[] whole;
        try (RealEnvironment environment =
                RealEnvironment.builder()
                        .shmDirectory(folder)
                        .job("fuzz")
                        .errorHandler(e -> {})
                        .build()) {
            environment.errorHandler().onError(new IllegalStateException("one"));
            environment.errorHandler().onError(new IllegalArgumentException("two"));
            whole = shortened(Files.readAllBytes(environment.countersPath()));
        }
        int length = whole.length - ERRORS_LENGTH;
        byte[] head = java.util.Arrays.copyOf(whole, HEAD_LENGTH);
        byte[] log = java.util.Arrays.copyOfRange(whole, length, length + 4096);
        Path file = folder.resolve("fuzzed.counters");
        for (byte[] part : List.of(head, log)) {
            int at = part == head ? 0 : length;
            new Fuzz("counters' " + (at == 0 ? "head" : "errors"), List.of(part), 16L << 20)
                    .run(
                            input -> {
                                byte[] changed = whole.clone();
                                int n = Math.min(input.length, changed.length - at);
                                System.arraycopy(input, 0, changed, at, n);
                                overwrite(file, changed);
                                readCounters(file);
                            });
        }
    }

    @Test
    void shouldDecodeRemoteDescriptorsFromAnyBytes() {
        UnsafeBuffer valid = new UnsafeBuffer(new byte[RemoteDescriptor.LENGTH]);
        new RemoteDescriptor().encode(valid, 0);
        new Fuzz("remote descriptor", List.of(valid.byteArray()), MIB)
                .run(
                        input -> {
                            byte[] whole = java.util.Arrays.copyOf(input, RemoteDescriptor.LENGTH);
                            UnsafeBuffer bytes = new UnsafeBuffer(whole);
                            try {
                                new RemoteDescriptor().decode(bytes, 0);
                            } catch (IllegalArgumentException e) {
                                assertThat(e.getMessage()).isNotEmpty();
                            }
                        });
    }

    @Test
    void shouldReadSecretFilesOfAnyContent() throws IOException {
        Path file = Files.writeString(folder.resolve("secret"), "0123456789abcdef\n");
        Files.setPosixFilePermissions(
                file, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
        new Fuzz("secret", List.of("0123456789abcdef\r\n".getBytes(UTF_8)), MIB)
                .run(
                        input -> {
                            overwrite(file, input);
                            try {
                                assertThat(SecretFile.read(file)).hasSizeBetween(16, 4096);
                            } catch (IllegalArgumentException e) {
                                assertThat(e).hasMessageContaining(file.toString());
                            }
                        });
    }
}
