package dev.verbena.nsim.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Environment;
import dev.verbena.agent.ForwardingEnvironment;
import dev.verbena.flesnet.PatternSource;
import dev.verbena.flesnet.Timeslice;
import dev.verbena.flesnet.dfs.DfsParameters;
import dev.verbena.flesnet.dfs.IntervalMetadata;
import dev.verbena.flesnet.wire.SyncFlyweight;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What inputs and replicas of the scheduler say to one another in a whole run. */
@Timeout(120)
class FlesnetMessagesTest {
    private static final int INPUTS = 3;
    private static final int COMPUTES = 3;
    private static final int LENGTH = 30;
    private static final int INTERVALS = 24;

    /** From this interval on only one replica is heard. */
    private static final int KILLED_FROM = 9;

    /** An interval that a node was told of; {@code wanted} of a report: what is asked for. */
    private record Told(int from, int to, long interval, long durationNs, long wanted) {}

    /** What an input has followed. */
    private record Used(int input, long interval, long plannedNs) {}

    private final List<Told> reports = new ArrayList<>();
    private final List<Told> proposals = new ArrayList<>();
    private final List<Used> used = new ArrayList<>();

    /** Proposals that do not arrive. */
    private Predicate<Told> isLost = told -> false;

    private int opened;

    /** Sees every message before a node does, and may keep it from the node. */
    private final class Overheard extends ForwardingEnvironment {
        private int number;

        Overheard(Environment inner) {
            super(inner);
        }

        @Override
        public Transport openTransport(String scheme, TransportContext context) {
            // Compute nodes are started first.
            number = opened++ % (INPUTS + COMPUTES);
            Transport within = super.openTransport(scheme, context);
            return proxy(
                    Transport.class,
                    (method, arguments) -> {
                        Object[] given = arguments;
                        if (method.getName().equals("poll")) {
                            given = new Object[] {handler(arguments[0]), arguments[1]};
                        }
                        return call(within, method, given);
                    });
        }

        private TransportHandler handler(Object within) {
            return proxy(
                    TransportHandler.class,
                    (method, arguments) -> {
                        boolean isMessage = method.getName().equals("onMessage");
                        if (isMessage && !isHeard(arguments)) {
                            return null;
                        }
                        return call(within, method, arguments);
                    });
        }

        private boolean isHeard(Object[] arguments) {
            int length = (Integer) arguments[4];
            UnsafeBuffer copy = new UnsafeBuffer(new byte[length]);
            copy.putBytes(0, (DirectBuffer) arguments[2], (Integer) arguments[3], length);
            SyncFlyweight message = new SyncFlyweight().wrap(copy, 0, length);
            int type = message.type();
            boolean isReport = type == SyncFlyweight.INTERVAL_ACTUAL;
            if (!isReport && type != SyncFlyweight.INTERVAL_PROPOSED) {
                return true;
            }
            IntervalMetadata interval = message.readInterval(new IntervalMetadata());
            Told told =
                    new Told(
                            message.connection(),
                            isReport ? number : number - COMPUTES,
                            interval.interval(),
                            interval.durationNs(),
                            isReport ? message.i64(44) : -1);
            (isReport ? reports : proposals).add(told);
            return isReport || !isLost.test(told);
        }
    }

    @FunctionalInterface
    private interface Calls {
        Object call(Method method, Object[] arguments) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Calls calls) {
        return type.cast(
                Proxy.newProxyInstance(
                        type.getClassLoader(),
                        new Class<?>[] {type},
                        (self, method, arguments) -> calls.call(method, arguments)));
    }

    private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private void run() {
        int timeslices = INTERVALS * LENGTH;
        try (FlesnetSimulation simulation =
                new FlesnetSimulation(
                        1,
                        TreeTopology.single(INPUTS + COMPUTES),
                        new NetworkContext(),
                        c ->
                                c.environment(new Overheard(c.environment()))
                                        .nodes(INPUTS, COMPUTES)
                                        .timeslice(1, 0)
                                        .rings(13, 3)
                                        .sourceRing(16, 6)
                                        .intervals(
                                                (input, measured, plannedNs) -> {
                                                    long j = measured.interval();
                                                    used.add(new Used(input, j, plannedNs));
                                                    return measured.durationNs();
                                                })
                                        .dfs(DfsParameters.PAPER.intervals(LENGTH, 3), 3))) {
            for (int c = 0; c < COMPUTES; c++) {
                simulation.compute(Timeslice::release);
            }
            for (int i = 0; i < INPUTS; i++) {
                simulation.input(new PatternSource(i, timeslices, 992, 0, 0));
            }
            assertThat(simulation.run(10_000_000_000L)).as(simulation.failure()).isTrue();
        }
    }

    @Test
    @Tag("flesnet-32")
    void shouldReportEachIntervalToEachReplicaOnce() {
        run();
        Set<Told> distinct = new HashSet<>(reports);
        assertThat(distinct).hasSameSizeAs(reports);
        assertThat(reports).allMatch(told -> told.wanted() == told.interval() + 2);
        for (int i = 0; i < INPUTS; i++) {
            for (int c = 0; c < COMPUTES; c++) {
                int from = i;
                int to = c;
                // The run may end before the last one is sent.
                assertThat(reports)
                        .filteredOn(told -> told.from() == from && told.to() == to)
                        .extracting(Told::interval)
                        .startsWith(intervals(INTERVALS - 1))
                        .doesNotHaveDuplicates();
            }
        }
    }

    private static Long[] intervals(int count) {
        Long[] all = new Long[count];
        for (int j = 0; j < count; j++) {
            all[j] = (long) j;
        }
        return all;
    }

    /** A replica that nobody hears any more is a killed one; what it would have said is seen. */
    @Test
    @Tag("flesnet-43")
    void shouldUseTheSameProposalsWhenAllReplicasButOneAreSilent() {
        int survivor = 1;
        isLost = told -> told.interval() >= KILLED_FROM && told.from() != survivor;
        run();
        for (int i = 0; i < INPUTS; i++) {
            for (int j = 4; j < INTERVALS - 1; j++) {
                int input = i;
                long interval = j;
                assertThat(proposals)
                        .filteredOn(told -> told.to() == input && told.interval() == interval)
                        .as("input %s, interval %s", i, j)
                        .hasSize(COMPUTES)
                        .extracting(Told::durationNs)
                        .containsOnly(planned(input, interval));
            }
        }
        assertThat(used.stream().map(Used::plannedNs).distinct().count()).isGreaterThan(5);
    }

    private long planned(int input, long interval) {
        return used.stream()
                .filter(u -> u.input() == input && u.interval() == interval)
                .mapToLong(Used::plannedNs)
                .findFirst()
                .orElseThrow();
    }
}
