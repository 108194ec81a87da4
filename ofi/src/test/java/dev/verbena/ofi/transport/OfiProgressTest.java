package dev.verbena.ofi.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.verbena.AllocationMeter;
import dev.verbena.agent.Await;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Targets whose owner neither polls nor awaits. */
@Timeout(120)
@ExtendWith(NeedsLibfabric.class)
class OfiProgressTest {
    private static final int LENGTH = 4 << 20;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final String job = "progress-" + ProcessHandle.current().pid();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private String sleep = "sockets";
    private Transport initiator;
    private Transport target;
    private RegisteredRegion local;
    private RegisteredRegion remote;
    private RemoteDescriptor descriptor;
    private long connection;
    private boolean isConnected;
    private int completions;
    private int messages;

    private final TransportHandler handler =
            new TransportHandler() {
                @Override
                public void onConnected(long connection, long context) {
                    isConnected = true;
                }

                @Override
                public void onCompletion(
                        long connection, int operation, long context, int status, long value) {
                    assertThat(status).isEqualTo(Status.OK);
                    completions++;
                }
            };

    private final TransportHandler atTarget =
            new TransportHandler() {
                @Override
                public void onConnectRequest(
                        long connection, URI uri, DirectBuffer data, int offset, int length) {
                    target.accept(connection, 1);
                }

                @Override
                public void onMessage(
                        long connection,
                        long context,
                        DirectBuffer buffer,
                        int offset,
                        int length,
                        long token) {
                    messages++;
                }
            };

    private Transport open(String name, String progress) {
        TransportContext context =
                new TransportContext().job(job).name(name).errorHandler(errors::add);
        context.option("ofi.progress", progress).option("ofi.sleep", sleep);
        return Transports.open("ofi", context);
    }

    private void connect(String progress) {
        connect(progress, progress);
    }

    private void connect(String progress, String progressOfTarget) {
        initiator = open("initiator", progress);
        target = open("target", progressOfTarget);
        local = initiator.allocate(LENGTH, 0);
        remote = target.allocate(LENGTH, RemoteDescriptor.REMOTE_ALL);
        descriptor = new RemoteDescriptor();
        remote.describe(0, LENGTH, RemoteDescriptor.REMOTE_ALL, descriptor);
        target.listen();
        connection = initiator.connect(target.uri(), null, 0, 0, 1, 30_000_000_000L);
        Await.until(
                () -> "connected; " + errors,
                () -> {
                    target.poll(atTarget, 8);
                    initiator.poll(handler, 8);
                    return isConnected;
                });
    }

    @AfterEach
    void close() {
        if (local != null) {
            local.close();
            remote.close();
            initiator.close();
            target.close();
        }
        assertThat(errors).isEmpty();
    }

    private void awaitCompletions(int count) {
        Await.until(
                () -> count + " completions, now " + completions,
                () -> {
                    initiator.poll(handler, 8);
                    return completions >= count;
                });
    }

    @Test
    void shouldServePutsGetsAndAtomicsWhileTheTargetsOwnerComputes() {
        connect("thread");
        local.buffer(0, LENGTH).setMemory(0, LENGTH, (byte) 7);
        initiator.put(connection, local, 0, descriptor, 0, LENGTH, 1, 0);
        awaitCompletions(1);
        local.buffer(0, LENGTH).setMemory(0, LENGTH, (byte) 0);
        initiator.get(connection, local, 0, descriptor, 0, LENGTH, 2, 0);
        initiator.fetchAdd(connection, descriptor, 64, 5, 3, Transport.FENCE);
        awaitCompletions(2);
        assertThat(local.buffer(0, LENGTH).getByte(LENGTH - 1)).isEqualTo((byte) 7);
        assertThat(initiator.send(connection, local, 0, 100, 4, 0)).isZero();
        awaitCompletions(3);
        assertThat(messages).as("handlers run in poll only").isZero();
        Await.until(() -> "the message", () -> target.poll(atTarget, 8) >= 0 && messages == 1);
    }

