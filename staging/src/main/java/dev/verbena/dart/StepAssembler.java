package dev.verbena.dart;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.agent.internal.PlantedFaults;
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
final class StepAssembler {
    /** Applications at a time whose steps are put together. */
    private static final int GROUPS_MAX = 256;

    /** Lost ranks of an application that are remembered. */
    private static final int LOST_MAX = 65_536;

    /** Taken for a message beside its payload. */
    private static final int OVERHEAD = 2048;

    private static final long PAUSE_MIN_NS = 100_000_000L;
    private static final long PAUSE_MAX_NS = 5_000_000_000L;

    private final DartStepContext context;
    private final NanoClock clock;
    private final ErrorHandler errors;
    private final Consumer<InboundMessage> free;
    private final Consumer<Throwable> stop;
    private final List<StepGroup> groups = new ArrayList<>();
    private final ArrayDeque<OpenStep> ready = new ArrayDeque<>();
    private long retryAtNs;
    private boolean isPausing;
    private boolean isStopped;

    final AtomicLong complete = new AtomicLong();
    final AtomicLong incomplete = new AtomicLong();
    final AtomicLong dropped = new AtomicLong();
    final AtomicLong late = new AtomicLong();
    final AtomicLong surplus = new AtomicLong();
    final AtomicLong handlerErrors = new AtomicLong();
    final AtomicLong waits = new AtomicLong();
    final AtomicLong open = new AtomicLong();
    final AtomicLong openBytes = new AtomicLong();

    /**
     * An assembler.
     *
     * @param free takes messages of steps that have ended
     * @param stop is told why the receiver must end
     */
    StepAssembler(
            DartStepContext context,
            NanoClock clock,
            ErrorHandler errors,
            Consumer<InboundMessage> free,
            Consumer<Throwable> stop) {
        this.context = context;
        this.clock = clock;
        this.errors = errors;
        this.free = free;
        this.stop = stop;
    }

    StepStatistics statistics() {
        return new StepStatistics(
                complete.get(),
                incomplete.get(),
                dropped.get(),
                late.get(),
                surplus.get(),
                handlerErrors.get(),
                waits.get(),
                (int) open.get(),
                openBytes.get());
    }

    boolean isAcknowledgedWhenHandled() {
        return context.isAcknowledgedWhenHandled;
    }

    // ---- messages

    /**
     * A message begins; its metadata are known. Room for it is taken.
     *
     * @return false if there is none now; come again
     */
    boolean admit(InboundStream stream, InboundMessage message) {
        if (isStopped) {
            return false;
        }
        DartMetadata metadata = message.metadata;
        StepGroup group = group(stream.job, metadata.applicationId());
        message.step = null;
        if (group == null || group.hasEnded(metadata.step())) {
            return true;
        }
        if (group.lostRanks.remove(metadata.rank())) {
            group.open.forEach(each -> each.cameBack(metadata.rank()));
        }
        OpenStep step = group.find(metadata.step());
        if (step != null && (step.state != OpenStep.OPEN || !step.wants(metadata.rank()))) {
            return true;
        }
        long cost = metadata.payloadLength() + OVERHEAD;
        if (!hasRoom(group, step, cost)) {
            if (stream.waitedAt != stream.nextWanted()) {
                stream.waitedAt = stream.nextWanted();
                ServerShared.add(waits, 1);
            }
            return false;
        }
        if (step == null) {
            int ranks = context.rankCount > 0 ? context.rankCount : metadata.rankCount();
            step = new OpenStep(group, metadata.step(), ranks, clock.nanoTime());
            if (!step.wants(metadata.rank())) {
                return true; // An impossible rank opens no step.
            }
            group.lostRanks.forEachInt(step::died);
            group.open.add(step);
            ServerShared.add(open, 1);
        }
        long lost = group.begun(message.clientId, message.sequence, step);
        if (lost > 0) {
            step.lost(metadata.rank(), lost);
        }
        if (isTooLarge(group, step, cost)) {
            step.trouble = "it takes more than bytesMax " + context.bytesMax;
            end(step);
            return true;
        }
        message.step = step;
        message.stepCost = cost;
        account(step, cost);
        return true;
    }

    private boolean hasRoom(StepGroup group, OpenStep step, long cost) {
        if (PlantedFaults.ENABLED && PlantedFaults.isOn("dart-steps-unbounded")) {
            return true;
        }
        if (step == null && group.open.size() >= context.openStepsMax) {
            return false;
        }
        boolean isOldest = group.open.isEmpty() || group.open.get(0) == step;
        return isOldest || group.bytes + cost <= context.bytesMax;
    }

    private boolean isTooLarge(StepGroup group, OpenStep step, long cost) {
        return group.open.get(0) == step && step.bytes + cost > context.bytesMax;
    }

