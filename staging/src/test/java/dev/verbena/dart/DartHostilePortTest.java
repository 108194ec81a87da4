package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.Fuzz;
import dev.verbena.dart.wire.FrameFlyweight;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A receiver that is a process, among hostile connections, while a true staging run goes on. */
@Timeout(240)
@Tag("once")
class DartHostilePortTest {
    private static final int LENGTH = 60_000;
    private static final int MESSAGES_MIN = 60;
    private static final int MESSAGES_MAX = 2000;
    private static final int ATTACKS_MIN = 600;

    /** Noise, half-open connections, drips, and what a server would say, changed at random. */
    private static final class Hostility implements AutoCloseable {
        final AtomicLong attacks = new AtomicLong();
        private final int port;
        private final Fuzz fuzz = new Fuzz("port", List.of(conversation()), 0);
        private final List<Thread> threads = new ArrayList<>();
        private volatile boolean isEnding;

        Hostility(int port) {
            this.port = port;
            for (int i = 0; i < 4; i++) {
                int first = i * 1_000_000;
                Thread thread = new Thread(() -> attack(first), "hostile");
                thread.setDaemon(true);
                thread.start();
                threads.add(thread);
            }
        }

        /** Without the farewell: who says it in order counts as a server that has finished. */
        private static byte[] conversation() {
            byte[] all = DartDecodersFuzzTest.conversation();
            return Arrays.copyOf(
                    all, all.length - FrameFlyweight.LENGTH - FrameFlyweight.FIN_LENGTH);
        }

        private void attack(long first) {
            ArrayDeque<Socket> open = new ArrayDeque<>();
            for (long round = first; !isEnding; round++) {
                try {
                    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                    open.add(socket);
                    if (attack(socket, round)) {
                        open.remove(socket);
                        socket.close();
                    }
                    if (open.size() > 40) {
                        open.remove().close();
                    }
                    Thread.sleep(2);
                } catch (IOException e) {
                    // It was ended while we still spoke.
                } catch (InterruptedException e) {
                    break;
                }
                attacks.incrementAndGet();
            }
            open.forEach(
                    socket -> {
                        try {
                            socket.close();
                        } catch (IOException e) {
                            throw new java.io.UncheckedIOException(e);
                        }
                    });
        }

        /** False: the connection stays open. */
        private boolean attack(Socket socket, long round) throws IOException, InterruptedException {
            byte[] input = fuzz.input(round);
            switch ((int) (round % 5)) {
                case 0 -> socket.getOutputStream().write(input, 0, Math.min(1, input.length));
                case 1 -> {
                    byte[] hello = conversation();
                    for (int i = 0; i < 30 && !isEnding; i++) {
                        socket.getOutputStream().write(hello[i]);
                        Thread.sleep(3);
                    }
                }
                case 2 -> {
                    socket.setSoLinger(true, 0);
                    socket.getOutputStream().write(conversation(), 0, 200);
                    return true;
                }
                default -> {
                    if (DartDecodersFuzzTest.isMended(input)) {
                        DartDecodersFuzzTest.mend(input);
                    }
                    socket.getOutputStream().write(input);
                    return round % 2 == 0;
                }
            }
            return false;
        }

        @Override
        public void close() throws InterruptedException {
            isEnding = true;
            for (Thread thread : threads) {
                thread.join(30_000);
                assertThat(thread.isAlive()).isFalse();
            }
        }
    }

