package dev.verbena.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.agent.internal.KillSteps;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
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
 * finds nothing in the segments. A provider is tested by a subclass. Only a test build has labelled
 * steps: {@code ci/planted-faults/run --kills} runs this in one.
 */
@Timeout(400)
public abstract class TransportKillContract {
    private static final int KILLED = 137;
    private static final long LIMIT_NS = 80_000_000_000L;
    private static final int SETTLING_POLLS = 5;

    /** Where children do not write. */
    private static final int DESCRIPTOR_AT = 900_000;

    @TempDir private Path folder;
    private final String job = "kill-" + ProcessHandle.current().pid();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private Transport transport;
    private RegisteredRegion region;
    private Seen seen;

    /** Scheme of the provider under test. */
    protected abstract String scheme();

    /** Labels in Java at which a child must die; those in C are what a child comes to. */
    protected abstract List<String> javaSteps();

    /** So many labels are the least at which children must have died. */
    protected abstract int stepsMin();

    /** Whether what peers share with this transport is sound. */
    protected void check(Transport own, String when) {}

    /**
     * Every label is died at when it is come to for the first time. Those who die at the third are
     * begun for so long, in nanoseconds from the start.
     */
    protected long thirdTimesUntilNs() {
        return 300_000_000_000L;
    }

    /** What this process saw of the present child; accepts it and tells it where to write. */
    private final class Seen implements TransportHandler {
        private final RemoteDescriptor child = new RemoteDescriptor();
        private final List<String> ends = new ArrayList<>();
        private long connected;
        private int outstanding;
        private boolean isOffered;
        private boolean isGone;

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer data, int offset, int length) {
            isOffered = true;
            child.decode(data, offset);
            // Who is dead by now cannot be accepted: that is the answer, no event follows.
            isGone |= transport.accept(connection, 0) == Transport.NOT_CONNECTED;
        }

        @Override
        public void onConnected(long connection, long context) {
            connected = connection;
            int sent =
                    transport.send(
                            connection, region, DESCRIPTOR_AT, RemoteDescriptor.LENGTH, 0, 0);
            outstanding += sent == Transport.ACCEPTED ? 1 : 0;
        }

        @Override
        public void onConnectFailed(long connection, long context, int status, String reason) {
            ends.add("failed: " + reason);
        }

        @Override
        public void onDisconnected(long connection, long context) {
            ends.add("disconnected");
        }

        @Override
        public void onPeerLost(long connection, long context, String reason) {
            ends.add("lost: " + reason);
        }

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            outstanding--;
        }

        /** A put and a message, one at a time. */
        void work() {
            if (connected != 0 && ends.isEmpty() && outstanding == 0) {
                outstanding += transport.put(connected, region, 0, child, 0, 64, 0, 0) == 0 ? 1 : 0;
                outstanding += transport.send(connected, region, 0, 64, 0, 0) == 0 ? 1 : 0;
            }
        }

        boolean isOver() {
            return (!isOffered || isGone || !ends.isEmpty()) && outstanding == 0;
        }
    }

    private TransportContext context() {
        return new TransportContext()
                .job(job)
                .receiveSlotCount(256)
                .connectionsMax(16)
                .errorHandler(errors::add);
    }

    @Test
    void shouldGoOnWhereverAJavaProcessDies() throws Exception {
        assumeTrue(
                KillSteps.ENABLED,
                "only a test build has labelled steps; ci/planted-faults/run runs this in one");
        long thirdsUntilNs = System.nanoTime() + thirdTimesUntilNs();
        transport = Transports.open(scheme(), context());
        region = transport.allocate(1 << 20, RemoteDescriptor.REMOTE_ALL);
        region.describe(0, region.length(), RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor())
                .encode(region.buffer(DESCRIPTOR_AT, RemoteDescriptor.LENGTH), 0);
        transport.listen();
        Path list = folder.resolve("steps");
        assertThat(run("VERBENA_STEPS", list.toString())).isZero();
        List<String> steps = new ArrayList<>(javaSteps());
        Files.readAllLines(list).stream().distinct().forEach(steps::add);
        List<String> died = new ArrayList<>();
        for (String step : steps) {
            if (run("VERBENA_KILL_AT", step + ":1") == KILLED) {
                died.add(step);
            }
        }
        int tried = 0;
        int again = 0;
        for (String step : died) {
            if (System.nanoTime() - thirdsUntilNs < 0) {
                tried++;
                again += run("VERBENA_KILL_AT", step + ":3") == KILLED ? 1 : 0;
            }
        }
        assertThat(again).as("of %d tried", tried).isGreaterThanOrEqualTo(Math.min(tried, 1));
        System.out.println(
                scheme() + ": killed at " + died.size() + " of " + steps + ", again at " + again);
        assertThat(died).containsAll(javaSteps()).hasSizeGreaterThanOrEqualTo(stepsMin());
        assertThat(run("VERBENA_KILL_AT", "")).isZero();
        region.close();
        transport.close();
        Transports.open(scheme(), context()).close();
        assertThat(errors).isEmpty();
        Object uid = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        Path segments = Path.of("/dev/shm/verbena-" + uid, job);
        try (Stream<Path> left = Files.exists(segments) ? Files.list(segments) : Stream.empty()) {
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
                        TransportKillChild.class.getName(),
                        scheme(),
                        job,
                        transport.uri().toString());
        builder.environment().put(variable, value);
        Process child = builder.redirectErrorStream(true).redirectOutput(out.toFile()).start();
        try {
            until(() -> !child.isAlive(), value + ": its end");
        } finally {
            child.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        }
        for (int i = 0; i < SETTLING_POLLS; i++) {
            transport.poll(seen, 100); // a request that nobody waits for any more
        }
        until(seen::isOver, value + ": the connection's end");
        assertThat(seen.ends.size()).as("%s: %s", value, seen.ends).isLessThanOrEqualTo(1);
        assertThat(child.exitValue()).as("%s: %s", value, Files.readString(out)).isIn(0, KILLED);
        checkSegments(value);
        check(transport, value);
        return child.exitValue();
    }

    private void until(BooleanSupplier condition, String what) {
        long deadlineNs = System.nanoTime() + LIMIT_NS;
        while (!condition.getAsBoolean()) {
            seen.work();
            if (transport.poll(seen, 100) == 0) {
                transport.await(transport.nanoTime() + 5_000_000L);
            }
            assertThat(deadlineNs - System.nanoTime())
                    .as("%s, %s, errors %s", what, seen.ends, errors)
                    .isPositive();
        }
    }

    /** Folder of the job's segments, for the checker. */
    protected String segments(String job, URI own) {
        return job;
    }

    /** With the checker that users have, a C program. */
    private void checkSegments(String when) throws Exception {
        Path build = folder.resolve("tools");
        Path checker = build.resolve("softnic-fsck");
        Path out = folder.resolve("check.txt");
        if (!Files.exists(checker)) {
            Path sources = Path.of(System.getProperty("verbena.home"), "native/src/main/c");
            int made = wait(out, "make", "-s", "-C", sources.toString(), "BUILD=" + build, "tools");
            assertThat(made).as("%s", Files.readString(out)).isZero();
        }
        int violations = wait(out, checker.toString(), segments(job, transport.uri()));
        assertThat(violations).as("killed at %s: %s", when, Files.readString(out)).isZero();
    }

    private static int wait(Path out, String... command) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        Process process = builder.redirectOutput(out.toFile()).start();
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        return process.exitValue();
    }
}
