package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.dart.wire.FrameFlyweight;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The stream between server and receiver when TCP, the disk or the peer misbehaves. */
@Timeout(120)
public abstract class DartStreamContract {
    /** Forwards TCP, and cuts the connection or flips a bit now and then. */
    private static final class Proxy implements AutoCloseable {
        private final ServerSocket listener;
        private final int target;
        final AtomicInteger cuts = new AtomicInteger();
        final AtomicInteger flips = new AtomicInteger();
        final AtomicLong forwarded = new AtomicLong();
        volatile int cutsMax;
        volatile int flipsMax;

        Proxy(int target) throws IOException {
            this.listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
            this.target = target;
            daemon(this::accept);
        }

        int port() {
            return listener.getLocalPort();
        }

        private static void daemon(Runnable runnable) {
            Thread thread = new Thread(runnable, "proxy");
            thread.setDaemon(true);
            thread.start();
        }

        private void accept() {
            try {
                while (true) {
                    Socket in = listener.accept();
                    Socket out = new Socket(InetAddress.getLoopbackAddress(), target);
                    daemon(() -> copy(in, out, true));
                    daemon(() -> copy(out, in, false));
                }
            } catch (IOException e) {
                // Closed: the test is over.
            }
        }

        private void copy(Socket from, Socket to, boolean isData) {
            SplittableRandom random = new SplittableRandom(forwarded.get());
            byte[] bytes = new byte[8192];
            long untilCut = random.nextLong(10_000, 400_000);
            long untilFlip = random.nextLong(5_000, 100_000);
            try (from;
                    to) {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                int n;
                while ((n = in.read(bytes)) > 0) {
                    untilCut -= n;
                    untilFlip -= n;
                    if (isData && untilCut < 0 && cuts.get() < cutsMax) {
                        cuts.incrementAndGet();
                        out.write(bytes, 0, random.nextInt(n));
                        return;
                    }
                    if (isData && untilFlip < 0 && flips.get() < flipsMax) {
                        flips.incrementAndGet();
                        // Beyond any frame header: a wrong length would end the connection.
                        bytes[n - 1] ^= 4;
                        untilFlip = random.nextLong(20_000, 100_000);
                    }
                    out.write(bytes, 0, n);
                    forwarded.addAndGet(n);
                }
            } catch (IOException e) {
                // The other direction has cut.
            }
        }

        @Override
        public void close() throws IOException {
            listener.close();
        }
    }

    /** For subclasses in other modules. */
    protected DartStreamContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    static void sendAndCompare(DartWorld world, int count) {
        DartClient client = world.client(0, c -> c.maxInFlight(4).checksum(true));
        UnsafeBuffer data = DartWorld.bytes(50_000, 1);
        for (int i = 0; i < count; i++) {
            client.sendCopy(data, i, 40_000, new DartMetadata().name("m").step(i), i);
        }
        client.flush(3 * DartWorld.LIMIT_NS);
        world.awaitReceived(count);
        assertThat(world.received).hasSize(count);
        for (int i = 0; i < count; i++) {
            DartWorld.Received message = world.received.get(i);
            byte[] expected = new byte[40_000];
            data.getBytes(i, expected);
            assertThat(message.tag()).isEqualTo(i);
            assertThat(message.isCorrupt()).isFalse();
            assertThat(message.payload()).isEqualTo(expected);
        }
    }

