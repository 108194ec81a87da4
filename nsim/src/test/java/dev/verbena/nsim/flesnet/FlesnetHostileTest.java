package dev.verbena.nsim.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Environment;
import dev.verbena.agent.ForwardingEnvironment;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.FlesnetException;
import dev.verbena.flesnet.InputLossPolicy;
import dev.verbena.flesnet.PatternSource;
import dev.verbena.flesnet.Timeslice;
import dev.verbena.flesnet.dfs.DfsParameters;
import dev.verbena.flesnet.wire.SyncFlyweight;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import dev.verbena.nsim.world.SimulatedProcess;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One node of a run sends messages of the right form that say what cannot be. */
@Timeout(120)
class FlesnetHostileTest {
    private static final long RUN_NS = 500_000_000L;
    private static final int TIMESLICES = 200;
    private static final int INPUTS = 3;
    private static final int COMPUTES = 3;
    private static final int LONGEST = 500;

    // --long: 20,000 seeds instead of 150
    private static final int SEEDS = Boolean.getBoolean("verbena.long") ? 20_000 : 150;

    private static final int[] BODIES = {0, 24, 116, 20, 32, 68, 44, 8, 8, 0, 8, 16, 8, 16, 16};

    /** Its messages may be changed on their way out. */
    private abstract static class Forger extends ForwardingEnvironment {
        Forger(Environment inner) {
            super(inner);
        }

        /** Connection, region, offset, length, context, flags. */
        abstract void forge(Object[] send);

        @Override
        public Transport openTransport(String scheme, TransportContext context) {
            Transport inner = super.openTransport(scheme, context);
            return (Transport)
                    Proxy.newProxyInstance(
                            Transport.class.getClassLoader(),
                            new Class<?>[] {Transport.class},
                            (proxy, method, arguments) -> {
                                if (method.getName().equals("send")) {
                                    forge(arguments);
                                }
                                try {
                                    return method.invoke(inner, arguments);
                                } catch (InvocationTargetException e) {
                                    throw e.getCause();
                                }
                            });
        }

        static int offset(Object[] send) {
            return (int) (long) (Long) send[2];
        }
    }

    /** Some of its messages are replaced. */
    private static final class Liar extends Forger {
        private final Random random;
        private int honestCount;

        Liar(Environment inner, Random random) {
            super(inner);
            this.random = random;
            honestCount = 1 + random.nextInt(60);
        }

        @Override
        void forge(Object[] send) {
            if (honestCount-- < 0) {
                replace(send);
            }
        }

        private void replace(Object[] send) {
            int at = offset(send);
            RegisteredRegion region = (RegisteredRegion) send[1];
            if (random.nextInt(3) == 0 || at + LONGEST > region.length()) {
                return;
            }
            UnsafeBuffer place = region.buffer(at, LONGEST);
            int sender = place.getInt(4);
            long sequence = place.getLong(8);
            int type = 1 + random.nextInt(SyncFlyweight.DECISION_ACK);
            SyncFlyweight message = new SyncFlyweight().begin(place, 0, type, sender, sequence);
            for (int i = 0; i + Long.BYTES <= BODIES[type]; i += Integer.BYTES) {
                message.i64(i, value());
            }
            switch (type) {
                case SyncFlyweight.WRITTEN -> entries(message, 16, 36);
                case SyncFlyweight.FAILURE_REPORT -> entries(message, 12, 9);
                case SyncFlyweight.FAILURE_ASK -> entries(message, 4, 4);
                case SyncFlyweight.DECISION, SyncFlyweight.DECISION_ACK -> entries(message, 12, 12);
                default -> {}
            }
            send[3] = (long) message.length();
        }

        private void entries(SyncFlyweight message, int countAt, int each) {
            int count = each == 9 ? COMPUTES : random.nextInt(COMPUTES + 1);
            message.i32(countAt, count);
            if (each < 36) {
                // The epoch; one that is not the present one is looked at first.
                message.i32(0, random.nextInt(2));
            }
            message.buffer().setMemory(message.length(), count * each, (byte) 0);
            int begin = message.length() - SyncFlyweight.HEADER;
            for (int i = 0; i < count; i++) {
                message.i32(begin + i * each, random.nextInt(COMPUTES));
                if (each == 9) { // suspected, acknowledged
                    message.i64(begin + i * each + 1, value());
                } else if (each >= 12) {
                    message.i64(begin + i * each + 4, value());
                }
            }
            message.extend(count * each);
        }

