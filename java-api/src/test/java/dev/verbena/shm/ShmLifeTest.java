package dev.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Capability;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Opening, closing and limits that only this provider has. */
@Timeout(90)
class ShmLifeTest {
    private static final int ALL = RemoteDescriptor.REMOTE_ALL;

    @Test
    void shouldNameTheKnownOptionsWhenOneIsUnknown() {
        TransportContext context = ShmTesting.context("options").option("foreingMemory", "bounce");
        assertThatThrownBy(() -> Transports.open("shm", context))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("foreingMemory")
                .hasMessageContaining("[directory, foreignMemory]");
        TransportContext value = ShmTesting.context("options").option("foreignMemory", "magic");
        assertThatThrownBy(() -> Transports.open("shm", value))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("attach or bounce");
    }

    @Test
    void shouldSayThatANameIsTaken() {
        TransportContext context = ShmTesting.context("taken");
        try (Transport first = Transports.open("shm", context)) {
            assertThat(first.uri().toString()).contains(context.name());
            assertThatThrownBy(() -> Transports.open("shm", context))
                    .isInstanceOf(TransportException.class)
                    .hasMessageContaining("EEXIST");
        }
        Transports.open("shm", context).close();
    }

    @Test
    void shouldLetAHandlerWakeWhileAnotherThreadCloses() throws Exception {
        AtomicReference<Throwable> failed = new AtomicReference<>();
        AtomicBoolean isHandled = new AtomicBoolean();
        try (Transport peer = ShmTesting.open("peer")) {
            Transport transport = ShmTesting.open("closing");
            transport.listen();
            Thread closer = new Thread(transport::close);
            closer.setUncaughtExceptionHandler((thread, e) -> failed.set(e));
            peer.connect(transport.uri(), new UnsafeBuffer(), 0, 0, 1, 60_000_000_000L);
            TransportHandler handler =
                    new TransportHandler() {
                        @Override
                        public void onConnectRequest(
                                long connection, URI uri, DirectBuffer data, int at, int length) {
                            closer.start();
                            while (closer.getState() != Thread.State.TIMED_WAITING) {
                                Thread.onSpinWait();
                            }
                            transport.wakeup();
                            isHandled.set(true);
                        }
                    };
            while (!isHandled.get()) {
                transport.poll(handler, 1);
                peer.poll(TransportHandler.IGNORE, 1);
            }
            closer.join();
            assertThat(failed.get()).isNull();
            assertThat(transport.poll(handler, 1)).isEqualTo(Transport.CLOSED);
        }
    }

    @Test
    void shouldSayThatTheDirectoryIsMissing() {
        TransportContext context =
                ShmTesting.context("folder").option("directory", "/nonexistent/folder");
        assertThatThrownBy(() -> Transports.open("shm", context))
                .isInstanceOf(TransportException.class)
                .hasMessageContaining("/nonexistent/folder");
    }

    @Test
    void shouldRefuseAddressesThatAreNotItsOwn() {
        try (Transport transport = ShmTesting.open("address")) {
            for (String bad :
                    new String[] {
                        "portals://job/name",
                        "shm://job",
                        "shm:/job/name",
                        "shm://job/a/b",
                        "shm://job/name?incarnation=xyz",
                        "shm://job/name?other=1"
                    }) {
                assertThatThrownBy(() -> transport.connect(URI.create(bad), null, 0, 0, 0, 1))
                        .as(bad)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining(bad);
            }
            Pair.Seen seen = new Pair.Seen();
            transport.connect(URI.create("shm://another-job/name"), null, 0, 0, 0, 1);
            transport.poll(seen, 10);
            assertThat(seen.ends.get(0)).contains("REFUSED").contains("another-job");
        }
    }

    @Test
    void shouldReachRegionsBeyondFourGibibytes() {
        long length = (4L << 30) + 64;
        OffHeapMemory memory = OffHeapMemories.allocate(length);
        try (Pair pair = new Pair();
                RegisteredRegion source = pair.a.allocate(64, 0);
                RegisteredRegion target = pair.b.register(memory, ALL)) {
            RemoteDescriptor descriptor =
                    target.describe(1, length - 1, ALL, new RemoteDescriptor());
            source.buffer(0, 64).putLong(0, 0x0102030405060708L);
            pair.a.put(pair.fromA, source, 0, descriptor, (4L << 30) + 7, 8, 1, 0);
            pair.a.get(pair.fromA, source, 8, descriptor, (4L << 30) + 7, 8, 2, 0);
            pair.a.put(pair.fromA, source, 0, descriptor, (4L << 30) + 56, 8, 3, 0);
            pair.until(() -> pair.seenA.statuses.size() == 3);
            assertThat(pair.seenA.statuses).containsExactly(Status.OK, Status.OK, Status.BOUNDS);
            assertThat(memory.buffer((4L << 30) + 8, 8).getLong(0)).isEqualTo(0x0102030405060708L);
            assertThat(source.buffer(8, 8).getLong(0)).isEqualTo(0x0102030405060708L);
            assertThat(memory.buffer(8, 8).getLong(0)).isZero();
        }
        memory.close();
    }

