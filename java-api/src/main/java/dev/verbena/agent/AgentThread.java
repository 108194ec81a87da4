package dev.verbena.agent;

import dev.verbena.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.agrona.CloseHelper;
import org.agrona.ErrorHandler;
import org.agrona.LangUtil;
import org.agrona.concurrent.AgentTerminationException;
import org.agrona.concurrent.NanoClock;

/**
 * Runs agents on a thread of its own. When none of them had anything to do it spins shortly, then
 * sleeps: in {@link Transport#await} if it was given a transport, else parked; at most until the
 * next deadline of an agent. Sleeps grow from {@link Builder#sleepFirstNs} to {@link
 * Builder#sleepMaxNs}, which bounds how late work is noticed that came without a {@link #wakeup()}.
 * With {@link Builder#awakeNs} it stays awake for longer while its sleeps are short; with {@link
 * Builder#lookWhile} nobody need wake it while work is expected.
 *
 * <p>An exception of an agent goes to the error handler and its duty cycle goes on; an {@link
 * AgentTerminationException} ends that agent, the others run on.
 *
 * <p>Thread-safe.
 */
public final class AgentThread implements AutoCloseable {
    /** Cycles without work, one after the other, before a thread sleeps. */
    public static final int IDLE_CYCLES = 200;

    /** So many after work that was due by time: nobody is about to ask for more. */
    private static final int TIMED_CYCLES = 10;

    private static final long SLEEP_MIN_NS = 20_000;
    private static final long FAILED_PAUSE_NS = 1_000_000;

    private final List<ProtocolAgent> agents;
    private final NanoClock clock;
    private final ErrorHandler errorHandler;
    private final Supplier<? extends Transport> transport;
    private final long sleepFirstNs;
    private final long sleepMaxNs;
    private final long awakeMaxNs;
    private final BooleanSupplier isLooking;
    private final long lookMaxNs;
    private final long closeTimeoutNs;
    private final CpuSet cpus;

    /** Null: they wake nobody here. */
    private final ByteStreams streams;

    private final CompletableFuture<Void> bound = new CompletableFuture<>();
    private final Thread thread;
    private volatile boolean isRunning = true;
    private volatile boolean isWoken;
    private volatile Transport sleepingIn;

    private AgentThread(Builder builder) {
        this.agents = List.copyOf(builder.agents);
        this.clock = builder.environment.nanoClock();
        this.errorHandler = builder.environment.errorHandler();
        this.transport = builder.transport;
        this.sleepFirstNs = Math.min(builder.sleepFirstNs, builder.sleepMaxNs);
        this.sleepMaxNs = builder.sleepMaxNs;
        this.awakeMaxNs = builder.awakeNs;
        this.isLooking = builder.isLooking;
        this.lookMaxNs = builder.lookMaxNs;
        this.closeTimeoutNs = builder.closeTimeoutNs;
        this.cpus = builder.cpus;
        this.streams = builder.wakesOnStreams ? builder.environment.streams() : null;
        this.thread = new Thread(this::run, builder.name);
        this.thread.setDaemon(true);
    }

    /** Starts to describe a thread of this name; clock and error handler are the environment's. */
    public static Builder builder(String name, Environment environment) {
        return new Builder(name, environment);
    }

    /** Ends a present sleep or prevents the next. Any thread; never blocks. */
    public void wakeup() {
        // Pairs with the reads in sleep(): either the sleeper sees the flag, or we see where it
        // sleeps. Both are volatile, so they cannot both miss.
        isWoken = true;
        Transport asleep = sleepingIn;
        if (asleep != null) {
            asleep.wakeup();
        }
        LockSupport.unpark(thread);
    }

    /** Whether the thread runs. It ends with {@link #close()} or when its last agent has ended. */
    public boolean isAlive() {
        return thread.isAlive();
    }

    /** Waits for the thread to end. */
    public void join() throws InterruptedException {
        thread.join();
    }

    /**
     * Ends the thread after the present duty cycle; its agents are closed on it, the last first.
     * Waits for that, up to the time limit, and goes on waiting when interrupted. Idempotent.
     * Called on the thread itself it does not wait.
     *
     * @throws IllegalStateException naming the thread and where it hangs, if it does not end
     */
    @Override
    public void close() {
        isRunning = false;
        wakeup();
        if (Thread.currentThread() == thread) {
            return;
        }
        awaitEnd(thread, closeTimeoutNs);
        if (thread.isAlive()) {
            StackTraceElement[] stack = thread.getStackTrace();
            throw new IllegalStateException(
                    "thread '%s' did not end within %s ms; it is at %s"
                            .formatted(
                                    thread.getName(),
                                    closeTimeoutNs / 1_000_000,
                                    stack.length == 0 ? "unknown" : stack[0]));
        }
    }

