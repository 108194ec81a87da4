package dev.verbena.ofi.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A peer that lives and has no time: its handler runs for longer than the peer timeout. */
@Timeout(120)
@ExtendWith(NeedsLibfabric.class)
class OfiHeartbeatTest {
    private static final long PEER_TIMEOUT_NS = 1_000_000_000L;
    private static final long BUSY_NS = 4 * PEER_TIMEOUT_NS;

    private final CountDownLatch listening = new CountDownLatch(1);
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch mayReturn = new CountDownLatch(1);
    private volatile boolean isEnding;
    private boolean isConnected;
    private String loss;

    private final TransportHandler here =
            new TransportHandler() {
                @Override
                public void onConnected(long connection, long context) {
                    isConnected = true;
                }

                @Override
                public void onPeerLost(long connection, long context, String reason) {
                    loss = reason;
                }
            };

    private Transport open(String name) {
        return Transports.open(
                "ofi",
                new TransportContext()
                        .job("heartbeat-" + ProcessHandle.current().pid())
                        .name(name)
                        .peerTimeoutNs(PEER_TIMEOUT_NS)
                        .option("ofi.progress", "caller"));
    }

    private void serve(Transport busy) {
        TransportHandler handler =
                new TransportHandler() {
                    @Override
                    public void onConnectRequest(
                            long from, URI uri, DirectBuffer data, int offset, int length) {
                        busy.accept(from, 1);
                    }

                    @Override
                    public void onMessage(
                            long from,
                            long context,
                            DirectBuffer buffer,
                            int offset,
                            int length,
                            long token) {
                        entered.countDown();
                        awaitReturn();
                    }
                };
        busy.listen(); // this thread is its owner
        listening.countDown();
        while (!isEnding) {
            busy.poll(handler, 8);
        }
    }

    private void awaitReturn() {
        try {
            mayReturn.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void shouldCountAsAliveWhileItsHandlerRuns() throws InterruptedException {
        try (Transport transport = open("here");
                Transport busy = open("busy");
                RegisteredRegion source = transport.allocate(64, 0)) {
            Thread server = new Thread(() -> serve(busy));
            server.start();
            try {
                listening.await();
                long connection = transport.connect(busy.uri(), null, 0, 0, 1, 30_000_000_000L);
                Await.until(
                        "connected",
                        () -> {
                            transport.poll(here, 8);
                            return isConnected;
                        });
                transport.send(connection, source, 0, 8, 2, 0);
                Await.until(
                        "its handler runs",
                        () -> {
                            transport.poll(here, 8);
                            return entered.getCount() == 0;
                        });
                long endNs = System.nanoTime() + BUSY_NS;
                while (System.nanoTime() - endNs < 0 && loss == null) {
                    transport.poll(here, 8);
                }
                assertThat(loss).isNull();
            } finally {
                isEnding = true;
                mayReturn.countDown();
                server.join();
            }
        }
    }
}
