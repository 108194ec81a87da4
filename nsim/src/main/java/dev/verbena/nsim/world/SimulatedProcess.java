package dev.verbena.nsim.world;

import dev.verbena.agent.ByteStreams;
import dev.verbena.agent.DurableStore;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.agent.StagingEvents;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.AgentTerminationException;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.status.CountersManager;

/**
 * A process on a host, and its environment: what an engine touches is simulated. Its agents are
 * stepped by the world; a process that is killed is never stepped again, and its memory,
 * connections, streams, locks and unwritten bytes are gone.
 */
public final class SimulatedProcess implements Environment {
    private static final long EPOCH_MS = 1_700_000_000_000L;
    private static final long LATE_PAUSE_PS = 50_000_000L;
    private static final long FAILED_PAUSE_PS = 1_000_000_000L;

    final Host host;
    final World world;
    final int number;
    private final String name;
    private final SimulatedStreams streams;
    private final List<ProtocolAgent> agents = new ArrayList<>();
    private final List<ProtocolAgent> ended = new ArrayList<>();
    private final List<Disk> disks = new ArrayList<>();
    final List<SimulatedTransport> transports = new ArrayList<>();
    private final List<Throwable> errors = new ArrayList<>();
    private StagingEvents events = StagingEvents.NONE;
    private int unpredictableCount;
    private boolean isStarted;
    boolean isDead;

    /** When it wants to be stepped next. */
    long wakePs = Steps.NEVER;

    /** The event of a deadline that is waiting; see {@link Steps}. */
    long farPs = Steps.NEVER;

    /** Until when its posts take its time. */
    long busyPs;

    private int slowness = 1;
    long stepCount;
    long stepNs;

    /** One post in this many is refused; 0: none. */
    int refusesOneIn;

    /** One registration in this many fails; 0: none. */
    int failsOneIn;

    SimulatedProcess(Host host, String name) {
        this.host = host;
        this.world = host.world;
        this.name = name;
        this.number = world.add(this);
        this.streams = new SimulatedStreams(this);
    }

    /** The host that it is on. */
    public Host host() {
        return host;
    }

    /** For people. */
    public String name() {
        return name;
    }

    /** Whether it was killed, or has ended. */
    public boolean isDead() {
        return isDead;
    }

    /** What was given to {@link #errorHandler()}, in order. */
    public List<Throwable> errors() {
        return errors;
    }

    /** Sets the receiver of events about messages. */
    public SimulatedProcess events(StagingEvents value) {
        events = value;
        return this;
    }

    /** Agents that are stepped from now on, one after the other. */
    public SimulatedProcess run(List<? extends ProtocolAgent> more) {
        agents.addAll(more);
        world.wake(this);
        return this;
    }

    /** Its posts and the delays of its steps take so many times as long as another's; 1. */
    public SimulatedProcess slowness(int factor) {
        slowness = factor;
        return this;
    }

    int slowness() {
        return slowness;
    }

    /** It posts something; answers after how many picoseconds the interface has it. */
    long post() {
        long costPs = world.noise().postPs() * slowness;
        if (costPs == 0) {
            return 0;
        }
        long nowPs = world.engine.nowPs();
        busyPs = Math.max(busyPs, nowPs) + costPs;
        return busyPs - nowPs;
    }

    /** Has it stepped soon. */
    public void wakeup() {
        world.wake(this);
    }

    void wakeAt(long timePs) {
        wakePs = timePs;
    }

    /** When the event of its deadline is due. */
    void deadlineEventAt(long timePs) {
        farPs = timePs;
    }

    /** Counts a step and what it cost. */
    void stepped(long nanoseconds) {
        stepCount++;
        stepNs += nanoseconds;
    }

    void refuse(int oneIn) {
        refusesOneIn = oneIn;
    }

    void failRegistrations(int oneIn) {
        failsOneIn = oneIn;
    }

