package dev.verbena.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.Fuzz;
import dev.verbena.memory.RemoteDescriptor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Readers of what other processes left: whatever the bytes, only what they document comes out. */
@Timeout(240)
@Tag("seeded")
class AgentDecodersFuzzTest {
    private static final long MIB = 1 << 20;

    @TempDir private Path folder;

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
            whole = Files.readAllBytes(environment.countersPath());
        }
        Path file = folder.resolve("fuzzed.counters");
        long tried =
                new Fuzz("counters", List.of(whole), 16L * whole.length + MIB)
                        .run(
                                input -> {
                                    Files.write(file, input);
                                    readCounters(file);
                                });
        assertThat(tried).isPositive();
    }

    private static void readCounters(Path file) {
        try {
            CountersFile read = CountersFile.read(file);
            read.counters().forEach((value, id, label) -> label.length());
            read.application().length();
            read.isAlive();
            read.errors((count, first, last, text) -> text.length());
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("counters");
        }
    }

    /** The parts that others look at are the first: damage these more than the empty rest. */
    @Test
    void shouldReadHeadAndErrorLogOfAnyFile() throws IOException {
        byte[] whole;
        int length;
        try (RealEnvironment environment =
                RealEnvironment.builder()
                        .shmDirectory(folder)
                        .job("fuzz")
                        .errorHandler(e -> {})
                        .build()) {
            environment.errorHandler().onError(new IllegalStateException("one"));
            environment.errorHandler().onError(new IllegalArgumentException("two"));
            whole = Files.readAllBytes(environment.countersPath());
            length = whole.length - 256 * 1024;
        }
        byte[] head = java.util.Arrays.copyOf(whole, 128);
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
                                Files.write(file, changed);
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
                            Files.write(file, input);
                            try {
                                assertThat(SecretFile.read(file)).hasSizeBetween(16, 4096);
                            } catch (IllegalArgumentException e) {
                                assertThat(e).hasMessageContaining(file.toString());
                            }
                        });
    }
}