    /** Nobody else serves them: what arrives must end each sleep, although no event comes of it. */
    @ParameterizedTest
    @ValueSource(strings = {"sockets", "queue"})
    void shouldServeLongPutsWhileTheTargetsOwnerSleeps(String where) {
        sleep = where;
        connect("thread", "caller");
        for (int i = 0; i < 120; i++) {
            assertThat(initiator.put(connection, local, 0, descriptor, 0, LENGTH, i, 0)).isZero();
        }
        for (int sleeps = 0; sleeps < 12 && completions < 120; sleeps++) {
            target.await(System.nanoTime() + 500_000_000L);
            initiator.poll(handler, 120);
        }
        assertThat(completions).isEqualTo(120);
    }

    @Test
    void shouldLeaveItAllToTheOwnerWhenAskedTo() {
        connect("caller");
        assertThat(initiator.explain()).contains("ofi.progress=caller");
        initiator.get(connection, local, 0, descriptor, 0, LENGTH, 1, 0);
        long endNs = System.nanoTime() + 300_000_000L;
        while (System.nanoTime() - endNs < 0) {
            initiator.poll(handler, 8);
        }
        assertThat(completions).as("nobody serves it").isZero();
        Await.until(
                () -> "the get",
                () -> {
                    target.poll(atTarget, 8);
                    initiator.poll(handler, 8);
                    return completions == 1;
                });
        assertThat(threadOf("target")).isZero();
    }

    @Test
    void shouldRefuseAnotherWordThanThreadAndCaller() {
        assertThatThrownBy(() -> open("nobody", "fiber"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("ofi.progress", "fiber", "thread", "caller");
    }

    /** Who waits looks now and then. */
    @Test
    void shouldAwaitWithoutADescriptorWhenAskedTo() {
        sleep = "look";
        connect("thread");
        assertThat(initiator.explain()).contains("await looks every 2 ms");
        initiator.put(connection, local, 0, descriptor, 0, LENGTH, 1, 0);
        Await.until(
                () -> "the put",
                () -> {
                    initiator.await(System.nanoTime() + 10_000_000_000L);
                    initiator.poll(handler, 8);
                    return completions == 1;
                });
    }

    @Test
    void shouldRefuseAWordThatNamesNoSleep() {
        sleep = "deeply";
        assertThatThrownBy(() -> open("nobody", "thread"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("ofi.sleep", "deeply", "sockets, queue, look");
    }

    private static long threadOf(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("verbena-ofi-progress-" + name))
                .mapToLong(Thread::getId)
                .findFirst()
                .orElse(0);
    }

    /** The time is the thread's own: other work on this machine adds nothing to it. */
    @Test
    void shouldUseLittleOfAProcessorWhileNothingHappensAndEndWithTheTransport() {
        connect("thread");
        long thread = threadOf("target");
        long usedNs = THREADS.getThreadCpuTime(thread);
        long endNs = System.nanoTime() + 2_000_000_000L;
        while (System.nanoTime() - endNs < 0) {
            initiator.await(endNs);
        }
        assertThat(THREADS.getThreadCpuTime(thread) - usedNs).isLessThan(500_000_000L);
        local.close();
        remote.close();
        initiator.close();
        target.close();
        assertThat(threadOf("target")).isZero();
    }

    /** Gets that the thread serves; it has compiled code after some of them. */
    @Test
    void shouldAllocateNothingForWhatItServes() {
        connect("thread");
        long thread = threadOf("target");
        AllocationOfRounds rounds = new AllocationOfRounds();
        AllocationMeter.requireNoneIn(() -> rounds.next(thread));
    }

    private final class AllocationOfRounds {
        long next(long thread) {
            long before = THREADS.getThreadAllocatedBytes(thread);
            for (int i = 0; i < 200; i++) {
                int done = completions;
                initiator.get(connection, local, 0, descriptor, 0, 4096, i, 0);
                awaitCompletions(done + 1);
            }
            return THREADS.getThreadAllocatedBytes(thread) - before;
        }
    }
}
