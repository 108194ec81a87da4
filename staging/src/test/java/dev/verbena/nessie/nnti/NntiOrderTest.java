package dev.verbena.nessie.nnti;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Over a provider that reports completions in another order than the operations began. */
@Timeout(60)
class NntiOrderTest {
    private static final int OPERATIONS = 12;
    private static final int ROUNDS = 50;

    /** Keeps completions back until there are some, then reports them shuffled. */
    private static final class Shuffling {
        final List<Object> order = new ArrayList<>();
        private final Transport below;
        private final Random random;
        private final List<Object[]> held = new ArrayList<>();
        private int polls;

        Shuffling(Transport below, long seed) {
            this.below = below;
            this.random = new Random(seed);
        }

        Transport transport() {
            return proxy(
                    Transport.class,
                    below,
                    (method, arguments) ->
                            method.getName().equals("poll")
                                    ? (Object) poll((TransportHandler) arguments[0], arguments)
                                    : call(below, method, arguments));
        }

        private int poll(TransportHandler handler, Object[] arguments) throws Throwable {
            TransportHandler keeping =
                    proxy(
                            TransportHandler.class,
                            handler,
                            (method, completion) -> {
                                if (!method.getName().equals("onCompletion")) {
                                    return call(handler, method, completion);
                                }
                                held.add(completion.clone());
                                return null;
                            });
            int count = below.poll(keeping, (int) arguments[1]);
            if (++polls % 16 == 0) {
                Collections.shuffle(held, random);
                for (Object[] each : held) {
                    order.add(each[2]);
                    handler.onCompletion(
                            (long) each[0],
                            (int) each[1],
                            (long) each[2],
                            (int) each[3],
                            (long) each[4]);
                }
                count += held.size();
                held.clear();
            }
            return count;
        }

        private interface Body {
            Object run(Method method, Object[] arguments) throws Throwable;
        }

        private static <T> T proxy(Class<T> type, T below, Body body) {
            return type.cast(
                    Proxy.newProxyInstance(
                            type.getClassLoader(),
                            new Class<?>[] {type},
                            (self, method, arguments) -> body.run(method, arguments)));
        }

        private static Object call(Object below, Method method, Object[] arguments)
                throws Throwable {
            try {
                return method.invoke(below, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
    }

    @Test
    @Tag("nessie-N18")
    void shouldReturnInTheOrderOfIssueWhatEndedInAnother() {
        TransportContext context = NntiPair.context();
        Shuffling shuffling = new Shuffling(Transports.open("shm", context), 18);
        try (NntiTransport left = new NntiTransport(shuffling.transport(), NntiOptions.ONE_SIDED);
                NntiTransport right =
                        new NntiTransport(Transports.open("shm", context), NntiOptions.ONE_SIDED)) {
            NntiPeer to = left.startConnect(right.url(), 10_000_000_000L);
            Await.until(
                    "connected",
                    () -> left.progress() + right.progress() >= 0 && to.state() == ready());
            NntiBuffer a = left.alloc(1 << 16, 1, BufferFlags.PUT_SRC | BufferFlags.GET_DST);
            NntiBuffer b = left.alloc(1 << 16, 1, BufferFlags.PUT_SRC);
            NntiBuffer target = right.alloc(1 << 16, 1, BufferFlags.PUT_DST | BufferFlags.GET_SRC);
            for (int round = 0; round < ROUNDS; round++) {
                runRound(left, to, a, b, target.handle());
            }
        }
        // The provider did what this is about.
        List<Object> sorted = new ArrayList<>(shuffling.order);
        assertThat(sorted).hasSizeGreaterThan(OPERATIONS * ROUNDS);
        assertThat(shuffling.order).isNotEqualTo(inOrder(sorted));
    }

    private static NntiPeer.State ready() {
        return NntiPeer.State.READY;
    }

    private static List<Object> inOrder(List<Object> contexts) {
        contexts.sort((x, y) -> Long.compare((long) x, (long) y));
        return contexts;
    }

    /** Operations of lengths 1, 2 ... on one buffer, some on another in between. */
    private static void runRound(
            NntiTransport left, NntiPeer to, NntiBuffer a, NntiBuffer b, BufferHandle target) {
        for (int i = 1; i <= OPERATIONS; i++) {
            NntiResult started =
                    i % 3 == 0
                            ? left.get(to, target, 0, i, a, 0, null)
                            : left.put(to, a, 0, i, target, 0, null);
            assertThat(started).isEqualTo(NntiResult.OK);
            assertThat(left.put(to, b, 0, 100 + i, target, 0, null)).isEqualTo(NntiResult.OK);
        }
        NntiStatus status = new NntiStatus();
        for (int i = 1; i <= OPERATIONS; i++) {
            assertThat(left.await(a, 10_000, status)).isEqualTo(NntiResult.OK);
            assertThat(status.length()).isEqualTo(i);
        }
        for (int i = 1; i <= OPERATIONS; i++) {
            assertThat(left.await(b, 10_000, status)).isEqualTo(NntiResult.OK);
            assertThat(status.length()).isEqualTo(100 + i);
        }
    }
}
