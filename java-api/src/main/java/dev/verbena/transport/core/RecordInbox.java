package dev.verbena.transport.core;

import dev.verbena.transport.TransportHandler;
import org.agrona.concurrent.SystemNanoClock;

/**
 * The duty cycle of {@code poll} of a {@link RecordTransport}: completions and what happened to
 * connections, then messages and notifications; now and then the clock. Allocates nothing. The
 * owner's thread.
 *
 * @param <N> the provider's connections
 * @param <S> the provider's messages
 */
public abstract class RecordInbox<N extends RecordConnections<?>, S extends MessageTokens> {
    private static final int CLOCK_PERIOD = 64;
    private static final int IDLE_POLLS = 64;

    /** Completions and what happened to connections. */
    protected final EventRing ring;

    /** Where messages come from. */
    protected final N connections;

    /** Messages that a handler has. */
    protected final S slots;

    private final CompletionShare share = new CompletionShare();
    private int pollsToClock = CLOCK_PERIOD;
    private int idlePolls;

    /** For providers. */
    protected RecordInbox(EventRing ring, N connections, S slots) {
        this.ring = ring;
        this.connections = connections;
        this.slots = slots;
    }

    /** Takes what the provider's queues say, into the ring or as work for {@link #serve}. */
    protected abstract void takeEvents();

    /** Delivers up to {@code limit} messages and notifications; answers how many. */
    protected abstract int serve(TransportHandler handler, int limit);

    /** Whether there is something for {@link #serve}. */
    protected abstract boolean hasArrived();

    /** Connections end when their last message was delivered. */
    protected void settleEnds() {
        connections.settleEnds();
    }

    /** As {@code poll} of a transport. */
    public final int poll(TransportHandler handler, int limit) {
        if (--pollsToClock <= 0) {
            pollsToClock = CLOCK_PERIOD;
            connections.onTime(SystemNanoClock.INSTANCE.nanoTime());
        }
        takeEvents();
        int count = deliver(handler, share.of(limit));
        if (ring.hasConnectionEvents()) {
            count += deliver(handler, limit - count);
        }
        share.used(count, limit);
        if (!ring.hasConnectionEvents()) {
            count += serve(handler, limit - count);
        }
        settleEnds();
        count += deliver(handler, limit - count);
        if (count > 0) {
            idlePolls = 0;
        } else if (++idlePolls == IDLE_POLLS) {
            connections.credits().tellAll();
            idlePolls = 0;
        }
        return count;
    }

    /**
     * What a handler posts ends in the next poll, so that this one does; connections do at once.
     */
    private int deliver(TransportHandler handler, int limit) {
        int count = 0;
        do {
            for (long end = ring.lastNumber(); count < limit && ring.isOutstanding(end); count++) {
                ring.deliver(handler);
            }
        } while (ring.hasConnectionEvents() && count < limit);
        return count;
    }

    /** Whether there is anything to poll; looks into the provider's queues. */
    public final boolean hasWork() {
        takeEvents();
        return isWaiting();
    }

    /** Whether there is anything to poll, as far as is known. Also while the guard is borrowed. */
    public final boolean isWaiting() {
        settleEnds();
        return hasArrived() || !ring.isEmpty();
    }

    /** As {@code retain} of a transport. */
    public void retain(long token) {
        slots.retain(token);
    }

    /** As {@code release} of a transport. */
    public final void release(long token) {
        slots.checkRetained(token);
        free(token);
    }

    /** Gives a message's slot and credit back. */
    protected final void free(long token) {
        int connection = slots.connection(token);
        slots.free(token);
        connections.credits().onReleased(connection);
    }
}
