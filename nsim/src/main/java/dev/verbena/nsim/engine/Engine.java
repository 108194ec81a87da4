package dev.verbena.nsim.engine;

import dev.verbena.nsim.internal.SplitMix64;
import dev.verbena.nsim.internal.VirtualTime;
import java.util.Arrays;

/**
 * The clock and the queue of a simulation. Belongs to one thread; allocates only while its queue
 * grows.
 */
public final class Engine {
    /** Kinds of events are numbered from 0 to this, exclusively. */
    public static final int KINDS = 64;

    private static final int KIND_BITS = 8;

    private final EventQueue queue = new EventQueue();
    private final EventHandler[] handlers = new EventHandler[KINDS];
    private final long[] sequences;
    private final int self;
    private final PartitionOutboxes outboxes;
    private InstantHandler instant = time -> {};
    private ArrivalHandler arrivals = (kind, argument, a, b, c, d) -> argument;
    private Outbox posted;
    private EventTrace trace;
    private boolean isInstantWanted;
    private long now;
    private long eventCount;
    private long traceHash;

    /**
     * An engine at time 0.
     *
     * @param entityCount targets and sources are numbered from 0 to this, exclusively
     */
    public Engine(int entityCount) {
        this(new long[entityCount], 0, null);
    }

    /** An engine of one of several partitions; an entity's number in its sequence is shared. */
    Engine(long[] sequences, int self, PartitionOutboxes outboxes) {
        this.sequences = sequences;
        this.self = self;
        this.outboxes = outboxes;
        Arrays.fill(
                handlers,
                (EventHandler)
                        (time, target, argument) -> {
                            throw new IllegalStateException(
                                    "an event for entity %s is of a kind without handler"
                                            .formatted(target));
                        });
    }

    /** Sets the handler of the events of a kind. */
    public void handler(int kind, EventHandler handler) {
        handlers[kind] = handler;
    }

    /**
     * Sets the handler that is called at the end of each instant for which {@link #wantInstantEnd}
     * was called.
     */
    public void instantHandler(InstantHandler handler) {
        instant = handler;
    }

    /** Sets the receiver of each event; null, the default: none. */
    public void eventTrace(EventTrace value) {
        trace = value;
    }

    /** Sets the handler of what events from other partitions carry. */
    public void arrivalHandler(ArrivalHandler handler) {
        arrivals = handler;
    }

    /** Whether an entity belongs to another partition of a parallel run. */
    public boolean isElsewhere(int entity) {
        return outboxes != null && outboxes.owner(entity) != self;
    }

    /**
     * Says what travels with the event that was scheduled last, for an entity that {@link
     * #isElsewhere}.
     */
    public void attach(long first, long second, long third, long fourth) {
        posted.attach(first, second, third, fourth);
    }

    /** Asks for a call at the end of the present instant. */
    public void wantInstantEnd() {
        isInstantWanted = true;
    }

    /** The virtual time in picoseconds. */
    public long nowPs() {
        return now;
    }

    /** How many events have been processed. */
    public long eventCount() {
        return eventCount;
    }

    /** How many events are waiting. */
    public int pendingCount() {
        return queue.size();
    }

    /**
     * A number that two runs share if they had the same events at the same times: a sum over all
     * events of a mixture of time, target, source and kind.
     */
    public long traceHash() {
        return traceHash;
    }

    /**
     * Adds an event.
     *
     * @param timePs when, not before {@link #nowPs()}
     * @param target the entity that it is for
     * @param source the entity that makes it: orders events of one time and target
     * @throws IllegalArgumentException if the time has passed, or is past 2<sup>63</sup> ps, or the
     *     target is in another partition and the time is nearer than the lookahead; names both
     *     entities
     */
    public void schedule(long timePs, int target, int source, int kind, long argument) {
        if (timePs < now) {
            if (timePs < 0) {
                throw VirtualTime.over();
            }
            throw new IllegalArgumentException(
                    ("entity %s schedules an event of kind %s for entity %s at %s ps, but it is"
                                    + " %s ps already")
                            .formatted(source, kind, target, timePs, now));
        }
        long entities = (long) target << 32 | source;
        long order = sequences[source]++ << KIND_BITS | kind;
        if (isElsewhere(target)) {
            posted = outboxes.outbox(self, target, now, timePs, source);
            posted.add(timePs, entities, order, argument);
        } else {
            queue.add(timePs, entities, order, argument);
        }
    }

    static int kindOf(long order) {
        return (int) order & ((1 << KIND_BITS) - 1);
    }

    /** The time of the first event, or the largest number. */
    long firstPs() {
        return queue.isEmpty() ? Long.MAX_VALUE : queue.firstTime();
    }

    void take(Outbox from) {
        from.deliver(queue, arrivals);
    }

    /** Runs until there is no event left; returns the time of the last. */
    public long run() {
        run(Long.MAX_VALUE, Long.MAX_VALUE);
        return now;
    }

    /**
     * Runs until the next event would be later than a time, or for a number of events.
     *
     * @return whether there are events left
     */
    public boolean run(long limitPs, long eventsMax) {
        long left = eventsMax;
        while (left > 0) {
            boolean isEmpty = queue.isEmpty();
            if (isEmpty || queue.firstTime() != now) {
                if (isInstantWanted) {
                    isInstantWanted = false;
                    instant.onInstantEnd(now);
                    continue;
                }
                if (isEmpty) {
                    return false;
                }
                if (queue.firstTime() > limitPs) {
                    return true;
                }
                now = queue.firstTime();
            }
            left--;
            processFirst();
        }
        return !queue.isEmpty() || isInstantWanted;
    }

    private void processFirst() {
        long entities = queue.firstEntities();
        int kind = kindOf(queue.firstOrder());
        long argument = queue.firstArgument();
        queue.removeFirst();
        eventCount++;
        traceHash += share(now, entities, kind);
        if (trace != null) {
            trace.onEvent(now, (int) (entities >>> 32), (int) entities, kind, argument);
        }
        handlers[kind].onEvent(now, (int) (entities >>> 32), argument);
    }

    private static long share(long timePs, long entities, int kind) {
        return SplitMix64.mix(timePs ^ Long.rotateLeft(entities, 21) ^ (long) kind << 56);
    }

    /** What an event adds to {@link #traceHash()}: so that a reader of events can check them. */
    public static long traceHashOf(long timePs, int target, int source, int kind) {
        return share(timePs, (long) target << 32 | source, kind);
    }
}
