package dev.verbena.staging.carrier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.agent.ByteStreams.Listener;
import dev.verbena.agent.ForwardingEnvironment;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.FaultOptions;
import dev.verbena.transport.FaultyTransport;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streams of bytes over a transport; a subclass for each provider names an address. */
@Timeout(120)
public abstract class TransportStreamsContract {
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final long LIMIT_NS = 60_000_000_000L;

    private final List<Throwable> errors = new ArrayList<>();
    private final RealEnvironment environment =
            RealEnvironment.builder().errorHandler(errors::add).build();
    private final OffHeapMemory memory = OffHeapMemories.allocate(1 << 20);
    private final UnsafeBuffer data = memory.buffer(0, 1 << 20);
    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[1 << 20]);
    private TransportStreams left;
    private TransportStreams right;
    private Listener listener;

    /** For subclasses in other modules. */
    protected TransportStreamsContract() {}

    /**
     * An address to listen at.
     *
     * @param number another one for each number
     */
    protected abstract URI address(String number);

    private void open() {
        open(null);
    }

    private void open(FaultOptions faults) {
        URI address = address(ProcessHandle.current().pid() + "-" + COUNT.incrementAndGet());
        right = TransportStreams.listening(new Faulty(faults), address);
        left = TransportStreams.reaching(new Faulty(faults), right.uri());
        left.source(memory);
        listener = right.listen("", 0);
        listener.accept();
    }

    @AfterEach
    void closeAll() {
        if (left != null) {
            left.close();
            right.close();
        }
        memory.close();
        environment.close();
    }

    private void until(String what, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            left.poll();
            right.poll();
            assertThat(System.nanoTime() - start).as("%s %s", what, errors).isLessThan(LIMIT_NS);
            Thread.onSpinWait();
        }
    }

    /** Both ends, the one that connected first. */
    private ByteStream[] connected() {
        ByteStream there = left.connect("", 0);
        ByteStream[] both = {there, null};
        until(
                "accepted",
                () -> {
                    both[1] = both[1] == null ? listener.accept() : both[1];
                    return both[1] != null && both[1].state() == ByteStream.OPEN;
                });
        until("open", () -> there.state() == ByteStream.OPEN);
        return both;
    }

    /** Writes all in pieces of any length, reads in others, compares. */
    private void exchange(ByteStream from, ByteStream to, long seed, int total, boolean isSource) {
        SplittableRandom random = new SplittableRandom(seed);
        byte[] bytes = new byte[total];
        random.nextBytes(bytes);
        UnsafeBuffer source = isSource ? data : new UnsafeBuffer(bytes);
        data.putBytes(0, bytes);
        byte[] got = new byte[total];
        UnsafeBuffer in = new UnsafeBuffer(got);
        int[] done = {0, 0, 0};
        until(
                "all",
                () -> {
                    if (done[2] == 0) {
                        done[2] = Math.min(total - done[0], 1 + random.nextInt(300_000));
                    }
                    int n = from.write(source, done[0], done[2]);
                    done[0] += n;
                    done[2] -= n;
                    int wanted = Math.min(total - done[1], random.nextInt(100_000));
                    int read = to.read(in, done[1], wanted);
                    assertThat(read).as("%s", to.error()).isNotNegative();
                    done[1] += read;
                    return done[1] == total;
                });
        assertThat(got).isEqualTo(bytes);
    }

    @Test
    void shouldCarryBytesBothWays() {
        open();
        ByteStream[] both = connected();
        exchange(both[0], both[1], 1, 1 << 20, true);
        exchange(both[0], both[1], 2, 900_001, false);
        exchange(both[1], both[0], 3, 500_000, false);
        exchange(both[0], both[1], 4, 77, true);
        assertThat(errors).isEmpty();
    }

    @Test
    void shouldCarryBytesWhenEventsAreLateAndCallsAreRefused() {
        open(FaultOptions.none(5).backPressure(0.2).delay(0.3, 20).connectFailure(0));
        ByteStream[] both = connected();
        exchange(both[0], both[1], 5, 1 << 20, true);
        exchange(both[1], both[0], 6, 300_000, false);
    }

    @Test
    void shouldFailOneStreamWhenItsConnectionDies() {
        open();
        ByteStream[] both = connected();
        ByteStream[] others = connected();
        both[1].close();
        until("ended", () -> both[0].read(buffer, 0, 1) < 0);
        assertThat(both[0].state()).isEqualTo(ByteStream.FAILED);
        assertThat(both[0].error()).isNotEmpty();
        assertThat(both[0].write(buffer, 0, 10)).isEqualTo(-1);
        exchange(others[0], others[1], 8, 100_000, true);
    }

    @Test
    void shouldHoldTheWriterBackUntilTheReaderReads() {
        open();
        ByteStream[] both = connected();
        int written = 0;
        long start = System.nanoTime();
        // Longer than any completion takes: nothing more is taken until something is read.
        for (long last = start; System.nanoTime() - last < 500_000_000L; ) {
            int n = both[0].write(buffer, 0, 50_000);
            written += n;
            last = n > 0 ? System.nanoTime() : last;
            right.poll();
        }
        assertThat(written).isBetween(1, 4 << 20);
        int[] read = {0};
        int all = written;
        until(
                "all",
                () -> {
                    read[0] += both[1].read(buffer, 0, 30_000);
                    return read[0] == all;
                });
        exchange(both[0], both[1], 10, 400_000, true);
    }

    @Test
    void shouldReadWhatWasWrittenBeforeThePeerClosed() {
        open();
        ByteStream[] both = connected();
        assertThat(both[0].write(buffer, 0, 5000)).isEqualTo(5000);
        both[0].close();
        assertThat(both[0].read(buffer, 0, 1)).isEqualTo(-1);
        int[] read = {0};
        until(
                "the end",
                () -> {
                    int n = both[1].read(buffer, 0, 700);
                    read[0] += Math.max(n, 0);
                    return n < 0;
                });
        assertThat(read[0]).isEqualTo(5000);
    }

    @Test
    void shouldFailToConnectWhereNobodyIsAndConnectLater() {
        open();
        URI address = right.uri();
        right.close();
        ByteStream stream = left.connect("", 0);
        until("failed", () -> stream.state() == ByteStream.FAILED);
        assertThat(stream.error()).isNotEmpty();
        stream.close();
        right = TransportStreams.listening(environment, address);
        listener = right.listen("", 0);
        listener.accept();
        ByteStream[] both = new ByteStream[2];
        until(
                "connected",
                () -> {
                    if (both[0] == null || both[0].state() == ByteStream.FAILED) {
                        both[0] = left.connect("", 0);
                    }
                    both[1] = both[1] == null ? listener.accept() : both[1];
                    return both[1] != null && both[0].state() == ByteStream.OPEN;
                });
        exchange(both[0], both[1], 14, 100_000, true);
    }

    @Test
    void shouldRefuseWhoSpeaksSomethingElse() {
        open();
        TransportContext context = environment.contextFor(right.uri(), false);
        try (Transport other = environment.openTransport(right.uri().getScheme(), context)) {
            RawPeer raw = new RawPeer(other);
            long connection = other.connect(right.uri(), buffer, 0, 8, 0, LIMIT_NS);
            assertThat(connection).isPositive();
            until("refused", () -> raw.poll().failed == 1);
        }
        exchangeOnce();
    }

    @Test
    void shouldEndTheStreamOfAPeerThatSendsNonsense() {
        open();
        TransportContext context = environment.contextFor(right.uri(), false);
        SplittableRandom random = new SplittableRandom(17);
        for (int round = 0; round < 4; round++) {
            try (Transport other = environment.openTransport(right.uri().getScheme(), context);
                    RegisteredRegion region = other.allocate(64, 0)) {
                RawPeer raw = new RawPeer(other);
                byte[] name =
                        "verbena-bytes/1".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
                long connection =
                        other.connect(
                                right.uri(), new UnsafeBuffer(name), 0, name.length, 0, LIMIT_NS);
                until("connected", () -> raw.poll().connected == 1);
                byte[] noise = new byte[64];
                random.nextBytes(noise);
                UnsafeBuffer record = region.buffer(0, 64);
                record.putBytes(0, noise);
                record.putInt(0, round % 4, java.nio.ByteOrder.LITTLE_ENDIAN);
                until("sent", () -> other.send(connection, region, 0, 64, 1, 0) == 0);
                ByteStream[] accepted = new ByteStream[1];
                until(
                        "ended",
                        () -> {
                            raw.poll();
                            accepted[0] = accepted[0] == null ? listener.accept() : accepted[0];
                            return accepted[0] != null
                                    && accepted[0].state() == ByteStream.FAILED
                                    && raw.ended == 1
                                    && raw.completed == 1;
                        });
                assertThat(accepted[0].error()).contains("not of a stream");
                accepted[0].close();
                right.poll();
            }
        }
        exchangeOnce();
    }

    private void exchangeOnce() {
        ByteStream[] both = connected();
        exchange(both[0], both[1], 16, 10_000, false);
    }

    @Test
    void shouldNameAnAddressThatDoesNotFit() {
        assertThatThrownBy(() -> TransportStreams.listening(environment, URI.create("nothing")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("nothing");
        assertThatThrownBy(() -> TransportStreams.reaching(environment, URI.create("no://a/b")))
                .isInstanceOf(TransportException.class)
                .hasMessageContaining("'no'");
    }

    /** For providers that allocate nothing themselves. */
    protected final void requireNoAllocation() {
        open();
        ByteStream[] both = connected();
        UnsafeBuffer in = new UnsafeBuffer(new byte[1 << 16]);
        AllocationMeter.requireNone(
                () -> {
                    for (int i = 0; i < 2000; i++) {
                        carry(both, in, i % 2 == 0 ? 40_000 : 100);
                    }
                });
    }

    private void carry(ByteStream[] both, UnsafeBuffer in, int length) {
        int written = 0;
        int read = 0;
        while (read < length) {
            written += written < length ? both[0].write(data, written, length - written) : 0;
            read += both[1].read(in, 0, in.capacity());
        }
    }

    /** A peer that makes its own use of the transport. */
    private static final class RawPeer implements dev.verbena.transport.TransportHandler {
        private final Transport transport;
        private int failed;
        private int connected;
        private int ended;
        private int completed;

        RawPeer(Transport transport) {
            this.transport = transport;
        }

        RawPeer poll() {
            transport.poll(this, 16);
            return this;
        }

        @Override
        public void onConnectFailed(long connection, long context, int status, String reason) {
            failed++;
        }

        @Override
        public void onConnected(long connection, long context) {
            connected++;
        }

        @Override
        public void onDisconnected(long connection, long context) {
            ended++;
        }

        @Override
        public void onPeerLost(long connection, long context, String reason) {
            ended++;
        }

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            completed++;
        }
    }

    private final class Faulty extends ForwardingEnvironment {
        private final FaultOptions faults;

        Faulty(FaultOptions faults) {
            super(environment);
            this.faults = faults;
        }

        @Override
        public Transport openTransport(String scheme, TransportContext context) {
            Transport opened = super.openTransport(scheme, context);
            return faults == null ? opened : new FaultyTransport(opened, faults);
        }
    }
}
