package dev.verbena.flesnet.compute;

import dev.verbena.flesnet.ComponentFlyweight;
import dev.verbena.flesnet.ComputeStatistics;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.FlesnetException;
import dev.verbena.flesnet.InputLossPolicy;
import dev.verbena.flesnet.TimesliceHandler;
import dev.verbena.flesnet.dfs.IntervalRanges;
import dev.verbena.flesnet.dfs.ScheduleEngine;
import dev.verbena.flesnet.wire.Assignment;
import dev.verbena.flesnet.wire.Decision;
import dev.verbena.flesnet.wire.NodeEngine;
import dev.verbena.flesnet.wire.SyncFlyweight;
import dev.verbena.staging.CounterMirror;
import dev.verbena.staging.bootstrap.ServicePublisher;
import dev.verbena.transport.Transport;
import org.agrona.CloseHelper;

/**
 * The engine of a compute node: gives every input its rings, counts contributions, hands complete
 * timeslices to the consumer, acknowledges what it has released (section 4). The first ones also
 * schedule. Allocates nothing per timeslice.
 */
public final class ComputeEngine extends NodeEngine {
    private static final int TIMESLICES_MAX = 64;

    private final FlesnetContext context;
    private final int compute;
    private final TimesliceHandler handler;
    private final ServicePublisher publisher;
    private final Assignment assignment;

    /** Whether a run goes on without an input. */
    private final boolean isShrinking;

    private final IntervalRanges ranges;
    private final ScheduleEngine scheduler;
    private final ComputeCounts statistics = new ComputeCounts();
    private final ComputeRecovery recovery;
    private RingMemory memory;
    private ContributionRing[] rings;
    private TimesliceTable table;
    private ComputeProtocol protocol;
    private CounterMirror mirror;

    /** Timeslices of the input that has ended with the fewest. */
    private long shortest = Long.MAX_VALUE;

    private int shortestInput;

    /** The engine of compute node {@code compute}; touches nothing before it is started. */
    public ComputeEngine(FlesnetContext context, int compute, TimesliceHandler handler) {
        super("compute node " + compute, "flesnet-compute-" + compute);
        this.context = context.conclude();
        this.compute = compute;
        this.handler = handler;
        publisher =
                new ServicePublisher(
                        context.environment(),
                        context.serviceFile(compute),
                        SyncFlyweight.PROTOCOL);
        assignment = new Assignment(context.computes());
        boolean isTimed = context.incompleteTimeoutNs() > 0;
        isShrinking = context.inputLoss() == InputLossPolicy.SHRINK || isTimed;
        recovery = new ComputeRecovery(context.inputs(), context.computes(), assignment, isTimed);
        boolean isScheduler = compute < context.schedulers();
        int perInterval = isScheduler ? context.dfs().timeslicesPerInterval() : 1;
        ranges = new IntervalRanges(perInterval, context.computes());
        scheduler =
                isScheduler ? new ScheduleEngine(context.dfs(), context.inputs(), ranges) : null;
    }

    @Override
    protected void begin() {
        int inputs = context.inputs();
        Transport transport = openTransport(context, inputs);
        memory = new RingMemory(context, transport);
        rings = new ContributionRing[inputs];
        for (int i = 0; i < inputs; i++) {
            rings[i] = new ContributionRing(context, memory, i);
        }
        table = new TimesliceTable(context, rings);
        protocol = new ComputeProtocol(this, context, compute, transport);
        transport.listen();
        mirror = statistics.shown(context.environment());
    }

    @Override
    public int doWork() {
        long now = context.environment().nanoClock().nanoTime();
        int work = publisher.doWork(transport().uri());
        work += protocol.poll(now);
        mirror.publish(now);
        work += failure() == null ? deliver(now) : 0;
        if (failure() != null) {
            return work;
        }
        if (table.collect()) {
            work++;
            statistics.released(table.released());
            for (ContributionRing ring : rings) {
                ring.release(Math.min(table.released(), ring.received()));
            }
        }
        return work + protocol.flush(now);
    }

