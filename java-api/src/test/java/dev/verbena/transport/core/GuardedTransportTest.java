package dev.verbena.transport.core;

import static dev.verbena.transport.Transport.CLOSED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.transport.TransportHandler;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** The shell of all providers, around a transport that only writes down which hooks are called. */
class GuardedTransportTest {
    private static final TransportHandler NOBODY = TransportHandler.IGNORE;

    private final RecordingTransport transport = new RecordingTransport();

    private static AtomicReference<Throwable> caught(Thread thread) {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        thread.setUncaughtExceptionHandler((t, e) -> thrown.set(e));
        return thrown;
    }

    @Test
    void shouldCallTheHooksOnTheOwnersThreadInsideTheGuard() {
        transport.allocate(8, 0);
        transport.register(null, 0);
        transport.listen();
        assertThat(transport.connect(null, null, 0, 0, 1, 1)).isEqualTo(1);
        assertThat(transport.accept(1, 1)).isZero();
        assertThat(transport.reject(1)).isZero();
        assertThat(transport.disconnect(1)).isZero();
        transport.release(1);
        assertThat(transport.poll(NOBODY, 1)).isEqualTo(7);
        assertThat(transport.await(0)).isFalse();
        assertThat(transport.calls)
                .containsExactly(
                        "allocate",
                        "register",
                        "listen",
                        "connect",
                        "accept",
                        "reject",
                        "disconnect",
                        "release",
                        "poll",
                        "await");
        assertThat(transport.guard.isInsideOnThisThread()).as("left").isFalse();
        assertThat(transport).hasToString("recording transport");
    }

    @Test
    void shouldCallNoHookAfterClose() {
        transport.poll(NOBODY, 1);
        transport.close();
        transport.calls.clear();
        assertThatThrownBy(() -> transport.allocate(8, 0)).hasMessageContaining("closed: rec");
        assertThatThrownBy(() -> transport.register(null, 0)).hasMessageContaining("closed: rec");
        assertThatThrownBy(transport::listen).hasMessageContaining("closed: recording transport");
        assertThatThrownBy(() -> transport.retain(1)).hasMessageContaining("closed: recording");
        assertThat(transport.connect(null, null, 0, -1, 1, 1)).isEqualTo(CLOSED);
        assertThat(transport.accept(1, 1)).isEqualTo(CLOSED);
        assertThat(transport.reject(1)).isEqualTo(CLOSED);
        assertThat(transport.disconnect(1)).isEqualTo(CLOSED);
        assertThat(transport.poll(NOBODY, 1)).isEqualTo(CLOSED);
        assertThat(transport.await(Long.MAX_VALUE)).isTrue();
        transport.release(1);
        transport.wakeup();
        transport.close();
        assertThat(transport.calls).isEmpty();
    }

    @Test
    void shouldRefusePrivateDataThatIsNotThereOrTooLong() {
        UnsafeBuffer data = new UnsafeBuffer(new byte[RecordingTransport.PRIVATE_MAX + 1]);
        int most = RecordingTransport.PRIVATE_MAX;
        for (int length : new int[] {-1, most + 1}) {
            assertThatThrownBy(() -> transport.connect(null, data, 0, length, 1, 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(length + " bytes is outside 0 to " + most);
        }
        assertThatThrownBy(() -> transport.connect(null, data, 2, most, 1, 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(transport.calls).isEmpty();
        assertThat(transport.connect(null, data, 1, most, 1, 1)).isEqualTo(1);
        assertThat(transport.guard.isInsideOnThisThread()).as("left").isFalse();
    }

    @Test
    void shouldRefusePollAwaitAndCloseInsideAHandler() {
        transport.whilePolling =
                () -> {
                    assertThatThrownBy(() -> transport.poll(NOBODY, 1))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("poll from inside a handler of recording");
                    assertThatThrownBy(() -> transport.await(0))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("await from inside a handler of recording");
                    assertThatThrownBy(transport::close)
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("close from inside a handler of recording");
                    throw new IllegalCallerException("the handler's own");
                };
        assertThatThrownBy(() -> transport.poll(NOBODY, 1))
                .isInstanceOf(IllegalCallerException.class);
        transport.whilePolling = () -> {};
        assertThat(transport.poll(NOBODY, 1)).as("an exception leaves no trace").isEqualTo(7);
        assertThat(transport.await(0)).isFalse();
    }

    /** A handler that runs when a close begins may still keep its message; calls are refused. */
    @Test
    void shouldLetAHandlerRetainItsMessageWhileAnotherThreadCloses() throws Exception {
        Thread closer = new Thread(transport::close, "closer");
        AtomicReference<Throwable> thrown = caught(closer);
        transport.whilePolling =
                () -> {
                    closer.start();
                    while (!transport.guard.isClosed()) {
                        Thread.onSpinWait();
                    }
                    transport.retain(5);
                    assertThat(transport.disconnect(1)).isEqualTo(CLOSED);
                    transport.wakeup();
                };
        assertThat(transport.poll(NOBODY, 1)).isEqualTo(7);
        closer.join(60_000);
        assertThat(thrown.get()).isNull();
        assertThat(transport.calls)
                .contains("retain")
                .doesNotContain("disconnect")
                .endsWith("free");
        assertThat(transport.owners).containsExactly(Thread.currentThread(), closer);
    }

    @Test
    void shouldRefuseAnotherThreadsRetain() throws Exception {
        transport.poll(NOBODY, 1);
        Thread stranger = new Thread(() -> transport.retain(1), "stranger");
        AtomicReference<Throwable> thrown = caught(stranger);
        stranger.start();
        stranger.join(60_000);
        assertThat(thrown.get())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("thread 'stranger' may only call wakeup and close");
        assertThat(transport.calls).doesNotContain("retain");
    }

    @Test
    void shouldGiveEverythingBackWhenACloseFindsARegionOnceTheOwnerIsOutside() throws Exception {
        transport.poll(NOBODY, 1);
        transport.openInside = "[one]";
        Thread closer = new Thread(transport::close, "closer");
        AtomicReference<Throwable> thrown = caught(closer);
        closer.start();
        closer.join(60_000);
        assertThat(thrown.get())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("recording transport has open regions, close them first: [one]");
        Thread owner = Thread.currentThread();
        assertThat(transport.owners).containsExactly(owner, closer, owner);
        assertThat(transport.poll(NOBODY, 1)).isEqualTo(7);
        transport.openInside = null;
        transport.close();
        assertThat(transport.calls).endsWith("free");
    }

    @Test
    void shouldNotDisturbTheOwnerWhenRegionsAreKnownToBeOpen() {
        transport.poll(NOBODY, 1);
        transport.openAnyTime = "[one]";
        assertThatThrownBy(transport::close).isInstanceOf(IllegalStateException.class);
        assertThat(transport.owners).as("the guard was not closed").hasSize(1);
        assertThat(transport.guard.isClosed()).isFalse();
    }

    @Test
    void shouldFreeOnceAlsoWhenThatThrows() {
        transport.isFreeThrowing = true;
        assertThatThrownBy(transport::close).isInstanceOf(IllegalCallerException.class);
        transport.close();
        assertThat(transport.calls).containsOnlyOnce("free");
    }

    @Test
    void shouldRememberAWakeupForTheNextAwaitOnly() throws Exception {
        CountDownLatch woken = new CountDownLatch(1);
        new Thread(
                        () -> {
                            transport.wakeup();
                            woken.countDown();
                        })
                .start();
        woken.await();
        assertThat(transport.calls).containsExactly("ring");
        assertThat(transport.await(0)).isTrue();
        assertThat(transport.await(0)).isFalse();
    }
}