    @Test
    void shouldReachToolkitMemoryBeyondTwoGibibytes() throws Exception {
        long length = (2L << 30) + 64;
        long free = Files.getFileStore(Path.of("/dev/shm")).getUsableSpace();
        assumeTrue(
                free > length + (1L << 30), "/dev/shm has " + free + " bytes, too few for 2 GiB");
        try (Pair pair = new Pair();
                RegisteredRegion source = pair.a.allocate(64, 0);
                RegisteredRegion target = pair.b.allocate(length, ALL)) {
            RemoteDescriptor descriptor = target.describe(0, length, ALL, new RemoteDescriptor());
            source.buffer(0, 64).putLong(0, 77);
            pair.a.put(pair.fromA, source, 0, descriptor, length - 8, 8, 1, 0);
            pair.a.put(pair.fromA, source, 0, descriptor, length - 7, 8, 1, 0);
            pair.until(() -> pair.seenA.statuses.size() == 2);
            assertThat(pair.seenA.statuses).containsExactly(Status.OK, Status.BOUNDS);
            assertThat(target.buffer(length - 8, 8).getLong(0)).isEqualTo(77);
        }
    }

    @Test
    void shouldReachForeignMemoryByBounceWhenAsked() {
        OffHeapMemory memory = OffHeapMemories.allocate(1 << 20);
        try (Pair pair = new Pair(context -> context.option("foreignMemory", "bounce"));
                RegisteredRegion source = pair.a.allocate(1 << 20, 0);
                RegisteredRegion target = pair.b.register(memory, ALL)) {
            assertThat(pair.b.capabilities() & Capability.APPLICATION_BYPASS).isZero();
            assertThat(pair.b.explain()).contains("bounce");
            source.buffer(0, 1 << 20).setMemory(0, 1 << 20, (byte) 5);
            RemoteDescriptor descriptor = target.describe(0, 1 << 20, ALL, new RemoteDescriptor());
            pair.a.put(pair.fromA, source, 0, descriptor, 0, 1 << 20, 1, 0);
            pair.until(() -> pair.seenA.statuses.size() == 1);
            assertThat(pair.seenA.statuses).containsExactly(Status.OK);
            assertThat(memory.buffer((1 << 20) - 1, 1).getByte(0)).isEqualTo((byte) 5);
        }
        memory.close();
    }

    @Test
    void shouldDisconnectFromTheHandlerOfAMessage() {
        try (Pair pair = new Pair();
                RegisteredRegion source = pair.a.allocate(64, 0)) {
            source.buffer(0, 64).putLong(0, 41);
            pair.a.send(pair.fromA, source, 0, 8, 1, 0);
            pair.a.send(pair.fromA, source, 0, 8, 2, 0);
            long[] seen = new long[2];
            TransportHandler handler =
                    new TransportHandler() {
                        @Override
                        public void onMessage(
                                long connection,
                                long context,
                                DirectBuffer buffer,
                                int offset,
                                int length,
                                long token) {
                            assertThat(pair.b.disconnect(connection)).isZero();
                            seen[0]++;
                            seen[1] = buffer.getLong(offset);
                        }
                    };
            pair.b.poll(handler, 10);
            assertThat(seen).containsExactly(1, 41);
            pair.until(() -> !pair.seenA.ends.isEmpty());
            assertThat(pair.seenA.ends).containsExactly("disconnected");
            assertThat(pair.a.send(pair.fromA, source, 0, 8, 3, 0))
                    .isEqualTo(Transport.NOT_CONNECTED);
        }
    }

