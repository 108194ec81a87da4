package dev.verbena.dart.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.staging.DeliveredNumbers;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Which steps of an application are open, which have ended, and what its clients' gaps say. */
class StepGroupTest {
    private static final long RUN = 1L << DeliveredNumbers.GENERATION_SHIFT;

    private final StepGroup group = new StepGroup(new UUID(1, 2), 3);

    private OpenStep step(long number) {
        return new OpenStep(group, number, 1, 0);
    }

    @Test
    void shouldFindOpenStepsByTheirNumber() {
        OpenStep first = step(5);
        OpenStep second = step(4);
        group.open(first);
        group.open(second);
        assertThat(group.find(5)).isSameAs(first);
        assertThat(group.find(4)).isSameAs(second);
        assertThat(group.find(6)).isNull();
        group.end(first);
        assertThat(group.open).containsExactly(second);
        assertThat(group.find(5)).isNull();
    }

    @Test
    void shouldRememberAsManyEndedStepsAsItSays() {
        assertThat(group.hasEnded(0)).isFalse();
        for (int i = 0; i < StepGroup.ENDED_MAX - 1; i++) {
            group.end(step(100 + i));
        }
        assertThat(group.hasEnded(100)).isTrue();
        assertThat(group.hasEnded(100 + StepGroup.ENDED_MAX - 2)).isTrue();
        assertThat(group.hasEnded(99)).as("nothing was forgotten yet").isFalse();
        group.end(step(2000));
        assertThat(group.hasEnded(99)).as("older than all that are remembered").isTrue();
        assertThat(group.hasEnded(100)).isTrue();
        assertThat(group.hasEnded(1999)).isFalse();
        group.end(step(3000));
        assertThat(group.hasEnded(3000)).isTrue();
        assertThat(group.hasEnded(100)).as("forgotten, and older than the rest").isTrue();
        assertThat(group.hasEnded(101)).isTrue();
        assertThat(group.hasEnded(2001)).isFalse();
    }

    @Test
    void shouldCountWhatAClientLostBetweenTwoMessagesOfAStep() {
        OpenStep step = step(1);
        assertThat(group.begun(7, 4, step)).as("nothing is known before the first").isZero();
        assertThat(group.begun(7, 5, step)).isZero();
        assertThat(group.begun(7, 8, step)).isEqualTo(2);
        assertThat(group.begun(8, 100, step)).as("another client").isZero();
        assertThat(group.begun(7, 2, step)).as("late").isZero();
        assertThat(group.begun(7, 9, step)).as("a late one moves nothing back").isZero();
    }

    @Test
    void shouldBlameAStepOnlyForWhatNoOtherCanHaveLost() {
        OpenStep first = step(1);
        OpenStep second = step(2);
        group.begun(7, 1, first);
        assertThat(group.begun(7, 5, second)).as("the first may lack them").isZero();
        second.ready();
        assertThat(group.begun(7, 8, first)).as("the second lacks nothing").isEqualTo(2);
        group.begun(8, 1, null);
        assertThat(group.begun(8, 3, first)).as("the one before was of no step").isEqualTo(1);
    }

    @Test
    void shouldNotCompareNumbersOfTwoRegistrations() {
        OpenStep step = step(1);
        assertThat(group.begun(7, 0, step)).isZero();
        assertThat(group.begun(7, 3, step)).as("0 is no number of a message").isZero();
        assertThat(group.begun(7, RUN + 3, step)).isZero();
        assertThat(group.begun(7, RUN + 5, step)).isEqualTo(1);
    }
}
