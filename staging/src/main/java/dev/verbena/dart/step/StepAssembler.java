package dev.verbena.dart.step;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartStepContext;
import dev.verbena.dart.StepStatistics;
import dev.verbena.dart.config.StepSettings;
import dev.verbena.staging.CounterMirror;
import dev.verbena.staging.Counters;
import dev.verbena.staging.HandlerFailure;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.NanoClock;

/**
 * Puts the messages of all ranks together to steps and hands these over. Bounded: a message for
 * which there is no room is not admitted, so that its frame stays in the connection. Owned by the
 * receiver's agent.
 */
public final class StepAssembler {
    /** Applications at a time whose steps are put together. */
    private static final int GROUPS_MAX = 256;

    /** Lost ranks of an application that are remembered. */
    private static final int LOST_MAX = 65_536;

    /** Taken for a message beside its payload. */
    private static final int OVERHEAD = 2048;

    /** Steps of an application that may be open, whatever waits behind the next one. */
    private static final int OPEN_MAX = 65_536;

    private static final long PAUSE_MIN_NS = 100_000_000L;
    private static final long PAUSE_MAX_NS = 5_000_000_000L;

    private final StepSettings settings;
    private final NanoClock clock;
    private final ErrorHandler errors;
    private final Consumer<StepPart> free;
    private final Consumer<Throwable> stop;
    private final List<StepGroup> groups = new ArrayList<>();
    private final ArrayDeque<OpenStep> ready = new ArrayDeque<>();

    final HeldStreams held;

    private long retryAtNs;
    private boolean isPausing;
    private boolean isStopped;

    final AtomicLong complete = new AtomicLong();
    final AtomicLong incomplete = new AtomicLong();
    final AtomicLong dropped = new AtomicLong();
    final AtomicLong late = new AtomicLong();
    final AtomicLong surplus = new AtomicLong();
    final AtomicLong handlerErrors = new AtomicLong();
    final AtomicLong open = new AtomicLong();
    final AtomicLong openBytes = new AtomicLong();

    /**
     * An assembler.
     *
     * @param free takes messages of steps that have ended
     * @param stop is told why the receiver must end
     */
    public StepAssembler(
            StepSettings settings,
            NanoClock clock,
            ErrorHandler errors,
            Consumer<StepPart> free,
            Consumer<Throwable> stop) {
        this.settings = settings;
        this.clock = clock;
        this.errors = errors;
        this.free = free;
        this.stop = stop;
        this.held = new HeldStreams(settings, clock, errors, this::isOpenStepsMax);
    }

    public StepStatistics statistics() {
        return new StepStatistics(
                complete.get(),
                incomplete.get(),
                dropped.get(),
                late.get(),
                surplus.get(),
                handlerErrors.get(),
                held.waits.get(),
                (int) open.get(),
                openBytes.get(),
                held.text);
    }

    /** Shows outside the process what there is of steps. */
    public void show(CounterMirror mirror) {
        mirror.show("steps complete", complete)
                .show("steps incomplete", incomplete)
                .show("steps dropped", dropped)
                .show("steps open", open)
                .show("servers held by steps", held.count)
                .show("held rank", held.rank)
                .show("held step", held.step)
                .show("held by bytesMax", held.isByBytes);
    }

    public boolean isAcknowledgedWhenHandled() {
        return settings.isAcknowledgedWhenHandled();
    }

    // ---- messages

    /**
     * A message begins; its metadata are known. Room for it is taken.
     *
     * @return false if there is none now; come again
     */
    public boolean admit(StepSource stream, StepPart message) {
        if (isStopped) {
            return false;
        }
        DartMetadata metadata = message.metadata();
        StepGroup group = group(stream.job(), metadata.applicationId());
        message.leaveStep();
        if (group == null) {
            return true;
        }
        if (group.hasEnded(metadata.step())) {
            return group.passes(message.clientId(), message.sequence());
        }
        if (group.lostRanks.remove(metadata.rank())) {
            group.open.forEach(each -> each.cameBack(metadata.rank()));
        }
        OpenStep step = group.find(metadata.step());
        if (step != null && (step.state != OpenStep.OPEN || !step.wants(metadata.rank()))) {
            return group.passes(message.clientId(), message.sequence());
        }
        group.cameOver(stream.serverId(), metadata.rank());
        long cost = metadata.payloadLength() + OVERHEAD;
        if (!hasRoom(group, step, cost, stream.serverId())) {
            held.hold(stream, group, metadata);
            return false;
        }
        if (step == null) {
            int ranks = settings.rankCount() > 0 ? settings.rankCount() : metadata.rankCount();
            step = new OpenStep(group, metadata.step(), ranks, clock.nanoTime());
            if (!step.wants(metadata.rank())) {
                // An impossible rank opens no step.
                return group.passes(message.clientId(), message.sequence());
            }
            group.lostRanks.forEachInt(step::died);
            group.open(step);
            Counters.add(open, 1);
        }
        long lost = group.begun(message.clientId(), message.sequence(), step);
        if (lost > 0) {
            step.lost(metadata.rank(), lost);
        }
        if (isTooLarge(group, step, cost)) {
            step.tooLarge(settings.bytesMax());
            end(step);
            return true;
        }
        message.joinStep(step, cost);
        account(step, cost);
        return true;
    }

