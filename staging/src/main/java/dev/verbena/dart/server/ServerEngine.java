package dev.verbena.dart.server;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.DartTimings;
import dev.verbena.dart.ServerStatistics;
import dev.verbena.dart.ServerTimes;
import dev.verbena.dart.SpillStatistics;
import dev.verbena.dart.config.ServerSettings;
import dev.verbena.staging.Monitors;
import dev.verbena.staging.host.AgentHost;
import java.net.URI;
import java.util.List;
import java.util.UUID;
import org.agrona.concurrent.NanoClock;

/** A server as its owner sees it: the three agents, their threads, waiting for them. */
public final class ServerEngine {
    private static final long CLOSE_MIN_NS = 5_000_000_000L;

    /** Of a thread that others wake; deadlines end a sleep before. */
    private static final long WOKEN_SLEEP_MAX_NS = 200_000_000L;

    private final ServerSettings settings;
    private final NanoClock clock;
    private final ServerShared shared;
    private final PullAgent t1;
    private final CompletionAgent t2;
    private final StreamAgent t3;
    private final AgentHost host;
    private final Object barrierMonitor = new Object();

    /** Number of a barrier that was entered and not left in time; 0: none. */
    private long unfinishedBarrier;

    private boolean isClosed;

    public ServerEngine(ServerSettings settings) {
        this.settings = settings;
        this.clock = settings.environment().nanoClock();
        this.host = new AgentHost(settings.environment(), DartException::interrupted);
        this.shared = new ServerShared(settings);
        this.t1 = new PullAgent(shared);
        this.t2 = new CompletionAgent(shared);
        this.t3 = new StreamAgent(shared);
    }

    public List<ProtocolAgent> agents() {
        return List.of(t1, t2, t3);
    }

    public void startThreads() {
        String name = settings.isMaster() ? "dart-master" : "dart-slave";
        if (settings.isDedicatedThreads()) {
            AgentThread third =
                    host.start(
                            thread(name + "-t3")
                                    .agent(t3)
                                    .transport(t3::transport)
                                    .wakeOnStreams());
            AgentThread second = host.start(thread(name + "-t2").agent(t2));
            shared.onWakeT2(second::wakeup);
            shared.onWakeT3(third::wakeup);
            AgentThread first = host.start(sleeping(thread(name + "-t1").agent(t1)));
            shared.onWakeT1(first::wakeup);
        } else if (t3.transport() != null) {
            AgentThread third = host.start(thread(name + "-t3").agent(t3).transport(t3::transport));
            shared.onWakeT3(third::wakeup);
            AgentThread first = host.start(sleeping(thread(name).agent(t1).agent(t2)));
            shared.onWakeT1(first::wakeup);
        } else {
            AgentThread only =
                    host.start(
                            sleeping(thread(name).agent(t1).agent(t2).agent(t3)).wakeOnStreams());
            shared.onWakeT1(only::wakeup);
        }
    }

    /** Asleep in the transport it is woken by whoever sends; parked nobody sees it sleep. */
    private AgentThread.Builder sleeping(AgentThread.Builder builder) {
        return settings.pollNs() == 0
                ? builder.transport(() -> t1.transport).sleepMaxNs(WOKEN_SLEEP_MAX_NS)
                : builder.sleepMaxNs(settings.pollNs());
    }

    /** Who gives a server long to close gives its threads, which close its transport, as long. */
    private AgentThread.Builder thread(String name) {
        return AgentThread.builder(name, settings.environment())
                .closeTimeoutNs(Math.max(CLOSE_MIN_NS, settings.service().closeTimeoutNs()));
    }

    public void awaitReady(long timeoutNs) {
        boolean isOver = host.await(() -> isReady() || t1.fatal() != null || t1.isEnded, timeoutNs);
        if (t1.fatal() != null) {
            throw t1.fatal();
        }
        if (!isOver) {
            throw Code.TIMEOUT.because(
                    "server is not ready after " + timeoutNs / 1_000_000 + " ms");
        }
    }

    public boolean isReady() {
        ServerRegistry registry = t1.registry;
        return registry != null && registry.isReady && !shared.isStopRequested;
    }

    public URI uri() {
        ServerRegistry registry = t1.registry;
        return registry == null ? null : registry.uri;
    }

    public int serverId() {
        return shared.serverId;
    }

    public UUID job() {
        return shared.job;
    }

    public int clientCount() {
        return (int) shared.clients.get();
    }

    public ServerStatistics statistics() {
        return shared.statistics();
    }

    public SpillStatistics spill() {
        return shared.spillStatistics();
    }

    public ServerTimes times() {
        return shared.times;
    }

    public void requestStop() {
        shared.requestStop(false);
        shared.wakeT1();
    }

    /** Ends without delivering; what is lost is reported when the agents are closed. */
    public void stopNow() {
        shared.requestStop(true);
        shared.wakeT1();
    }

    public List<DartServer.LostMessage> lostMessages() {
        return shared.lost.all();
    }

    public DartTimings timings() {
        return shared.timings();
    }

    public void barrier(long timeoutNs) {
        ServerRegistry registry = t1.registry;
        if (registry == null || !registry.isReady) {
            throw new IllegalStateException("the server is not ready");
        }
        synchronized (barrierMonitor) {
            ServerBarrier barrier = registry.barrier;
            // Who gave up has entered all the same, and may have been released meanwhile.
            long number = unfinishedBarrier > 0 ? unfinishedBarrier : barrier.released.get() + 1;
            unfinishedBarrier = number;
            barrier.wanted.set(Math.max(number, barrier.wanted.get()));
            shared.wakeT1();
            boolean isOver =
                    Monitors.await(
                            barrierMonitor,
                            clock,
                            () ->
                                    barrier.released.get() >= number
                                            || !barrier.failure.isEmpty()
                                            || t1.isEnded,
                            timeoutNs,
                            DartException::interrupted);
            if (barrier.released.get() >= number) {
                unfinishedBarrier = unfinishedBarrier == number ? 0 : unfinishedBarrier;
                return;
            }
            if (isOver) {
                throw Code.SERVER_UNREACHABLE.because(
                        "barrier %s: %s",
                        number, t1.isEnded ? "this server has ended" : barrier.failure);
            }
            throw Code.TIMEOUT.because(
                    "barrier %s after %s ms: %s", number, timeoutNs / 1_000_000, barrier.missing());
        }
    }

    public boolean awaitStopped(long timeoutNs) {
        return host.await(() -> t1.isEnded, timeoutNs);
    }

    public Throwable failure() {
        return t1.fatal();
    }

    /** Whoever is interrupted meanwhile wants the end now. */
    private void drain() {
        try {
            awaitStopped(settings.service().closeTimeoutNs());
        } catch (DartException e) {
            if (e.code() != Code.INTERRUPTED) {
                throw e;
            }
        }
    }

    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        requestStop();
        if (host.hasThreads()) {
            if (t1.registry != null || t1.fatal() == null) {
                drain();
            }
            host.close();
        }
    }
}
