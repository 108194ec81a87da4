package dev.verbena.cli.perftest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.HeldPort;
import dev.verbena.cli.terminal.Messages;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The meeting of two programs, over real sockets. */
@Timeout(60)
class PerftestWireTest {
    private interface Part {
        Object of(PerftestWire wire) throws Exception;
    }

    /** Runs both sides; what the server's answers, in {@code answers[1]}. */
    private static Object[] run(Part client, Part server) throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        CompletableFuture<Integer> port = new CompletableFuture<>();
        FutureTask<Object> serving =
                new FutureTask<>(
                        () -> {
                            try (BootstrapSocket socket =
                                    BootstrapSocket.accept(loopback, 0, port::complete)) {
                                return server.of(new PerftestWire(socket));
                            }
                        });
        new Thread(serving, "server").start();
        int at = port.get(30, TimeUnit.SECONDS);
        try (BootstrapSocket socket =
                BootstrapSocket.connect(loopback.getHostAddress(), at, 10_000)) {
            Object answer = client.of(new PerftestWire(socket));
            return new Object[] {answer, serving.get(30, TimeUnit.SECONDS)};
        }
    }

    /** A wire whose other side says these bytes and hangs up. */
    private static void withStranger(byte[] bytes, Callable<Part> part) throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        CompletableFuture<Integer> port = new CompletableFuture<>();
        Thread stranger =
                new Thread(
                        () -> {
                            try (Socket socket = new Socket(loopback, port.get())) {
                                socket.getOutputStream().write(bytes);
                                socket.shutdownOutput();
                                socket.getInputStream().readAllBytes();
                            } catch (Exception e) {
                                throw new AssertionError(e);
                            }
                        });
        stranger.start();
        try (BootstrapSocket socket = BootstrapSocket.accept(loopback, 0, port::complete)) {
            part.call().of(new PerftestWire(socket));
        }
        stranger.join(30_000);
    }

    private static byte[] version(String text) {
        return Arrays.copyOf(text.getBytes(StandardCharsets.ISO_8859_1), 16);
    }

    @Test
    void shouldKeepStepWithEachOther() throws Exception {
        Part part =
                wire ->
                        Arrays.asList(
                                wire.exchangeVersions(),
                                wire.exchangeInt(wire.link.isClient() ? 4096 : 65_536),
                                wire.exchangeMtu(wire.link.isClient() ? 1024 : 4096),
                                wire.exchangeLong(wire.link.isClient() ? 1 : -1),
                                wire.exchangeDouble(wire.link.isClient() ? 1.5 : -2.25));
        Object[] answers = run(part, part);
        assertThat(answers[0]).isEqualTo(Arrays.asList(true, 65_536, 1024, -1L, -2.25));
        assertThat(answers[1]).isEqualTo(Arrays.asList(true, 4096, 1024, 1L, 1.5));
    }

    /** perftest tells the figures that it prints, and prints those that it is told. */
    @Test
    void shouldTellTheFiguresThatItShows() throws Exception {
        PerftestReport mine = PerftestReport.ofBandwidth(65_536, 100, 200, 100, 0.5, true);
        Object[] answers =
                run(
                        wire -> mine.exchange(wire).fields(),
                        wire -> {
                            List<Object> told = new ArrayList<>();
                            told.add(wire.exchangeLong(64));
                            told.add(wire.exchangeLong(7));
                            told.add(wire.exchangeDouble(90.5));
                            told.add(wire.exchangeDouble(80.25));
                            told.add(wire.exchangeDouble(0.125));
                            return told;
                        });
        assertThat(answers[1]).isEqualTo(List.of(65_536L, 100L, 1.68, 0.84, 0.5));
        assertThat(answers[0].toString())
                .isEqualTo(
                        "{MsgSize=64, n_iterations=7, BW_peak=90.50, BW_average=80.25,"
                                + " MsgRate=0.125000}");
    }

    @Test
    void shouldNoticeAComputerThatHasGone() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocket server = new ServerSocket(0, 1, loopback);
                BootstrapSocket socket =
                        BootstrapSocket.connect(
                                loopback.getHostAddress(), server.getLocalPort(), 10_000)) {
            assertThat(socket.option(StandardSocketOptions.SO_KEEPALIVE)).isTrue();
            socket.waitIndefinitely();
            int seconds =
                    socket.option(ExtendedSocketOptions.TCP_KEEPIDLE)
                            + socket.option(ExtendedSocketOptions.TCP_KEEPINTERVAL)
                                    * socket.option(ExtendedSocketOptions.TCP_KEEPCOUNT);
            assertThat(seconds).isEqualTo(60);
        }
    }

    @Test
    void shouldKnowPerftestFromAVerbena() throws Exception {
        withStranger(version("6.06"), () -> wire -> assertThat(wire.exchangeVersions()).isFalse());
        withStranger(
                version("6.12\0rubbish12"),
                () -> wire -> assertThat(wire.exchangeVersions()).isFalse());
    }

    @Test
    void shouldRefuseStrangers() throws Exception {
        String[] bad = {"", "5.60", "GET / HTTP/1.1\r\n", "6.06x", "\u00ff\u00ff", "99999999999.1"};
        for (String text : bad) {
            withStranger(
                    version(text),
                    () ->
                            wire ->
                                    assertThatThrownBy(wire::exchangeVersions)
                                            .as(text)
                                            .isInstanceOf(Messages.Failure.class)
                                            .hasMessageContaining("perftest"));
        }
        for (byte[] mtu : new byte[][] {{'0', 0}, {'6', 0}, {'3', '3'}, {-1, 0}, {0, 0}}) {
            withStranger(
                    mtu,
                    () ->
                            wire ->
                                    assertThatThrownBy(() -> wire.exchangeMtu(1024))
                                            .isInstanceOf(Messages.Failure.class));
        }
    }

    @Test
    void shouldSayWhenTheOtherSideHangsUp() throws Exception {
        withStranger(
                new byte[7],
                () ->
                        wire ->
                                assertThatThrownBy(wire::exchangeVersions)
                                        .isInstanceOf(Messages.Failure.class)
                                        .hasMessageContaining("hung up"));
    }

    @Test
    void shouldSayWhenNobodyListens() throws Exception {
        try (HeldPort held = new HeldPort()) {
            assertThatThrownBy(() -> BootstrapSocket.connect("127.0.0.1", held.port(), 0))
                    .isInstanceOf(Messages.Failure.class)
                    .hasMessageContaining("port " + held.port());
        }
    }

    @Test
    void shouldSayAtOnceThatAHostIsUnknown() {
        assertThatThrownBy(() -> BootstrapSocket.connect("no-such.invalid", 18515, 1_000))
                .isInstanceOf(Messages.Failure.class)
                .hasMessageContaining("no name service knows the host 'no-such.invalid'");
    }

    @Test
    void shouldNameThePortThatIsTakenAndWhatToDo() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocket taken = new ServerSocket(0, 1, loopback)) {
            int port = taken.getLocalPort();
            assertThatThrownBy(() -> BootstrapSocket.accept(loopback, port, listening -> {}))
                    .isInstanceOf(Messages.Failure.class)
                    .hasMessageContaining("port " + port + " of 127.0.0.1: Address already in use")
                    .hasMessageContaining("--port");
        }
    }
}
