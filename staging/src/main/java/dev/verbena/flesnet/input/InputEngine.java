package dev.verbena.flesnet.input;

import dev.verbena.flesnet.AckKind;
import dev.verbena.flesnet.ComponentFlyweight;
import dev.verbena.flesnet.DescriptorMode;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.FlesnetException;
import dev.verbena.flesnet.InputStatistics;
import dev.verbena.flesnet.MicrosliceSource;
import dev.verbena.flesnet.dfs.IntervalPacer;
import dev.verbena.flesnet.dfs.IntervalRanges;
import dev.verbena.flesnet.wire.Assignment;
import dev.verbena.flesnet.wire.LookTable;
import dev.verbena.flesnet.wire.NodeEngine;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.staging.CounterMirror;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.Transport;
import org.agrona.CloseHelper;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The engine of an input node: takes microslices of a source, and writes the component of each
 * timeslice into the memory of its compute node, in offset round robin (sections 2.1, 4 and 6).
 * Allocates nothing per timeslice.
 */
public final class InputEngine extends NodeEngine {
    private static final int SEGMENTS_MAX = 4;
    private static final long IDLE_NS = 1_000_000L;

    /** Components of a step, if there are so many and tickets for them. */
    private static final int COMPONENTS_MIN = 4;

    /** Counts are summed over all connections, which costs much for each step. */
    private static final long COUNT_NS = 100_000L;

    private final FlesnetContext context;
    private final int input;
    private final MicrosliceSource source;
    private final Assignment assignment;
    private final IntervalRanges ranges;
    private final IntervalPacer pacer;
    private final InputCounts statistics = new InputCounts();
    private final TransferVector vector = new TransferVector(SEGMENTS_MAX);
    private final ComponentFlyweight component = new ComponentFlyweight();

    /** Connections that may have something to send. */
    private final LookTable looks;

    /** By time, those that wait for their turn in an interval: when to step for them. */
    private final LookTable turns;

    /** By timeslice, those that wait for data of the source. */
    private final LookTable starved;

    private CounterMirror mirror;
    private InputRing ring;
    private InputLink[] links;
    private InputProtocol protocol;
    private InputRecovery recovery;
    private RegisteredRegion stagingRegion;
    private UnsafeBuffer staging;
    private long freed;
    private long total = -1;
    private long seenTotal = -1;
    private long seenChanges;
    private long nextDueNs;
    private long countedNs = Long.MIN_VALUE / 2;

    /** The engine of input node {@code input}; touches nothing before it is started. */
    public InputEngine(FlesnetContext context, int input, MicrosliceSource source) {
        super("input " + input, "flesnet-input-" + input);
        this.context = context.conclude();
        this.input = input;
        this.source = source;
        assignment = new Assignment(context.computes());
        boolean isPaced = context.dfs() != null;
        int perInterval = isPaced ? context.dfs().timeslicesPerInterval() : 1;
        ranges = new IntervalRanges(perInterval, context.computes());
        pacer = isPaced ? new IntervalPacer(context.dfs(), ranges) : null;
        looks = new LookTable(context.computes());
        turns = new LookTable(context.computes());
        starved = new LookTable(context.computes());
    }

    @Override
    protected void begin() {
        Transport transport = openTransport(context, context.computes());
        ring = new InputRing(context, transport);
        int slots = 1 << context.descriptorExponent();
        int length = context.computes() * slots * ComponentFlyweight.LENGTH;
        stagingRegion = transport.allocate(length, 0);
        staging = stagingRegion.buffer(0, length);
        protocol = new InputProtocol(this, context, input, transport);
        links = protocol.links();
        recovery =
                new InputRecovery(
                        links,
                        assignment,
                        ranges,
                        pacer,
                        protocol,
                        context.incompleteTimeoutNs() > 0);
        mirror = statistics.shown(context.environment());
    }

    @Override
    public int doWork() {
        if (isOver()) {
            return protocol.finish();
        }
        long now = context.environment().nanoClock().nanoTime();
        nextDueNs = now + context.heartbeatNs();
        int work = protocol.poll(now);
        if (!protocol.isReady() || failure() != null) {
            return work + protocol.connect(now);
        }
        ring.settle();
        work += source.poll(ring, now);
        wantWakeAt(source.nextDueNs());
        String why = source.failure() != null ? source.failure() : ring.failure();
        if (why != null) {
            end(new FlesnetException("input %s: %s".formatted(input, why)));
        }
        if (source.isEnded() && !ring.owes()) {
            total = ring.timesliceCount();
        }
        int recovered = recovery.doWork(now);
        if (recovery.isBusy() || recovered > 0) {
            looks.lookAll();
            protocol.happened();
        }
        work += recovered;
        work += sendRounds(now);
        work += protocol.flush(now);
        if (!recovery.isBusy()) {
            free(); // what is reported as owed may have to be sent again
            if (recovery.isStuck(ring)) {
                ring.empty();
            }
        }
        boolean isOver = isEnding() && protocol.isFinished();
        if (now - countedNs >= COUNT_NS || isOver || failure() != null) {
            countedNs = now;
            statistics.update(ring.droppedCount(), freed, links, pacer);
        }
        mirror.publish(now);
        if (isOver) {
            // Who sees the end reads the last counts.
            end(null);
        }
        return work;
    }

