package dev.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Live segments with random bytes in them: the transports may end connections, but neither crash,
 * hang nor throw. {@code -Dverbena.seed=N} replays.
 */
@Timeout(180)
class ShmCorruptionTest {
    @TempDir Path folder;

    private Path segment(Transport transport) throws Exception {
        ShmAddress address = ShmAddress.of(transport.uri());
        Object uid = Files.getAttribute(folder, "unix:uid");
        return folder.resolve("verbena-" + uid).resolve(address.job()).resolve(address.name());
    }

    @Test
    void shouldReportAndEndTheConnectionWhenAMessageMakesNoSense() throws Exception {
        List<Throwable> errors = new ArrayList<>();
        try (Pair pair =
                        new Pair(
                                context ->
                                        context.option("directory", folder.toString())
                                                .messageLengthMax(64)
                                                .creditsPerConnection(4)
                                                .errorHandler(errors::add));
                RegisteredRegion source = pair.a.allocate(64, 0)) {
            pair.seenB.isRetaining = true;
            assertThat(pair.a.send(pair.fromA, source, 0, 8, 1, 0)).isZero();
            pair.until(() -> pair.seenB.tokens.size() == 1);
            source.buffer(0, 64).putLong(0, 0x5EED5EED5EED5EEDL);
            assertThat(pair.a.send(pair.fromA, source, 0, 8, 1, 0)).isZero();
            Path file = segment(pair.b);
            try (OffHeapMemory mapped = OffHeapMemories.mapFile(file, 0, Files.size(file), true)) {
                UnsafeBuffer bytes = mapped.buffer(0, (int) mapped.length());
                int payload = indexOf(bytes, 0x5EED5EED5EED5EEDL);
                bytes.putInt(payload - 8, 65); // its length: one more than a slot holds
            }
            pair.until(() -> !pair.seenB.ends.isEmpty());
            assertThat(pair.seenB.messages).hasSize(1);
            pair.b.release(pair.seenB.tokens.get(0));
            assertThat(pair.seenB.ends).hasSize(1);
            assertThat(pair.seenB.ends.get(0)).startsWith("lost:").contains("no sense");
            assertThat(errors).hasSize(1);
            assertThat(errors.get(0)).hasMessageContaining("kind or length");
            pair.until(() -> !pair.seenA.ends.isEmpty());
            assertThat(pair.a.send(pair.fromA, source, 0, 8, 2, 0))
                    .isEqualTo(Transport.NOT_CONNECTED);
        }
    }

    private static int indexOf(UnsafeBuffer bytes, long word) {
        for (int i = 0; i <= bytes.capacity() - 8; i += 8) {
            if (bytes.getLong(i) == word) {
                return i;
            }
        }
        throw new AssertionError("the message is not in the segment");
    }

    @Test
    @Tag("seeded")
    void shouldNeitherCrashNorHangWhenSegmentsAreDamagedAtRandom() throws Exception {
        String given = System.getProperty("verbena.seed");
        long seed = given != null ? Long.parseLong(given) : System.nanoTime();
        System.out.println("ShmCorruptionTest: -Dverbena.seed=" + seed);
        Random random = new Random(seed);
        // --long: 400 rounds of damaged segments instead of 40
        int rounds = Boolean.getBoolean("verbena.long") ? 400 : 40;
        for (int round = 0; round < rounds; round++) {
            damage(random);
        }
    }

    private void damage(Random random) throws Exception {
        List<Throwable> errors = new ArrayList<>();
        Pair pair =
                new Pair(
                        context ->
                                context.option("directory", folder.toString())
                                        .messageLengthMax(64 + random.nextInt(200))
                                        .creditsPerConnection(4)
                                        .connectionsMax(4)
                                        .peerTimeoutNs(20_000_000L)
                                        .errorHandler(errors::add));
        RegisteredRegion source = pair.a.allocate(4096, 0);
        RegisteredRegion target = pair.b.allocate(4096, RemoteDescriptor.REMOTE_ALL);
        RemoteDescriptor descriptor =
                target.describe(0, 4096, RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor());
        for (Transport victim : new Transport[] {pair.b, pair.a}) {
            Path file = segment(victim);
            try (OffHeapMemory mapped = OffHeapMemories.mapFile(file, 0, Files.size(file), true)) {
                UnsafeBuffer bytes = mapped.buffer(0, (int) mapped.length());
                for (int i = 0; i < 200; i++) {
                    scribble(random, bytes);
                    step(random, pair, source, descriptor, i);
                }
            }
        }
        source.close();
        try {
            target.close();
            pair.close();
        } catch (RuntimeException e) {
            // A damaged registration may not be closable, but it must say so.
            assertThat(e).hasMessageContaining("region");
        }
    }

    /** Bytes that are in use are likely: the segment's beginning, and words that are not zero. */
    private static void scribble(Random random, UnsafeBuffer bytes) {
        int at = random.nextInt(bytes.capacity() - 8) & -8;
        for (int tries = 0; tries < 2000 && bytes.getLong(at) == 0; tries++) {
            at = random.nextInt(bytes.capacity() - 8) & -8;
        }
        long word = bytes.getLong(at);
        switch (random.nextInt(4)) {
            case 0 -> bytes.putLong(at, word ^ 1L << random.nextInt(64));
            case 1 -> bytes.putLong(at, random.nextLong());
            case 2 -> bytes.putInt(at + 4 * random.nextInt(2), random.nextInt(100) - 50);
            default -> bytes.putLong(at, 0);
        }
    }

    private static void step(
            Random random, Pair pair, RegisteredRegion source, RemoteDescriptor d, int i) {
        pair.a.send(pair.fromA, source, 0, random.nextInt(65), i, 0);
        pair.b.disconnect(i % 50 == 49 ? pair.fromB : 0);
        pair.a.put(pair.fromA, source, 0, d, random.nextInt(4096), random.nextInt(4096), i, 0);
        pair.a.get(pair.fromA, source, 0, d, random.nextInt(4096), random.nextInt(4096), i, 0);
        pair.a.putNotify(pair.fromA, source, 0, d, 0, random.nextInt(100), 1, i, 0);
        pair.a.fetchAdd(pair.fromA, d, 8L * random.nextInt(600), 1, i, 0);
        pair.poll();
        if (i % 20 == 0) {
            pair.a.connect(pair.b.uri(), null, 0, 0, i, 1_000_000L);
        }
    }
}
