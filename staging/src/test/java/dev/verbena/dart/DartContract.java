package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.memory.RegisteredRegion;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Messages and shut-down of DART over a transport, and its bootstrap: one small subclass for each
 * provider names the scheme.
 */
@Timeout(value = 400, unit = TimeUnit.SECONDS)
public abstract class DartContract extends DartBootContract {
    /** For subclasses in other modules. */
    protected DartContract() {}

    /** How often a client is opened and closed for D41; fewer where opening a card takes long. */
    protected int openings() {
        return 1000;
    }

    // ---- messages

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 63, 4096, 4194303, 4194304, 4194305, 8_500_000, 100_000_000})
    @Tag("dart-D16")
    void shouldDeliverEqualBytes(int length) throws Exception {
        try (DartWorld world = world().receive()) {
            world.master(c -> c.bufferSize(4 * 1024 * 1024));
            DartClient client = world.client(0, c -> c.checksum(true));
            UnsafeBuffer data = DartWorld.bytes(length, length);
            RegisteredRegion region = client.allocate(Math.max(1, length) + 3L);
            if (length > 0) {
                region.buffer(3, length).putBytes(0, data, 0, length);
            }
            DartMetadata metadata = new DartMetadata().name("by reference").step(1);
            client.send(region, 3, length, metadata, 1)
                    .await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            UnsafeBuffer direct = new UnsafeBuffer(ByteBuffer.allocateDirect(length + 1));
            direct.putBytes(1, data, 0, length);
            client.sendCopy(direct, 1, length, metadata.name("direct"), 2);
            byte[] array = new byte[length + 7];
            data.getBytes(0, array, 7, length);
            client.sendCopy(new UnsafeBuffer(array, 7, length), 0, length, metadata.name("a"), 3);
            client.flush(DartWorld.LIMIT_NS);
            world.awaitReceived(3);
            for (DartWorld.Received message : world.received) {
                assertThat(java.util.Arrays.equals(message.payload(), data.byteArray()))
                        .describedAs(message.name())
                        .isTrue();
                assertThat(message.isCorrupt()).isFalse();
            }
        }
    }

    @Test
    @Tag("dart-D18")
    void shouldKeepOrderOfManyMessagesOfRandomSize() throws Exception {
        int count = 10_000;
        try (DartWorld world = world().receive()) {
            world.master(c -> c.bufferSize(4096).bufferCount(8).dedicatedThreads(true));
            DartClient client = world.client(0, c -> c.maxInFlight(4));
            SplittableRandom random = new SplittableRandom(18);
            DartMetadata metadata = new DartMetadata().name("n");
            UnsafeBuffer data = DartWorld.bytes(20_000, 18);
            for (int i = 0; i < count; i++) {
                int length = random.nextInt(10) == 0 ? random.nextInt(20_000) : random.nextInt(100);
                client.sendCopy(data, 0, length, metadata.step(length), i);
            }
            client.flush(DartWorld.LIMIT_NS);
            world.awaitReceived(count);
            assertThat(world.received).hasSize(count);
            for (int i = 0; i < count; i++) {
                DartWorld.Received message = world.received.get(i);
                assertThat(message.tag()).isEqualTo(i);
                assertThat(message.sequence()).isEqualTo(i + 1);
                assertThat(message.payload()).hasSize((int) message.step());
            }
        }
    }

    @Test
    @Tag("dart-D32")
    void shouldServeMoreClientsThanBuffers() throws Exception {
        try (DartWorld world = world().receive()) {
            world.master(c -> c.bufferCount(3).bufferSize(4096));
            int clients = 10;
            for (int rank = 0; rank < clients; rank++) {
                world.client(rank);
            }
            UnsafeBuffer data = DartWorld.bytes(3000, 32);
            for (int i = 0; i < 100; i++) {
                for (DartClient client : world.clients) {
                    client.sendCopy(data, 0, 3000, null, i);
                }
            }
            for (DartClient client : world.clients) {
                client.flush(DartWorld.LIMIT_NS);
            }
            world.awaitReceived(clients * 100);
            assertThat(world.received).hasSize(clients * 100);
            Map<Integer, Integer> next = new TreeMap<>();
            for (DartWorld.Received message : world.received) {
                assertThat(message.tag()).isEqualTo(next.getOrDefault(message.clientId(), 0));
                next.put(message.clientId(), message.tag() + 1);
                assertThat(message.payload()).isEqualTo(data.byteArray());
            }
        }
    }

    @Test
    void shouldCarryMetadata() throws Exception {
        List<DartMetadata> seen = new ArrayList<>();
        try (DartWorld world = world()) {
            world.receive(
                    world.receiverContext()
                            .handler(
                                    message -> {
                                        DartMetadata copy = new DartMetadata();
                                        UnsafeBuffer block =
                                                new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX]);
                                        int n = message.metadata().encode(block, 0);
                                        copy.decode(block, 0, n);
                                        seen.add(copy);
                                        world.onMessage.run();
                                    }));
            world.master();
            DartClient client = world.client(3);
            client.sendCopy(
                            DartWorld.bytes(48, 0),
                            0,
                            48,
                            new DartMetadata()
                                    .name("../../etc/passwd")
                                    .variable("potential φ")
                                    .elementType(ElementType.FLOAT64)
                                    .shape(2, 3)
                                    .step(1L << 40)
                                    .rank(3)
                                    .property("unit", "V"),
                            9)
                    .await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            Await.until("message", () -> !seen.isEmpty());
            DartMetadata metadata = seen.get(0);
            assertThat(metadata.variable()).isEqualTo("potential φ");
            assertThat(metadata.shape()).containsExactly(2, 3);
            assertThat(metadata.step()).isEqualTo(1L << 40);
            assertThat(metadata.rank()).isEqualTo(3);
            assertThat(metadata.property("unit")).isEqualTo("V");
            assertThat(metadata.elementType()).isEqualTo(ElementType.FLOAT64);
            assertThat(metadata.safeName()).isEqualTo("%2E.%2F..%2Fetc%2Fpasswd");
        }
    }

    @Test
    void shouldStoreMessagesDurably() throws Exception {
        try (DartWorld world = world()) {
            Path out = world.directory.resolve("out");
            world.receive(
                    world.receiverContext()
                            .environment(new SlowStore(world.environment))
                            .directory(out.toString()));
            world.master(c -> c.bufferSize(64 * 1024));
            DartClient client = world.client(0);
            UnsafeBuffer data = DartWorld.bytes(1_000_000, 5);
            DartMetadata metadata = new DartMetadata();
            for (int i = 0; i < 5; i++) {
                DartTicket ticket =
                        client.sendCopy(data, 0, 200_000 * i, metadata.name("f/" + i), i);
                ticket.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
                byte[] expected = new byte[200_000 * i];
                data.getBytes(0, expected);
                assertThat(Files.readAllBytes(out.resolve("f%2F" + i))).isEqualTo(expected);
            }
            world.awaitReceived(5);
            assertThat(world.received.get(4).fileName()).isEqualTo("f%2F4");
            try (var files = Files.list(out)) {
                // The receiver's lock and state stay as long as it runs, and what it says of files.
                assertThat(files.map(file -> file.getFileName().toString()))
                        .filteredOn(
                                name ->
                                        !name.matches(
                                                "\\.receiving-(lock|state)|"
                                                        + DartReceiver.DESCRIPTIONS))
                        .hasSize(5);
            }
        }
    }

    @Test
    void shouldPackManyItemsIntoOneMessage() throws Exception {
        try (DartWorld world = world().receive()) {
            world.master();
            DartClient client = world.client(0);
            Packer packer = new Packer(1 << 20);
            packer.putInt(7).putFloat(1.5f).putDouble(-2.5).putArray(new double[] {1, 2, 3});
            byte[] expected = new byte[packer.length()];
            packer.buffer().getBytes(0, expected);
            packer.commit(client, new DartMetadata().elementType(ElementType.PACKED), 1);
            assertThat(packer.length()).isZero();
            world.awaitReceived(1);
            assertThat(world.received.get(0).payload()).isEqualTo(expected).hasSize(40);
        }
    }

    // ---- the end

    @Test
    @Tag("dart-D42")
    void shouldCloseAtOnceWhenAllIsDelivered() throws Exception {
        try (DartWorld world = world().receive()) {
            world.master();
            DartClient client = world.client(0);
            client.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 0);
            client.flush(DartWorld.LIMIT_NS);
            RegisteredRegion region = client.allocate(10);
            // No time is compared: a close that waited for anything would wait for ever.
            client.close(Long.MAX_VALUE / 8);
            client.close(0);
            assertThat(region.isClosed()).isTrue();
            assertThatThrownBy(() -> client.sendCopy(DartWorld.bytes(1, 1), 0, 1, null, 0))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(client::wouldBlock).isInstanceOf(IllegalStateException.class);
            assertThat(client.isConnected()).isFalse();
        }
    }

    @Test
    @Tag("dart-D41")
    void shouldLeakNothingWhenOpenedAndClosedManyTimes() throws Exception {
        try (DartWorld world = world().receive()) {
            world.master();
            for (int i = 0; i < 20; i++) {
                openAndClose(world);
            }
            int threads = Thread.activeCount();
            long descriptors = descriptors();
            for (int i = 0; i < openings(); i++) {
                openAndClose(world);
            }
            Await.until(
                    () -> "threads " + threads + ", now " + Thread.activeCount(),
                    () -> Thread.activeCount() <= threads + 2);
            Await.until(
                    () -> "descriptors " + descriptors + ", now " + descriptors(),
                    () -> descriptors() <= descriptors + 5);
            assertThat(world.received).hasSize(20 + openings());
        }
    }

    private static void openAndClose(DartWorld world) {
        DartClient client = DartClient.connect(world.clientContext(0));
        client.sendCopy(new UnsafeBuffer("x".getBytes(StandardCharsets.US_ASCII)), 0, 1, null, 0);
        client.close();
    }

    private static long descriptors() {
        return ((com.sun.management.UnixOperatingSystemMXBean)
                        java.lang.management.ManagementFactory.getOperatingSystemMXBean())
                .getOpenFileDescriptorCount();
    }
}
