package dev.verbena.verbs.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import dev.verbena.verbs.VerbsStub;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How a connect fails, over the recording libibverbs: no NIC is needed to be refused. */
@Timeout(60)
class VerbsConnectTest {
    private static final long LONG_NS = 30_000_000_000L;

    private final List<String> errors = new CopyOnWriteArrayList<>();
    private final VerbsStub stub = VerbsStub.open();
    private final Transport asking = open("asking");
    private final Transport there = open("there");
    private final List<Integer> failures = new ArrayList<>();
    private int accepted;

    private Transport open(String name) {
        return Transports.open(
                "verbs",
                new TransportContext()
                        .job("connect")
                        .name(name)
                        .connectionsMax(8)
                        .errorHandler(e -> errors.add(e.getMessage()))
                        .option("device", "stub0")
                        .option("address", "127.0.0.1"));
    }

    @AfterEach
    void close() {
        asking.close();
        there.close();
        stub.close();
    }

    private final TransportHandler handler =
            new TransportHandler() {
                @Override
                public void onConnectRequest(
                        long connection, URI peer, DirectBuffer data, int offset, int length) {
                    accepted = there.accept(connection, 0);
                }

                @Override
                public void onConnectFailed(
                        long connection, long context, int status, String reason) {
                    failures.add(status);
                }
            };

    private int failure(URI uri) {
        asking.connect(uri, new UnsafeBuffer(), 0, 0, 0, LONG_NS);
        Await.until(
                "a failure",
                () -> {
                    there.poll(handler, 8);
                    return asking.poll(handler, 8) > 0;
                });
        return failures.remove(0);
    }

    @Test
    void shouldTellWhoMayStillComeFromWhoRefuses() {
        URI uri = there.uri();
        URI ofAny = URI.create(uri.toString().replaceFirst("\\?.*", ""));
        assertThat(failure(uri)).isEqualTo(Status.NOT_LISTENING);
        assertThat(failure(ofAny)).isEqualTo(Status.NOT_LISTENING);
        assertThat(failure(URI.create(ofAny + "-not"))).isEqualTo(Status.REFUSED);
        URI byName = URI.create((ofAny + "-not").replace("127.0.0.1", "localhost"));
        assertThat(failure(byName)).isEqualTo(Status.REFUSED);
        there.close();
        assertThat(failure(ofAny)).isEqualTo(Status.NOT_LISTENING);
        assertThat(failure(uri)).as("an incarnation that is gone").isEqualTo(Status.REFUSED);
    }

    @Test
    void shouldNotBlameAPeerThatHadAcceptedWhenDisconnectIsCalled() {
        there.listen();
        long handle = asking.connect(there.uri(), new UnsafeBuffer(), 0, 0, 0, LONG_NS);
        Await.until("it is asked", () -> there.poll(handler, 8) > 0);
        assertThat(accepted).isEqualTo(Transport.ACCEPTED);
        assertThat(asking.await(System.nanoTime() + LONG_NS)).as("it is notified").isTrue();
        assertThat(asking.disconnect(handle)).isEqualTo(Transport.ACCEPTED);
        Await.until("the end", () -> asking.poll(handler, 8) > 0);
        assertThat(failures).containsExactly(Status.CANCELLED);
        assertThat(errors).isEmpty();
    }

    private Socket knock() throws IOException {
        Socket socket = new Socket(there.uri().getHost(), there.uri().getPort());
        socket.setSoTimeout(5_000);
        ByteBuffer hello = Frames.plain(Frames.HELLO);
        socket.getOutputStream().write(hello.array(), 0, hello.limit());
        return socket;
    }

    /** What they said waits for the owner, who computes. */
    @Test
    void shouldTurnAwayWhoComesWhileTooMuchIsUnread() throws Exception {
        for (int i = 0; i < 2000; i++) {
            try (Socket socket = knock()) {
                socket.shutdownOutput();
                assertThat(isClosed(socket)).isTrue();
            }
        }
        try (Socket socket = knock()) {
            assertThat(isClosed(socket)).isTrue();
        }
        URI other = URI.create(there.uri() + "0");
        Await.until("it is heard again", () -> failure(other) == Status.REFUSED);
    }

    private static boolean isClosed(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (SocketException e) {
            return true; // reset
        }
    }
}
