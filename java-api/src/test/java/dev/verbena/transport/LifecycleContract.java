package dev.verbena.transport;

import static dev.verbena.transport.Transport.ACCEPTED;
import static dev.verbena.transport.Transport.CLOSED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;

/** Threads, waiting, closing. */
abstract class LifecycleContract extends RegionContract {
    /** Runs something on a thread of its own; what it threw, or null. */
    static Throwable onOtherThread(Runnable task) {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = new Thread(task, "stranger");
        thread.setUncaughtExceptionHandler((t, e) -> thrown.set(e));
        thread.start();
        try {
            thread.join(60_000);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        assertThat(thread.isAlive()).as("the other thread ends").isFalse();
        return thrown.get();
    }

    @Test
    void shouldRefuseAThreadThatDoesNotOwnTheTransport() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(64);
        RemoteDescriptor d = describe(p.b.allocate(64));
        Transport t = p.a.transport;
        List<Runnable> calls =
                List.of(
                        () -> t.poll(p.a, 1),
                        () -> t.send(p.ab, local, 0, 8, 1, 0),
                        () -> t.put(p.ab, local, 0, d, 0, 8, 1, 0),
                        () -> t.get(p.ab, local, 0, d, 0, 8, 1, 0),
                        () -> t.allocate(8, 0),
                        () -> t.listen(),
                        () -> t.disconnect(p.ab),
                        () -> t.await(t.nanoTime()));
        for (Runnable call : calls) {
            assertThat(onOtherThread(call)).isInstanceOf(IllegalStateException.class);
        }
        assertThat(onOtherThread(t::wakeup)).isNull();
        settle();
        assertThat(p.a.completions).isEmpty();
        post("the owner goes on", () -> t.send(p.ab, local, 0, 8, 1, 0));
        pump("message", () -> p.b.messages.size() == 1);
    }

    /** Written without {@code @Override}: the compiler does not say that it is none. */
    private static final class Mute implements TransportHandler {
        @SuppressWarnings("unused")
        public void onMessage(long connection, DirectBuffer buffer) {}
    }

