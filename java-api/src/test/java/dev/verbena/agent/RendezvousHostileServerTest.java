package dev.verbena.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a process of a job does with answers of a program that is no rendezvous server. */
@Timeout(60)
class RendezvousHostileServerTest {
    private static final int ROUNDS = 1 << 14;

    /** Answers at once, without being asked: what is sent so often, then the end. */
    private static void requireRefused(String first, String again, String why) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> sent =
                    CompletableFuture.runAsync(() -> send(server, first, again));
            URI uri = URI.create("tcp://127.0.0.1:" + server.getLocalPort());
            long deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + 30_000_000_000L;
            assertThatThrownBy(
                            () -> {
                                try (TcpRendezvous store =
                                        new TcpRendezvous(
                                                uri, "job", SystemNanoClock.INSTANCE, deadlineNs)) {
                                    store.read("folder");
                                }
                            })
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(uri.toString())
                    .hasMessageContaining(why);
            sent.cancel(false);
        }
    }

    private static void send(ServerSocket server, String first, String again) {
        byte[] bytes = again.getBytes(UTF_8);
        try (Socket socket = server.accept();
                OutputStream out = socket.getOutputStream()) {
            out.write(first.getBytes(UTF_8));
            for (int i = 0; i < ROUNDS; i++) {
                out.write(bytes);
            }
            // To close it with requests unread would take back what was sent.
            socket.getInputStream().transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            // The client has closed the connection.
        }
    }

    private static URI uri(ServerSocket server) {
        return URI.create("tcp://127.0.0.1:" + server.getLocalPort());
    }

    private static long farNs() {
        return SystemNanoClock.INSTANCE.nanoTime() + 3_600_000_000_000L;
    }

    /** A program that waits for an hour to be told to go on would wait for an hour. */
    @Test
    void shouldNameAServerThatNoLongerAnswers() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Socket> accepted =
                    CompletableFuture.supplyAsync(
                            () -> {
                                try {
                                    Socket socket = server.accept();
                                    socket.getOutputStream().write("0\n".getBytes(UTF_8));
                                    return socket;
                                } catch (IOException e) {
                                    throw new UncheckedIOException(e);
                                }
                            });
            try (TcpRendezvous store =
                    new TcpRendezvous(uri(server), "job", SystemNanoClock.INSTANCE, farNs(), 100)) {
                assertThatThrownBy(() -> store.read("folder"))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining(uri(server).toString())
                        .hasMessageContaining("100 ms");
                // An answer that comes late is none to the next request.
                try (Socket socket = accepted.get()) {
                    socket.getOutputStream().write("1\nname text\n".getBytes(UTF_8));
                    assertThatThrownBy(store::folders).isInstanceOf(IOException.class);
                }
            }
        }
    }

    @Test
    void shouldEndTheConnectionWhenItIsRefused() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> joining =
                    CompletableFuture.runAsync(
                            () ->
                                    assertThatThrownBy(
                                                    () ->
                                                            new TcpRendezvous(
                                                                    uri(server),
                                                                    "job",
                                                                    SystemNanoClock.INSTANCE,
                                                                    farNs()))
                                            .isInstanceOf(JobGroupException.class)
                                            .hasMessageContaining("no room"));
            try (Socket socket = server.accept()) {
                socket.setSoTimeout(20_000);
                socket.getOutputStream().write("error no room\n".getBytes(UTF_8));
                // Until the end.
                socket.getInputStream().readAllBytes();
            }
            joining.get();
        }
    }

    @Test
    void shouldRefuseALineWithoutEnd() throws Exception {
        requireRefused("0\n", "x".repeat(64), "more than 32768 characters");
    }

    @Test
    void shouldRefuseLinesWithoutEnd() throws Exception {
        String lines = ("x".repeat(510) + " y\n").repeat(10);
        requireRefused("0\n999999999\n", lines, "more than 67108864 characters");
    }

    @Test
    void shouldRefuseALineThatIsNoText() throws Exception {
        requireRefused("0\n1\n", "word\n", "is no rendezvous server of this version");
        requireRefused("0\n1\n", "name %zz\n", "is no rendezvous server of this version");
    }
}