    /** An interrupt does not end this wait: what the thread uses is about to be closed. */
    static void awaitEnd(Thread thread, long limitNs) {
        boolean isInterrupted = false;
        long start = System.nanoTime();
        for (long left = limitNs;
                left > 0 && thread.isAlive();
                left = limitNs - (System.nanoTime() - start)) {
            try {
                TimeUnit.NANOSECONDS.timedJoin(thread, left);
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** On its own processors before any agent takes memory. */
    private boolean bind() {
        try {
            if (cpus != null) {
                cpus.bind();
            }
            bound.complete(null);
            return true;
        } catch (Throwable e) {
            bound.completeExceptionally(e);
            return false;
        }
    }

    private void awaitBound() {
        try {
            bound.join();
        } catch (CompletionException e) {
            LangUtil.rethrowUnchecked(e.getCause());
        }
    }

    private void run() {
        if (!bind()) {
            return;
        }
        List<ProtocolAgent> running = new ArrayList<>();
        AutoCloseable woken = null;
        try {
            woken = streams == null ? null : streams.onReady(this::wakeup);
            for (ProtocolAgent agent : agents) {
                running.add(agent);
                agent.onStart();
            }
            runCycles(new ArrayList<>(running), running);
        } catch (Throwable e) {
            errorHandler.onError(e);
        } finally {
            closeAll(running, errorHandler);
            CloseHelper.close(errorHandler, woken);
        }
    }

    private void runCycles(List<ProtocolAgent> active, List<ProtocolAgent> toClose) {
        int idleCycles = 0;
        boolean hasSlept = false;
        long idleSinceNs = 0;
        long awakeNs = 0;
        long sleepNs = sleepFirstNs;
        boolean isTimed = false;
        while (isRunning && !active.isEmpty()) {
            boolean wasWoken = isWoken;
            if (wasWoken) {
                isWoken = false;
            }
            // With the mark of an interrupt each sleep ends at once, and file channels close.
            Thread.interrupted();
            int work = 0;
            boolean hasFailed = false;
            for (int i = 0; i < active.size(); i++) {
                int done = cycle(active.get(i), errorHandler);
                if (done == TERMINATED) {
                    ProtocolAgent ended = active.remove(i--);
                    toClose.remove(ended);
                    closeAll(List.of(ended), errorHandler);
                } else if (done == FAILED) {
                    hasFailed = true;
                } else {
                    work += done;
                }
            }
            if (hasFailed && work == 0) {
                // Its deadline may stay in the past: do not spin on it.
                LockSupport.parkNanos(this, FAILED_PAUSE_NS);
            } else if (work > 0 || wasWoken) {
                if (hasSlept) {
                    boolean isShort = clock.nanoTime() - idleSinceNs < awakeMaxNs;
                    awakeNs = isShort ? awakeMaxNs : awakeNs / 2;
                }
                hasSlept = false;
                idleCycles = isTimed ? IDLE_CYCLES - TIMED_CYCLES : 0;
                sleepNs = isTimed ? sleepNs : sleepFirstNs;
                isTimed = false;
            } else if (idleCycles < IDLE_CYCLES) {
                if (++idleCycles == IDLE_CYCLES) {
                    idleSinceNs = clock.nanoTime();
                }
                Thread.onSpinWait();
            } else if (awakeNs > 0 && clock.nanoTime() - idleSinceNs < awakeNs) {
                // There may be more threads than processors: those with work run first.
                Thread.yield();
            } else {
                hasSlept = true;
                isTimed = sleep(active, sleepNs);
                sleepNs = Math.min(sleepNs * 2, sleepMaxNs);
            }
        }
    }

    /** Whether it slept to the end where events would have woken it. */
    private boolean sleep(List<ProtocolAgent> active, long sleepNs) {
        long now = clock.nanoTime();
        long ns = Math.max(sleepNs, SLEEP_MIN_NS);
        Transport awaited = null;
        try {
            ns = Math.max(Math.min(sleepNs, untilDeadlineNs(active, now)), SLEEP_MIN_NS);
            boolean isLook = sleepNs <= lookMaxNs && isLooking.getAsBoolean();
            awaited = transport == null || isLook ? null : transport.get();
            sleepingIn = awaited;
            if (!isWoken && isRunning) {
                if (awaited == null) {
                    LockSupport.parkNanos(this, ns);
                } else {
                    awaited.await(awaited.nanoTime() + ns);
                }
            }
        } catch (Exception | AssertionError | LinkageError e) {
            errorHandler.onError(e);
            LockSupport.parkNanos(this, ns);
        }
        sleepingIn = null;
        return awaited != null && clock.nanoTime() - now >= ns;
    }

    /** What {@link #cycle} answers for an agent that asked to be ended. */
    static final int TERMINATED = -1;

    /** What {@link #cycle} answers for an agent that threw. */
    static final int FAILED = -2;

    /** One duty cycle that cannot throw; work done, {@link #TERMINATED} or {@link #FAILED}. */
    static int cycle(ProtocolAgent agent, ErrorHandler errorHandler) {
        try {
            return Math.max(agent.doWork(), 0);
        } catch (AgentTerminationException e) {
            return TERMINATED;
        } catch (Exception | AssertionError | LinkageError e) {
            errorHandler.onError(e);
            return FAILED;
        }
    }

    /** Nanoseconds to the earliest deadline, at least 0, or {@code NO_DEADLINE}. */
    static long untilDeadlineNs(List<ProtocolAgent> agents, long nowNs) {
        long wait = ProtocolAgent.NO_DEADLINE;
        for (int i = 0; i < agents.size(); i++) {
            long deadline = agents.get(i).nextDeadlineNs();
            if (deadline != ProtocolAgent.NO_DEADLINE) {
                wait = Math.min(wait, Math.max(deadline - nowNs, 0));
            }
        }
        return wait;
    }

    /** Closes all, the last first; what one throws goes to the handler. */
    static void closeAll(List<ProtocolAgent> agents, ErrorHandler errorHandler) {
        for (int i = agents.size() - 1; i >= 0; i--) {
            try {
                agents.get(i).onClose();
            } catch (Exception | AssertionError | LinkageError e) {
                errorHandler.onError(e);
            }
        }
    }

    /** Describes a thread. */
    public static final class Builder {
        private final String name;
        private final Environment environment;
        private final List<ProtocolAgent> agents = new ArrayList<>();
        private Supplier<? extends Transport> transport;
        private long sleepFirstNs = SLEEP_MIN_NS;
        private long sleepMaxNs = 40_000_000;
        private long awakeNs;
        private BooleanSupplier isLooking = () -> false;
        private long lookMaxNs;
        private long closeTimeoutNs = 5_000_000_000L;
        private boolean wakesOnStreams;
        private CpuSet cpus;

        private Builder(String name, Environment environment) {
            this.name = name;
            this.environment = environment;
        }

        /** Adds an agent; they are stepped in turn. */
        public Builder agent(ProtocolAgent agent) {
            agents.add(agent);
            return this;
        }

        /**
         * Sleeps in this transport's {@code await}, so that its events end a sleep. Asked on the
         * thread before each sleep; null: none yet.
         */
        public Builder transport(Supplier<? extends Transport> transport) {
            this.transport = transport;
            return this;
        }

        /** First sleep after work, nanoseconds, doubled each time; default 20 microseconds. */
        public Builder sleepFirstNs(long sleepFirstNs) {
            this.sleepFirstNs = sleepFirstNs;
            return this;
        }

        /** Longest sleep, nanoseconds; default 40 ms. */
        public Builder sleepMaxNs(long sleepMaxNs) {
            this.sleepMaxNs = sleepMaxNs;
            return this;
        }

        /**
         * How long the thread stays awake without work when its last sleep would have ended within
         * that time, nanoseconds; each longer one halves it. Default 0: not at all.
         */
        public Builder awakeNs(long awakeNs) {
            this.awakeNs = awakeNs;
            return this;
        }

        /**
         * While work is expected, sleeps of at most so many nanoseconds are parked outside of the
         * transport, and the thread looks for work after each: who sends meanwhile need not wake
         * it, which costs a system call and may move it to the sender's processor. Default: never.
         *
         * @param isExpected whether more work comes soon; asked on the thread before each sleep
         */
        public Builder lookWhile(BooleanSupplier isExpected, long lookMaxNs) {
            this.isLooking = isExpected;
            this.lookMaxNs = lookMaxNs;
            return this;
        }

        /** How long {@link AgentThread#close()} waits; default 5 s. */
        public Builder closeTimeoutNs(long closeTimeoutNs) {
            this.closeTimeoutNs = closeTimeoutNs;
            return this;
        }

        /**
         * Processors that the thread runs on, bound before the agents' {@code onStart}. Default:
         * those of the thread that calls {@link #start()}.
         */
        public Builder cpus(CpuSet cpus) {
            this.cpus = cpus;
            return this;
        }

        /** Wakes when one of the environment's streams may be ready. */
        public Builder wakeOnStreams() {
            wakesOnStreams = true;
            return this;
        }

        /**
         * Makes and starts the thread.
         *
         * @throws IllegalArgumentException if there is no agent, a time is out of range, or this
         *     process may not use a processor of {@link #cpus}
         */
        public AgentThread start() {
            if (agents.isEmpty()) {
                throw new IllegalArgumentException("thread '" + name + "' has no agent");
            }
            if (sleepFirstNs < 1 || sleepMaxNs < SLEEP_MIN_NS || closeTimeoutNs < 1) {
                throw new IllegalArgumentException(
                        ("sleepFirstNs %s is below 1, sleepMaxNs %s is below %s or"
                                        + " closeTimeoutNs %s below 1")
                                .formatted(sleepFirstNs, sleepMaxNs, SLEEP_MIN_NS, closeTimeoutNs));
            }
            AgentThread made = new AgentThread(this);
            made.thread.start();
            made.awaitBound();
            return made;
        }
    }
}