    /** Looks at connections in turn, again if there are few: a step has one SYNC for each. */
    private int sendRounds(long now) {
        if (total != seenTotal) {
            seenTotal = total;
            looks.lookAll();
        }
        wakeStarved();
        lookAfterChange();
        looks.expire(now);
        int work = sendRound(now);
        for (int sent = work; sent > 0 && work < COMPONENTS_MIN; work += sent) {
            sent = sendRound(now);
        }
        wantWakeAt(turns.earliest());
        return work;
    }

    /**
     * One look at each connection that may have something to send, in turn from the one that this
     * input begins with.
     */
    private int sendRound(long now) {
        int first = input % links.length;
        int work = 0;
        for (int i = looks.next(first); i >= 0; i = looks.next(i + 1)) {
            work += look(links[i], now);
        }
        for (int i = looks.next(0); i >= 0 && i < first; i = looks.next(i + 1)) {
            work += look(links[i], now);
        }
        return work;
    }

    private void wakeStarved() {
        starved.expire(ring.timesliceCount() - 1);
        for (int i = starved.next(0); i >= 0; i = starved.next(i + 1)) {
            starved.rest(i);
            looks.look(i);
        }
    }

    /** What the pacer says of one connection may hold for all others. */
    private void lookAfterChange() {
        if (pacer != null && pacer.changeCount() != seenChanges) {
            seenChanges = pacer.changeCount();
            looks.lookAll();
        }
    }

    private int look(InputLink link, long now) {
        looks.rest(link.compute);
        turns.rest(link.compute);
        if (!link.isReady()) {
            return 0;
        }
        int sent = trySend(link, now);
        if (sent > 0) {
            looks.look(link.compute);
        }
        lookAfterChange();
        return sent;
    }

    /** A connection may have something to send. */
    void happened(InputLink link) {
        looks.look(link.compute);
    }

    private int trySend(InputLink link, long now) {
        long descriptor = link.next();
        long timeslice = assignment.timeslice(link.compute, descriptor);
        boolean isOver = total >= 0 && timeslice >= total;
        if (isOver || link.stage() == 0 && recovery.isHeld(link, timeslice)) {
            link.stalls.enter(StallClock.NONE, now);
            return 0;
        }
        if (!ring.hasComponent(timeslice)) {
            link.stalls.enter(StallClock.INPUT, now);
            starved.lookAt(link.compute, timeslice);
            return 0;
        }
        if (link.stage() == 0 && isTooEarly(link, timeslice, now)) {
            link.stalls.enter(StallClock.NONE, now);
            return 0;
        }
        long size = ring.size(timeslice);
        if (size > link.ringLength()) {
            end(tooLong(timeslice, size, link));
            return 0;
        }
        if (!link.hasTicket(size)) {
            link.stalls.enter(StallClock.CREDIT, now);
            return 0;
        }
        if (!post(link, timeslice, size)) {
            link.stalls.enter(StallClock.WRITE, now);
            looks.look(link.compute);
            return 0;
        }
        link.stalls.enter(StallClock.NONE, now);
        recovery.onSent(timeslice);
        if (pacer != null) {
            pacer.onSent(timeslice, now);
        }
        return 1;
    }

    private FlesnetException tooLong(long timeslice, long size, InputLink link) {
        return new FlesnetException(
                "input %s: the component of timeslice %s has %s bytes, the receive ring %s"
                        .formatted(input, timeslice, size, link.ringLength()));
    }

    private boolean isTooEarly(InputLink link, long timeslice, long now) {
        if (pacer == null) {
            return false;
        }
        int live = assignment.liveCount();
        int position = Math.floorMod(assignment.position(link.compute) - input, live);
        long due = pacer.dueNs(timeslice, position, now);
        if (due - now <= 0) {
            return false;
        }
        if (due != IntervalPacer.NOT_OPEN) {
            looks.lookAt(link.compute, Math.min(due, pacer.endNs(timeslice)));
            turns.lookAt(link.compute, due);
        }
        return true;
    }