    @Test
    void shouldKeepRetainedMessagesWhenThePeerDisconnects() {
        try (Pair pair = new Pair();
                RegisteredRegion source = pair.a.allocate(64, 0)) {
            pair.seenB.isRetaining = true;
            source.buffer(0, 64).putLong(0, 41);
            pair.a.send(pair.fromA, source, 0, 8, 1, 0);
            pair.until(() -> pair.seenB.tokens.size() == 1);
            assertThatThrownBy(() -> pair.b.disconnect(pair.fromB))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("retained");
            pair.a.disconnect(pair.fromA);
            pair.until(() -> !pair.seenB.ends.isEmpty());
            assertThat(pair.seenB.ends).containsExactly("disconnected");
            pair.b.release(pair.seenB.tokens.get(0));
            assertThatThrownBy(() -> pair.b.release(pair.seenB.tokens.get(0)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldForgetAConnectionOnceItsLastMessageIsReleased() {
        try (Pair pair = new Pair(context -> context.connectionsMax(2));
                RegisteredRegion source = pair.a.allocate(64, 0)) {
            pair.seenB.isRetaining = true;
            for (int i = 0; i < 5; i++) {
                int ends = i;
                pair.a.send(pair.fromA, source, 0, 8, 1, 0);
                pair.until(() -> pair.seenB.tokens.size() > ends);
                pair.a.disconnect(pair.fromA);
                pair.until(() -> pair.seenB.ends.size() > ends);
                pair.b.release(pair.seenB.tokens.get(i));
                pair.connect();
            }
        }
    }

    @Test
    void shouldKeepNoMessageBesideADisconnectInOneHandler() {
        for (boolean isRetainedFirst : new boolean[] {true, false}) {
            try (Pair pair = new Pair();
                    RegisteredRegion source = pair.a.allocate(64, 0)) {
                AtomicReference<Throwable> refused = new AtomicReference<>();
                TransportHandler handler =
                        new TransportHandler() {
                            @Override
                            public void onMessage(
                                    long connection,
                                    long context,
                                    DirectBuffer buffer,
                                    int offset,
                                    int length,
                                    long token) {
                                if (isRetainedFirst) {
                                    pair.b.retain(token);
                                    refused.set(
                                            catchThrowable(() -> pair.b.disconnect(connection)));
                                    pair.b.release(token);
                                } else {
                                    pair.b.disconnect(connection);
                                    refused.set(catchThrowable(() -> pair.b.retain(token)));
                                }
                            }
                        };
                pair.a.send(pair.fromA, source, 0, 8, 1, 0);
                pair.b.poll(handler, 10);
                pair.poll();
                assertThat(refused.get())
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(isRetainedFirst ? "retained" : "disconnect");
            }
        }
    }

    @Test
    void shouldEmptyWindowsWhenARegionCloses() {
        try (Transport transport = ShmTesting.open("windows")) {
            RegisteredRegion region = transport.allocate(4096, ALL);
            UnsafeBuffer window = region.buffer(0, 4096);
            window.putLong(0, 1);
            region.close();
            assertThatThrownBy(() -> window.getLong(0))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void shouldCloseFromAnotherThreadWhileTheOwnerPuts() throws Exception {
        for (int round = 0; round < 20; round++) {
            Pair pair = new Pair();
            RegisteredRegion target = pair.b.allocate(4096, ALL);
            RemoteDescriptor descriptor = target.describe(0, 4096, ALL, new RemoteDescriptor());
            AtomicReference<Throwable> failure = new AtomicReference<>();
            AtomicReference<URI> uri = new AtomicReference<>();
            CountDownLatch busy = new CountDownLatch(1);
            Transport[] opened = new Transport[1];
            Thread owner =
                    new Thread(
                            () -> {
                                try {
                                    opened[0] = ShmTesting.open("owner");
                                    putUntilClosed(opened[0], pair.b.uri(), descriptor, busy);
                                } catch (Throwable e) {
                                    failure.set(e);
                                    busy.countDown();
                                }
                            });
            owner.start();
            while (busy.getCount() > 0) {
                long before = pair.seenB.offered;
                pair.poll();
                if (pair.seenB.offered != before) {
                    pair.b.accept(pair.seenB.offered, 3);
                }
            }
            opened[0].close();
            owner.join();
            assertThat(failure.get()).isNull();
            target.close();
            pair.close();
        }
    }

    private static void putUntilClosed(
            Transport transport, URI peer, RemoteDescriptor descriptor, CountDownLatch busy) {
        // No local region: one that is open would forbid the close.
        Pair.Seen seen = new Pair.Seen();
        long connection = transport.connect(peer, null, 0, 0, 0, Pair.TIMEOUT_NS);
        while (seen.connected == 0) {
            transport.poll(seen, 10);
        }
        busy.countDown();
        int result = 0;
        while (result != Transport.CLOSED) {
            result = transport.fetchAdd(connection, descriptor, 8, 1, 0, 0);
            if (result == Transport.BACK_PRESSURED) {
                transport.poll(seen, 100);
            }
        }
        assertThat(transport.poll(seen, 1)).isEqualTo(Transport.CLOSED);
    }

    @Test
    void shouldWakeASleepingOwnerWhenAnotherThreadClosesIt() throws Exception {
        Transport transport = ShmTesting.open("sleeper");
        AtomicBoolean isAnswered = new AtomicBoolean();
        CountDownLatch started = new CountDownLatch(1);
        Thread owner =
                new Thread(
                        () -> {
                            transport.listen();
                            started.countDown();
                            transport.await(transport.nanoTime() + Pair.TIMEOUT_NS * 10);
                            isAnswered.set(transport.poll(new Pair.Seen(), 1) == Transport.CLOSED);
                        });
        owner.start();
        started.await();
        transport.close();
        owner.join();
        assertThat(isAnswered).isTrue();
    }
}
