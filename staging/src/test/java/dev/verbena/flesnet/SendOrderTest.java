package dev.verbena.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ForwardingEnvironment;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What engines ask of their transports. */
@Timeout(60)
class SendOrderTest {
    private static final int INPUTS = 5;
    private static final int COMPUTES = 3;

    @TempDir Path directory;
    private final List<Recorder> recorders = new CopyOnWriteArrayList<>();

    /** Notes to which compute node each payload goes, and all regions. */
    private static final class Recorder implements InvocationHandler {
        final List<Integer> targets = new CopyOnWriteArrayList<>();
        final List<RegisteredRegion> regions = new CopyOnWriteArrayList<>();
        volatile boolean hasSlept;
        private final Map<Long, Integer> computes = new HashMap<>();
        private final Transport transport;

        Recorder(Transport transport) {
            this.transport = transport;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] values) throws Throwable {
            hasSlept |= method.getName().equals("await");
            Object answer;
            try {
                answer = method.invoke(transport, values);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
            if (method.getName().equals("allocate")) {
                regions.add((RegisteredRegion) answer);
            } else if (method.getName().equals("connect")) {
                computes.put((Long) answer, ((Long) values[4]).intValue());
            } else if (method.getName().equals("put")
                    && values[1] instanceof TransferVector
                    && answer.equals(Transport.ACCEPTED)) {
                targets.add(computes.get(values[0]));
            }
            return answer;
        }
    }

    private Environment recorded(Environment environment) {
        return new ForwardingEnvironment(environment) {
            @Override
            public Transport openTransport(String scheme, TransportContext context) {
                Recorder recorder = new Recorder(super.openTransport(scheme, context));
                recorders.add(recorder);
                return (Transport)
                        Proxy.newProxyInstance(
                                Transport.class.getClassLoader(),
                                new Class<?>[] {Transport.class},
                                recorder);
            }
        };
    }

    private FlesnetRun run(TimesliceHandler handler) {
        FlesnetRun run =
                new FlesnetRun(
                        directory,
                        c -> c.nodes(INPUTS, COMPUTES).environment(recorded(c.environment())));
        for (int c = 0; c < COMPUTES; c++) {
            run.compute(c, handler);
        }
        Await.until("computes", () -> recorders.size() == COMPUTES);
        for (int i = 0; i < INPUTS; i++) {
            int before = recorders.size();
            run.input(i, run.pattern(i, 300, 64, 0));
            Await.until("input", () -> recorders.size() == before + 1);
        }
        return run;
    }

    @Test
    @Tag("flesnet-20")
    @Tag("flesnet-21")
    void shouldVisitComputeNodesInTurnEachInputFromItsOwn() {
        try (FlesnetRun run = run(Timeslice::release)) {
            run.awaitDone();
            for (int k = 0; k < 2 * COMPUTES; k++) {
                int[] senders = new int[COMPUTES];
                for (int i = 0; i < INPUTS; i++) {
                    int target = recorders.get(COMPUTES + i).targets.get(k);
                    assertThat(target).isEqualTo((i + k) % COMPUTES);
                    senders[target]++;
                }
                // In lock-step no node has more senders than its share.
                for (int count : senders) {
                    assertThat(count).isLessThanOrEqualTo((INPUTS + COMPUTES - 1) / COMPUTES);
                }
            }
        }
    }

    /** A thread that is only parked hears of a message when its time is over. */
    @Test
    void shouldSleepWhereMessagesEndASleep() {
        try (FlesnetRun run = run(timeslice -> {})) {
            Await.until("all nodes asleep", () -> recorders.stream().allMatch(r -> r.hasSlept));
            assertThat(recorders).hasSize(INPUTS + COMPUTES);
            assertThat(run.errors).isEmpty();
        }
    }

    @Test
    @Tag("flesnet-49")
    void shouldLeaveNoRegisteredMemoryBehindAnAbort() {
        List<Timeslice> held = new CopyOnWriteArrayList<>();
        List<FlesnetException> failures = new ArrayList<>();
        try (FlesnetRun run = run(held::add)) {
            Await.until("all tickets in use", () -> held.size() == 16 * COMPUTES);
            run.inputs.get(2).close();
            Await.until(
                    "all compute nodes have ended",
                    () -> run.computes.stream().allMatch(c -> c.failure() != null));
            run.computes.forEach(c -> failures.add(c.failure()));
        }
        assertThat(failures).allMatch(f -> f.getMessage().contains("lost input"));
        assertThat(recorders).hasSize(INPUTS + COMPUTES);
        for (Recorder recorder : recorders) {
            assertThat(recorder.regions).isNotEmpty().allMatch(RegisteredRegion::isClosed);
        }
    }
}