    private int deliver(long now) {
        int work = 0;
        while (work < TIMESLICES_MAX) {
            TimesliceTable.Built built = table.take(now, context.incompleteTimeoutNs());
            if (built == null) {
                break;
            }
            built.index(assignment.timeslice(compute, built.descriptor()));
            statistics.delivered((built.flags() & ComponentFlyweight.MISSING_COMPONENT) != 0);
            work++;
            try {
                handler.onTimeslice(built);
            } catch (RuntimeException | AssertionError | LinkageError e) {
                // Nobody will release it.
                end(
                        new FlesnetException(
                                "compute node %s: its consumer failed at timeslice %s: %s"
                                        .formatted(compute, built.index(), e),
                                e));
                break;
            }
        }
        return work;
    }

    /** Whether everything was released that this node had, as far as it can be complete. */
    boolean isEmpty(long now) {
        return table.isEmpty(now, context.incompleteTimeoutNs());
    }

    // ---- contributions

    /** An input has reported writes, up to this component. */
    void onWritten(InputPeer peer, SyncFlyweight message, long now) {
        ContributionRing ring = rings[peer.input()];
        int inside = message.count(16, SyncFlyweight.DESCRIPTORS_MAX, ComponentFlyweight.LENGTH);
        long upTo = message.i64(8) - context.startPosition();
        if (upTo < 0 || upTo - ring.released() > 1L << context.descriptorExponent()) {
            throw new IllegalArgumentException(
                    "%s components written, %s released".formatted(upTo, ring.released()));
        }
        // Before it has carried a decision out an input numbers by the old assignment.
        long limit = limit(peer);
        for (int i = 0; i < inside; i++) {
            long descriptor = upTo - inside + i;
            if (descriptor >= ring.received() && descriptor < limit) {
                int at = message.body() + 20 + i * ComponentFlyweight.LENGTH;
                ring.place(descriptor, message.buffer(), at);
            }
        }
        while (ring.received() < upTo && ring.received() < limit) {
            long descriptor = ring.received();
            ring.receive(assignment.timeslice(compute, descriptor));
            statistics.received(ring.size(descriptor));
            table.arrive(descriptor, now);
        }
        if (ring.received() == upTo && ring.position() != message.i64(0)) {
            throw new IllegalArgumentException(
                    "position %s behind %s components, not %s"
                            .formatted(message.i64(0), upTo, ring.position()));
        }
        requireNoLonger(peer.input());
        // One that came too late to be waited for may be overwritten as soon as it is here.
        ring.release(Math.min(table.released(), ring.received()));
    }

    /** An input has no more than so many timeslices; those of others would never be complete. */
    void onEnded(InputPeer peer, long total) {
        long received = rings[peer.input()].received();
        if (received < limit(peer) && assignment.timeslice(compute, received) < total) {
            throw new IllegalArgumentException("ends and owes components");
        }
        recovery.ended(peer.input(), total);
        if (isShrinking) {
            omit(peer.input());
            return;
        }
        if (total < shortest) {
            shortest = total;
            shortestInput = peer.input();
        }
        for (int i = 0; i < rings.length; i++) {
            requireNoLonger(i);
        }
    }

    private void requireNoLonger(int input) {
        long received = rings[input].received();
        if (received > 0 && assignment.timeslice(compute, received - 1) >= shortest) {
            end(
                    new FlesnetException(
                            "input %s has ended after %s timeslices, input %s has more"
                                    .formatted(shortestInput, shortest, input)));
        }
    }

    private long limit(InputPeer peer) {
        int epoch = peer.ackedEpoch();
        return epoch == assignment.epoch() ? Long.MAX_VALUE : assignment.base(compute, epoch + 1);
    }

    // ---- failures