    @Test
    @Tag("seeded")
    void shouldStoreEveryByteAmongHostileConnections() throws Exception {
        try (DartWorld world = new DartWorld("shm")) {
            Path out = world.directory.resolve("out");
            try (ReceiverProcess receiver = new ReceiverProcess(out, 0)) {
                world.receiverPort = receiver.port;
                int sent = 0;
                try (Hostility hostility = new Hostility(receiver.port)) {
                    DartServer master = world.master();
                    DartClient[] clients = {world.client(0), world.client(1)};
                    while (sent < MESSAGES_MIN
                            || hostility.attacks.get() < ATTACKS_MIN && sent < MESSAGES_MAX) {
                        DartMetadata metadata = new DartMetadata().name("true-" + sent);
                        UnsafeBuffer data = DartWorld.bytes(LENGTH, sent);
                        clients[sent % 2].sendCopy(data, 0, LENGTH, metadata, sent++);
                    }
                    for (DartClient client : clients) {
                        client.flush(2 * DartWorld.LIMIT_NS);
                        client.close(DartWorld.LIMIT_NS);
                    }
                    assertThat(hostility.attacks.get()).isGreaterThan(100);
                    assertThat(master.failure()).isNull();
                }
                for (int i = 0; i < sent; i++) {
                    assertThat(Files.readAllBytes(out.resolve("true-" + i)))
                            .as("message %d", i)
                            .isEqualTo(DartWorld.bytes(LENGTH, i).byteArray());
                }
                assertThat(receiver.process.isAlive()).isTrue();
                world.servers.get(0).requestStop();
                assertThat(world.servers.get(0).awaitStopped(DartWorld.LIMIT_NS)).isTrue();
                assertThat(receiver.exitCode()).isZero();
            }
        }
    }

    /**
     * A stranger's message whose first frame is refused must not share its memory with the next
     * message of anybody: when the stranger gives it up, the other's file would go.
     */
    @Test
    void shouldNotLoseAMessageWhenAStrangersFirstFrameIsRefused() throws Exception {
        try (DartWorld world = new DartWorld("shm")) {
            Path out = world.directory.resolve("out");
            world.receive(
                    world.receiverContext()
                            .environment(new SlowStore(world.environment))
                            .directory(out.toString()));
            world.master();
            DartClient client = world.client(0);
            say(world.receiver.port(), refused());
            while (world.receiver.statistics().protocolErrorCount() == 0) {
                Thread.sleep(5);
            }
            UnsafeBuffer data = DartWorld.bytes(LENGTH, 1);
            DartTicket ticket =
                    client.sendCopy(data, 0, LENGTH, new DartMetadata().name("true"), 1);
            // While the file waits for its name, the stranger begins his message again.
            for (int i = 0; i < 10; i++) {
                say(world.receiver.port(), DartDecodersFuzzTest.conversation());
                Thread.sleep(30);
            }
            ticket.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            assertThat(Files.readAllBytes(out.resolve("true"))).isEqualTo(data.byteArray());
        }
    }

    /** HELLO, and a message whose first and only frame has fewer bytes than the message. */
    private static byte[] refused() {
        byte[] all = DartDecodersFuzzTest.conversation();
        int at =
                3 * FrameFlyweight.LENGTH
                        + FrameFlyweight.HELLO_LENGTH
                        + FrameFlyweight.REVERSE_STATE_LENGTH;
        new DartMetadata()
                .name("n1")
                .variable("v")
                .payload(65_151, false, 0)
                .encode(new UnsafeBuffer(all), at);
        DartDecodersFuzzTest.mend(all);
        return all;
    }

    private static void say(int port, byte[] bytes) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write(bytes);
            socket.setSoTimeout(200);
            socket.getInputStream().read(new byte[64]);
        } catch (java.net.SocketException | java.net.SocketTimeoutException e) {
            // The receiver has ended it, or has nothing to say.
        }
    }

    /** What a server says before HELLO has another length when a secret is shared. */
    @Test
    void shouldStageAmongHostileConnectionsWithASecret() throws Exception {
        byte[] secret = new byte[32];
        try (DartWorld world = new DartWorld("shm")) {
            world.receive(world.receiverContext().secret(secret));
            try (Hostility hostility = new Hostility(world.receiver.port())) {
                world.master(c -> c.secret(secret));
                DartClient client = world.client(0);
                int sent = 0;
                while (sent < MESSAGES_MIN || hostility.attacks.get() < 200 && sent < 2000) {
                    client.sendCopy(DartWorld.bytes(LENGTH, sent), 0, LENGTH, null, sent++);
                }
                client.flush(2 * DartWorld.LIMIT_NS);
                world.awaitReceived(sent);
                for (int i = 0; i < sent; i++) {
                    assertThat(world.received.get(i).payload())
                            .isEqualTo(DartWorld.bytes(LENGTH, i).byteArray());
                }
                assertThat(world.received).hasSize(sent);
            }
        }
    }
}