    @Test
    void shouldRefuseAHandlerThatCanNeverBeCalled() {
        ContractNode a = node();
        assertThatThrownBy(() -> a.transport.poll(new Mute(), 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Mute overrides no method")
                .hasMessageContaining("onCompletion, onConnectFailed")
                .hasMessageContaining("Mute.onMessage(long,org.agrona.DirectBuffer) is none");
        assertThat(a.transport.poll(TransportHandler.IGNORE, 1)).isZero();
        assertThat(a.poll()).isZero();
        assertThat(a.transport.poll(TransportHandler.IGNORE, 1)).isZero();
    }

    @Test
    void shouldBelongToTheThreadThatUsesItFirst() {
        Transport transport = open(context());
        assertThat(onOtherThread(() -> transport.poll(TransportHandler.IGNORE, 1))).isNull();
        assertThatThrownBy(() -> transport.poll(TransportHandler.IGNORE, 1))
                .isInstanceOf(IllegalStateException.class);
        transport.close();
    }

    @Test
    void shouldOpenWithTheLongestJobAndNotWithALongerOne() {
        String longest = "j".repeat(TransportContext.NAME_LENGTH_MAX);
        open(context().job(longest)).close();
        assertThatThrownBy(() -> open(context().job(longest + "k")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1 to 63 letters");
    }

    @Test
    void shouldRefuseToCloseWhileRegionsAreOpen() {
        Pair p = new Pair();
        RegisteredRegion region = p.a.allocate(64);
        assertThatThrownBy(p.a.transport::close).isInstanceOf(IllegalStateException.class);
        post("still works", () -> p.a.transport.send(p.ab, region, 0, 8, 1, 0));
        pump("message", () -> p.b.messages.size() == 1 && p.a.completions.size() == 1);
        region.close();
        p.a.transport.close();
    }

    @Test
    void shouldAnswerClosedAfterClose() {
        Pair p = new Pair();
        Transport t = p.a.transport;
        RegisteredRegion region = p.a.allocate(64);
        RemoteDescriptor d = describe(p.b.allocate(64));
        region.close();
        t.close();
        t.close();
        t.wakeup();
        assertThat(t.poll(p.a, 1)).isEqualTo(CLOSED);
        assertThat(t.poll(p.a, 0)).isEqualTo(CLOSED);
        assertThat(p.a.connect(p.b.transport.uri(), 1)).isEqualTo(CLOSED);
        assertThat(t.accept(p.ab, 1)).isEqualTo(CLOSED);
        assertThat(t.reject(p.ab)).isEqualTo(CLOSED);
        assertThat(t.disconnect(p.ab)).isEqualTo(CLOSED);
        assertThat(t.fetchAdd(p.ab, d, 0, 1, 1, 0)).isIn(CLOSED, Transport.NOT_SUPPORTED);
        assertThat(t.put(p.ab, new TransferVector(1), d, 1, 0)).isEqualTo(CLOSED);
        assertThatThrownBy(() -> t.allocate(8, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(t::listen).isInstanceOf(IllegalStateException.class);
        assertThat(t.await(t.nanoTime() + 60_000_000_000L)).isTrue();
        assertThat(t.uri()).isNotNull();
        assertThat(t.limits()).isNotNull();
        assertThat(t.explain()).isNotBlank();
    }

    @Test
    void shouldBeClosableFromAnotherThread() {
        Pair p = new Pair();
        assertThat(onOtherThread(p.a.transport::close)).isNull();
        assertThat(p.a.transport.poll(p.a, 1)).isEqualTo(CLOSED);
        pump("the peer learns", () -> p.b.hasEnded(p.ba));
    }

    @Test
    void shouldReturnFromAwaitAtTheDeadlineWhenNothingHappens() {
        Pair p = new Pair();
        settle();
        Transport t = p.a.transport;
        // What the peer's timers need may end a sleep early: then sleep on.
        long deadline = t.nanoTime() + 50_000_000;
        while (t.nanoTime() - deadline < 0) {
            t.await(deadline);
            p.a.poll();
        }
        long past = t.nanoTime() - 1_000_000_000L;
        assertThat(t.await(past)).isFalse();
        assertThat(t.await(t.nanoTime())).isFalse();
    }

    /** Deadlines are compared by their distance from now, as those of the transport's clock are. */
    @Test
    void shouldKeepEveryDeadlineOfAnAwait() {
        Pair p = new Pair();
        settle();
        RegisteredRegion source = p.b.allocate(8);
        Transport t = p.a.transport;
        for (long ns : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 1, Long.MAX_VALUE / 2}) {
            long far = t.nanoTime() + ns;
            t.wakeup();
            t.await(far);
            post("send", () -> p.b.transport.send(p.ba, source, 0, 8, 1, 0));
            while (p.a.messages.poll() == null) {
                t.await(far);
                p.a.poll();
            }
        }
        settle();
        for (long ns : new long[] {0, -1, -Long.MAX_VALUE / 2}) {
            assertThat(t.await(t.nanoTime() + ns)).as("%d ns", ns).isFalse();
        }
    }

    @Test
    void shouldEndAPresentOrTheNextAwaitWhenWoken() throws Exception {
        Pair p = new Pair();
        settle();
        Transport t = p.a.transport;
        long far = t.nanoTime() + 3_600_000_000_000L;
        t.wakeup();
        t.await(far);
        for (int i = 0; i < 200; i++) {
            Thread waker = new Thread(t::wakeup);
            waker.start();
            t.await(far);
            waker.join();
        }
    }

    @Test
    void shouldEndAwaitWhenAnEventArrives() throws Exception {
        ContractNode a = node();
        Pair p = new Pair(a, node());
        settle();
        RegisteredRegion source = p.b.allocate(8);
        post("before the sleep", () -> p.b.transport.send(p.ba, source, 0, 8, 1, 0));
        long far = a.transport.nanoTime() + 3_600_000_000_000L;
        while (a.messages.isEmpty()) {
            assertThat(a.transport.await(far)).isTrue();
            a.poll();
        }
        Thread[] sender = new Thread[1];
        // A peer on its own thread, owned by it, sends while this one sleeps.
        TransportContext theirs = context();
        java.util.concurrent.CountDownLatch go = new java.util.concurrent.CountDownLatch(1);
        a.transport.listen();
        java.net.URI uri = a.transport.uri();
        AtomicReference<Throwable> failed = new AtomicReference<>();
        sender[0] =
                new Thread(
                        () -> {
                            try (Transport t = open(theirs)) {
                                sendOne(new ContractNode(t), uri, go);
                            } catch (Throwable e) {
                                failed.set(e);
                                a.transport.wakeup();
                            }
                        });
        sender[0].start();
        a.messages.clear();
        while (a.messages.isEmpty() && failed.get() == null) {
            a.transport.await(far);
            a.poll();
            go.countDown();
        }
        while (a.lives.stream().noneMatch(l -> l.what().equals("disconnected"))
                && failed.get() == null) {
            a.transport.await(far);
            a.poll();
        }
        sender[0].join();
        assertThat(failed.get()).isNull();
    }

    private static void sendOne(
            ContractNode node, java.net.URI uri, java.util.concurrent.CountDownLatch go)
            throws InterruptedException {
        long handle = node.connect(uri, 1);
        Transport t = node.transport;
        long far = t.nanoTime() + 60_000_000_000L;
        while (node.lives.isEmpty() && t.nanoTime() - far < 0) {
            t.await(far);
            node.poll();
        }
        RegisteredRegion region = t.allocate(8, 0);
        go.await();
        assertThat(t.send(handle, region, 0, 8, 1, 0)).isEqualTo(ACCEPTED);
        while (node.completions.isEmpty() && t.nanoTime() - far < 0) {
            t.await(far);
            node.poll();
        }
        region.close();
        assertThat(t.disconnect(handle)).isEqualTo(ACCEPTED);
        // Let the disconnect get out before the close that ends the same thing.
        node.poll();
    }

    @Test
    void shouldUseNoProcessorTimeWhileItSleeps() {
        Pair p = new Pair();
        settle();
        double share = 1;
        // What is compiled or paged in meanwhile is no cost of sleeping: it does not go on.
        for (int i = 0; i < 3 && share >= 0.02; i++) {
            share = shareOfASecond(p);
        }
        assertThat(share).as("share of a core").isLessThan(0.02);
    }

    private static double shareOfASecond(Pair p) {
        java.lang.management.ThreadMXBean threads =
                java.lang.management.ManagementFactory.getThreadMXBean();
        Transport t = p.a.transport;
        long cpu = threads.getCurrentThreadCpuTime();
        long start = t.nanoTime();
        while (t.nanoTime() - start < 1_000_000_000L) {
            t.await(start + 1_000_000_000L);
            p.a.poll();
        }
        cpu = threads.getCurrentThreadCpuTime() - cpu;
        return (double) cpu / (t.nanoTime() - start);
    }

    /** A handler that counts and keeps nothing. */
    static final class Counter implements TransportHandler {
        long completions;
        long bytes;
        long notifications;
        long bad;

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            completions++;
            bad += status == Status.OK ? 0 : 1;
        }

        @Override
        public void onMessage(
                long connection,
                long context,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            bytes += length + buffer.getByte(offset);
        }

        @Override
        public void onNotify(
                long connection, long context, int tag, long regionId, long offset, long length) {
            notifications++;
        }
    }

    @Test
    void shouldAllocateNothingWhenPostingAndPolling() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(4096);
        RemoteDescriptor d = describe(p.b.allocate(4096));
        Counter atA = new Counter();
        Counter atB = new Counter();
        boolean hasNotify = (p.a.transport.capabilities() & Capability.PUT_NOTIFY) != 0;
        boolean hasAtomics = (p.a.transport.capabilities() & Capability.ATOMICS) != 0;
        int rounds = times(20_000);
        long runs =
                AllocationMeter.requireNone(
                        () -> hotLoop(p, local, d, atA, atB, rounds, hasNotify, hasAtomics));
        assertThat(atA.bad).isZero();
        assertThat(atB.bytes).isEqualTo(runs * rounds * 100);
    }

    private static void hotLoop(
            Pair p,
            RegisteredRegion local,
            RemoteDescriptor d,
            Counter atA,
            Counter atB,
            int rounds,
            boolean hasNotify,
            boolean hasAtomics) {
        int operations = 3 + (hasNotify ? 1 : 0) + (hasAtomics ? 1 : 0);
        Transport a = p.a.transport;
        for (int i = 0; i < rounds; i++) {
            long expected = atA.completions + operations;
            long messages = atB.bytes + 100;
            long notifications = atB.notifications + (hasNotify ? 1 : 0);
            a.put(p.ab, local, 0, d, 0, 100, i, 0);
            a.get(p.ab, local, 200, d, 0, 100, i, 0);
            a.send(p.ab, local, 0, 100, i, 0);
            if (hasNotify) {
                a.putNotify(p.ab, local, 0, d, 0, 100, i, i, 0);
            }
            if (hasAtomics) {
                a.fetchAdd(p.ab, d, 1024, 1, i, 0);
            }
            while (atA.completions < expected
                    || atB.bytes < messages
                    || atB.notifications < notifications) {
                a.poll(atA, 16);
                p.b.transport.poll(atB, 16);
            }
        }
    }
}