    private boolean hasRoom(StepGroup group, OpenStep step, long cost, int serverId) {
        if (step == null && isOpenStepsMax(group, serverId)) {
            return false;
        }
        boolean isOldest = group.open.isEmpty() || group.open.get(0) == step;
        return isOldest || group.bytes + cost <= settings.bytesMax();
    }

    /** One more may be open where the oldest step would otherwise wait for itself. */
    private boolean isOpenStepsMax(StepGroup group, int serverId) {
        int count = group.open.size();
        return count >= OPEN_MAX
                || count >= settings.openStepsMax()
                        && !group.isOldestBehind(serverId)
                        && !held.isOtherThan(group);
    }

    private boolean isTooLarge(StepGroup group, OpenStep step, long cost) {
        return group.open.get(0) == step && step.bytes + cost > settings.bytesMax();
    }

    private void account(OpenStep step, long cost) {
        step.account(cost);
        Counters.add(openBytes, cost);
    }

    private StepGroup group(UUID job, int applicationId) {
        for (int i = 0; i < groups.size(); i++) {
            StepGroup group = groups.get(i);
            if (group.applicationId == applicationId && group.job.equals(job)) {
                return group;
            }
        }
        if (groups.size() == GROUPS_MAX) {
            // The one that was used least recently has no use for what it remembers.
            for (int i = 0; i < groups.size(); i++) {
                if (groups.get(i).open.isEmpty()) {
                    groups.remove(i);
                    break;
                }
            }
            if (groups.size() == GROUPS_MAX) {
                return null;
            }
        }
        StepGroup made = new StepGroup(job, applicationId);
        groups.add(made);
        return made;
    }

    /**
     * A whole message.
     *
     * @return true if its step keeps it; false if the message is free
     */
    public boolean take(StepPart message) {
        OpenStep step = message.leaveStep();
        if (step == null || step.state == OpenStep.ENDED) {
            notTaken(message);
            return false;
        }
        if (step.state == OpenStep.READY || !step.wants(message.metadata().rank())) {
            account(step, -message.stepCost());
            notTaken(message);
            return false;
        }
        step.add(message, settings.messagesPerRank());
        endIfOver(step);
        return true;
    }

    private void notTaken(StepPart message) {
        DartMetadata metadata = message.metadata();
        StepGroup group = group(message.job(), metadata.applicationId());
        boolean isLate = group != null && group.hasEnded(metadata.step());
        errors.onError(
                Code.TIMEOUT.because(
                        "%s: %s, rank %s, is not part of step %s of application %s",
                        isLate ? "late" : "surplus",
                        message,
                        metadata.rank(),
                        metadata.step(),
                        metadata.applicationId()));
        Counters.add(isLate ? late : surplus, 1);
    }

    /** The same message came through another server: this one does not count. */
    public void droppedDuplicate(StepPart message) {
        OpenStep step = message.leaveStep();
        if (step != null && step.state == OpenStep.OPEN) {
            account(step, -message.stepCost());
        }
    }

    /** A message that was begun will not come. */
    public void gaveUp(StepPart message) {
        OpenStep step = message.leaveStep();
        if (step != null && step.state == OpenStep.OPEN) {
            account(step, -message.stepCost());
            step.gaveUp(message, settings.messagesPerRank());
            endIfOver(step);
        }
    }

    /** No step waits for this rank, until it is heard of again. */
    public void lost(UUID job, int applicationId, int rank) {
        StepGroup group = group(job, applicationId);
        if (group == null || group.lostRanks.size() >= LOST_MAX) {
            return;
        }
        group.lostRanks.add(rank);
        for (int i = 0; i < group.open.size(); i++) {
            OpenStep step = group.open.get(i);
            if (step.state == OpenStep.OPEN) {
                step.died(rank);
                endIfOver(step);
            }
        }
    }