        private long value() {
            return switch (random.nextInt(6)) {
                case 0 -> 0;
                case 1 -> random.nextInt(300);
                case 2 -> -1 - random.nextInt(300);
                case 3 -> Long.MAX_VALUE - random.nextInt(300);
                case 4 -> Long.MIN_VALUE + random.nextInt(300);
                default -> random.nextLong();
            };
        }
    }

    /** Such a node may stop a run, but no other node fails in another way than it says. */
    @Test
    @Tag("seeded")
    void shouldGiveANodeUpThatSaysWhatCannotBe() {
        long first = Long.getLong("verbena.seed", 1);
        int noticed = 0;
        for (long seed = first; seed < first + SEEDS; seed++) {
            noticed += run(seed) ? 1 : 0;
        }
        assertThat(noticed).isGreaterThan(SEEDS / 2);
    }

    /** Whether somebody has noticed. */
    private static boolean run(long seed) {
        Random random = new Random(seed);
        String liar = (seed % 2 == 0 ? "input" : "compute") + random.nextInt(INPUTS);
        try (FlesnetSimulation simulation =
                new FlesnetSimulation(
                        seed,
                        TreeTopology.single(INPUTS + COMPUTES),
                        new NetworkContext(),
                        context -> settings(context, liar, own -> new Liar(own, random)))) {
            start(simulation, 0);
            List<SimulatedProcess> honest = new ArrayList<>();
            simulation.inputs().forEach(node -> honest.add(node.process()));
            simulation.computes().forEach(node -> honest.add(node.process()));
            honest.removeIf(process -> process.host().name().equals(liar));
            simulation.world().run(RUN_NS);
            for (SimulatedProcess process : honest) {
                assertThat(process.errors())
                        .as("seed %s, %s", seed, process.host().name())
                        .allMatch(FlesnetHostileTest::isReport);
            }
            return honest.stream().anyMatch(process -> !process.errors().isEmpty());
        }
    }

    /** Says that it has carried a decision out in which a lost node had built more. */
    private static final class Differing extends Forger {
        Differing(Environment inner) {
            super(inner);
        }

        @Override
        void forge(Object[] send) {
            int length = (int) (long) (Long) send[3];
            UnsafeBuffer place = ((RegisteredRegion) send[1]).buffer(offset(send), length);
            SyncFlyweight message = new SyncFlyweight().wrap(place, 0, length);
            if (message.type() == SyncFlyweight.DECISION_ACK) {
                message.i64(20, message.i64(20) + 1);
            }
        }
    }

    /** Else a timeslice could be built twice, or by nobody. */
    @Test
    void shouldEndARunInWhichComputeNodesHaveDecidedDifferently() {
        try (FlesnetSimulation simulation =
                new FlesnetSimulation(
                        1,
                        TreeTopology.single(INPUTS + COMPUTES),
                        new NetworkContext(),
                        context -> settings(context, "input1", Differing::new))) {
            start(simulation, 100_000);
            simulation.world().run(40_000_000);
            simulation.world().crash(simulation.computes().get(2).process().host());
            simulation.world().run(RUN_NS);
            assertThat(simulation.computes().get(0).node().failure())
                    .hasMessageContaining("decided differently");
        }
    }

    private static void start(FlesnetSimulation simulation, long periodNs) {
        for (int c = 0; c < COMPUTES; c++) {
            simulation.compute(Timeslice::release);
        }
        for (int i = 0; i < INPUTS; i++) {
            simulation.input(new PatternSource(i, TIMESLICES * 4L + 1, 256, 128, periodNs));
        }
    }

    private static boolean isReport(Throwable error) {
        return error instanceof FlesnetException
                || error instanceof IllegalStateException
                        && error.getMessage().startsWith("a peer is dropped");
    }

    private static FlesnetContext settings(
            FlesnetContext context, String liar, UnaryOperator<Environment> change) {
        Environment own = context.environment();
        boolean isLiar = ((SimulatedProcess) own).host().name().equals(liar);
        return context.nodes(INPUTS, COMPUTES)
                .environment(isLiar ? change.apply(own) : own)
                .timeslice(4, 1)
                .rings(14, 3)
                .sourceRing(18, 10)
                .heartbeatNs(5_000_000)
                .inputLoss(InputLossPolicy.SHRINK)
                .dfs(DfsParameters.PAPER.intervals(30, 3), 1);
    }
}
