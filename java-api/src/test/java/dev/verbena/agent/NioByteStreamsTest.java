package dev.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.agent.ByteStreams.Listener;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.softnic.NativeAccess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class NioByteStreamsTest {
    static {
        NativeAccess.open();
    }

    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final NioByteStreams streams = new NioByteStreams(errors::add);
    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[1 << 20]);

    @AfterEach
    void close() {
        streams.close();
        assertThat(errors).isEmpty();
    }

    private static ByteStream accept(Listener listener) {
        ByteStream[] accepted = new ByteStream[1];
        Await.until("a connection", () -> (accepted[0] = listener.accept()) != null);
        return accepted[0];
    }

    @Test
    void shouldCarryBytesUnchangedWhenTheyLieInNativeMemory() {
        byte[] sent = new byte[3_000_001];
        long seed = System.nanoTime();
        new Random(seed).nextBytes(sent);
        try (OffHeapMemory source = OffHeapMemories.allocate(sent.length);
                OffHeapMemory target = OffHeapMemories.allocate(sent.length);
                Listener listener = streams.listen("", 0);
                ByteStream client = streams.connect("localhost", listener.port());
                ByteStream server = accept(listener)) {
            Await.until("open", () -> client.state() == ByteStream.OPEN);
            UnsafeBuffer from = source.buffer(0, sent.length);
            UnsafeBuffer to = target.buffer(0, sent.length);
            from.putBytes(0, sent);
            int[] at = new int[2];
            Random sizes = new Random(seed);
            Await.until(
                    () -> "all bytes, seed " + seed + ", " + at[0] + " written " + at[1] + " read",
                    () -> {
                        int w = Math.min(sizes.nextInt(300_000), sent.length - at[0]);
                        at[0] += client.write(from, at[0], w);
                        int r = Math.min(sizes.nextInt(200_000), sent.length - at[1]);
                        int read = server.read(to, at[1], r);
                        assertThat(read).isBetween(0, r);
                        at[1] += read;
                        return at[1] == sent.length;
                    });
            byte[] received = new byte[sent.length];
            to.getBytes(0, received);
            assertThat(received).isEqualTo(sent);
        }
    }

    @Test
    void shouldCarryBytesBothWaysUnchangedWhenBuffersAreOfAnySize() {
        try (Listener listener = streams.listen("", 0);
                ByteStream client = streams.connect("localhost", listener.port());
                ByteStream server = accept(listener)) {
            Await.until("open", () -> client.state() == ByteStream.OPEN);
            assertThat(server.peer()).startsWith("127.0.0.1:");
            long seed = System.nanoTime();
            byte[] sent = new byte[3_000_001];
            new Random(seed).nextBytes(sent);
            byte[] received = new byte[sent.length];
            UnsafeBuffer from = new UnsafeBuffer(sent);
            UnsafeBuffer to = new UnsafeBuffer(received);
            int[] at = new int[2];
            Random sizes = new Random(seed);
            Await.until(
                    () -> "all bytes, seed " + seed + ", " + at[0] + " written " + at[1] + " read",
                    () -> {
                        int w = Math.min(sizes.nextInt(200_000), sent.length - at[0]);
                        int written = client.write(from, at[0], w);
                        assertThat(written).isBetween(0, w);
                        at[0] += written;
                        int r = Math.min(sizes.nextInt(100_000), sent.length - at[1]);
                        int read = server.read(to, at[1], r);
                        assertThat(read).isBetween(0, r);
                        at[1] += read;
                        return at[1] == sent.length;
                    });
            assertThat(received).isEqualTo(sent);
            server.write(from, 0, 10);
            Await.until("answer", () -> client.read(buffer, 0, 100) == 10);
        }
    }

    @Test
    void shouldNameHostPortAndCauseWhenNobodyListens() throws IOException {
        try (HeldPort held = new HeldPort()) {
            int port = held.port();
            try (ByteStream stream = streams.connect("127.0.0.1", port)) {
                Await.until("failed", () -> stream.state() == ByteStream.FAILED);
                assertThat(stream.error())
                        .isEqualTo("connect to 127.0.0.1:" + port + " failed: Connection refused");
                assertThat(stream.read(buffer, 0, 1)).isEqualTo(-1);
                assertThat(stream.write(buffer, 0, 1)).isEqualTo(-1);
            }
        }
    }

    @RepeatedTest(50)
    void shouldFreeThePortWhenAListenerCloses() {
        try (HeldPort held = new HeldPort()) {
            streams.listen("127.0.0.1", held.port()).close();
            streams.listen("127.0.0.1", held.port()).close();
        }
    }

    @Test
    void shouldFailWithTheNameWhenTheHostIsUnknown() {
        try (ByteStream stream = streams.connect("no-such-host.invalid", 80)) {
            Await.until("failed", () -> stream.state() == ByteStream.FAILED);
            assertThat(stream.error()).contains("no-such-host.invalid:80").contains("unknown host");
        }
    }

    @Test
    void shouldDeliverWhatWasSentBeforeTheEndAndThenFail() {
        try (Listener listener = streams.listen("", 0);
                ByteStream client = streams.connect("", listener.port())) {
            ByteStream server = accept(listener);
            server.write(buffer, 0, 1000);
            server.close();
            assertThat(server.state()).isEqualTo(ByteStream.CLOSED);
            int[] total = new int[1];
            Await.until(
                    "end",
                    () -> {
                        int count = client.read(buffer, 0, 300);
                        total[0] += Math.max(count, 0);
                        return count < 0;
                    });
            assertThat(total[0]).isEqualTo(1000);
            assertThat(client.state()).isEqualTo(ByteStream.FAILED);
            assertThat(client.error()).contains("closed the connection");
        }
    }

    @Test
    void shouldTakeNothingMoreWhenThePeerDoesNotReadAndWakeWhenItDoes() throws Exception {
        Semaphore woken = new Semaphore(0);
        streams.onReady(woken::release);
        try (Listener listener = streams.listen("", 0);
                ByteStream client = streams.connect("", listener.port());
                ByteStream server = accept(listener)) {
            long written = 0;
            int count;
            Await.until("open", () -> client.state() == ByteStream.OPEN);
            while ((count = client.write(buffer, 0, buffer.capacity())) > 0) {
                written += count;
            }
            assertThat(count).isZero();
            long read = 0;
            while (read < written) {
                woken.drainPermits();
                count = server.read(buffer, 0, buffer.capacity());
                if (count == 0) {
                    assertThat(woken.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
                }
                read += count;
            }
            Await.until("room again", () -> client.write(buffer, 0, 1) == 1);
        }
    }

    @Test
    void shouldWakeOnceWhenAConnectionArrivesAndWhenBytesArrive() throws Exception {
        Semaphore woken = new Semaphore(0);
        streams.onReady(woken::release);
        try (Listener listener = streams.listen("", 0)) {
            assertThat(listener.accept()).isNull();
            ByteStream client = streams.connect("", listener.port());
            ByteStream server = null;
            while (server == null) {
                assertThat(woken.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
                server = listener.accept();
            }
            Await.until("open", () -> client.state() == ByteStream.OPEN);
            for (int i = 0; i < 20; i++) {
                woken.drainPermits();
                while (server.read(buffer, 0, 1) == 0) {
                    client.write(buffer, 0, 1);
                    assertThat(woken.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
                }
            }
            client.close();
            server.close();
        }
    }

    @Test
    void shouldAskForAWakeUpOnlyAfterSoManyReadsInARowThatFoundNothing() throws Exception {
        Semaphore woken = new Semaphore(0);
        streams.onReady(woken::release);
        try (Listener listener = streams.listen("", 0);
                ByteStream client = streams.connect("", listener.port());
                ByteStream server = accept(listener)) {
            Await.until("open", () -> client.state() == ByteStream.OPEN);
            server.wakeAfter(3);
            client.write(buffer, 0, 1);
            Await.until("read", () -> server.read(buffer, 0, 1) == 1);
            // What armed the stream before, while it waited for the byte, fires once at most.
            client.write(buffer, 0, 1);
            Await.until("read", () -> server.read(buffer, 0, 1) == 1);
            assertThat(server.read(buffer, 0, 1)).isZero();
            assertThat(server.read(buffer, 0, 1)).isZero();
            woken.tryAcquire(200, TimeUnit.MILLISECONDS);
            woken.drainPermits();
            assertThat(server.read(buffer, 0, 1)).isZero();
            client.write(buffer, 0, 1);
            assertThat(woken.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
            assertThat(server.read(buffer, 0, 1)).isEqualTo(1);
            assertThatThrownBy(() -> server.wakeAfter(0)).hasMessageContaining("wakeAfter 0");
        }
    }

    @Test
    void shouldWriteTwoRangesOneBehindTheOther() {
        UnsafeBuffer header = new UnsafeBuffer(new byte[64]);
        UnsafeBuffer got = new UnsafeBuffer(java.nio.ByteBuffer.allocateDirect(1 << 20));
        UnsafeBuffer payload = new UnsafeBuffer(java.nio.ByteBuffer.allocateDirect(1 << 20));
        for (int length : new int[] {0, 1, 5000, (1 << 20) - 48}) {
            try (Listener listener = streams.listen("", 0);
                    ByteStream client = streams.connect("", listener.port());
                    ByteStream server = accept(listener)) {
                header.setMemory(0, 64, (byte) 7);
                for (int i = 0; i < length; i++) {
                    payload.putByte(i + 40, (byte) (i * 31 + length));
                }
                got.setMemory(0, got.capacity(), (byte) 0);
                int[] sent = new int[1];
                int[] taken = new int[1];
                Await.until(
                        "both ranges of " + length,
                        () -> {
                            int head = Math.min(sent[0], 48);
                            int rest = sent[0] - head;
                            if (sent[0] < 48 + length) {
                                sent[0] +=
                                        client.write(
                                                header,
                                                8 + head,
                                                48 - head,
                                                payload,
                                                40 + rest,
                                                length - rest);
                            }
                            int room = got.capacity() - taken[0];
                            taken[0] += server.read(got, taken[0], room);
                            return taken[0] == 48 + length;
                        });
                for (int i = 0; i < 48; i++) {
                    assertThat(got.getByte(i)).isEqualTo((byte) 7);
                }
                boolean isEqual = true;
                for (int i = 0; i < length; i++) {
                    isEqual &= got.getByte(48 + i) == payload.getByte(40 + i);
                }
                assertThat(isEqual).as("second range of %d bytes", length).isTrue();
            }
        }
    }

    @Test
    void shouldSleepWhenAConnectionIsMadeBeforeTheSelectorSeesIt() throws Exception {
        List<ByteStream> open = new CopyOnWriteArrayList<>();
        try (Listener listener = streams.listen("", 0)) {
            for (int i = 0; i < 100; i++) {
                ByteStream client = streams.connect("localhost", listener.port());
                open.add(client);
                Await.until("open", () -> client.state() == ByteStream.OPEN);
                open.add(accept(listener));
            }
            long before = streams.rounds();
            new Semaphore(0).tryAcquire(200, TimeUnit.MILLISECONDS);
            // Asleep it comes back a few times at most; spinning, tens of thousands of times.
            assertThat(streams.rounds() - before).isLessThan(100);
        } finally {
            open.forEach(ByteStream::close);
        }
    }

    @Test
    void shouldRefuseWhenPortsOrRangesAreWrong() {
        assertThatThrownBy(() -> streams.connect("localhost", 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("port 0");
        assertThatThrownBy(() -> streams.listen("", 65536)).hasMessageContaining("65536");
        try (Listener listener = streams.listen("", 0)) {
            int port = listener.port();
            assertThatThrownBy(() -> streams.listen("", port))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining(":" + port);
            try (ByteStream stream = streams.connect("", port)) {
                assertThatThrownBy(() -> stream.read(buffer, 1 << 20, 1))
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
        }
    }
}
