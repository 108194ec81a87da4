package dev.verbena.cli.flesnet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import dev.verbena.flesnet.ComputeStatistics;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Points that go to a file and to a server of HTTP. */
@Timeout(60)
class InfluxLinesTest {
    private static final String POINT =
            "tsbuilder_status,host=compute3 timeslice_count=7i,component_count=14i,"
                    + "byte_count=99i,timeslice_incomplete_count=1i,timeslices_allocated=2i"
                    + " \\d{19}\n";

    @TempDir private Path folder;
    private final List<String> received = new CopyOnWriteArrayList<>();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private volatile int answer = 204;
    private HttpServer server;

    @BeforeEach
    void startServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext(
                "/write",
                exchange -> {
                    String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
                    received.add(
                            exchange.getRequestMethod()
                                    + " "
                                    + exchange.getRequestURI().getQuery()
                                    + " "
                                    + body);
                    exchange.sendResponseHeaders(answer, -1);
                    exchange.close();
                });
        server.start();
    }

    @AfterEach
    void stopServer() {
        server.stop(0);
    }

    private static ComputeStatistics statistics() {
        return new ComputeStatistics(7, 1, 14, 99, 5, 0, 0, 0);
    }

    @Test
    void shouldAppendToAFile() throws IOException {
        Path file = folder.resolve("points");
        for (String sink : List.of(file.toString(), "file:" + file)) {
            try (InfluxLines lines = new InfluxLines(sink, errors::add)) {
                lines.write(3, statistics());
                // The next one is due in a second.
                lines.write(3, statistics());
            }
        }
        assertThat(Files.readString(file)).matches("(" + POINT + "){2,4}");
        assertThat(errors).isEmpty();
    }

    @Test
    void shouldGoOnWhenADiskIsFull() throws IOException {
        Path full = Path.of("/dev/full");
        assumeTrue(Files.exists(full));
        try (InfluxLines lines = new InfluxLines(full.toString(), errors::add)) {
            lines.write(3, statistics());
            assertThat(errors).hasSize(1);
            assertThat(errors.get(0)).hasMessageContaining("no points to /dev/full: No space left");
        }
        assertThat(errors).hasSize(1);
    }

    /** It is not asked for all that was missed meanwhile. */
    @Test
    void shouldWaitASecondAfterAServerThatDoesNotAnswer() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 2, InetAddress.getLoopbackAddress());
                InfluxLines lines = new InfluxLines(sink(silent), errors::add)) {
            lines.write(3, statistics());
            assertThat(errors).hasSize(1);
            lines.write(3, statistics());
            silent.setSoTimeout(100);
            silent.accept().close();
            assertThatThrownBy(silent::accept).isInstanceOf(SocketTimeoutException.class);
        }
    }

    private static String sink(ServerSocket at) {
        return "influx1:127.0.0.1:" + at.getLocalPort() + ":cbm";
    }

    /** Nobody reads why. */
    @Test
    void shouldKeepNoConnectionToAServerThatRefuses() throws Exception {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (ServerSocket refusing = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                InfluxLines lines = new InfluxLines(sink(refusing), errors::add)) {
            Future<Socket> accepted = thread.submit(() -> refuse(refusing));
            lines.write(3, statistics());
            assertThat(errors.get(0)).hasMessageContaining("404");
            try (Socket socket = accepted.get()) {
                socket.setSoTimeout(5000);
                assertThat(socket.getInputStream().transferTo(OutputStream.nullOutputStream()))
                        .isNotNegative();
            }
        } finally {
            thread.shutdown();
        }
    }

    private static Socket refuse(ServerSocket at) throws IOException {
        Socket socket = at.accept();
        String answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\n\r\nbecause";
        socket.getOutputStream().write(answer.getBytes(UTF_8));
        return socket;
    }

    @Test
    void shouldPostToAServer() throws IOException {
        String place = "127.0.0.1:" + server.getAddress().getPort();
        for (String sink :
                List.of("influx1:" + place + ":cbm", "http://" + place + "/write?db=cbm")) {
            received.clear();
            try (InfluxLines lines = new InfluxLines(sink, errors::add)) {
                lines.write(3, statistics());
            }
            assertThat(received).hasSize(1);
            assertThat(received.get(0)).matches("POST db=cbm " + POINT);
        }
        assertThat(errors).isEmpty();
    }

    @Test
    void shouldGoOnWhenAServerRefusesOrIsNotThere() throws IOException {
        answer = 404;
        String sink = "influx1:127.0.0.1:" + server.getAddress().getPort() + ":none";
        try (InfluxLines lines = new InfluxLines(sink, errors::add)) {
            lines.write(3, statistics());
            assertThat(errors).hasSize(1);
            assertThat(errors.get(0)).hasMessageContaining("404");
        }
        server.stop(0);
        try (InfluxLines lines = new InfluxLines(sink, errors::add)) {
            lines.write(3, statistics());
        }
        assertThat(errors).hasSize(2);
        assertThatThrownBy(() -> new InfluxLines("influx1:host", errors::add))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("influx1:HOST:PORT:DATABASE");
    }
}
