package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.BlockingCalls;
import dev.verbena.transport.TransportContext;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Processes of the same job that write garbage to the servers while others stage. */
@Timeout(240)
public abstract class DartHostilePeerContract {
    private static final int LENGTH = 30_000;
    private static final int MESSAGES_MIN = 50;
    private static final int MESSAGES_MAX = 3000;
    private static final int LETTERS = 800;

    /** For subclasses in other modules. */
    protected DartHostilePeerContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    /** A hostile process, and how much it has sent. */
    private static final class Hostile implements AutoCloseable {
        final AtomicInteger sent = new AtomicInteger();
        private final Process process;
        private final List<String> said = new ArrayList<>();

        Hostile(DartWorld world, DartServer server, DartClient victim) throws IOException {
            process =
                    new ProcessBuilder(
                                    Path.of(System.getProperty("java.home"), "bin", "java")
                                            .toString(),
                                    "-Xmx128m",
                                    "-XX:TieredStopAtLevel=1",
                                    "-XX:+UseSerialGC",
                                    "-ea",
                                    "-cp",
                                    System.getProperty("java.class.path"),
                                    HostilePeer.class.getName(),
                                    world.scheme,
                                    world.job,
                                    server.uri().toString(),
                                    server.serviceId().toString(),
                                    Integer.toString(victim.clientId()))
                            .redirectErrorStream(true)
                            .start();
            Thread reader = new Thread(this::read, "hostile-output");
            reader.setDaemon(true);
            reader.start();
        }

        private void read() {
            try (BufferedReader in =
                    new BufferedReader(new InputStreamReader(process.getInputStream()))) {
                String line;
                while ((line = in.readLine()) != null) {
                    if (line.startsWith("sent ")) {
                        sent.set(Integer.parseInt(line.substring(5)));
                    } else {
                        synchronized (said) {
                            said.add(line);
                        }
                    }
                }
            } catch (IOException e) {
                // It was killed.
            }
        }

        String said() {
            synchronized (said) {
                return said.toString();
            }
        }

        @Override
        public void close() throws Exception {
            process.getOutputStream().close();
            if (!process.waitFor(20, java.util.concurrent.TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        }
    }

    @Test
    @Tag("seeded")
    void shouldStageEveryByteAmongHostileProcesses() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            DartServer master = world.master(c -> c.serverCount(2));
            DartServer slave = world.slave();
            // Ranks that no changed record names by accident.
            DartClient[] clients = {
                world.client(1001, c -> c.applicationId(77).maxInFlight(2)),
                world.client(1002, c -> c.applicationId(77).maxInFlight(2))
            };
            int sent = 0;
            final long start = System.nanoTime();
            try (Hostile first = new Hostile(world, master, clients[0]);
                    Hostile second = new Hostile(world, slave, clients[1])) {
                while (sent < MESSAGES_MIN
                        || first.sent.get() + second.sent.get() < LETTERS && sent < MESSAGES_MAX) {
                    UnsafeBuffer data = DartWorld.bytes(LENGTH, sent);
                    clients[sent % 2].sendCopy(data, 0, LENGTH, null, sent++);
                    if (sent > MESSAGES_MIN) {
                        Thread.sleep(5);
                    }
                }
                for (DartClient client : clients) {
                    client.flush(2 * DartWorld.LIMIT_NS);
                }
                assertThat(first.sent.get() + second.sent.get())
                        .as("%s %s", first.said(), second.said())
                        .isGreaterThanOrEqualTo(LETTERS);
            }
            world.awaitReceived(sent);
            compare(world, sent, List.of(clients[0].clientId(), clients[1].clientId()));
            assertThat(master.failure()).isNull();
            assertThat(slave.failure()).isNull();
            // One report in a second and server, however much nonsense comes.
            long seconds = (System.nanoTime() - start) / 1_000_000_000L;
            assertThat(world.errors)
                    .filteredOn(DartHostilePeerContract::isMalformed)
                    .hasSizeLessThanOrEqualTo(2 * (int) (seconds + 2));
            assertThat(master.statistics().malformedCount()).isPositive();
            // Who comes now is served as before.
            DartClient late = world.client(1003, c -> c.applicationId(77));
            late.sendCopy(DartWorld.bytes(LENGTH, 1), 0, LENGTH, null, 1);
            late.flush(DartWorld.LIMIT_NS);
        } finally {
            System.out.flush();
        }
    }

    /** A connection is one process: the server knows no other of it that would stay behind. */
    @Test
    void shouldKeepNoClientOfAConnectionThatRegisteredSeveral() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            DartServer master = world.master(c -> c.clientsMax(2));
            TransportContext context = new TransportContext().job(world.job).name("several");
            try (BlockingCalls several = BlockingCalls.open(world.scheme, context)) {
                several.transport().listen();
                Await.until("ready", master::isReady);
                long connection = several.connect(master.uri());
                try (RegisteredRegion letter = several.transport().allocate(128, 0)) {
                    for (int rank = 0; rank < 3; rank++) {
                        ControlFlyweight record =
                                new ControlFlyweight()
                                        .begin(
                                                letter.buffer(0, 128),
                                                0,
                                                ControlFlyweight.REGISTER,
                                                master.serviceId());
                        record.registration()
                                .write(
                                        ControlFlyweight.ROLE_CLIENT,
                                        77,
                                        rank,
                                        0,
                                        several.transport().uri());
                        record.end();
                        several.send(connection, letter, 0, 128);
                    }
                }
                Await.until("blamed", () -> master.statistics().malformedCount() > 0);
                several.disconnect(connection);
            }
            for (int rank = 10; rank < 12; rank++) {
                DartClient client = world.client(rank);
                client.sendCopy(DartWorld.bytes(LENGTH, rank), 0, LENGTH, null, rank);
                client.flush(DartWorld.LIMIT_NS);
            }
        }
    }

    private static boolean isMalformed(Throwable e) {
        return e instanceof DartException
                && ((DartException) e).code() == DartException.Code.MALFORMED;
    }

    private static void compare(DartWorld world, int sent, List<Integer> clientIds) {
        Map<Integer, List<DartWorld.Received>> byClient =
                world.received.stream()
                        .filter(message -> clientIds.contains(message.clientId()))
                        .collect(Collectors.groupingBy(DartWorld.Received::clientId));
        int count = 0;
        for (int i = 0; i < clientIds.size(); i++) {
            int expected = i;
            for (DartWorld.Received message : byClient.get(clientIds.get(i))) {
                assertThat(message.tag()).isEqualTo(expected);
                assertThat(message.payload())
                        .isEqualTo(DartWorld.bytes(LENGTH, expected).byteArray());
                expected += clientIds.size();
                count++;
            }
        }
        assertThat(count).isEqualTo(sent);
    }
}
