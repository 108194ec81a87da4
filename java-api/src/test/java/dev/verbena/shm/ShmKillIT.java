package dev.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.agent.internal.PlantedFaults;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.RemoteDescriptor;
import dev.verbena.transport.Transport;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Java processes that die at every labelled step that they come to, in C and in Java. This process
 * is their peer: it goes on, loses each of them once, serves the next, and the invariant checker
 * finds nothing in the segments.
 */
@Timeout(400)
class ShmKillIT {
    private static final List<String> JAVA_STEPS =
            List.of(
                    "java.send.filled",
                    "java.send.published",
                    "java.pin.stored",
                    "java.put.copied",
                    "java.put.unpinned",
                    "java.release.returned");
    private static final int KILLED = 137;
    private static final int STEPS_MIN = 25;

    /** Where children do not write. */
    private static final int DESCRIPTOR_AT = 900_000;

    @TempDir private Path folder;
    private Transport transport;
    private RegisteredRegion region;
    private Seen seen;

    /** What this process saw of the present child; accepts it and tells it where to write. */
    private final class Seen extends Pair.Seen {
        private final RemoteDescriptor child = new RemoteDescriptor();
        private int outstanding;
        private boolean isGone;

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer data, int offset, int length) {
            super.onConnectRequest(connection, peer, data, offset, length);
            child.decode(data, offset);
            // Who is dead by now cannot be accepted: that is the answer, no event follows.
            isGone |= ShmKillIT.this.transport.accept(connection, 0) == Transport.NOT_CONNECTED;
        }

        @Override
        public void onConnected(long connection, long context) {
            super.onConnected(connection, context);
            ShmKillIT.this.transport.send(
                    connection, region, DESCRIPTOR_AT, RemoteDescriptor.LENGTH, 0, 0);
            outstanding++;
        }

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            outstanding--;
        }

        /** A put and a message, one at a time. */
        void work() {
            if (connected != 0 && ends.isEmpty() && outstanding == 0) {
                Transport to = ShmKillIT.this.transport;
                outstanding += to.put(connected, region, 0, child, 0, 64, 0, 0) == 0 ? 1 : 0;
                outstanding += to.send(connected, region, 0, 64, 0, 0) == 0 ? 1 : 0;
            }
        }
    }

    @Test
    void shouldGoOnWhereverAJavaProcessDies() throws Exception {
        assumeTrue(
                PlantedFaults.ENABLED,
                "only a test build has labelled steps; ci/planted-faults runs this in one");
        transport = Transports.open("shm", ShmTesting.context("parent"));
        region = transport.allocate(1 << 20, RemoteDescriptor.REMOTE_ALL);
        region.describe(0, region.length(), RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor())
                .encode(region.buffer(DESCRIPTOR_AT, RemoteDescriptor.LENGTH), 0);
        transport.listen();
        Path list = folder.resolve("steps");
        assertThat(run("VERBENA_STEPS", list.toString())).isZero();
        List<String> steps = new ArrayList<>(Files.readAllLines(list));
        steps.addAll(JAVA_STEPS);
        List<String> died = new ArrayList<>();
        for (String step : steps) {
            if (run("VERBENA_KILL_AT", step + ":1") == KILLED) {
                died.add(step);
            }
            if (run("VERBENA_KILL_AT", step + ":3") == KILLED) {
                died.add(step);
            }
        }
        System.out.println("killed at " + died.size() + " of " + steps + " first and third times");
        assertThat(died).containsAll(JAVA_STEPS).hasSizeGreaterThan(STEPS_MIN);
        assertThat(run("VERBENA_KILL_AT", "")).isZero();
        region.close();
        transport.close();
        Transports.open("shm", ShmTesting.context("sweeper")).close();
        Object uid = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        Path job = Path.of("/dev/shm/verbena-" + uid, ShmTesting.job());
        try (Stream<Path> left = Files.exists(job) ? Files.list(job) : Stream.empty()) {
            assertThat(left).isEmpty();
        }
    }

    /** Serves a child until it has ended and its end was seen, and checks the segments then. */
    private int run(String variable, String value) throws Exception {
        seen = new Seen();
        Path out = folder.resolve("child.txt");
        ProcessBuilder builder =
                new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ShmKillChild.class.getName(),
                        ShmTesting.job(),
                        transport.uri().toString());
        builder.environment().put(variable, value);
        Process child = builder.redirectErrorStream(true).redirectOutput(out.toFile()).start();
        try {
            until(() -> !child.isAlive(), value + ": its end");
        } finally {
            child.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        }
        until(
                () ->
                        (seen.offered == 0 || seen.isGone || !seen.ends.isEmpty())
                                && seen.outstanding == 0,
                value + ": the connection's end");
        assertThat(seen.ends.size()).as("%s: %s", value, seen.ends).isLessThanOrEqualTo(1);
        assertThat(child.exitValue()).as("%s: %s", value, Files.readString(out)).isIn(0, KILLED);
        check(value);
        return child.exitValue();
    }

    private void until(BooleanSupplier condition, String what) {
        long deadlineNs = System.nanoTime() + 4 * Pair.TIMEOUT_NS;
        while (!condition.getAsBoolean()) {
            seen.work();
            if (transport.poll(seen, 100) == 0) {
                transport.await(transport.nanoTime() + 5_000_000L);
            }
            assertThat(deadlineNs - System.nanoTime()).as("%s, %s", what, seen.ends).isPositive();
        }
    }

    /** With the checker that users have, a C program. */
    private void check(String when) throws Exception {
        Path build = folder.resolve("tools");
        Path checker = build.resolve("softnic-fsck");
        Path out = folder.resolve("check.txt");
        if (!Files.exists(checker)) {
            Path sources = Path.of(System.getProperty("verbena.home"), "native/src/main/c");
            int made = wait(out, "make", "-s", "-C", sources.toString(), "BUILD=" + build, "tools");
            assertThat(made).as("%s", Files.readString(out)).isZero();
        }
        int violations = wait(out, checker.toString(), ShmTesting.job());
        assertThat(violations).as("killed at %s: %s", when, Files.readString(out)).isZero();
    }

    private static int wait(Path out, String... command) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        Process process = builder.redirectOutput(out.toFile()).start();
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        return process.exitValue();
    }
}