    private void account(OpenStep step, long cost) {
        step.bytes += cost;
        step.group.bytes += cost;
        ServerShared.add(openBytes, cost);
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
    boolean take(InboundMessage message) {
        OpenStep step = message.step;
        message.step = null;
        if (step == null || step.state == OpenStep.ENDED) {
            notTaken(message);
            return false;
        }
        if (step.state == OpenStep.READY || !step.wants(message.metadata.rank())) {
            account(step, -message.stepCost);
            notTaken(message);
            return false;
        }
        step.add(message, context.messagesPerRank);
        if (step.isOver()) {
            end(step);
        }
        return true;
    }

    private void notTaken(InboundMessage message) {
        DartMetadata metadata = message.metadata;
        StepGroup group = group(message.job, metadata.applicationId());
        boolean isLate = group != null && group.hasEnded(metadata.step());
        errors.onError(
                new DartException(
                        DartException.Code.TIMEOUT,
                        (isLate ? "late: message " : "surplus: message ")
                                + message.sequence
                                + " of client "
                                + message.clientId
                                + ", rank "
                                + metadata.rank()
                                + ", is not part of step "
                                + metadata.step()
                                + " of application "
                                + metadata.applicationId()));
        ServerShared.add(isLate ? late : surplus, 1);
    }

    /** The same message came through another server: this one does not count. */
    void droppedDuplicate(InboundMessage message) {
        OpenStep step = message.step;
        message.step = null;
        if (step != null && step.state == OpenStep.OPEN) {
            account(step, -message.stepCost);
        }
    }

    /** A message that was begun will not come. */
    void gaveUp(InboundMessage message) {
        OpenStep step = message.step;
        message.step = null;
        if (step != null && step.state == OpenStep.OPEN) {
            account(step, -message.stepCost);
            step.gaveUp(message, context.messagesPerRank);
            if (step.isOver()) {
                end(step);
            }
        }
    }

    /** No step waits for this rank, until it is heard of again. */
    void lost(UUID job, int applicationId, int rank) {
        StepGroup group = group(job, applicationId);
        if (group == null || group.lostRanks.size() >= LOST_MAX) {
            return;
        }
        group.lostRanks.add(rank);
        for (int i = 0; i < group.open.size(); i++) {
            OpenStep step = group.open.get(i);
            if (step.state == OpenStep.OPEN) {
                step.died(rank);
                if (step.isOver()) {
                    end(step);
                }
            }
        }
    }

    // ---- steps

    /** Nothing more is wanted of this step. */
    private void end(OpenStep step) {
        step.state = OpenStep.READY;
        ready.add(step);
    }

    int doWork(long now) {
        int work = 0;
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
                report(DartException.Code.TIMEOUT, step + " is dropped: " + step.missing());
                ServerShared.add(dropped, 1);
            } else if (handle(step)) {
                ServerShared.add(step.isComplete() ? complete : incomplete, 1);
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
            if (step.state == OpenStep.OPEN && now - step.sinceNs - context.deadlineNs >= 0) {
                end(step);
                work++;
            }
        }
        return work;
    }

    private boolean isToBeDelivered(OpenStep step) {
        return context.incomplete == DartStepContext.Incomplete.DELIVER || step.isComplete();
    }

    /** Hands a step over; true if it counts as handled. */
    private boolean handle(OpenStep step) {
        long start = clock.nanoTime();
        Throwable thrown = null;
        try {
            context.handler.onStep(step);
        } catch (Throwable e) {
            HandlerFailure.check(e);
            thrown = e;
        }
        long took = clock.nanoTime() - start;
        for (int i = 0; i < groups.size(); i++) {
            groups.get(i).open.forEach(each -> each.sinceNs += took);
        }
        return thrown == null || failed(step, thrown);
    }

    private boolean failed(OpenStep step, Throwable thrown) {
        step.failures++;
        ServerShared.add(handlerErrors, 1);
        errors.onError(thrown);
        boolean isForgetful =
                PlantedFaults.ENABLED && PlantedFaults.isOn("dart-step-not-handed-over-again");
        if (context.onException == DartStepContext.OnException.SKIP || isForgetful) {
            return true;
        }
        if (context.onException == DartStepContext.OnException.RETRY
                && step.failures < context.triesMax) {
            long pause = PAUSE_MIN_NS << Math.min(10, step.failures - 1);
            retryAtNs = clock.nanoTime() + Math.min(PAUSE_MAX_NS, pause);
            isPausing = true;
            return false;
        }
        isStopped = true;
        stop.accept(
                new DartException(
                        DartException.Code.UNCONFIRMED,
                        "the handler failed with "
                                + step
                                + (step.failures > 1 ? " " + step.failures + " times" : ""),
                        thrown));
        return false;
    }

    private void release(OpenStep step) {
        step.state = OpenStep.ENDED;
        step.group.end(step);
        account(step, -step.bytes);
        ServerShared.add(open, -1);
        step.forEach(free);
    }

    private void report(DartException.Code code, String what) {
        errors.onError(new DartException(code, what));
    }

    long nextDeadlineNs() {
        long deadline =
                isPausing && !isStopped && !ready.isEmpty() ? retryAtNs : ProtocolAgent.NO_DEADLINE;
        for (int i = 0; i < groups.size(); i++) {
            List<OpenStep> steps = groups.get(i).open;
            for (int k = 0; k < steps.size(); k++) {
                if (steps.get(k).state == OpenStep.OPEN) {
                    deadline = Math.min(deadline, steps.get(k).sinceNs + context.deadlineNs);
                }
            }
        }
        return deadline;
    }

    /** Says which steps were not handed over. */
    void close() {
        for (StepGroup group : groups) {
            for (OpenStep step : group.open) {
                report(
                        DartException.Code.UNCONFIRMED,
                        step
                                + " was not handed over before the receiver closed"
                                + (step.isComplete() ? "" : ": " + step.missing()));
            }
        }
        groups.clear();
        ready.clear();
    }
}
