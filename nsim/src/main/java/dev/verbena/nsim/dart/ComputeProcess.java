package dev.verbena.nsim.dart;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartTicket;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.nsim.world.KilledException;
import dev.verbena.nsim.world.SimulatedProcess;
import dev.verbena.transport.TransportException;
import java.util.ArrayList;
import java.util.List;

/**
 * A compute process: computes, sends, computes. While it computes it does not call the library, as
 * a program does not; when a send would wait, it waits.
 */
final class ComputeProcess implements ProtocolAgent {
    /** How often it looks when nothing wakes it. */
    private static final long LOOK_NS = 50_000_000L;

    /**
     * What it is to do.
     *
     * @param warmUp messages at the beginning of which the waiting does not count
     * @param startNs when it begins, after it was made
     * @param isWoken it looks only when something came or the library has a deadline, not every
     *     {@link #LOOK_NS}
     */
    record Plan(
            int rank,
            int first,
            int messages,
            int length,
            long computeNs,
            int inFlight,
            int warmUp,
            long startNs,
            boolean isWoken) {
        /** One that begins at once and looks often. */
        Plan(int rank, int first, int messages, int length, long computeNs, int inFlight) {
            this(rank, first, messages, length, computeNs, inFlight, 0, 0, false);
        }
    }

    final SimulatedProcess process;
    final Plan plan;
    final List<DartTicket> tickets = new ArrayList<>();
    private final DartClient.Context context;
    private final boolean isFilled;
    private final DartMetadata metadata = new DartMetadata();
    private DartClient client;
    private RegisteredRegion region;
    private long computingUntilNs;
    private long blockedSinceNs = -1;
    private final long startNs;

    /** Time that sends waited for earlier messages. */
    long blockedNs;

    long beganNs;
    long endedNs;
    String failure = "";
    boolean isDone;

    ComputeProcess(
            SimulatedProcess process, DartClient.Context context, Plan plan, boolean isFilled) {
        this.process = process;
        this.plan = plan;
        this.startNs = process.nanoClock().nanoTime() + plan.startNs;
        this.isFilled = isFilled;
        this.context = context.environment(process).rank(plan.rank).maxInFlight(plan.inFlight);
        process.run(List.of(this));
    }

    static int tag(int rank, int number) {
        return rank << 12 | number;
    }

    /** Where the number of a message is in its tag. */
    static int number(int tag) {
        return tag & 0xfff;
    }

    private long now() {
        return process.nanoClock().nanoTime();
    }

    @Override
    public int doWork() {
        boolean isEarly = client == null && startNs - now() > 0;
        if (isDone || isEarly || client != null && isComputing()) {
            return 0;
        }
        try {
            return work();
        } catch (DartException | TransportException e) {
            failure = e.toString();
            end();
            return 1;
        }
    }

    private boolean isComputing() {
        return computingUntilNs - now() > 0;
    }

    private int work() {
        if (client == null) {
            client = DartClient.start(context);
            return 1;
        }
        int work = client.progress();
        if (region == null && !client.isConnected()) {
            return work;
        }
        if (region == null) {
            region = client.allocate(Math.max(1, (long) plan.length * slots()));
            beganNs = now();
            computingUntilNs = beganNs + plan.computeNs;
            return 1;
        }
        if (tickets.size() < plan.messages) {
            return work + send();
        }
        if (isAllFinal()) {
            end();
            return 1;
        }
        return work;
    }

    /** What may have to be read again has memory of its own; sizes need none. */
    private int slots() {
        return isFilled ? plan.messages : 1;
    }

    private int send() {
        int number = plan.first + tickets.size();
        int tag = tag(plan.rank, number);
        int slot = tickets.size() % slots();
        long now = now();
        if (client.wouldBlock()) {
            blockedSinceNs = blockedSinceNs < 0 ? now : blockedSinceNs;
            return 0;
        }
        if (isFilled) {
            PayloadPattern.fill(
                    region.buffer(0, (int) region.length()), slot * plan.length, plan.length, tag);
        }
        DartTicket ticket =
                client.trySend(region, (long) slot * plan.length, plan.length, metadata, tag);
        if (ticket == null) {
            return 0;
        }
        tickets.add(ticket);
        if (blockedSinceNs >= 0) {
            blockedNs += number < plan.first + plan.warmUp ? 0 : now - blockedSinceNs;
            blockedSinceNs = -1;
        }
        computingUntilNs = now + plan.computeNs;
        return 1;
    }

    private boolean isAllFinal() {
        return tickets.stream().allMatch(ticket -> ticket.state().isFinal());
    }

    /** Whether it lives and has more to do. */
    boolean isUnfinished() {
        return !isDone && !process.isDead();
    }

    private void end() {
        isDone = true;
        endedNs = now();
    }

    /** Says goodbye; waits, so not within a run. */
    void close() {
        if (client != null && !process.isDead()) {
            try {
                client.close(0);
            } catch (DartException e) {
                failure = failure.isEmpty() ? e.toString() : failure;
            } catch (KilledException e) {
                // Nobody is left to say goodbye.
            }
        }
    }

    @Override
    public long nextDeadlineNs() {
        if (isDone) {
            return NO_DEADLINE;
        }
        if (client == null) {
            return startNs;
        }
        long now = now();
        if (computingUntilNs - now > 0) {
            return computingUntilNs;
        }
        return plan.isWoken ? client.nextDeadlineNs() : now + LOOK_NS;
    }

    @Override
    public String roleName() {
        return "compute-" + plan.rank;
    }

    @Override
    public String toString() {
        return roleName() + ": " + tickets + (failure.isEmpty() ? "" : ", " + failure);
    }
}