    /** Payload, then descriptor; goes on where a full queue has stopped it. */
    private boolean post(InputLink link, long timeslice, long size) {
        long position = link.positionFor(size);
        long first = Math.min(size, link.roomFrom(position));
        if (link.stage() == 0) {
            vector.clear();
            ring.gather(vector, timeslice, 0, first, link.ringOffset(position));
            if (!put(link)) {
                return false;
            }
        }
        int parts = first < size ? 2 : 1;
        if (link.stage() == 1 && parts == 2) {
            vector.clear();
            ring.gather(vector, timeslice, first, size, 0);
            if (!put(link)) {
                return false;
            }
        }
        int at = stagingOffset(link, link.slotOfNext());
        if (link.stage() == parts) {
            component
                    .wrap(staging, at)
                    .set(
                            timeslice,
                            position,
                            size,
                            context.microslicesPerComponent(),
                            ring.flags(timeslice));
            if (context.descriptorMode() == DescriptorMode.RDMA_WRITE && !putDescriptor(link, at)) {
                return false;
            }
        }
        link.finished(timeslice, position, size);
        statistics.written(size, parts);
        return true;
    }

    private boolean put(InputLink link) {
        long context = InputProtocol.dataContext(link);
        int answer = transport().put(link.connection(), vector, link.dataRing, context, 0);
        if (answer == Transport.ACCEPTED) {
            protocol.posted(link);
        }
        return answer == Transport.ACCEPTED;
    }

    private boolean putDescriptor(InputLink link, int at) {
        int answer =
                transport()
                        .put(
                                link.connection(),
                                stagingRegion,
                                at,
                                link.descriptorRing,
                                (long) link.slotOfNext() * ComponentFlyweight.LENGTH,
                                ComponentFlyweight.LENGTH,
                                InputProtocol.dataContext(link),
                                0);
        if (answer == Transport.ACCEPTED) {
            protocol.posted(link);
        }
        return answer == Transport.ACCEPTED;
    }

    int stagingOffset(InputLink link, int slot) {
        int slots = 1 << context.descriptorExponent();
        return (link.compute * slots + slot) * ComponentFlyweight.LENGTH;
    }

    UnsafeBuffer staging() {
        return staging;
    }

    /** An acknowledgement came. */
    void onAcked(InputLink link, long now) {
        looks.look(link.compute);
        if (pacer == null) {
            return;
        }
        long upTo =
                context.ackKind() == AckKind.RECEIVED
                        ? link.received()
                        : context.ackKind() == AckKind.COMPLETED
                                ? link.completed()
                                : link.released();
        for (long d = link.counted(); d < upTo; d++) {
            pacer.onAcked(link.timeslice(d), now);
        }
        link.countedTo(Math.max(link.counted(), upTo));
    }

    /** Gives back what all compute nodes are done with, in the order of timeslices. */
    private void free() {
        long before = freed;
        while (ring.hasComponent(freed)
                && links[assignment.node(freed)].released() > assignment.descriptor(freed)) {
            freed++;
        }
        if (freed != before) {
            ring.release(freed);
        }
    }

    private void wantWakeAt(long dueNs) {
        if (dueNs != MicrosliceSource.NEVER && dueNs - nextDueNs < 0) {
            nextDueNs = dueNs;
        }
    }

    /** The run is over; null: in order. */
    void end(FlesnetException why) {
        if (conclude(why)) {
            protocol.leave(why != null);
        }
    }

    int input() {
        return input;
    }

    InputCounts counts() {
        return statistics;
    }

    IntervalPacer pacer() {
        return pacer;
    }

    InputRecovery recovery() {
        return recovery;
    }

    /** Timeslices of the source, once it has ended; -1 before. */
    long total() {
        return total;
    }

    /** Whether the source has ended, and all its timeslices are released. */
    boolean isEnding() {
        return total >= 0 && freed >= total;
    }

    /** Counts. Any thread. */
    public InputStatistics statistics() {
        return statistics.now();
    }

    @Override
    public long nextDeadlineNs() {
        if (isOver()) {
            return NO_DEADLINE;
        }
        if (!protocol.isReady()) {
            return context.environment().nanoClock().nanoTime() + IDLE_NS;
        }
        return nextDueNs;
    }

    @Override
    public void onClose() {
        concludeThread();
        if (protocol != null) {
            protocol.leave(!isDone());
            protocol.drain();
        }
        CloseHelper.close(mirror);
        CloseHelper.closeAll(protocol, ring, stagingRegion, transport());
    }
}