    @Test
    void shouldDeliverExactlyOnceWhenConnectionIsCutAgainAndAgain() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive();
                Proxy proxy = new Proxy(world.receiver.port())) {
            proxy.cutsMax = 6;
            world.receiverPort = proxy.port();
            DartServer master = world.master(c -> c.framePayloadMax(3000));
            sendAndCompare(world, 100);
            assertThat(proxy.cuts.get()).isEqualTo(6);
            assertThat(master.statistics().reconnectCount()).isEqualTo(6);
            assertThat(world.receiver.statistics().messageCount()).isEqualTo(100);
        }
    }

    @Test
    void shouldSendAgainWhatWasDamaged() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive();
                Proxy proxy = new Proxy(world.receiver.port())) {
            proxy.flipsMax = 8;
            world.receiverPort = proxy.port();
            world.master(c -> c.framePayloadMax(60_000));
            sendAndCompare(world, 60);
            assertThat(proxy.flips.get()).isEqualTo(8);
            assertThat(world.receiver.statistics().corruptFrameCount()).isPositive();
        }
    }

    @Test
    void shouldStoreOnceTheDiskWorksAgain() throws Exception {
        try (DartWorld world = new DartWorld(scheme())) {
            Path out = world.directory.resolve("out");
            world.receive(world.receiverContext().directory(out.toString()));
            DartServer master = world.master();
            DartClient client = world.client(0, c -> c.maxInFlight(4));
            UnsafeBuffer data = DartWorld.bytes(30_000, 1);
            client.sendCopy(data, 0, 30_000, new DartMetadata().name("zero"), 0);
            client.flush(DartWorld.LIMIT_NS);
            try (var files = Files.list(out)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
            Files.delete(out);
            DartTicket stuck = client.sendCopy(data, 0, 30_000, new DartMetadata().name("a"), 1);
            client.sendCopy(data, 0, 30_000, new DartMetadata().name("b"), 2);
            Await.until("refused", () -> master.statistics().reconnectCount() > 1);
            client.progress();
            assertThat(stuck.state()).isEqualTo(TicketState.TRANSFERRED);
            assertThat(world.errors).anyMatch(e -> e.getMessage().contains("out"));
            Files.createDirectory(out);
            client.flush(DartWorld.LIMIT_NS);
            assertThat(Files.readAllBytes(out.resolve("a"))).isEqualTo(data.byteArray());
            assertThat(Files.readAllBytes(out.resolve("b"))).isEqualTo(data.byteArray());
            assertThat(world.received).extracting(DartWorld.Received::tag).containsExactly(0, 1, 2);
        }
    }

    @Test
    void shouldSurviveHostileBytesAndHalfOpenConnections() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            SplittableRandom random = new SplittableRandom(7);
            for (int i = 0; i < 60; i++) {
                try (Socket socket =
                        new Socket(InetAddress.getLoopbackAddress(), world.receiver.port())) {
                    socket.getOutputStream().write(hostile(random, i));
                    if (i % 3 == 0) {
                        socket.shutdownOutput();
                        socket.setSoTimeout(20_000);
                        drain(socket.getInputStream());
                    }
                } catch (IOException e) {
                    // It may close while we still write.
                }
            }
            try (Socket halfOpen =
                    new Socket(InetAddress.getLoopbackAddress(), world.receiver.port())) {
                halfOpen.getOutputStream().write(1);
                world.master();
                sendAndCompare(world, 5);
            }
            assertThat(world.receiver.statistics().protocolErrorCount()).isPositive();
            assertThat(world.receiver.failure()).isNull();
        }
    }

    private static void drain(InputStream in) throws IOException {
        while (in.read() >= 0) {
            // what it says does not matter
        }
    }

    /** Noise, or frames with a right checksum and wild content. */
    private static byte[] hostile(SplittableRandom random, int round) {
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[2000]);
        random.nextBytes(bytes.byteArray());
        if (round % 2 == 0) {
            return bytes.byteArray();
        }
        FrameFlyweight frame = new FrameFlyweight();
        int at = 0;
        frame.begin(bytes, at, FrameFlyweight.HELLO)
                .end(bytes, at + FrameFlyweight.LENGTH, FrameFlyweight.HELLO_LENGTH);
        if (round % 4 == 1) {
            bytes.putInt(at + 48 + 16, 5, java.nio.ByteOrder.BIG_ENDIAN);
            bytes.putLong(at + 48 + 20, 1 << 20, java.nio.ByteOrder.BIG_ENDIAN);
            bytes.putLong(at + 48 + 28, 0, java.nio.ByteOrder.BIG_ENDIAN);
            frame.begin(bytes, at, FrameFlyweight.HELLO)
                    .end(bytes, at + FrameFlyweight.LENGTH, FrameFlyweight.HELLO_LENGTH);
        }
        at += FrameFlyweight.LENGTH + FrameFlyweight.HELLO_LENGTH;
        for (int i = 0; i < 5; i++) {
            int length = random.nextInt(200);
            frame.begin(bytes, at, 1 + random.nextInt(9))
                    .flags(random.nextInt(64))
                    .sequence(i + 1)
                    .message(random.nextInt(3), 1 + random.nextInt(2), 0, random.nextInt(2) * 100L);
            if (random.nextBoolean() && length > 100) {
                new DartMetadata()
                        .payload(random.nextInt(300), false, 0)
                        .encode(bytes, at + FrameFlyweight.LENGTH);
            }
            frame.end(bytes, at + FrameFlyweight.LENGTH, length);
            at += FrameFlyweight.LENGTH + length;
        }
        return java.util.Arrays.copyOf(bytes.byteArray(), at);
    }

    @Test
    void shouldStreamWithoutAcknowledgementWhenToldTo() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            world.master(c -> c.ack(AckMode.NONE));
            sendAndCompare(world, 20);
        }
    }

    @Test
    void shouldDrainAndFinishWhenStopped() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            DartServer master = world.master();
            DartClient client = world.client(0, c -> c.maxInFlight(4));
            for (int i = 0; i < 4; i++) {
                client.sendCopy(DartWorld.bytes(60_000, i), 0, 60_000, null, i);
            }
            Await.until("headers", () -> master.statistics().headerCount() == 4);
            master.requestStop();
            assertThat(master.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
            assertThat(world.receiver.awaitFinished(1, DartWorld.LIMIT_NS)).isTrue();
            assertThat(world.received).hasSize(4);
            client.progress();
            assertThat(client.unconfirmed()).isEmpty();
            Await.until(
                    "refused",
                    () -> {
                        try {
                            client.sendCopy(DartWorld.bytes(1, 1), 0, 1, null, 1);
                            return false;
                        } catch (DartException e) {
                            return e.code() == DartException.Code.SERVER_STOPPING;
                        }
                    });
            world.clients.clear();
            client.close(0);
        }
    }
}
