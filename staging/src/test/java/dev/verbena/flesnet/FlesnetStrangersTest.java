package dev.verbena.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ForwardingEnvironment;
import dev.verbena.flesnet.wire.SyncFlyweight;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.staging.bootstrap.ServiceAddress;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Peers of a compute node that are none of its inputs. */
@Timeout(120)
class FlesnetStrangersTest {
    private static final int LENGTH = 1024;
    private static final int LETTERS = 400;
    private static final int TIMESLICES = 3000;

    @TempDir Path directory;

    /** Connects like an input, and is none. */
    private static final class Stranger implements TransportHandler, AutoCloseable {
        private final Transport transport;
        private final RegisteredRegion region;
        private final UnsafeBuffer letter;
        private final URI target;
        private int open;
        private int refused;
        private int ended;
        private boolean isSent;

        Stranger(FlesnetContext context, String file) {
            transport = Transports.open("shm", context.transport(1));
            region = transport.allocate(LENGTH, 0);
            letter = region.buffer(0, LENGTH);
            target = ServiceAddress.parse(file, SyncFlyweight.PROTOCOL).url();
        }

        @Override
        public void onConnected(long connection, long context) {
            open++;
        }

        @Override
        public void onConnectFailed(long connection, long context, int status, String reason) {
            refused++;
        }

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            isSent |= operation == Operation.SEND;
        }

        @Override
        public void onDisconnected(long connection, long context) {
            open--;
            ended++;
        }

        long connect() {
            int before = open + refused + ended;
            long connection =
                    transport.connect(target, new UnsafeBuffer(0, 0), 0, 0, 0, 10_000_000_000L);
            await("connected or refused", () -> open + refused + ended > before);
            return connection;
        }

        void send(long connection, int length) {
            isSent = false;
            assertThat(transport.send(connection, region, 0, length, 0, 0))
                    .isEqualTo(Transport.ACCEPTED);
            await("sent", () -> isSent);
        }

        void await(String what, BooleanSupplier condition) {
            Await.until(
                    what,
                    () -> {
                        transport.poll(this, 16);
                        return condition.getAsBoolean();
                    });
        }

        @Override
        public void close() {
            region.close();
            transport.close();
        }
    }

    private String published(FlesnetRun run) {
        Path file = Path.of(run.context.serviceFile(0));
        Await.until("published", () -> Files.exists(file));
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Any length, any type; of no input that there is, for who says a good hello is one. */
    private static int write(UnsafeBuffer letter, Random random) {
        byte[] bytes = new byte[LENGTH];
        random.nextBytes(bytes);
        letter.putBytes(0, bytes);
        if (random.nextInt(4) > 0) {
            int type = 1 + random.nextInt(SyncFlyweight.DECISION_ACK);
            new SyncFlyweight().begin(letter, 0, type, 1 + random.nextInt(9), random.nextLong());
        }
        return random.nextInt(LENGTH);
    }

    @Test
    @Tag("seeded")
    void shouldBuildEveryTimesliceAmongPeersThatSendGarbage() {
        long seed = Long.getLong("verbena.seed", System.nanoTime() % 1_000_000_007);
        Random random = new Random(seed);
        long begin = System.nanoTime();
        try (FlesnetRun run = new FlesnetRun(directory, c -> c.nodes(1, 1)).compute(0);
                Stranger stranger = new Stranger(run.context, published(run))) {
            run.input(0, run.pattern(0, TIMESLICES, 256, 128));
            for (int i = 0; i < LETTERS; i++) {
                int before = stranger.ended;
                long connection = stranger.connect();
                stranger.send(connection, write(stranger.letter, random));
                stranger.await("dropped", () -> stranger.ended > before);
            }
            run.awaitDone();
            assertThat(run.delivered.get(0).indices).as("seed %s", seed).hasSize(TIMESLICES);
            assertThat(run.delivered.get(0).flags).containsOnly(0);
            // One report in a second, however much nonsense comes.
            long seconds = (System.nanoTime() - begin) / 1_000_000_000L;
            assertThat(run.errors)
                    .allMatch(e -> e.getMessage().startsWith("a peer is dropped"))
                    .hasSizeBetween(1, (int) seconds + 2);
        }
    }

    @Test
    void shouldNotKeepThePlacesOfInputsForPeersThatSayNothing() {
        AtomicLong later = new AtomicLong();
        try (FlesnetRun run =
                        new FlesnetRun(
                                directory,
                                c -> c.nodes(1, 1).environment(late(c.environment(), later)));
                Stranger stranger = new Stranger(run.compute(0).context, published(run))) {
            while (stranger.refused == 0) {
                stranger.connect();
            }
            int silent = stranger.open;
            assertThat(silent).isPositive();
            later.addAndGet(2 * run.context.peerTimeoutNs());
            stranger.await("all are dropped", () -> stranger.ended == silent);
            run.input(0, run.pattern(0, 100, 256, 128)).awaitDone();
            assertThat(run.delivered.get(0).indices).hasSize(100);
        }
    }

    private static Environment late(Environment environment, AtomicLong later) {
        return new ForwardingEnvironment(environment) {
            @Override
            public NanoClock nanoClock() {
                return () -> System.nanoTime() + later.get();
            }
        };
    }
}
