package dev.verbena.transport;

import static dev.verbena.transport.Transport.ACCEPTED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The conformance suite of the transport contract. A provider is tested by a subclass that names
 * its scheme:
 *
 * <pre>{@code
 * class ShmTransportContractTest extends TransportContract {
 *     @Override
 *     protected String scheme() {
 *         return "shm";
 *     }
 * }
 * }</pre>
 *
 * <p>Tests are skipped only for a capability bit that the provider does not have, with the reason
 * ({@link SkipsForCapabilities} fails others), and no subclass replaces one. Deaths of processes
 * are tested by {@code TransportProcessContract}.
 */
@ExtendWith(SkipsForCapabilities.class)
public abstract class TransportContract extends LifecycleContract {
    /** Seeds of the random runs; {@code -Dverbena.seed=N} replays one. */
    private static long[] seeds() {
        String given = System.getProperty("verbena.seed");
        long now = System.nanoTime();
        return given != null
                ? new long[] {Long.parseLong(given)}
                : new long[] {1, 2, 3, now, now + 1, now + 2};
    }

    /** Tests that a subclass replaces: for decorators, never for a provider. */
    protected Set<String> replaced() {
        return Set.of();
    }

    @Test
    @Tag("nsim-43")
    final void shouldTestWholeSuite() {
        Set<String> found = new TreeSet<>();
        for (Class<?> type = getClass();
                type != TransportContract.class;
                type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (isOfSuite(method.getName())) {
                    found.add(method.getName());
                }
            }
        }
        assertThat(found).isEqualTo(replaced());
    }

    private static boolean isOfSuite(String name) {
        for (Class<?> type = TransportContract.class; type != null; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.getName().equals(name) && name.startsWith("should")) {
                    return true;
                }
            }
        }
        return false;
    }

    @Test
    public void shouldAddUpWhenTwoThreadsAddToOneCounter() {
        ContractNode target = node();
        requires(target, Capability.ATOMICS, "ATOMICS");
        target.transport.listen();
        RegisteredRegion counter = target.allocate(8);
        RemoteDescriptor d = describe(counter);
        int count = times(5_000);
        AtomicReference<Throwable> failed = new AtomicReference<>();
        List<Thread> adders = new ArrayList<>();
        java.net.URI uri = target.transport.uri();
        for (int i = 0; i < 2; i++) {
            TransportContext theirs = context();
            Thread adder =
                    new Thread(
                            () -> {
                                try (Transport t = open(theirs)) {
                                    add(new ContractNode(t), uri, d, count);
                                } catch (Throwable e) {
                                    failed.set(e);
                                }
                            });
            adders.add(adder);
            adder.start();
        }
        pump(
                "both adders end",
                () -> failed.get() != null || adders.stream().noneMatch(Thread::isAlive));
        assertThat(failed.get()).isNull();
        assertThat(whole(counter).getLongVolatile(0)).isEqualTo(2L * count);
    }

    private static void add(ContractNode node, java.net.URI uri, RemoteDescriptor d, int count) {
        Transport t = node.transport;
        long handle = node.connect(uri, 1);
        long start = System.nanoTime();
        while (node.lives.isEmpty() && System.nanoTime() - start < 60_000_000_000L) {
            node.poll();
        }
        RemoteDescriptor mine =
                new RemoteDescriptor()
                        .set(
                                d.kind(),
                                d.rights(),
                                d.generation(),
                                d.base(),
                                d.length(),
                                d.keyLow(),
                                d.keyHigh());
        int added = 0;
        while (node.completions.size() < count) {
            if (added < count && t.fetchAdd(handle, mine, 0, 1, added, 0) == ACCEPTED) {
                added++;
            }
            node.poll();
            assertThat(System.nanoTime() - start).as("time").isLessThan(60_000_000_000L);
        }
        assertThat(node.completions).allMatch(c -> c.status() == Status.OK);
    }

    /** What the simplest implementation would have done. */
    private static final class Model {
        private final byte[] remote = new byte[REMOTE_LENGTH];
        private final Map<Long, long[]> expected = new HashMap<>(); // context: status, value
        private long messages;
        private long notifications;
    }

    private static final int REMOTE_LENGTH = 20_000;

    @Test
    @Tag("seeded")
    public void shouldAgreeWithASimpleModelWhenOperationsAreRandom() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(REMOTE_LENGTH);
        RegisteredRegion remote = p.b.allocate(REMOTE_LENGTH);
        // What the descriptor shows is less than the region: everything around must stay.
        RemoteDescriptor d =
                remote.describe(1_000, 16_000, RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor());
        for (long seed : seeds()) {
            whole(remote).setMemory(0, REMOTE_LENGTH, (byte) 0);
            Random random = new Random(seed);
            Model model = new Model();
            List<String> steps = new ArrayList<>();
            for (int i = 0; i < times(400); i++) {
                step(p, local, d, random, model, i, steps);
            }
            String replay = "-Dverbena.seed=" + seed + ", last steps " + steps;
            pump(
                    () -> "all completions, " + replay,
                    () ->
                            p.a.completions.size() >= model.expected.size()
                                    && p.b.messages.size() >= model.messages
                                    && p.b.notifications.size() >= model.notifications);
            settle();
            for (ContractNode.Completion c : p.a.completions) {
                long[] expected = model.expected.remove(c.context());
                assertThat(expected).as("%s was posted; %s", c, replay).isNotNull();
                assertThat(c.status()).as("%s; %s", c, replay).isEqualTo((int) expected[0]);
                if (c.status() == Status.OK) {
                    assertThat(c.value()).as("%s; %s", c, replay).isEqualTo(expected[1]);
                }
            }
            assertThat(model.expected).as(replay).isEmpty();
            assertThat(p.b.messages).as(replay).hasSize((int) model.messages);
            assertThat(p.b.notifications).as(replay).hasSize((int) model.notifications);
            assertThat(bytes(remote, 0, REMOTE_LENGTH)).as(replay).isEqualTo(model.remote);
            p.a.completions.clear();
            p.b.messages.clear();
            p.b.notifications.clear();
        }
    }

    /** One random operation, fenced so that the model may apply it at once. */
    private void step(
            Pair p,
            RegisteredRegion local,
            RemoteDescriptor d,
            Random random,
            Model model,
            int i,
            List<String> steps) {
        Transport t = p.a.transport;
        long context = random.nextLong();
        int length = random.nextInt(random.nextBoolean() ? 64 : 6_000);
        int from = random.nextInt(REMOTE_LENGTH - length);
        long to = random.nextInt(17_000) - 100;
        boolean fits = to >= 0 && to + length <= 16_000;
        int bounds = fits ? Status.OK : Status.BOUNDS;
        int kind = random.nextInt(5);
        steps.add(kind + ":" + from + "->" + to + "+" + length);
        if (steps.size() > 8) {
            steps.remove(0);
        }
        // A put may be read by the card until it completes: the source stays as it is meanwhile.
        if (kind == 3 || i % 10 == 0) {
            pump("earlier ones", () -> p.a.completions.size() == model.expected.size());
            fill(local, 0, random(REMOTE_LENGTH, context));
        }
        switch (kind) {
            case 0, 3 -> {
                if (kind == 3 && (t.capabilities() & Capability.PUT_NOTIFY) != 0) {
                    post(
                            "putNotify",
                            () -> t.putNotify(p.ab, local, from, d, to, length, i, context, 1));
                    model.notifications += fits ? 1 : 0;
                } else {
                    post("put", () -> t.put(p.ab, local, from, d, to, length, context, 1));
                }
                if (fits) {
                    System.arraycopy(
                            bytes(local, from, length), 0, model.remote, 1_000 + (int) to, length);
                }
                model.expected.put(context, new long[] {bounds, length});
            }
            case 1 -> {
                post("get", () -> t.get(p.ab, local, from, d, to, length, context, 1));
                model.expected.put(context, new long[] {bounds, length});
                pump("get", () -> p.a.completions.size() == model.expected.size());
                if (fits) {
                    assertThat(bytes(local, from, length))
                            .isEqualTo(
                                    java.util.Arrays.copyOfRange(
                                            model.remote,
                                            1_000 + (int) to,
                                            1_000 + (int) to + length));
                }
            }
            case 2 -> {
                int sent = Math.min(length, t.limits().messageLengthMax());
                post("send", () -> t.send(p.ab, local, from, sent, context, 0));
                model.expected.put(context, new long[] {Status.OK, sent});
                model.messages++;
            }
            default -> {
                if ((t.capabilities() & Capability.ATOMICS) == 0) {
                    return;
                }
                long at = to & ~7L;
                boolean inside = at >= 0 && at + 8 <= 16_000;
                post("fetchAdd", () -> t.fetchAdd(p.ab, d, at, from, context, 1));
                long before = 0;
                if (inside) {
                    java.nio.ByteBuffer bytes =
                            java.nio.ByteBuffer.wrap(model.remote)
                                    .order(java.nio.ByteOrder.nativeOrder());
                    before = bytes.getLong(1_000 + (int) at);
                    bytes.putLong(1_000 + (int) at, before + from);
                }
                model.expected.put(
                        context, new long[] {inside ? Status.OK : Status.BOUNDS, before});
            }
        }
    }
}
