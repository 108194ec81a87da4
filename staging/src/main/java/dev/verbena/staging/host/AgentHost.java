package dev.verbena.staging.host;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.Environment;
import dev.verbena.staging.Monitors;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import org.agrona.CloseHelper;

/**
 * Runs the agents of a service on threads, lets callers wait for what the agents do, and ends them
 * in order. Thread-safe, except {@link #start}.
 */
public final class AgentHost implements AutoCloseable {
    private final Environment environment;
    private final BiFunction<String, InterruptedException, RuntimeException> interrupted;

    /** Started last first. */
    private final Deque<AgentThread> threads = new ArrayDeque<>();

    private final Object monitor = new Object();
    private volatile Throwable failure;

    /**
     * A host without threads.
     *
     * @param interrupted what {@link #await} throws
     */
    public AgentHost(
            Environment environment,
            BiFunction<String, InterruptedException, RuntimeException> interrupted) {
        this.environment = environment;
        this.interrupted = interrupted;
    }

    /** Starts a thread that runs the agents of this description. */
    public AgentThread start(AgentThread.Builder description) {
        AgentThread thread = description.start();
        threads.push(thread);
        return thread;
    }

    /** Whether a thread was started: otherwise the caller runs the agents. */
    public boolean hasThreads() {
        return !threads.isEmpty();
    }

    /** An agent cannot go on, for this reason; callers that wait look again. Any thread. */
    public void failed(Throwable cause) {
        failure = cause;
        changed();
    }

    /** Why an agent ended by itself; null if none did. */
    public Throwable failure() {
        return failure;
    }

    /** Something changed that callers may wait for. Any thread. */
    public void changed() {
        synchronized (monitor) {
            monitor.notifyAll();
        }
    }

    /**
     * Waits until the condition holds.
     *
     * @return false if it does not hold within the time
     */
    public boolean await(BooleanSupplier condition, long timeoutNs) {
        return Monitors.await(monitor, environment.nanoClock(), condition, timeoutNs, interrupted);
    }

    /**
     * Ends the threads, that started last first, each after its agents were closed on it.
     *
     * @throws RuntimeException of the first that does not end in time; the others have ended
     */
    @Override
    public void close() {
        CloseHelper.closeAll(threads);
    }
}
