package dev.verbena.dart.receiver;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.ReverseStatistics;
import dev.verbena.dart.config.ReceiverSettings;
import dev.verbena.dart.store.StreamSession;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.PieceFlyweight;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.ErrorHandler;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.NanoClock;

/**
 * The receiver's part of the way back: keeps what each process has not yet taken, numbers its
 * pieces, gives them to whichever connection leads to the process. Bounded for each process. Any
 * thread may send; the rest is the receiver's agent's.
 */
public final class ReverseOutlet {
    private static final int DESTINATIONS_MAX = 65_536;

    private final long bytesMax;
    private final int destinationsMax;
    private final long silenceNs;
    private final NanoClock clock;
    private final ErrorHandler errors;
    private final List<ReverseDestination> destinations = new ArrayList<>();
    private final PieceFlyweight piece = new PieceFlyweight();
    private volatile Runnable wake = () -> {};
    private boolean isClosed;
    private long appearances;
    private long messages;
    private long taken;
    private long pieces;
    private long repeated;

    ReverseOutlet(ReceiverSettings settings, NanoClock clock, ErrorHandler errors) {
        this(
                settings.reverseBytesMax(),
                DESTINATIONS_MAX,
                settings.silenceTimeoutNs(),
                clock,
                errors);
    }

    /** With other bounds, for tests. */
    ReverseOutlet(
            long bytesMax,
            int destinationsMax,
            long silenceNs,
            NanoClock clock,
            ErrorHandler errors) {
        this.bytesMax = bytesMax;
        this.destinationsMax = destinationsMax;
        this.silenceNs = silenceNs;
        this.clock = clock;
        this.errors = errors;
    }

    /** Runs this when there is something to send. */
    void onSend(Runnable wakeup) {
        wake = wakeup;
    }

    // ---- any thread

    public int send(
            int applicationId,
            int rank,
            int kind,
            int type,
            DirectBuffer buffer,
            int offset,
            int length) {
        check(buffer, offset, length);
        synchronized (this) {
            ReverseDestination one = find(applicationId, rank);
            int answer = answer(one, length);
            if (answer != DartReceiver.ACCEPTED) {
                return answer;
            }
            one.add(copy(buffer, offset, length), kind, type);
            messages++;
        }
        wake.run();
        return DartReceiver.ACCEPTED;
    }

    public int sendToAll(
            int applicationId, int kind, int type, DirectBuffer buffer, int offset, int length) {
        check(buffer, offset, length);
        synchronized (this) {
            List<ReverseDestination> all = new ArrayList<>();
            for (ReverseDestination one : destinations) {
                if (one.isHere && one.applicationId == applicationId) {
                    int answer = answer(one, length);
                    if (answer != DartReceiver.ACCEPTED) {
                        return answer;
                    }
                    all.add(one);
                }
            }
            if (all.isEmpty()) {
                return isClosed ? DartReceiver.CLOSED : DartReceiver.NO_SUCH_PROCESS;
            }
            byte[] message = copy(buffer, offset, length);
            all.forEach(one -> one.add(message, kind, type));
            messages += all.size();
        }
        wake.run();
        return DartReceiver.ACCEPTED;
    }

    public synchronized boolean isHere(int applicationId, int rank) {
        return find(applicationId, rank) != null;
    }

    public synchronized ReverseStatistics statistics() {
        int here = 0;
        long pending = 0;
        for (ReverseDestination one : destinations) {
            here += one.isHere ? 1 : 0;
            pending += one.bytes;
        }
        return new ReverseStatistics(messages, taken, pieces, repeated, here, pending);
    }

    private void check(DirectBuffer buffer, int offset, int length) {
        buffer.boundsCheck(offset, length);
        if (length > bytesMax) {
            throw new IllegalArgumentException(
                    "message of " + length + " bytes; reverseBytesMax is " + bytesMax);
        }
    }

    private int answer(ReverseDestination one, int length) {
        if (isClosed) {
            return DartReceiver.CLOSED;
        }
        if (one == null) {
            return DartReceiver.NO_SUCH_PROCESS;
        }
        return one.hasRoom(length, bytesMax) ? DartReceiver.ACCEPTED : DartReceiver.BACK_PRESSURED;
    }

    private static byte[] copy(DirectBuffer buffer, int offset, int length) {
        byte[] copy = new byte[length];
        buffer.getBytes(offset, copy);
        return copy;
    }

    /** The process of this rank; of the latest job if there are several. */
    private ReverseDestination find(int applicationId, int rank) {
        ReverseDestination found = null;
        for (int i = 0; i < destinations.size(); i++) {
            ReverseDestination one = destinations.get(i);
            if (one.isHere
                    && one.rank == rank
                    && one.applicationId == applicationId
                    && (found == null || one.isLaterThan(found))) {
                found = one;
            }
        }
        return found;
    }

    // ---- the agent

