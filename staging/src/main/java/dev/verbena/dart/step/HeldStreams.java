package dev.verbena.dart.step;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.config.StepSettings;
import dev.verbena.staging.Counters;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.NanoClock;

/**
 * Streams whose next message waits in its connection, and everything behind it, because its step
 * has no room. Says which, once one has waited for long. Owned by the receiver's agent; the
 * counters may be read by any thread.
 */
final class HeldStreams {
    /** A message that has waited for room as long is reported. */
    static final long HELD_NS = 1_000_000_000L;

    /** And not again within this: it is no fault if a rank is ahead all the time. */
    private static final long REPORT_EVERY_NS = 60_000_000_000L;

    private final StepSettings settings;
    private final NanoClock clock;
    private final ErrorHandler errors;
    private final OpenSteps openSteps;

    /** A message that was taken since is among them too. */
    private final List<StepSource> streams = new ArrayList<>();

    /** Messages that had to wait. */
    final AtomicLong waits = new AtomicLong();

    /** Streams whose next message has waited for long. */
    final AtomicLong count = new AtomicLong();

    /** Rank of the first of them, and the step to which its message belongs. */
    final AtomicLong rank = new AtomicLong();

    final AtomicLong step = new AtomicLong();

    /** 1 if bytesMax holds that message back, 0 if openStepsMax does. */
    final AtomicLong isByBytes = new AtomicLong();

    /** What waits for long, and why; empty: nothing does. */
    volatile String text = "";

    /** Says whether an application may open no more steps for what comes over a server. */
    interface OpenSteps {
        boolean isMax(StepGroup group, int serverId);
    }

    HeldStreams(StepSettings settings, NanoClock clock, ErrorHandler errors, OpenSteps openSteps) {
        this.settings = settings;
        this.clock = clock;
        this.errors = errors;
        this.openSteps = openSteps;
    }

    /** The next message of this stream waits. */
    void hold(StepSource stream, StepGroup group, DartMetadata metadata) {
        if (isHeld(stream)) {
            return;
        }
        stream.stepWait(
                new StepWait(
                        stream.nextWanted(),
                        clock.nanoTime(),
                        group,
                        metadata.step(),
                        metadata.rank()));
        streams.remove(stream);
        streams.add(stream);
        Counters.add(waits, 1);
    }

    private static boolean isHeld(StepSource stream) {
        return stream.stepWait().frame() == stream.nextWanted();
    }

    /** Two applications that hold back each other's servers would wait for each other. */
    boolean isOtherThan(StepGroup group) {
        for (int i = 0; i < streams.size(); i++) {
            if (streams.get(i).stepWait().group() != group && isHeld(streams.get(i))) {
                return true;
            }
        }
        return false;
    }

    /** Says what waits for room, once it has waited for long. */
    void check(long now) {
        if (streams.isEmpty()) {
            return;
        }
        StepSource first = null;
        int waiting = 0;
        for (int i = streams.size() - 1; i >= 0; i--) {
            StepSource stream = streams.get(i);
            if (!isHeld(stream) || stream.stepWait().group().open.isEmpty()) {
                streams.remove(i);
            } else if (now - stream.stepWait().sinceNs() - HELD_NS >= 0) {
                first = stream;
                waiting++;
            }
        }
        count.lazySet(waiting);
        if (first == null) {
            text = "";
        } else if (text.isEmpty() || first.stepWait().step() != step.get()) {
            show(first, now);
        }
    }

    private void show(StepSource stream, long now) {
        StepWait wait = stream.stepWait();
        boolean isBytesMax =
                wait.group().find(wait.step()) != null
                        || !openSteps.isMax(wait.group(), stream.serverId());
        rank.lazySet(wait.rank());
        step.lazySet(wait.step());
        isByBytes.lazySet(isBytesMax ? 1 : 0);
        text = textOf(stream, isBytesMax);
        if (wait.group().isReportDue(now, REPORT_EVERY_NS)) {
            errors.onError(Code.TIMEOUT.because(text));
        }
    }

    private String textOf(StepSource stream, boolean isBytesMax) {
        StepWait wait = stream.stepWait();
        OpenStep oldest = wait.group().open.get(0);
        String limit =
                isBytesMax
                        ? "bytesMax (" + settings.bytesMax() + ")"
                        : "openStepsMax (" + settings.openStepsMax() + ")";
        return ("rank %s of application %s is ahead: its step %s, and what server %s sends behind "
                        + "it, waits until step %s has ended, because %s is reached; step %s waits "
                        + "for: %s")
                .formatted(
                        wait.rank(),
                        wait.group().applicationId,
                        wait.step(),
                        stream.serverId(),
                        oldest.step,
                        limit,
                        oldest.step,
                        oldest.missing());
    }

    long nextDeadlineNs() {
        long deadline = ProtocolAgent.NO_DEADLINE;
        for (int i = 0; text.isEmpty() && i < streams.size(); i++) {
            deadline = Math.min(deadline, streams.get(i).stepWait().sinceNs() + HELD_NS);
        }
        return deadline;
    }
}
