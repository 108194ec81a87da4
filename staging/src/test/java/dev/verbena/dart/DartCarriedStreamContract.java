package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ForwardingEnvironment;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The stream between server and receiver when a transport carries it, and misbehaves. */
@Timeout(120)
public abstract class DartCarriedStreamContract {
    /** Of a carrier's transport, and of no other. */
    private static final int CARRIER_MESSAGE = 64;

    /** For subclasses in other modules. */
    protected DartCarriedStreamContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    private DartWorld world() {
        return new DartWorld("shm>" + scheme());
    }

    @Test
    void shouldDeliverExactlyOnceWhenConnectionIsCutAgainAndAgain() throws Exception {
        try (DartWorld world = world().receive()) {
            Meddler meddler = new Meddler(world.environment);
            meddler.cutsLeft.set(6);
            DartServer master = world.master(c -> c.environment(meddler).framePayloadMax(30_000));
            DartStreamContract.sendAndCompare(world, 60);
            assertThat(meddler.cutsLeft.get()).isZero();
            assertThat(master.statistics().reconnectCount()).isEqualTo(6);
            assertThat(world.receiver.statistics().messageCount()).isEqualTo(60);
        }
    }

    /** For transports whose puts are over when their call is: otherwise the damage is undone. */
    protected final void requireDamageIsSentAgain() throws Exception {
        try (DartWorld world = world().receive()) {
            Meddler meddler = new Meddler(world.environment);
            meddler.flipsLeft.set(8);
            world.master(c -> c.environment(meddler).framePayloadMax(60_000));
            DartStreamContract.sendAndCompare(world, 60);
            assertThat(meddler.flipsLeft.get()).isZero();
            assertThat(world.receiver.statistics().corruptFrameCount()).isPositive();
        }
    }

    @Test
    void shouldStreamWithoutAcknowledgementAndOnThreeThreads() throws Exception {
        try (DartWorld world = world().receive()) {
            world.master(c -> c.ack(AckMode.NONE).dedicatedThreads(true));
            DartStreamContract.sendAndCompare(world, 20);
        }
    }

    @Test
    void shouldHoldProcessesBackWhileTheReceiverTakesNothing() throws Exception {
        try (DartWorld world = world().receive()) {
            CountDownLatch go = new CountDownLatch(1);
            world.onMessage = () -> awaitUninterrupted(go);
            DartServer master = world.master(c -> c.bufferSize(1 << 20).bufferCount(4));
            DartClient client = world.client(0, c -> c.maxInFlight(32).checksum(true));
            UnsafeBuffer data = DartWorld.bytes(900_000, 3);
            for (int i = 0; i < 16; i++) {
                client.sendCopy(data, 0, 900_000, null, i);
            }
            try {
                // Handler, ring and buffers are full: the rest waits.
                Await.until("held back", () -> master.statistics().parkedHeaderCount() >= 8);
                Await.until("one is being handled", () -> !world.received.isEmpty());
                assertThat(world.received).hasSize(1);
            } finally {
                go.countDown();
            }
            client.flush(DartWorld.LIMIT_NS);
            assertThat(world.received).extracting(DartWorld.Received::tag).hasSize(16);
            assertThat(world.received)
                    .allMatch(m -> !m.isCorrupt() && m.payload().length == 900_000);
        }
    }

    @Test
    void shouldNameWhatIsLostWhenStoppedAtOnceWithPutsUnderWay() throws Exception {
        try (DartWorld world = world().receive()) {
            CountDownLatch go = new CountDownLatch(1);
            world.onMessage = () -> awaitUninterrupted(go);
            DartServer master = world.master(c -> c.bufferSize(1 << 20).bufferCount(4));
            DartClient client = world.client(0, c -> c.maxInFlight(8));
            UnsafeBuffer data = DartWorld.bytes(900_000, 4);
            for (int i = 0; i < 8; i++) {
                client.sendCopy(data, 0, 900_000, null, i);
            }
            Await.until("full", () -> master.statistics().emptyCount() == 0);
            try {
                master.stopNow();
                assertThat(master.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
                master.close();
                assertThat(master.lostMessages()).isNotEmpty();
            } finally {
                go.countDown();
            }
            world.clients.clear();
            assertThatThrownBy(() -> client.close(0)).hasMessageContaining("unconfirmed");
        }
    }

    @Test
    void shouldProveTheSecret() throws Exception {
        byte[] secret = "a secret of many bytes".getBytes(java.nio.charset.StandardCharsets.UTF_8);
        try (DartWorld world = world()) {
            world.receive(world.receiverContext().secret(secret));
            world.master(c -> c.secret(secret));
            DartStreamContract.sendAndCompare(world, 5);
        }
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Cuts the carrier's connections, or flips bits of long puts while they are made. */
    private static final class Meddler extends ForwardingEnvironment {
        private final AtomicInteger cutsLeft = new AtomicInteger();
        private final AtomicInteger flipsLeft = new AtomicInteger();
        private final SplittableRandom random = new SplittableRandom(11);
        private long untilNext = 30_000;

        Meddler(Environment inner) {
            super(inner);
        }

        @Override
        public Transport openTransport(String scheme, TransportContext context) {
            Transport opened = super.openTransport(scheme, context);
            if (context.messageLengthMax() != CARRIER_MESSAGE) {
                return opened;
            }
            return (Transport)
                    Proxy.newProxyInstance(
                            Transport.class.getClassLoader(),
                            new Class<?>[] {Transport.class},
                            (proxy, method, arguments) ->
                                    method.getName().equals("putNotify")
                                            ? putNotify(opened, method, arguments)
                                            : call(opened, method, arguments));
        }

        private Object putNotify(Transport opened, Method method, Object[] arguments)
                throws Throwable {
            long length = (long) arguments[5];
            untilNext -= length;
            if (untilNext > 0 || length < 200) {
                return call(opened, method, arguments);
            }
            if (cutsLeft.get() > 0) {
                untilNext = random.nextLong(10_000, 300_000);
                cutsLeft.decrementAndGet();
                opened.disconnect((long) arguments[0]);
                return Transport.NOT_CONNECTED;
            }
            if (flipsLeft.get() == 0) {
                return call(opened, method, arguments);
            }
            untilNext = random.nextLong(100_000, 200_000);
            flipsLeft.decrementAndGet();
            RegisteredRegion source = (RegisteredRegion) arguments[1];
            UnsafeBuffer last = source.buffer((long) arguments[2] + length - 1, 1);
            last.putByte(0, (byte) (last.getByte(0) ^ 4));
            Object answer = call(opened, method, arguments);
            last.putByte(0, (byte) (last.getByte(0) ^ 4));
            return answer;
        }

        private static Object call(Transport opened, Method method, Object[] arguments)
                throws Throwable {
            try {
                return method.invoke(opened, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
    }
}
