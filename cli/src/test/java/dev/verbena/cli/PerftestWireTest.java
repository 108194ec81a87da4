package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
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
                            try (MeetingSocket socket =
                                    MeetingSocket.accept(loopback, 0, port::complete)) {
                                return server.of(new PerftestWire(socket));
                            }
                        });
        new Thread(serving, "server").start();
        int at = port.get(30, TimeUnit.SECONDS);
        try (MeetingSocket socket = MeetingSocket.connect(loopback.getHostAddress(), at, 10_000)) {
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
        try (MeetingSocket socket = MeetingSocket.accept(loopback, 0, port::complete)) {
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
                                wire.exchangeInt(wire.isClient() ? 4096 : 65_536),
                                wire.exchangeMtu(wire.isClient() ? 1024 : 4096),
                                wire.exchangeLong(wire.isClient() ? 1 : -1),
                                wire.exchangeDouble(wire.isClient() ? 1.5 : -2.25));
        Object[] answers = run(part, part);
        assertThat(answers[0]).isEqualTo(Arrays.asList(true, 65_536, 1024, -1L, -2.25));
        assertThat(answers[1]).isEqualTo(Arrays.asList(true, 4096, 1024, 1L, 1.5));
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
        int free;
        try (java.net.ServerSocket socket = new java.net.ServerSocket(0)) {
            free = socket.getLocalPort();
        }
        assertThatThrownBy(() -> MeetingSocket.connect("127.0.0.1", free, 0))
                .isInstanceOf(Messages.Failure.class)
                .hasMessageContaining("port " + free);
    }
}