    /** What a server says of one of its clients. */
    synchronized void onState(
            InboundSession session, UUID job, int serverId, DirectBuffer from, int at) {
        int kind = from.getInt(at, BIG_ENDIAN);
        session.output.granted(from.getLong(at + 32, BIG_ENDIAN));
        if (kind == FrameFlyweight.REVERSE_GRANT) {
            return;
        }
        int clientId = from.getInt(at + 4, BIG_ENDIAN);
        int application = from.getInt(at + 8, BIG_ENDIAN);
        int rank = from.getInt(at + 12, BIG_ENDIAN);
        int slots = from.getInt(at + 16, BIG_ENDIAN);
        int slotLength = from.getInt(at + 20, BIG_ENDIAN);
        long upTo = from.getLong(at + 24, BIG_ENDIAN);
        boolean isPossible =
                kind <= FrameFlyweight.REVERSE_GONE
                        && kind >= 0
                        && slots >= 1
                        && slotLength == PieceFlyweight.LENGTH_MAX
                        && (upTo == -1 || FrameFlyweight.isNumber(upTo));
        if (!isPossible) {
            throw Code.MALFORMED.because(
                    "frame: inbox of client %s with %s slots of %s bytes, taken up to %s",
                    clientId, slots, slotLength, upTo);
        }
        ReverseDestination one = known(job, clientId, application, rank);
        if (kind == FrameFlyweight.REVERSE_GONE) {
            if (one.isAtServer(serverId)) {
                one.gone();
            }
            return;
        }
        long now = clock.nanoTime();
        boolean isNew = !one.isOver(session) || !one.isHere || upTo < 0;
        if (!one.isHere && !one.isAway) {
            one.appears(++appearances);
        }
        one.reachedOver(session, serverId);
        taken += one.taken(upTo, now);
        one.here(slots, upTo, isNew, now);
    }

    private ReverseDestination known(UUID job, int clientId, int application, int rank) {
        for (int i = 0; i < destinations.size(); i++) {
            ReverseDestination one = destinations.get(i);
            if (one.clientId == clientId
                    && one.rank == rank
                    && one.applicationId == application
                    && one.job.equals(job)) {
                return one;
            }
        }
        if (destinations.size() == destinationsMax && !makeRoom()) {
            throw Code.MALFORMED.because(
                    "frame: more than " + destinationsMax + " processes to send to");
        }
        ReverseDestination made = new ReverseDestination(job, clientId, application, rank);
        destinations.add(made);
        return made;
    }

    /** Forgets the process that has been gone longest; false if all are here. */
    private boolean makeRoom() {
        for (int i = 0; i < destinations.size(); i++) {
            if (!destinations.get(i).isHere) {
                reportUntaken(destinations.remove(i), "its process had gone");
                return true;
            }
        }
        return false;
    }

    /** No server of a job is left: its processes come nevermore. */
    synchronized void ended(UUID job) {
        for (int i = destinations.size() - 1; i >= 0; i--) {
            ReverseDestination one = destinations.get(i);
            if (one.job.equals(job)) {
                reportUntaken(destinations.remove(i), "its job ended");
            }
        }
    }

    /** Processes that are known, here or not. */
    synchronized int destinationCount() {
        return destinations.size();
    }

    /** A server has finished: its clients are gone. */
    synchronized void finished(StreamSession session) {
        for (ReverseDestination one : destinations) {
            if (one.isOver(session)) {
                one.gone();
            }
        }
    }

    /**
     * Writes the next piece for a process behind this connection.
     *
     * @return its length; 0 if there is none
     */
    synchronized int next(InboundSession session, MutableDirectBuffer out, int at) {
        int count = destinations.size();
        for (int i = 0; i < count; i++) {
            ReverseDestination one = destinations.get(session.output.nextOf(count));
            if (one.isOver(session) && one.canSend()) {
                pieces++;
                repeated += one.isRepeating() ? 1 : 0;
                session.output.writesFor(one.clientId);
                return one.encode(piece, out, at);
            }
        }
        return 0;
    }

    synchronized void checkQuiet(long now) {
        for (int i = 0; i < destinations.size(); i++) {
            destinations.get(i).checkQuiet(now);
            destinations.get(i).checkAway(now, silenceNs);
        }
    }

    synchronized long nextDeadlineNs() {
        long deadline = ProtocolAgent.NO_DEADLINE;
        for (int i = 0; i < destinations.size(); i++) {
            deadline = Math.min(deadline, destinations.get(i).deadlineNs(silenceNs));
        }
        return deadline;
    }

    /** Says what was not taken. */
    synchronized void close() {
        isClosed = true;
        for (ReverseDestination one : destinations) {
            reportUntaken(one, "the receiver closed");
        }
    }

    private void reportUntaken(ReverseDestination one, String why) {
        if (one.messageCount() > 0) {
            errors.onError(
                    Code.UNCONFIRMED.because(
                            "%s before %s messages were taken by rank %s of application %s",
                            why, one.messageCount(), one.rank, one.applicationId));
        }
    }
}
