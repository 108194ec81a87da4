package dev.verbena.flesnet.dfs;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.staging.Arguments;
import dev.verbena.staging.exchange.ExchangeSchedule;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Paces one sender of an all-to-all exchange by the Data-Flow Scheduler, whatever carries the
 * messages. Message k of a sender goes to receiver {@code (self + k) mod receivers}; every sender
 * has a replica of the scheduler, and what it measures must be carried to all senders, itself too,
 * as records of {@link #RECORD_LENGTH} bytes:
 *
 * <pre>{@code
 * if (exchange.dueNs(next, now) - now <= 0) {
 *     send(exchange.receiver(next));
 *     exchange.onSent(next++, now);
 * }
 * while (exchange.takeRecord(buffer, 0, now)) {
 *     broadcast(buffer);
 * }
 * }</pre>
 *
 * <p>One thread; allocates nothing after it was made.
 */
public final class PacedExchange implements ExchangeSchedule {
    private final int self;
    private final int receivers;
    private final IntervalPacer pacer;
    private final ScheduleEngine scheduler;
    private final IntervalRanges ranges;
    private final IntervalMetadata measured = new IntervalMetadata();
    private final IntervalMetadata proposal = new IntervalMetadata();
    private final int senders;

    /**
     * The exchange as sender {@code self} has it.
     *
     * @param senders at least 1
     * @param receivers at least 1
     */
    public PacedExchange(DfsParameters parameters, int senders, int receivers, int self) {
        Arguments.range("senders", senders, 1, 1 << 20);
        Arguments.range("receivers", receivers, 1, 1 << 20);
        Arguments.range("self", self, 0, senders - 1);
        this.self = self;
        this.senders = senders;
        this.receivers = receivers;
        ranges = new IntervalRanges(parameters.timeslicesPerInterval(), receivers);
        pacer = new IntervalPacer(parameters, ranges);
        scheduler = new ScheduleEngine(parameters, senders, ranges);
    }

    @Override
    public int receivers() {
        return receivers;
    }

    @Override
    public int receiver(long k) {
        return (int) ((self + k) % receivers);
    }

    /** The message's place where every receiver has its own in each round. */
    private long place(long k) {
        return k / receivers * receivers + receiver(k);
    }

    @Override
    public long dueNs(long k, long nowNs) {
        return pacer.dueNs(place(k), (int) (k % receivers), nowNs);
    }

    @Override
    public void onSent(long k, long nowNs) {
        pacer.onSent(place(k), nowNs);
    }

    @Override
    public void onAcknowledged(long k, long nowNs) {
        pacer.onAcked(place(k), nowNs);
    }

    /** The record of the next interval that was measured wholly. */
    @Override
    public boolean takeRecord(MutableDirectBuffer buffer, int offset, long nowNs) {
        if (!pacer.takeReport(measured)) {
            return false;
        }
        buffer.putLong(offset, self, LITTLE_ENDIAN);
        buffer.putLong(offset + 8, measured.interval(), LITTLE_ENDIAN);
        buffer.putLong(offset + 16, measured.startNs(), LITTLE_ENDIAN);
        buffer.putLong(offset + 24, measured.durationNs(), LITTLE_ENDIAN);
        buffer.putLong(offset + 32, nowNs, LITTLE_ENDIAN);
        return true;
    }

    @Override
    public void onRecord(DirectBuffer buffer, int offset, long latencyNs, long nowNs) {
        long sender = buffer.getLong(offset, LITTLE_ENDIAN);
        Arguments.range("sender", sender, 0, senders - 1);
        long interval = buffer.getLong(offset + 8, LITTLE_ENDIAN);
        if (interval < 0 || interval > Long.MAX_VALUE / 2 / ranges.length(0)) {
            throw new IllegalArgumentException("interval " + interval);
        }
        IntervalMetadata report =
                measured.set(
                        interval,
                        ranges.rounds(interval),
                        ranges.first(interval),
                        ranges.last(interval),
                        buffer.getLong(offset + 16, LITTLE_ENDIAN),
                        buffer.getLong(offset + 24, LITTLE_ENDIAN));
        long sentNs = buffer.getLong(offset + 32, LITTLE_ENDIAN);
        long requested = sender == self ? interval + Proposer.DISTANCE : -1;
        // The first record also says how far the clocks are apart, before its start is read.
        scheduler.onBegin((int) sender, nowNs, sentNs + latencyNs);
        scheduler.onReport((int) sender, report, requested, sentNs, latencyNs, nowNs);
        if (scheduler.answer(self, proposal)) {
            pacer.onProposal(proposal);
        }
    }

    /** What paces this sender. */
    public IntervalPacer pacer() {
        return pacer;
    }
}
