package dev.verbena.dart.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.dart.DartStepContext;
import dev.verbena.dart.Settings;
import dev.verbena.dart.store.InboundMessage;
import dev.verbena.dart.store.InboundStream;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What the assembler says of a message that has no room, in virtual time. */
class StepRoomTest {
    private static final UUID JOB = new UUID(1, 2);
    private static final int LENGTH = 10_000;

    private final List<Throwable> errors = new ArrayList<>();
    private final InboundStream first = new InboundStream(JOB, 0, false);
    private final InboundStream second = new InboundStream(JOB, 1, false);
    private long now = 5_000_000_000L;
    private int sequence;

    private StepAssembler assembler(DartStepContext context) {
        context.rankCount(2);
        return new StepAssembler(Settings.of(context), () -> now, errors::add, m -> {}, e -> {});
    }

    private static DartStepContext context() {
        return new DartStepContext(step -> {});
    }

    private boolean admit(StepAssembler steps, InboundStream stream, int rank, long step) {
        return admit(steps, 0, stream, rank, step);
    }

    private boolean admit(
            StepAssembler steps, int application, InboundStream stream, int rank, long step) {
        InboundMessage message = new InboundMessage();
        message.begin(rank, stream.serverId(), 0, ++sequence);
        message.job(JOB);
        message.metadata().rank(rank).step(step).endOfStep(true);
        message.metadata().origin(application, 0, 0);
        message.metadata().payload(LENGTH, false, 0);
        boolean isAdmitted = steps.admit(stream, message);
        if (isAdmitted) {
            stream.taken(null, 0, 0, true);
            if (rank == 0) {
                steps.take(message); // Of rank 1 a message has only begun.
            }
        }
        return isAdmitted;
    }

    @Test
    void shouldNameRankStepAndOptionWithinTwoSecondsOfHoldingARankBack() {
        StepAssembler steps = assembler(context().openStepsMax(2));
        assertThat(admit(steps, second, 1, 0)).isTrue();
        assertThat(admit(steps, first, 0, 0)).isTrue();
        assertThat(admit(steps, first, 0, 1)).isTrue();
        assertThat(admit(steps, first, 0, 2)).isFalse();
        steps.doWork(now);
        assertThat(steps.nextDeadlineNs() - now).isLessThanOrEqualTo(2_000_000_000L);
        now = steps.nextDeadlineNs() - 1;
        steps.doWork(now);
        assertThat(steps.statistics().held()).isEmpty();
        now++;
        steps.doWork(now);
        assertThat(steps.statistics().held())
                .isEqualTo(
                        "rank 0 of application 0 is ahead: its step 2, and what server 0 sends"
                                + " behind it, waits until step 0 has ended, because openStepsMax"
                                + " (2) is reached; step 0 waits for: rank 1: nothing came");
        assertThat(errors)
                .extracting(Throwable::getMessage)
                .containsExactly(steps.statistics().held());
        assertThat(
                        List.of(
                                steps.held.count,
                                steps.held.rank,
                                steps.held.step,
                                steps.held.isByBytes))
                .extracting(Number::intValue)
                .containsExactly(1, 0, 2, 0);
    }

    @Test
    void shouldNameTheBytesWhereTheyAreWhatHoldsARankBackAndBeSilentWhenItGoesOn() {
        StepAssembler steps = assembler(context().bytesMax(2 * LENGTH + 5000));
        admit(steps, first, 0, 0);
        admit(steps, first, 0, 1);
        assertThat(admit(steps, first, 0, 2)).isFalse();
        now += HeldStreams.HELD_NS;
        steps.doWork(now);
        assertThat(steps.statistics().held()).contains("rank 0 of", "step 2", "bytesMax (25000)");
        assertThat(errors).hasSize(1);
        assertThat(steps.held.isByBytes).hasValue(1);
        first.taken(null, 0, 0, true);
        steps.doWork(now);
        assertThat(steps.statistics().held()).isEmpty();
        assertThat(steps.held.count).hasValue(0);
    }

    @Test
    void shouldOpenMoreStepsUnlessAllThatTheOldestWaitsForComesByAnotherServer() {
        StepAssembler steps = assembler(context().openStepsMax(2));
        for (int step = 0; step < 50; step++) {
            // Nobody knows where rank 1 is: its first message can be behind these.
            assertThat(admit(steps, first, 0, step)).as("step %d", step).isTrue();
        }
        admit(steps, second, 1, 0);
        assertThat(admit(steps, first, 0, 50)).isFalse();
    }

    @Test
    void shouldNotLetTwoApplicationsWaitForEachOther() {
        StepAssembler steps = assembler(context().openStepsMax(1));
        for (int application = 0; application < 2; application++) {
            // Of each the rank that is ahead is behind the other's slow one.
            InboundStream ahead = application == 0 ? first : second;
            InboundStream behind = application == 0 ? second : first;
            admit(steps, application, behind, 1, 0);
            admit(steps, application, ahead, 0, 0);
        }
        assertThat(admit(steps, 0, first, 0, 1)).isFalse();
        assertThat(admit(steps, 1, second, 0, 1)).isTrue();
    }
}
