package dev.verbena.cli.perftest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.cli.VerbenaCommand;
import dev.verbena.verbs.ConnectionChannel;
import dev.verbena.verbs.ConnectionEvent;
import dev.verbena.verbs.ConnectionEventType;
import dev.verbena.verbs.ConnectionIdentifier;
import dev.verbena.verbs.PortSpace;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/**
 * Two machines with a wire that loses packets, as {@code ci/rdma-vm/wire-test} prepares them: the
 * other one runs servers of rdma-core's rping, and pulls its cable when asked to.
 */
@Tag("verbs-wire")
@Timeout(180)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RpingWireIT {
    private static final String SERVER = System.getenv("VERBENA_WIRE_SERVER");
    private static final Path SHARED = Path.of("/run/rdma-vm");

    /** Seven times 67 ms are meant; timers may be four times late, emulated machines more. */
    private static final long RETRY_SECONDS = 20;

    private static final int CONNECT_TRIES = 2;

    private static final long REMOVAL_NS = 60_000_000_000L;

    /** Who has sent so much is connected. */
    private static final long PINGING_BYTES = 200_000;

    @BeforeEach
    void findServer() {
        assumeTrue(SERVER != null, "needs two machines; ./verbena test --tier vm has them");
    }

    private static String ping(String port, String... more) {
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said);
        String[] command = {"rping", "-c", "-a", SERVER, "-p", port, "-S", "60000", "-V"};
        String[] all = new String[command.length + more.length];
        System.arraycopy(command, 0, all, 0, command.length);
        System.arraycopy(more, 0, all, command.length, more.length);
        return VerbenaCommand.run(out, out, all) + " " + said;
    }

    /** Bytes that this machine has put on the wire. */
    private static long sentBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/net/dev"))) {
            if (line.strip().startsWith("eth0:")) {
                return Long.parseLong(line.strip().split("\\s+")[9]);
            }
        }
        throw new AssertionError("no eth0 here");
    }

    @Test
    @Order(1)
    void shouldLoseAndCorruptNothingOverAWireThatLosesPackets() {
        assertThat(ping("7174", "-C", "25"))
                .startsWith("0 25 pings of 60000 bytes to " + SERVER)
                .contains("every byte compared");
    }

    /** Pings without end, while somebody pulls a cable. */
    private static void assertEndsWhenCut(int port, CableCutter cutter) throws Exception {
        CompletableFuture<String> pings = pinging(port);
        cutter.cut();
        long beganNs = System.nanoTime();
        String said = pings.get(100, TimeUnit.SECONDS);
        assertThat(said).startsWith("1 ").contains("the device answers");
        assertThat(System.nanoTime() - beganNs).isLessThan(RETRY_SECONDS * 1_000_000_000L);
    }

    /**
     * Pings that have begun. On a wire that loses packets a connection may take a second try, with
     * another server, as one of rdma-core's serves once.
     */
    private static CompletableFuture<String> pinging(int firstPort) throws Exception {
        for (int tries = 1; ; tries++) {
            long before = sentBytes();
            String port = "" + (firstPort + 2 * (tries - 1));
            CompletableFuture<String> pings =
                    CompletableFuture.supplyAsync(
                            () -> ping(port, "-C", "100000000", "--timeout", "20"),
                            command -> new Thread(command).start());
            while (!pings.isDone() && sentBytes() < before + PINGING_BYTES) {
                TimeUnit.MILLISECONDS.sleep(100);
            }
            if (!pings.isDone()) {
                return pings;
            }
            assertThat(pings.get()).contains("waiting for ESTABLISHED");
            assertThat(tries).as("tries to connect").isLessThan(CONNECT_TRIES);
        }
    }

    /** Takes the link down. */
    private interface CableCutter {
        void cut() throws IOException, InterruptedException;
    }

    @Test
    @Order(2)
    void shouldTellInTimeThatThePeersCableWasPulled() throws Exception {
        assertEndsWhenCut(7175, () -> Files.createFile(SHARED.resolve("cut")));
        Files.createFile(SHARED.resolve("mend"));
        while (Files.exists(SHARED.resolve("mend"))) {
            TimeUnit.MILLISECONDS.sleep(100);
        }
    }

    @Test
    @Order(3)
    void shouldTellInTimeThatTheOwnCableWasPulled() throws Exception {
        assertEndsWhenCut(
                7176,
                () ->
                        assertThat(
                                        new ProcessBuilder("ip", "link", "set", "eth0", "down")
                                                .inheritIO()
                                                .start()
                                                .waitFor())
                                .isZero());
    }

    /**
     * The last test: the kernel takes the device when this JVM has ended; wire-test makes another.
     */
    @Test
    @Order(4)
    void shouldTellThatTheDeviceIsTaken() throws Exception {
        String[] up = {"ip", "link", "set", "eth0", "up"};
        assertThat(new ProcessBuilder(up).inheritIO().start().waitFor()).isZero();
        try (ConnectionChannel channel = ConnectionChannel.open();
                ConnectionIdentifier identifier = channel.createIdentifier(PortSpace.TCP)) {
            identifier.bind(new InetSocketAddress("10.99.0.1", 0));
            String device = identifier.deviceName();
            Files.createFile(SHARED.resolve("removed"));
            new ProcessBuilder("rdma", "link", "delete", device).inheritIO().start();
            ConnectionEvent event = identifier.await(REMOVAL_NS);
            assertThat(event).as("an event within a minute").isNotNull();
            assertThat(event.type()).isEqualTo(ConnectionEventType.DEVICE_REMOVAL);
            assertThat(event.type().isError()).isTrue();
        }
    }
}