    /** One cycle of each agent; answers the work done. */
    int cycle(SplittableRandom order) {
        if (!isStarted) {
            isStarted = true;
            agents.forEach(ProtocolAgent::onStart);
        }
        int count = agents.size();
        int first = order == null || count < 2 ? 0 : order.nextInt(count);
        int skipped =
                order == null || count < 2 || order.nextInt(4) != 0 ? -1 : order.nextInt(count);
        int work = skipped < 0 ? 0 : 1;
        boolean isFailed = false;
        for (int i = 0; i < count && !isDead; i++) {
            int at = (first + i) % count;
            if (at != skipped) {
                int done = cycle(agents.get(at));
                isFailed |= done < 0;
                work += Math.max(done, 0);
            }
        }
        if (!ended.isEmpty()) {
            agents.removeAll(ended);
            List<ProtocolAgent> toClose = List.copyOf(ended);
            ended.clear();
            world.later(() -> close(toClose));
        }
        return isFailed && work == 0 ? -1 : work;
    }

    private int cycle(ProtocolAgent agent) {
        try {
            return agent.doWork();
        } catch (AgentTerminationException e) {
            ended.add(agent);
            return 0;
        } catch (Exception | AssertionError | LinkageError e) {
            errors.add(e);
            return -1;
        }
    }

    /** Picoseconds until it wants to be stepped again; Long.MAX_VALUE: only an event can do it. */
    long pauseAfter(int work) {
        if (work > 0) {
            return world.cyclePs;
        }
        if (work < 0) {
            return FAILED_PAUSE_PS;
        }
        long wait = ProtocolAgent.NO_DEADLINE;
        long now = host.nanoTime();
        for (int i = 0; i < agents.size(); i++) {
            long deadline = agents.get(i).nextDeadlineNs();
            if (deadline != ProtocolAgent.NO_DEADLINE) {
                wait = Math.min(wait, Math.max(deadline - now, 0));
            }
        }
        if (wait >= Long.MAX_VALUE / 2000) {
            return Long.MAX_VALUE;
        }
        // A deadline has passed and nothing was done: a short pause, as an idle thread makes.
        return wait == 0 ? LATE_PAUSE_PS : Math.max(world.cyclePs, host.trueNs(wait) * 1000);
    }

    private void close(List<ProtocolAgent> toClose) {
        for (int i = toClose.size() - 1; i >= 0 && !isDead; i--) {
            try {
                toClose.get(i).onClose();
            } catch (Exception | AssertionError | LinkageError e) {
                errors.add(e);
            }
        }
    }

    /** Ends it at once, as {@code kill -9} does: connections and streams end, locks are free. */
    public void kill() {
        if (!isDead) {
            isDead = true;
            world.trace("kill", this);
            for (int i = 0; i < transports.size(); i++) {
                transports.get(i).kill(host.isDown);
            }
            transports.clear();
            endOutside();
        }
    }

    private void endOutside() {
        streams.end(host.isDown);
        for (Disk disk : disks) {
            disk.end(this, world.random);
        }
        agents.clear();
    }

    @Override
    public NanoClock nanoClock() {
        return host::nanoTime;
    }

    @Override
    public EpochClock epochClock() {
        return () -> EPOCH_MS + (host.nanoTime() + host.skewNs()) / 1_000_000;
    }

    @Override
    public RandomGenerator random(String stream) {
        return world.stream(host.name() + "/" + name + "/" + stream);
    }

    @Override
    public RandomGenerator unpredictable() {
        return world.stream(number + "/unpredictable/" + ++unpredictableCount);
    }

    @Override
    public Transport openTransport(String scheme, TransportContext context) {
        if (!World.SCHEME.equals(scheme)) {
            throw new IllegalArgumentException(
                    "there is only " + World.SCHEME + " here, not '" + scheme + "'");
        }
        return world.open(this, context);
    }

    @Override
    public ByteStreams streams() {
        return streams;
    }

    SimulatedStreams simulatedStreams() {
        return streams;
    }

    /** Directories that begin with {@code shared} are one for all hosts. */
    @Override
    public DurableStore store(String directory) {
        Disk disk = world.disk(host, directory);
        disks.add(disk);
        return disk.open(this);
    }

    /** One set for the whole world; who finds no room shows nothing. */
    @Override
    public CountersManager counters() {
        return world.memory.counters();
    }

    @Override
    public StagingEvents events() {
        return events;
    }

    @Override
    public boolean carriesPayloads() {
        return world.copiedMax == Integer.MAX_VALUE;
    }

    @Override
    public ErrorHandler errorHandler() {
        return error -> {
            // That it was killed is no error of its own.
            if (!(error instanceof KilledException)) {
                errors.add(error);
            }
        };
    }

    @Override
    public String toString() {
        return name + "@" + host;
    }
}
