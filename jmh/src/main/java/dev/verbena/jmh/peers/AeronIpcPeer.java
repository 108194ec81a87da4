package dev.verbena.jmh.peers;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.FragmentHandler;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What an Aeron user gets over shared memory: a ping-pong of two busy threads of one process, the
 * driver asleep beside them. Prints one JSON line with half the median round trip. Arguments:
 * length, round trips.
 */
public final class AeronIpcPeer {
    private static final String CHANNEL = "aeron:ipc";
    private static final int PING_STREAM = 1001;
    private static final int PONG_STREAM = 1002;
    private static final int BATCH = 1000;

    private AeronIpcPeer() {}

    /** Runs. */
    public static void main(String[] arguments) throws Exception {
        int length = Integer.parseInt(arguments[0]);
        PingPong pingPong = new PingPong(Integer.parseInt(arguments[1]) / BATCH, BATCH);
        BackoffIdleStrategy idle = new BackoffIdleStrategy(1, 1, 1_000_000, 20_000_000);
        MediaDriver.Context driver =
                new MediaDriver.Context()
                        .threadingMode(ThreadingMode.SHARED)
                        .sharedIdleStrategy(idle)
                        .dirDeleteOnStart(true)
                        .dirDeleteOnShutdown(true);
        driver.aeronDirectoryName(
                driver.aeronDirectoryName() + "-" + ProcessHandle.current().pid());
        try (MediaDriver media = MediaDriver.launch(driver);
                Aeron aeron =
                        Aeron.connect(
                                new Aeron.Context()
                                        .aeronDirectoryName(media.aeronDirectoryName())
                                        .idleStrategy(idle));
                ExclusivePublication ping = aeron.addExclusivePublication(CHANNEL, PING_STREAM);
                Subscription pingEnd = aeron.addSubscription(CHANNEL, PING_STREAM);
                ExclusivePublication pong = aeron.addExclusivePublication(CHANNEL, PONG_STREAM);
                Subscription pongEnd = aeron.addSubscription(CHANNEL, PONG_STREAM)) {
            while (!ping.isConnected() || !pong.isConnected()) {
                Thread.sleep(1);
            }
            Side echo = new Side(pong, pingEnd, length);
            Thread thread = new Thread(() -> echo.echo(pingPong.roundTrips()), "echo");
            thread.setDaemon(true);
            thread.start();
            Side side = new Side(ping, pongEnd, length);
            pingPong.measure(
                    "aeron_ipc_lat",
                    length,
                    () -> {
                        side.send();
                        side.receive();
                    });
            thread.join();
        }
    }

    private static final class Side {
        private final ExclusivePublication publication;
        private final Subscription subscription;
        private final UnsafeBuffer buffer;
        private long received;
        private final FragmentHandler handler = (b, offset, length, header) -> received++;

        Side(ExclusivePublication publication, Subscription subscription, int length) {
            this.publication = publication;
            this.subscription = subscription;
            this.buffer = new UnsafeBuffer(new byte[length]);
        }

        private void send() {
            while (publication.offer(buffer, 0, buffer.capacity()) < 0) {
                Thread.onSpinWait();
            }
        }

        private void receive() {
            long before = received;
            do {
                subscription.poll(handler, 1);
            } while (received == before);
        }

        void echo(long count) {
            for (long i = 0; i < count; i++) {
                receive();
                send();
            }
        }
    }
}
