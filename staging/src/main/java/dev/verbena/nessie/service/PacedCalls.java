package dev.verbena.nessie.service;

import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.staging.exchange.ExchangeSchedule;
import dev.verbena.staging.exchange.RecordCarrier;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A client's calls, one for each piece of a box, in the order and at the times of a schedule.
 * Message numbers go on from one box to the next. One thread.
 */
final class PacedCalls {
    /** Starts the call that puts or gets one piece. */
    interface Starter {
        ArrayCall start(int place, Box piece);
    }

    /** A message; without a call if its receiver gets nothing more of the box. */
    private record Sent(long message, ArrayCall call) {
        boolean isDone() {
            return call == null || call.isDone();
        }

        boolean hasFailed() {
            return call != null && call.hasFailed();
        }
    }

    /** Calls under way, for each server. */
    private static final int CALLS_MAX = 4;

    private static final int SPINS = 200;
    private static final long PAUSE_NS = 1_000_000;

    private final RpcEndpoint endpoint;
    private final ExchangeSchedule schedule;
    private final RecordCarrier carrier;
    private final int pieceLength;
    private final UnsafeBuffer record = new UnsafeBuffer(new byte[ExchangeSchedule.RECORD_LENGTH]);
    private final List<Sent> underWay = new ArrayList<>();
    private long next;
    private boolean hasFailed;

    PacedCalls(
            RpcEndpoint endpoint,
            ExchangeSchedule schedule,
            RecordCarrier carrier,
            int pieceLength) {
        this.endpoint = endpoint;
        this.schedule = schedule;
        this.carrier = carrier;
        this.pieceLength = pieceLength;
    }

    /** The pieces of a part, in order; null has none. */
    List<Box> cut(Box part, int elementSize) {
        List<Box> pieces = new ArrayList<>();
        if (part == null) {
            return pieces;
        }
        int dimension = 0;
        while (dimension < part.dimensions() - 1 && part.count(dimension) == 1) {
            dimension++;
        }
        long rowLength = part.volume() / part.count(dimension) * elementSize;
        long rows = Math.max(1, pieceLength / rowLength);
        long end = part.end(dimension);
        for (long at = part.start(dimension); at < end; at += rows) {
            pieces.add(part.with(dimension, at, Math.min(rows, end - at)));
        }
        return pieces;
    }

    /**
     * Moves pieces, and waits until none is under way; behind one that failed no other is begun.
     *
     * @param pieces of each server
     * @return their calls, all done
     */
    List<ArrayCall> move(List<List<Box>> pieces, Starter starter) {
        hasFailed = false;
        int left = pieces.stream().mapToInt(List::size).sum();
        int[] begun = new int[pieces.size()];
        List<ArrayCall> calls = new ArrayList<>();
        for (int idle = 0; left > 0 && !hasFailed || !underWay.isEmpty(); ) {
            int work = endpoint.doWork() + finish() + carry();
            boolean isNext = left > 0 && !hasFailed;
            if (isNext && isDue()) {
                int place = schedule.receiver(next);
                List<Box> ofPlace = pieces.get(place);
                if (begun[place] < ofPlace.size()) {
                    calls.add(starter.start(place, ofPlace.get(begun[place]++)));
                    send(calls.get(calls.size() - 1));
                    left--;
                } else {
                    send(null);
                }
                work++;
            }
            idle = work > 0 ? 0 : idle + 1;
            if (idle > SPINS) {
                pause(isNext);
            }
        }
        return calls;
    }

    private long now() {
        return endpoint.transport().transport().nanoTime();
    }

    private boolean isDue() {
        long now = now();
        return underWay.size() < CALLS_MAX * schedule.receivers()
                && schedule.dueNs(next, now) - now <= 0;
    }

    private void send(ArrayCall call) {
        schedule.onSent(next, now());
        underWay.add(new Sent(next++, call));
    }

    private int finish() {
        int before = underWay.size();
        for (int i = before - 1; i >= 0; i--) {
            Sent each = underWay.get(i);
            if (each.isDone()) {
                underWay.remove(i);
                hasFailed |= each.hasFailed();
                schedule.onAcknowledged(each.message(), now());
            }
        }
        return before - underWay.size();
    }

    /** The carrier does not say how long a record travelled: it counts as at once. */
    private int carry() {
        int work = 0;
        while (schedule.takeRecord(record, 0, now())) {
            carrier.send(record);
            schedule.onRecord(record, 0, 0, now());
            work++;
        }
        while (carrier.receive(record)) {
            schedule.onRecord(record, 0, 0, now());
            work++;
        }
        return work;
    }

    /** Until something comes, or the next message is due; shortly, as records may come too. */
    private void pause(boolean isNext) {
        long now = now();
        long untilNs = now + PAUSE_NS;
        long dueNs = isNext ? schedule.dueNs(next, now) : ExchangeSchedule.NOT_OPEN;
        boolean isSooner = dueNs != ExchangeSchedule.NOT_OPEN && dueNs - untilNs < 0;
        endpoint.transport().transport().await(isSooner ? dueNs : untilNs);
    }
}
