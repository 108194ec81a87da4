package dev.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.transport.Transport;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.ref.WeakReference;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.AgentTerminationException;
import org.agrona.concurrent.NanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class AgentThreadTest {
    @TempDir Path shm;
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private RealEnvironment environment;

    @BeforeEach
    void open() {
        environment = RealEnvironment.builder().shmDirectory(shm).errorHandler(errors::add).build();
    }

    @AfterEach
    void close() {
        environment.close();
    }

    /** An agent made of what a test needs. */
    private static class TestAgent implements ProtocolAgent {
        final List<String> calls = new CopyOnWriteArrayList<>();

        @Override
        public void onStart() {
            calls.add("start");
        }

        @Override
        public void onClose() {
            calls.add("close");
        }

        @Override
        public int doWork() throws Exception {
            return 0;
        }

        @Override
        public long nextDeadlineNs() {
            return NO_DEADLINE;
        }

        @Override
        public String roleName() {
            return "test";
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 100_000})
    void shouldUseLessThanTwoPercentOfACoreWhenIdle(long awakeNs) throws Exception {
        long startNs = System.nanoTime();
        long deadlineNs = startNs + 1_500_000_000L;
        CountDownLatch reached = new CountDownLatch(1);
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        AtomicLong cpuNs = new AtomicLong();
        AtomicLong elapsedNs = new AtomicLong();
        TestAgent idle =
                new TestAgent() {
                    @Override
                    public int doWork() {
                        long now = System.nanoTime();
                        if (now - deadlineNs < 0 || reached.getCount() == 0) {
                            return 0;
                        }
                        cpuNs.set(threads.getCurrentThreadCpuTime());
                        elapsedNs.set(now - startNs);
                        reached.countDown();
                        return 1;
                    }

                    @Override
                    public long nextDeadlineNs() {
                        return deadlineNs;
                    }
                };
        ByteStreams.Listener listener = environment.streams().listen("", 0);
        try (AgentThread thread =
                AgentThread.builder("idle", environment)
                        .agent(idle)
                        .awakeNs(awakeNs)
                        .wakeOnStreams()
                        .start()) {
            reached.await();
        }
        long streamsCpuNs = 0;
        for (long id : threads.getAllThreadIds()) {
            if (threads.getThreadInfo(id) != null
                    && threads.getThreadInfo(id).getThreadName().equals("verbena-streams")) {
                streamsCpuNs = Math.max(streamsCpuNs, threads.getThreadCpuTime(id));
            }
        }
        listener.close();
        assertThat((double) (cpuNs.get() + streamsCpuNs) / elapsedNs.get())
                .as("CPU %d + %d ns in %d ns", cpuNs.get(), streamsCpuNs, elapsedNs.get())
                .isLessThan(0.02);
    }

    /** Each step takes a microsecond of its clock; its deadline is asked for before each sleep. */
    @Test
    void shouldStayAwakeOnlyWhileWorkComesFast() {
        AtomicLong nowNs = new AtomicLong();
        AtomicLong gapNs = new AtomicLong(AgentThread.IDLE_CYCLES * 1_000 + 50_000);
        AtomicLong sleeps = new AtomicLong();
        AtomicInteger done = new AtomicInteger();
        TestAgent agent =
                new TestAgent() {
                    private long dueNs = gapNs.get();

                    @Override
                    public int doWork() {
                        if (nowNs.addAndGet(1_000) < dueNs) {
                            return 0;
                        }
                        dueNs += gapNs.get();
                        done.incrementAndGet();
                        return 1;
                    }

                    @Override
                    public long nextDeadlineNs() {
                        sleeps.incrementAndGet();
                        return NO_DEADLINE;
                    }
                };
        Environment stepped =
                new ForwardingEnvironment(environment) {
                    @Override
                    public NanoClock nanoClock() {
                        return nowNs::get;
                    }
                };
        try (AgentThread thread =
                AgentThread.builder("awake", stepped)
                        .agent(agent)
                        .sleepMaxNs(20_000)
                        .awakeNs(100_000)
                        .start()) {
            Await.until("first work", () -> done.get() >= 2);
            long slept = sleeps.get();
            assertThat(slept).isPositive();
            Await.until("fast work", () -> done.get() >= 200);
            assertThat(sleeps.get()).isEqualTo(slept);
            gapNs.set(1_000_000);
            Await.until("slow work", () -> sleeps.get() > slept + 1_000);
            assertThat(thread.isAlive()).isTrue();
        }
        assertThat(errors).isEmpty();
    }

    /** Parked outside of the transport it need not be woken by senders; long sleeps are in it. */
    @Test
    void shouldSleepBrieflyOutsideOfTheTransportOnlyWhileWorkIsExpected() {
        AtomicInteger awaits = new AtomicInteger();
        AtomicInteger steps = new AtomicInteger();
        AtomicBoolean isExpected = new AtomicBoolean(true);
        TestAgent busy =
                new TestAgent() {
                    @Override
                    public int doWork() {
                        // Work after each sleep, so that sleeps stay as short as the first.
                        return steps.incrementAndGet() % (AgentThread.IDLE_CYCLES + 2) == 0 ? 1 : 0;
                    }
                };
        try (AgentThread thread =
                AgentThread.builder("looking", environment)
                        .agent(busy)
                        .transport(() -> counting(awaits))
                        .lookWhile(isExpected::get, 100_000)
                        .start()) {
            int many = 100 * AgentThread.IDLE_CYCLES;
            Await.until("many sleeps", () -> steps.get() > many);
            assertThat(awaits).hasValue(0);
            isExpected.set(false);
            Await.until("sleeps in the transport", () -> awaits.get() > 10);
            assertThat(thread.isAlive()).isTrue();
        }
        assertThat(errors).isEmpty();
    }

    @Test
    void shouldSleepInTheTransportWhenExpectedWorkDoesNotCome() {
        AtomicInteger awaits = new AtomicInteger();
        TestAgent idle =
                new TestAgent() {
                    @Override
                    public int doWork() {
                        return 0;
                    }
                };
        try (AgentThread thread =
                AgentThread.builder("looked", environment)
                        .agent(idle)
                        .transport(() -> counting(awaits))
                        .lookWhile(() -> true, 100_000)
                        .start()) {
            Await.until("longer sleeps", () -> awaits.get() > 10);
            assertThat(thread.isAlive()).isTrue();
        }
        assertThat(errors).isEmpty();
    }

    /** A transport that only counts how often a thread sleeps in it. */
    private static Transport counting(AtomicInteger awaits) {
        return (Transport)
                Proxy.newProxyInstance(
                        Transport.class.getClassLoader(),
                        new Class<?>[] {Transport.class},
                        (proxy, method, arguments) ->
                                switch (method.getName()) {
                                    case "nanoTime" -> System.nanoTime();
                                    case "await" -> awaits.incrementAndGet() < 0;
                                    default -> null;
                                });
    }

    @Test
    void shouldRunAtOnceWhenWokenThoughItsSleepIsLong() {
        AtomicInteger queue = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        TestAgent worker =
                new TestAgent() {
                    @Override
                    public int doWork() {
                        int taken = queue.getAndSet(0);
                        done.addAndGet(taken);
                        return taken;
                    }
                };
        // A sleep that no test outlives: only the wake-up can end it.
        try (AgentThread thread =
                AgentThread.builder("woken", environment)
                        .agent(worker)
                        .sleepFirstNs(3_600_000_000_000L)
                        .sleepMaxNs(3_600_000_000_000L)
                        .start()) {
            for (int i = 1; i <= 2_000; i++) {
                queue.incrementAndGet();
                thread.wakeup();
                int expected = i;
                Await.until("item " + i, () -> done.get() == expected);
            }
        }
        assertThat(errors).isEmpty();
        assertThat(worker.calls).containsExactly("start", "close");
    }

    @Test
    void shouldGoOnWithItsDutyCycleWhenAnAgentThrows() {
        AtomicInteger cycles = new AtomicInteger();
        TestAgent bad =
                new TestAgent() {
                    @Override
                    public int doWork() throws Exception {
                        cycles.incrementAndGet();
                        throw new IllegalStateException("bad peer");
                    }
                };
        AtomicInteger goodCycles = new AtomicInteger();
        TestAgent good =
                new TestAgent() {
                    @Override
                    public int doWork() {
                        goodCycles.incrementAndGet();
                        return 0;
                    }
                };
        try (AgentThread thread =
                AgentThread.builder("bad", environment).agent(bad).agent(good).start()) {
            Await.until("both go on", () -> cycles.get() > 5 && goodCycles.get() > 5);
            assertThat(thread.isAlive()).isTrue();
        }
        assertThat(errors).hasSizeGreaterThan(4).allMatch(e -> e.getMessage().equals("bad peer"));
    }

    @Test
    void shouldGoOnWhenInterruptedAndWhenADeadlineCannotBeTold() {
        TestAgent bad =
                new TestAgent() {
                    @Override
                    public int doWork() {
                        if (Thread.currentThread().isInterrupted()) {
                            errors.add(new AssertionError("every sleep ends at once"));
                        }
                        Thread.currentThread().interrupt();
                        return 0;
                    }

                    @Override
                    public long nextDeadlineNs() {
                        throw new IllegalStateException("no deadline");
                    }
                };
        try (AgentThread thread = AgentThread.builder("bad", environment).agent(bad).start()) {
            Await.until("several sleeps", () -> errors.size() > 5);
            assertThat(thread.isAlive()).isTrue();
            assertThat(bad.calls).containsExactly("start");
        }
        assertThat(errors).allMatch(e -> e.getMessage().equals("no deadline"));
    }

    @Test
    void shouldCloseOnlyTheAgentThatTerminatesAndEndWithTheLast() throws Exception {
        TestAgent first =
                new TestAgent() {
                    @Override
                    public int doWork() {
                        throw new AgentTerminationException("done");
                    }
                };
        CountDownLatch mayEnd = new CountDownLatch(1);
        TestAgent second =
                new TestAgent() {
                    @Override
                    public int doWork() {
                        if (mayEnd.getCount() == 0) {
                            throw new AgentTerminationException("done too");
                        }
                        return 0;
                    }
                };
        AgentThread thread =
                AgentThread.builder("ending", environment).agent(first).agent(second).start();
        Await.until("first closed", () -> first.calls.contains("close"));
        assertThat(second.calls).containsExactly("start");
        mayEnd.countDown();
        thread.wakeup();
        thread.join();
        assertThat(second.calls).containsExactly("start", "close");
        thread.close();
        assertThat(errors).isEmpty();
    }

    @Test
    void shouldNameTheThreadAndWhereItHangsWhenItDoesNotEnd() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch inside = new CountDownLatch(1);
        TestAgent stuck =
                new TestAgent() {
                    @Override
                    public int doWork() throws Exception {
                        inside.countDown();
                        never.await();
                        return 0;
                    }
                };
        AgentThread thread =
                AgentThread.builder("stuck", environment)
                        .agent(stuck)
                        .closeTimeoutNs(50_000_000)
                        .start();
        inside.await();
        assertThatThrownBy(thread::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'stuck'")
                .hasMessageContaining("it is at");
        never.countDown();
        thread.join();
        assertThat(stuck.calls).containsExactly("start", "close");
    }

    @Test
    void shouldJumpFromDeadlineToDeadlineWhenSteppedWithAVirtualClock() {
        VirtualClock clock = new VirtualClock();
        List<Long> ticks = new ArrayList<>();
        TestAgent timer =
                new TestAgent() {
                    private long deadlineNs = 1_000;

                    @Override
                    public int doWork() {
                        if (clock.nanoTime() - deadlineNs < 0) {
                            return 0;
                        }
                        ticks.add(clock.nanoTime());
                        deadlineNs += 3_600_000_000_000L;
                        return 1;
                    }

                    @Override
                    public long nextDeadlineNs() {
                        return deadlineNs;
                    }
                };
        try (AgentStepper stepper = new AgentStepper(List.of(timer), clock, errors::add)) {
            assertThat(stepper.runUntil(() -> ticks.size() == 3, 100)).isTrue();
            assertThat(ticks).containsExactly(1_000L, 3_600_000_001_000L, 7_200_000_001_000L);
            assertThat(clock.time()).isEqualTo(7_200_000);
        }
        assertThat(timer.calls).containsExactly("start", "close");
        TestAgent dead = new TestAgent();
        try (AgentStepper stepper = new AgentStepper(List.of(dead), clock, errors::add)) {
            assertThat(stepper.runUntil(() -> false, 100)).isFalse();
        }
        assertThat(errors).isEmpty();
    }

    @Test
    void shouldRunOnTheProcessorsItWasGiven() throws Exception {
        CpuSet first = CpuSetTest.first();
        List<String> seen = new CopyOnWriteArrayList<>();
        TestAgent agent =
                new TestAgent() {
                    @Override
                    public void onStart() {
                        try {
                            seen.add(CpuSetTest.allowedList());
                        } catch (java.io.IOException e) {
                            errors.add(e);
                        }
                        super.onStart();
                    }
                };
        try (AgentThread thread =
                AgentThread.builder("bound", environment).agent(agent).cpus(first).start()) {
            Await.until("start of the agent", () -> agent.calls.contains("start"));
        }
        assertThat(errors).isEmpty();
        assertThat(seen).containsExactly(first.toString());
    }

    @Test
    void shouldNotStartOnProcessorsThatAreNotThere() {
        TestAgent agent = new TestAgent();
        AgentThread.Builder builder =
                AgentThread.builder("bound", environment)
                        .agent(agent)
                        .cpus(CpuSet.parse("0,60000"));
        assertThatThrownBy(builder::start)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("60000");
        assertThat(agent.calls).isEmpty();
    }

    private WeakReference<TestAgent> closedAgent() {
        TestAgent agent = new TestAgent();
        AgentThread.builder("closed", environment).agent(agent).wakeOnStreams().start().close();
        return new WeakReference<>(agent);
    }

    private WeakReference<TestAgent> agentThatCannotStart() {
        TestAgent agent = new TestAgent();
        AgentThread.Builder builder =
                AgentThread.builder("bound", environment)
                        .agent(agent)
                        .cpus(CpuSet.parse("60000"))
                        .wakeOnStreams();
        assertThatThrownBy(builder::start).isInstanceOf(IllegalArgumentException.class);
        return new WeakReference<>(agent);
    }

    /** Its environment may be that of many threads, one after the other. */
    @Test
    void shouldNotBeKeptByTheStreamsAfterItsEnd() {
        WeakReference<TestAgent> closed = closedAgent();
        WeakReference<TestAgent> failed = agentThatCannotStart();
        for (int i = 0; i < 20 && (closed.get() != null || failed.get() != null); i++) {
            System.gc();
        }
        assertThat(closed.get()).isNull();
        assertThat(failed.get()).isNull();
    }
}
