package dev.verbena.cli.perftest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.cli.VerbenaCommand;
import dev.verbena.verbs.ConnectionChannel;
import dev.verbena.verbs.ConnectionIdentifier;
import dev.verbena.verbs.DeviceInfo;
import dev.verbena.verbs.GidEntry;
import dev.verbena.verbs.PortAttributes;
import dev.verbena.verbs.PortSpace;
import dev.verbena.verbs.RdmaDevice;
import dev.verbena.verbs.RdmaDevices;
import dev.verbena.verbs.VerbsException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code verbena rping} against rdma-core's {@code rping}, both ways round, and against itself. */
@Tag("verbs-device")
@Timeout(180)
class RpingDeviceIT {
    private static final long WAIT_SECONDS = 100;

    @TempDir Path folder;
    private String address;

    @BeforeEach
    void findDevice() {
        address = activeAddress();
        boolean isRequired = Boolean.getBoolean("verbena.verbs.required");
        assertThat(address != null || !isRequired).as("a device is required").isTrue();
        assumeTrue(
                address != null,
                "no RDMA device here; ./verbena test --tier vm runs this in a virtual machine");
    }

    /** An IPv4 address of a device with an active port; null if there is none. */
    private static String activeAddress() {
        if (ConnectionChannel.unavailabilityCause() != null) {
            return null;
        }
        for (DeviceInfo info : RdmaDevices.list()) {
            try (RdmaDevice device = RdmaDevices.open(info.name())) {
                if (device.port(1).state() == PortAttributes.ACTIVE) {
                    for (GidEntry entry : device.gids(1)) {
                        if (entry.gid().isIpv4()) {
                            return entry.gid().address();
                        }
                    }
                }
            } catch (VerbsException e) {
                continue; // may not be opened, as in a container
            }
        }
        return null;
    }

    /** A port that was free a moment ago. */
    private int freePort() {
        try (ConnectionChannel channel = ConnectionChannel.open();
                ConnectionIdentifier identifier = channel.createIdentifier(PortSpace.TCP)) {
            identifier.bind(new InetSocketAddress(address, 0));
            return identifier.localAddress().getPort();
        }
    }

    private static String java(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        List<String> command = new ArrayList<>(List.of("rping"));
        command.addAll(List.of(arguments));
        int code =
                VerbenaCommand.run(
                        new PrintWriter(out), new PrintWriter(err), command.toArray(new String[0]));
        return code + " " + out + err;
    }

    /** A client may come before its server listens, and is then refused. */
    private static String javaClient(String... arguments) throws InterruptedException {
        String said = java(arguments);
        for (int i = 0; i < 100 && said.contains("nobody listens"); i++) {
            TimeUnit.MILLISECONDS.sleep(200);
            said = java(arguments);
        }
        return said;
    }

    private Process c(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("rping"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("c").toFile())
                .start();
    }

    private void assertEndsWell(Process process) throws Exception {
        boolean isEnded = process.waitFor(WAIT_SECONDS, TimeUnit.SECONDS);
        process.destroyForcibly();
        String said = Files.readString(folder.resolve("c"));
        assertThat(isEnded).as(said).isTrue();
        assertThat(process.exitValue()).as(said).isZero();
    }

    @Test
    void shouldPingServersInC() throws Exception {
        for (String size : new String[] {"64", "65000"}) {
            String port = String.valueOf(freePort());
            Process server = c("-s", "-a", address, "-p", port, "-S", size, "-C", "20", "-v");
            try {
                String said =
                        javaClient(
                                "-c", "-a", address, "-p", port, "-S", size, "-C", "20", "-V",
                                "--json");
                assertThat(said)
                        .startsWith("0 ")
                        .contains("\"count\": 20, \"size\": " + size + ", \"verified\": true");
                assertEndsWell(server);
                assertThat(Files.readString(folder.resolve("c")))
                        .contains("server ping data: verbena-ping-0: ")
                        .contains("server ping data: verbena-ping-19: ");
            } finally {
                server.destroyForcibly();
            }
        }
    }

    @Test
    void shouldServeClientsInC() throws Exception {
        for (String size : new String[] {"64", "65000"}) {
            String port = String.valueOf(freePort());
            CompletableFuture<String> server =
                    CompletableFuture.supplyAsync(
                            () -> java("-s", "-a", address, "-p", port, "-S", size),
                            command -> new Thread(command).start());
            Process client = null;
            for (int i = 0; i < 50; i++) {
                client = c("-c", "-a", address, "-p", port, "-S", size, "-C", "20", "-V", "-v");
                client.waitFor(WAIT_SECONDS, TimeUnit.SECONDS);
                if (!Files.readString(folder.resolve("c")).contains("connect error")
                        && client.exitValue() == 0) {
                    break;
                }
                TimeUnit.MILLISECONDS.sleep(200);
            }
            assertEndsWell(client);
            assertThat(server.get(WAIT_SECONDS, TimeUnit.SECONDS))
                    .startsWith("0 20 pings of " + size + " bytes from " + address);
        }
    }

    @Test
    void shouldPingItselfAndRefusePingsThatAreTooLong() throws Exception {
        String port = String.valueOf(freePort());
        CompletableFuture<String> server =
                CompletableFuture.supplyAsync(
                        () -> java("-s", "-p", port, "-S", "100000"),
                        command -> new Thread(command).start());
        assertThat(javaClient("-c", "-a", address, "-p", port, "-S", "100000", "-V"))
                .startsWith("0 10 pings of 100000 bytes to " + address)
                .contains("every byte compared");
        assertThat(server.get(WAIT_SECONDS, TimeUnit.SECONDS)).startsWith("0 10 pings");
        CompletableFuture<String> small =
                CompletableFuture.supplyAsync(
                        () -> java("-s", "-p", port, "-S", "64"),
                        command -> new Thread(command).start());
        assertThat(javaClient("-c", "-a", address, "-p", port, "-S", "128", "--timeout", "20"))
                .startsWith("1 ")
                .contains("the server ended the connection in ping 0");
        assertThat(small.get(WAIT_SECONDS, TimeUnit.SECONDS))
                .contains("announces pings of 128 bytes, here they have 64");
    }
}