    // ---- steps

    private void endIfOver(OpenStep step) {
        if (step.isOver()) {
            end(step);
        }
    }

    /** Nothing more is wanted of this step. */
    private void end(OpenStep step) {
        step.ready();
        ready.add(step);
    }

    public int doWork(long now) {
        int work = 0;
        held.check(now);
        for (int i = 0; i < groups.size(); i++) {
            work += checkDeadlines(groups.get(i), now);
        }
        while (!ready.isEmpty() && !isStopped) {
            if (isPausing && retryAtNs - clock.nanoTime() > 0) {
                break;
            }
            isPausing = false;
            OpenStep step = ready.peek();
            work++;
            if (!isToBeDelivered(step)) {
                errors.onError(Code.TIMEOUT.because(step + " is dropped: " + step.missing()));
                Counters.add(dropped, 1);
            } else if (handle(step)) {
                Counters.add(step.isComplete() ? complete : incomplete, 1);
            } else {
                break;
            }
            ready.poll();
            release(step);
        }
        return work;
    }

    private int checkDeadlines(StepGroup group, long now) {
        int work = 0;
        for (int i = 0; i < group.open.size(); i++) {
            OpenStep step = group.open.get(i);
            if (step.state != OpenStep.OPEN) {
                continue;
            }
            if (now - step.sinceNs - settings.deadlineNs() < 0) {
                break; // They are in the order of their deadlines.
            }
            end(step);
            work++;
        }
        return work;
    }

    private boolean isToBeDelivered(OpenStep step) {
        return settings.incomplete() == DartStepContext.Incomplete.DELIVER || step.isComplete();
    }

    /** Hands a step over; true if it counts as handled. */
    private boolean handle(OpenStep step) {
        long start = clock.nanoTime();
        Throwable thrown = null;
        try {
            settings.handler().onStep(step);
        } catch (Throwable e) {
            HandlerFailure.check(e);
            thrown = e;
        }
        long took = clock.nanoTime() - start;
        for (int i = 0; i < groups.size(); i++) {
            groups.get(i).open.forEach(each -> each.postpone(took));
        }
        return thrown == null || failed(step, thrown);
    }

    private boolean failed(OpenStep step, Throwable thrown) {
        step.handlerFailed();
        Counters.add(handlerErrors, 1);
        errors.onError(thrown);
        if (settings.onException() == DartStepContext.OnException.SKIP) {
            return true;
        }
        if (settings.onException() == DartStepContext.OnException.RETRY
                && step.failures < settings.triesMax()) {
            long pause = PAUSE_MIN_NS << Math.min(10, step.failures - 1);
            retryAtNs = clock.nanoTime() + Math.min(PAUSE_MAX_NS, pause);
            isPausing = true;
            return false;
        }
        isStopped = true;
        stop.accept(
                new DartException(
                        Code.UNCONFIRMED,
                        "the handler failed with %s%s"
                                .formatted(
                                        step,
                                        step.failures > 1 ? " " + step.failures + " times" : ""),
                        thrown));
        return false;
    }

    private void release(OpenStep step) {
        step.ended();
        step.group.end(step);
        account(step, -step.bytes);
        Counters.add(open, -1);
        step.forEach(free);
    }

    public long nextDeadlineNs() {
        long deadline =
                isPausing && !isStopped && !ready.isEmpty() ? retryAtNs : ProtocolAgent.NO_DEADLINE;
        for (int i = 0; i < groups.size(); i++) {
            List<OpenStep> steps = groups.get(i).open;
            for (int k = 0; k < steps.size(); k++) {
                if (steps.get(k).state == OpenStep.OPEN) {
                    // They are in the order of their deadlines.
                    deadline = Math.min(deadline, steps.get(k).sinceNs + settings.deadlineNs());
                    break;
                }
            }
        }
        return Math.min(deadline, held.nextDeadlineNs());
    }

    /** Says which steps were not handed over. */
    public void close() {
        for (StepGroup group : groups) {
            for (OpenStep step : group.open) {
                errors.onError(
                        Code.UNCONFIRMED.because(
                                "%s was not handed over before the receiver closed%s",
                                step, step.isComplete() ? "" : ": " + step.missing()));
            }
        }
        groups.clear();
        ready.clear();
    }
}