    /** An input reports what it suspects, and what it has sent. */
    void onReport(InputPeer peer, SyncFlyweight message) {
        long received = rings[peer.input()].received();
        long last = received == 0 ? -1 : assignment.timeslice(compute, received - 1);
        recovery.onReport(peer.input(), message, last);
        decide();
        protocol.happened();
    }

    /** Decides what can be decided. */
    void decide() {
        Decision decision = recovery.decide();
        if (decision == null) {
            return;
        }
        try {
            apply(decision);
        } catch (IllegalArgumentException e) {
            // Each report was possible, together they are not: which input is wrong is not known.
            end(new FlesnetException("reports of inputs contradict each other", e));
        }
    }

    /** Carries a decision out that was made here or by another compute node. */
    void apply(Decision decision) {
        for (int node : decision.failed()) {
            if (node == compute) {
                end(new FlesnetException("inputs have given compute node %s up".formatted(node)));
                return;
            }
        }
        long kept = assignment.count(compute, decision.trigger());
        if (kept < table.completed()) {
            throw new IllegalArgumentException(
                    "%s timeslices stay, %s were delivered".formatted(kept, table.completed()));
        }
        recovery.apply(decision);
        protocol.happened();
        long base = assignment.base(compute, assignment.epoch());
        for (int i = 0; i < rings.length; i++) {
            for (long d = base; d < rings[i].received(); d++) {
                table.undo(i, d);
            }
            rings[i].undo(base);
        }
        ranges.change(decision.trigger() + 1, assignment.liveCount());
        if (scheduler != null) {
            scheduler.onComputesLost();
        }
    }

    /** An input is lost. */
    void onInputLost(int input, String reason) {
        FlesnetException why =
                new FlesnetException(
                        "compute node %s lost input %s: %s".formatted(compute, input, reason));
        context.environment().errorHandler().onError(why);
        recovery.omit(input);
        if (!isShrinking) {
            end(why);
            return;
        }
        omit(input);
        decide();
        protocol.happened();
    }

    /** An input that has ended in order is gone: no decision waits for its report. */
    void onInputLeft(int input) {
        recovery.omit(input);
        decide();
        protocol.happened();
    }

    private void omit(int input) {
        table.omit(input);
        if (scheduler != null) {
            scheduler.removeInput(input);
        }
    }

    /** The run ends, not in order. */
    void end(FlesnetException why) {
        if (conclude(why)) {
            protocol.abort();
        }
    }

    void done() {
        conclude(null);
    }

    boolean isShrinking() {
        return isShrinking;
    }

    boolean mayLeave() {
        return protocol.mayLeave();
    }

    ContributionRing ring(int input) {
        return rings[input];
    }

    TimesliceTable table() {
        return table;
    }

    /** Null: this node does not schedule. */
    ScheduleEngine scheduler() {
        return scheduler;
    }

    ComputeCounts counts() {
        return statistics;
    }

    ComputeRecovery recovery() {
        return recovery;
    }

    Assignment assignment() {
        return assignment;
    }

    /** Bytes in use of the ring of an input. The engine's thread, or when it does not run. */
    public long ringUsed(int input) {
        return rings[input].used();
    }

    /** Counts. Any thread. */
    public ComputeStatistics statistics() {
        return statistics.now();
    }

    @Override
    public long nextDeadlineNs() {
        long next = Math.min(publisher.nextDeadlineNs(), protocol.nextDeadlineNs());
        if (context.incompleteTimeoutNs() > 0 && table.isPartial()) {
            next = Math.min(next, table.firstNs() + context.incompleteTimeoutNs());
        }
        return next;
    }

    @Override
    public void onClose() {
        concludeThread();
        if (protocol != null) {
            protocol.leave();
        }
        CloseHelper.close(mirror);
        CloseHelper.close(publisher);
        CloseHelper.closeAll(memory, protocol, transport());
    }
}
