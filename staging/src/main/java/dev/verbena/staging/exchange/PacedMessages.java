package dev.verbena.staging.exchange;

import dev.verbena.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Starts messages in the order and at the times of a schedule, and carries its records to and from
 * the other senders. Message numbers go on from one call to the next. One thread.
 */
public final class PacedMessages {
    /** A message that was started. */
    public interface Message {
        /** Whether its receiver has acknowledged it, or never will. */
        boolean isDone();

        /** Of one that is done: whether it failed. */
        boolean hasFailed();
    }

    /** Starts the message that moves one piece. */
    public interface Starter<P, M extends Message> {
        /** Does not wait. */
        M start(int receiver, P piece);
    }

    /** A number of the schedule; without a message if its receiver gets nothing more. */
    private record Sent(long number, Message message) {
        boolean isDone() {
            return message == null || message.isDone();
        }

        boolean hasFailed() {
            return message != null && message.hasFailed();
        }
    }

    /** Messages under way, for each receiver. */
    private static final int MESSAGES_MAX = 4;

    private static final int SPINS = 200;
    private static final long PAUSE_NS = 1_000_000;

    private final Transport transport;
    private final IntSupplier protocol;
    private final ExchangeSchedule schedule;
    private final RecordCarrier carrier;
    private final UnsafeBuffer record = new UnsafeBuffer(new byte[ExchangeSchedule.RECORD_LENGTH]);
    private final List<Sent> underWay = new ArrayList<>();
    private long next;
    private boolean hasFailed;

    /**
     * At the first message of a schedule.
     *
     * @param transport of the messages: clock, and where to wait
     * @param protocol does what can be done now for messages under way; work done
     */
    public PacedMessages(
            Transport transport,
            IntSupplier protocol,
            ExchangeSchedule schedule,
            RecordCarrier carrier) {
        this.transport = transport;
        this.protocol = protocol;
        this.schedule = schedule;
        this.carrier = carrier;
    }

    /**
     * Moves pieces, and waits until none is under way; behind one that failed no other is begun.
     *
     * @param pieces of each receiver
     * @return their messages, all done
     */
    public <P, M extends Message> List<M> move(List<List<P>> pieces, Starter<P, M> starter) {
        hasFailed = false;
        int left = pieces.stream().mapToInt(List::size).sum();
        int[] begun = new int[pieces.size()];
        List<M> messages = new ArrayList<>();
        for (int idle = 0; left > 0 && !hasFailed || !underWay.isEmpty(); ) {
            int work = protocol.getAsInt() + finish() + carry();
            boolean isNext = left > 0 && !hasFailed;
            if (isNext && isDue()) {
                int receiver = schedule.receiver(next);
                List<P> ofReceiver = pieces.get(receiver);
                M message = null;
                if (begun[receiver] < ofReceiver.size()) {
                    message = starter.start(receiver, ofReceiver.get(begun[receiver]++));
                    messages.add(message);
                    left--;
                }
                send(message);
                work++;
            }
            idle = work > 0 ? 0 : idle + 1;
            if (idle > SPINS) {
                pause(isNext);
            }
        }
        return messages;
    }

    private boolean isDue() {
        long now = transport.nanoTime();
        return underWay.size() < MESSAGES_MAX * schedule.receivers()
                && schedule.dueNs(next, now) - now <= 0;
    }

    private void send(Message message) {
        schedule.onSent(next, transport.nanoTime());
        underWay.add(new Sent(next++, message));
    }

    private int finish() {
        int before = underWay.size();
        for (int i = before - 1; i >= 0; i--) {
            Sent each = underWay.get(i);
            if (each.isDone()) {
                underWay.remove(i);
                hasFailed |= each.hasFailed();
                schedule.onAcknowledged(each.number(), transport.nanoTime());
            }
        }
        return before - underWay.size();
    }

    /** The carrier does not say how long a record travelled: it counts as at once. */
    private int carry() {
        int work = 0;
        while (schedule.takeRecord(record, 0, transport.nanoTime())) {
            carrier.send(record);
            schedule.onRecord(record, 0, 0, transport.nanoTime());
            work++;
        }
        while (carrier.receive(record)) {
            schedule.onRecord(record, 0, 0, transport.nanoTime());
            work++;
        }
        return work;
    }

    /** Until something comes, or the next message is due; shortly, as records may come too. */
    private void pause(boolean isNext) {
        long now = transport.nanoTime();
        long untilNs = now + PAUSE_NS;
        long dueNs = isNext ? schedule.dueNs(next, now) : ExchangeSchedule.NOT_OPEN;
        boolean isSooner = dueNs != ExchangeSchedule.NOT_OPEN && dueNs - untilNs < 0;
        transport.await(isSooner ? dueNs : untilNs);
    }
}
