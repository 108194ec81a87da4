package dev.verbena.dart;

import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.DirectBuffer;

/**
 * Which compute processes their servers have lost, as the servers say: tells the user, and the
 * steps that wait for these ranks. A loss counts once everything that the server had read of the
 * process is delivered, and after a while in which another server can say that the process has come
 * to it. Owned by the receiver's agent.
 */
final class RankWatch {
    /** A process that only changes its server needs less to be heard of again. */
    static final long GRACE_NS = 2_000_000_000L;

    private static final long LOOK_AGAIN_NS = 20_000_000L;
    private static final int PENDING_MAX = 8192;

    /** A loss that does not count yet. */
    private record Loss(
            UUID job, int clientId, int applicationId, int rank, int registration, long dueNs) {}

    final AtomicLong lostCount = new AtomicLong();
    private final Environment environment;
    private final DartLostHandler handler;
    private final StepAssembler steps;
    private final List<InboundStream> streams;
    private final List<Loss> pending = new ArrayList<>();

    /**
     * Watches these streams.
     *
     * @param handler the user's; null: none
     * @param steps null: no steps are put together
     */
    RankWatch(
            Environment environment,
            DartLostHandler handler,
            StepAssembler steps,
            List<InboundStream> streams) {
        this.environment = environment;
        this.handler = handler;
        this.steps = steps;
        this.streams = streams;
    }

    /**
     * Takes what a server says of a client.
     *
     * @throws DartException MALFORMED naming the field
     */
    void onNotice(InboundStream stream, FrameFlyweight frame, DirectBuffer payload, long now) {
        ClientNotice.check(payload, frame.payloadLength());
        int clientId = frame.clientId();
        int registration = ClientNotice.registration(payload);
        if ((frame.flags() & FrameFlyweight.CLIENT_HERE) != 0) {
            stream.registered(clientId, registration);
            pending.removeIf(loss -> isOvertaken(loss, stream.job, clientId, registration));
        } else if (pending.size() < PENDING_MAX
                && lastRegistration(stream.job, clientId) <= registration) {
            pending.add(
                    new Loss(
                            stream.job,
                            clientId,
                            ClientNotice.applicationId(payload),
                            ClientNotice.rank(payload),
                            registration,
                            now + GRACE_NS));
        }
    }

    private static boolean isOvertaken(Loss loss, UUID job, int clientId, int registration) {
        return loss.clientId == clientId
                && loss.registration < registration
                && loss.job.equals(job);
    }

    /** The latest registration of a client that any server has told of. */
    private int lastRegistration(UUID job, int clientId) {
        int last = 0;
        for (int i = 0; i < streams.size(); i++) {
            if (streams.get(i).job.equals(job)) {
                last = Math.max(last, streams.get(i).registrationOf(clientId));
            }
        }
        return last;
    }

    int doWork(long now) {
        int work = 0;
        for (int i = 0; i < pending.size(); i++) {
            Loss loss = pending.get(i);
            if (now - loss.dueNs >= 0 && !isArriving(loss)) {
                pending.remove(i--);
                lost(loss);
                work++;
            }
        }
        return work;
    }

    /** Whether something that was read of the process is not delivered yet. */
    private boolean isArriving(Loss loss) {
        for (int i = 0; i < streams.size(); i++) {
            InboundStream stream = streams.get(i);
            if (stream.job.equals(loss.job) && stream.isArriving(loss.clientId)) {
                return true;
            }
        }
        return false;
    }

    private void lost(Loss loss) {
        ServerShared.add(lostCount, 1);
        String who =
                String.format(
                        "client %d (application %d, rank %d)",
                        loss.clientId, loss.applicationId, loss.rank);
        environment.events().peerLost(who, "its server lost it");
        environment
                .errorHandler()
                .onError(
                        new DartException(
                                DartException.Code.PROCESS_LOST,
                                who + " was lost by its server: it died, or cannot be reached"));
        if (handler != null) {
            try {
                handler.onLost(loss.applicationId, loss.rank, loss.clientId);
            } catch (RuntimeException e) {
                environment.errorHandler().onError(e);
            }
        }
        if (steps != null) {
            steps.lost(loss.job, loss.applicationId, loss.rank);
        }
    }

    long nextDeadlineNs(long now) {
        long deadline = ProtocolAgent.NO_DEADLINE;
        for (int i = 0; i < pending.size(); i++) {
            long due = pending.get(i).dueNs;
            deadline = Math.min(deadline, due - now > 0 ? due : now + LOOK_AGAIN_NS);
        }
        return deadline;
    }
}
