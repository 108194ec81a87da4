package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.verbena.memory.RegisteredRegion;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Calls that wait end when their thread is interrupted, say so and leave the mark; one small
 * subclass for each provider names the scheme.
 */
@Timeout(value = 240, unit = TimeUnit.SECONDS)
public abstract class DartInterruptContract {
    private static final int SLOW = 1;

    /** Far below what the calls would wait for otherwise. */
    private static final long SOON_NS = 30_000_000_000L;

    private static final long FAR_NS = 80_000_000_000L;

    /** For subclasses in other modules. */
    protected DartInterruptContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    /** What the call throws when its thread is interrupted while it waits. */
    private static Throwable thrownBy(ThrowingCallable call) throws InterruptedException {
        Thread waiting = Thread.currentThread();
        CountDownLatch isCalled = new CountDownLatch(1);
        Thread other =
                new Thread(
                        () -> {
                            try {
                                isCalled.await();
                                Thread.sleep(50);
                            } catch (InterruptedException e) {
                                throw new AssertionError(e);
                            }
                            waiting.interrupt();
                        });
        other.start();
        long start = System.nanoTime();
        isCalled.countDown();
        Throwable thrown = catchThrowable(call);
        long took = System.nanoTime() - start;
        assertThat(Thread.interrupted()).as("the mark is still set; %s", thrown).isTrue();
        other.join();
        assertThat(took).isLessThan(SOON_NS);
        return thrown;
    }

    private static void assertInterrupted(String what, ThrowingCallable call)
            throws InterruptedException {
        Throwable thrown = thrownBy(call);
        assertThat(thrown).as(what).isInstanceOf(DartException.class);
        assertThat(((DartException) thrown).code())
                .as("%s: %s", what, thrown.getMessage())
                .isEqualTo(DartException.Code.INTERRUPTED);
        assertThat(thrown).hasMessageContaining("interrupted");
    }

    private static void hold(CountDownLatch go) {
        try {
            go.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void shouldEndTheWaitingCallsOfAProcess() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            world.onMessage = () -> hold(go);
            world.master(c -> c.bufferCount(2));
            DartClient client = world.client(0, c -> c.inbox(2));
            RegisteredRegion region = client.allocate(1000);
            UnsafeBuffer data = DartWorld.bytes(1000, 1);
            // The receiver takes nothing more: two messages fill the buffers, the next one waits.
            DartTicket last = null;
            for (int i = 0; i < 3; i++) {
                last = client.sendCopy(data, 0, 1000, null, i);
            }
            DartTicket waiting = last;
            assertInterrupted("send", () -> client.send(region, 0, 1000, null, 9, FAR_NS));
            assertInterrupted("send", () -> client.send(region, 0, 1000, null, 9));
            assertInterrupted("sendCopy", () -> client.sendCopy(data, 0, 1000, null, 9));
            assertInterrupted("flush", () -> client.flush(FAR_NS));
            assertInterrupted("await", () -> waiting.await(TicketState.STREAMED, FAR_NS));
            DartReverseHandler nothing =
                    new DartReverseHandler() {
                        @Override
                        public void onMessage(int type, DirectBuffer buffer, int at, int length) {
                            throw new AssertionError("nothing was sent back");
                        }
                    };
            assertInterrupted("receive", () -> client.receive(nothing, 1, FAR_NS));
            assertThat(client.statistics().messageCount()).isEqualTo(3);
            // Calls that need not wait do not care, and everything goes on afterwards.
            go.countDown();
            Thread.currentThread().interrupt();
            client.progress();
            assertThat(Thread.interrupted()).isTrue();
            client.flush(DartWorld.LIMIT_NS);
            Thread.currentThread().interrupt();
            DartTicket next = client.sendCopy(data, 0, 1000, null, 3);
            assertThat(Thread.interrupted()).isTrue();
            next.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            assertThat(world.received)
                    .extracting(DartWorld.Received::tag)
                    .containsExactly(0, 1, 2, 3);
        } finally {
            go.countDown();
        }
    }

    @Test
    void shouldEndACommandConnectingAndClosing() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            assertInterrupted("connect", () -> world.client(0, c -> c.bootTimeoutNs(FAR_NS)));
            world.master(
                    c ->
                            c.commandHandler(
                                    SLOW,
                                    (command, reply) -> {
                                        hold(go);
                                        return 0;
                                    }));
            DartClient client = world.client(0, c -> c.maxInFlight(4));
            assertInterrupted(
                    "command",
                    () -> client.command(SLOW, new UnsafeBuffer(new byte[0]), 0, 0, FAR_NS));
            // The server is busy with the command: this message stays where it is.
            client.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 7);
            world.clients.clear();
            Throwable thrown = thrownBy(() -> client.close(FAR_NS));
            assertThat(((DartException) thrown).code()).isEqualTo(DartException.Code.UNCONFIRMED);
            assertThat(thrown)
                    .hasMessageContaining("interrupted")
                    .hasMessageContaining("message 1 ")
                    .hasMessageContaining("tag 7");
            client.close();
            go.countDown();
        } finally {
            go.countDown();
        }
    }

    @Test
    void shouldEndTheWaitingCallsOfServersAndReceiver() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            DartServer master = world.master(c -> c.serverCount(2));
            String absent = world.directory.resolve("absent.conf").toString();
            DartServer lonely = world.slave(c -> c.configurationFile(absent));
            assertInterrupted("awaitReady", () -> lonely.awaitReady(FAR_NS));
            master.awaitReady(DartWorld.LIMIT_NS);
            assertInterrupted("barrier", () -> master.barrier(FAR_NS));
            assertInterrupted("awaitStopped", () -> master.awaitStopped(FAR_NS));
            assertInterrupted("awaitFinished", () -> world.receiver.awaitFinished(1, FAR_NS));
            // Closing ends everything whatever happens to the thread.
            Thread.currentThread().interrupt();
            lonely.close();
            assertThat(Thread.interrupted()).isTrue();
            assertThat(lonely.awaitStopped(0)).isTrue();
        }
    }
}
