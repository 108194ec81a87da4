package dev.verbena.dart.receiver;

import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.DartLostHandler;
import dev.verbena.dart.step.StepAssembler;
import dev.verbena.dart.store.InboundStream;
import dev.verbena.dart.store.RankEntry;
import dev.verbena.dart.wire.ClientNotice;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.staging.Counters;
import dev.verbena.staging.HandlerFailure;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;

/**
 * Which compute processes their servers have lost, as the servers say: tells the user, and the
 * steps that wait for these ranks. A loss counts once everything that the server had read of the
 * process is delivered, and after a while in which another server can say that the process has come
 * to it. What is known goes to the journal before the server's word is acknowledged, so that a
 * receiver that is killed tells it after all. Owned by the receiver's agent.
 */
public final class RankWatch {
    /** A process that only changes its server needs less to be heard of again. */
    public static final long GRACE_NS = 2_000_000_000L;

    private static final long LOOK_AGAIN_NS = 20_000_000L;

    /** Processes that are remembered. */
    public static final int ENTRIES_MAX = RankEntry.ENTRIES_MAX;

    /** Name of a process. */
    private record Process(UUID job, int clientId) {
        static Process of(RankEntry entry) {
            return new Process(entry.job(), entry.clientId());
        }
    }

    /** A loss that counts from this time on. */
    private record Loss(RankEntry entry, long dueNs) {}

    final AtomicLong lostCount = new AtomicLong();
    private final Environment environment;
    private final DartLostHandler handler;
    private final StepAssembler steps;
    private final List<InboundStream> streams;

    /** In the order in which they were first heard of. */
    private final Map<Process, RankEntry> entries = new LinkedHashMap<>();

    /** Those of state LOST: the only ones that are looked at again and again. */
    private final List<Loss> untold = new ArrayList<>();

    private Consumer<RankEntry> journal = entry -> {};

    /**
     * Watches these streams.
     *
     * @param handler the user's; null: none
     * @param steps null: no steps are put together
     */
    public RankWatch(
            Environment environment,
            DartLostHandler handler,
            StepAssembler steps,
            List<InboundStream> streams) {
        this.environment = environment;
        this.handler = handler;
        this.steps = steps;
        this.streams = streams;
    }

    /** What must survive this receiver, live: one entry for a process. */
    public Collection<RankEntry> entries() {
        return entries.values();
    }

    /** Whoever remembers entries gets each that changes. */
    void journal(Consumer<RankEntry> remembering) {
        journal = remembering;
    }

    /** Takes up what an earlier receiver knew; steps wait for nobody who was lost then. */
    void restore(List<RankEntry> known, long now) {
        for (RankEntry entry : known) {
            know(entry, now);
            if (entry.state() == RankEntry.TOLD && steps != null) {
                steps.lost(entry.job(), entry.applicationId(), entry.rank());
            }
        }
    }

    /** Whether somebody still has to be told of a loss. */
    public boolean isAnyUntold() {
        return !untold.isEmpty();
    }

    /**
     * Takes what a server says of a client.
     *
     * @throws DartException MALFORMED naming the field
     */
    public void onNotice(
            InboundStream stream, FrameFlyweight frame, DirectBuffer payload, long now) {
        ClientNotice.check(payload, frame.payloadLength());
        int clientId = frame.clientId();
        int registration = ClientNotice.registration(payload);
        boolean isHere = (frame.flags() & FrameFlyweight.CLIENT_HERE) != 0;
        RankEntry known = entries.get(new Process(stream.job(), clientId));
        boolean isNews =
                known == null
                        || registration > known.registration()
                        || registration == known.registration()
                                && !isHere
                                && known.state() == RankEntry.HERE;
        if (!isNews) {
            return;
        }
        RankEntry entry =
                new RankEntry(
                        stream.job(),
                        clientId,
                        ClientNotice.applicationId(payload),
                        ClientNotice.rank(payload),
                        registration,
                        isHere ? RankEntry.HERE : RankEntry.LOST);
        know(entry, now);
        journal.accept(entry);
    }

    private void know(RankEntry entry, long now) {
        if (!entries.containsKey(Process.of(entry))) {
            makeRoom();
        }
        RankEntry before = entries.put(Process.of(entry), entry);
        if (before != null && before.state() == RankEntry.LOST) {
            untold.removeIf(loss -> loss.entry() == before);
        }
        if (entry.state() == RankEntry.LOST) {
            untold.add(new Loss(entry, now + GRACE_NS));
        }
    }

    /**
     * Forgets the oldest entry of which nobody has to be told. Is there none, the loss that has
     * waited longest is told now, rather than never.
     */
    private void makeRoom() {
        if (entries.size() < ENTRIES_MAX) {
            return;
        }
        if (untold.size() == entries.size()) {
            tell(0);
        }
        Iterator<RankEntry> oldest = entries.values().iterator();
        while (oldest.hasNext()) {
            if (oldest.next().state() != RankEntry.LOST) {
                oldest.remove();
                return;
            }
        }
    }

    public int doWork(long now) {
        int work = 0;
        for (int i = 0; i < untold.size(); ) {
            Loss loss = untold.get(i);
            if (now - loss.dueNs() >= 0 && !isArriving(loss.entry())) {
                tell(i);
                work++;
            } else {
                i++;
            }
        }
        return work;
    }

    private void tell(int index) {
        RankEntry entry = untold.remove(index).entry();
        lost(entry);
        entries.put(Process.of(entry), entry.told());
        journal.accept(entry.told());
    }

    /** Whether something that was read of the process is not delivered yet. */
    private boolean isArriving(RankEntry entry) {
        for (int i = 0; i < streams.size(); i++) {
            InboundStream stream = streams.get(i);
            if (stream.job().equals(entry.job()) && stream.isArriving(entry.clientId())) {
                return true;
            }
        }
        return false;
    }

    private void lost(RankEntry entry) {
        Counters.add(lostCount, 1);
        String who =
                String.format(
                        "client %d (application %d, rank %d)",
                        entry.clientId(), entry.applicationId(), entry.rank());
        environment.events().peerLost(who, "its server lost it");
        environment
                .errorHandler()
                .onError(
                        Code.PROCESS_LOST.because(
                                who + " was lost by its server: it died, or cannot be reached"));
        if (handler != null) {
            try {
                handler.onLost(entry.applicationId(), entry.rank(), entry.clientId());
            } catch (Throwable e) {
                HandlerFailure.check(e);
                environment.errorHandler().onError(e);
            }
        }
        if (steps != null) {
            steps.lost(entry.job(), entry.applicationId(), entry.rank());
        }
    }

    long nextDeadlineNs(long now) {
        long deadline = ProtocolAgent.NO_DEADLINE;
        for (int i = 0; i < untold.size(); i++) {
            long due = untold.get(i).dueNs();
            deadline = Math.min(deadline, due - now > 0 ? due : now + LOOK_AGAIN_NS);
        }
        return deadline;
    }
}
