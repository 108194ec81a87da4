package dev.verbena.cli.flesnet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.flesnet.ComputeStatistics;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Points in InfluxDB itself, version 1 of Debian. */
@Timeout(120)
class InfluxServerTest {
    private static final Path INFLUXD = Path.of("/usr/bin/influxd");

    @TempDir private Path folder;
    private final HttpClient client = HttpClient.newHttpClient();
    private String place;

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private Process server() throws Exception {
        place = "127.0.0.1:" + freePort();
        Path configuration = folder.resolve("influxdb.conf");
        Files.writeString(
                configuration,
                """
                reporting-disabled = true
                bind-address = "127.0.0.1:%s"
                [meta]
                dir = "%s/meta"
                [data]
                dir = "%s/data"
                wal-dir = "%s/wal"
                [http]
                bind-address = "%s"
                """
                        .formatted(freePort(), folder, folder, folder, place));
        ProcessBuilder builder =
                new ProcessBuilder(INFLUXD.toString(), "-config", configuration.toString());
        builder.redirectErrorStream(true).redirectOutput(folder.resolve("log").toFile());
        return builder.start();
    }

    private String query(String text) throws Exception {
        String form = "q=" + URLEncoder.encode(text, UTF_8);
        HttpRequest request =
                HttpRequest.newBuilder(URI.create("http://" + place + "/query?db=cbm"))
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(HttpRequest.BodyPublishers.ofString(form))
                        .build();
        return client.send(request, BodyHandlers.ofString()).body();
    }

    private void awaitDatabase(Process server) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (true) {
            try {
                query("CREATE DATABASE cbm");
                return;
            } catch (IOException e) {
                boolean isOver = !server.isAlive() || System.nanoTime() - end > 0;
                assertThat(isOver).as(Files.readString(folder.resolve("log"))).isFalse();
                Thread.sleep(50);
            }
        }
    }

    private static ComputeStatistics statistics() {
        return new ComputeStatistics(0, 0, 0, 4711, 0, 0, 0, 0);
    }

    @Test
    void shouldBeReadBack() throws Exception {
        assumeTrue(Files.isExecutable(INFLUXD), "Debian's package influxdb is not installed");
        Process server = server();
        try {
            awaitDatabase(server);
            List<Throwable> errors = new CopyOnWriteArrayList<>();
            try (InfluxLines lines = new InfluxLines("influx1:" + place + ":cbm", errors::add)) {
                lines.write(3, statistics());
            }
            assertThat(errors).isEmpty();
            assertThat(query("SELECT host, byte_count FROM tsbuilder_status"))
                    .contains("\"compute3\",4711");
        } finally {
            server.destroy();
            if (!server.waitFor(20, TimeUnit.SECONDS)) {
                server.destroyForcibly().waitFor();
            }
        }
    }
}
