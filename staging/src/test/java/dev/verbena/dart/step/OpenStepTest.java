package dev.verbena.dart.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.dart.store.InboundMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** When a step is over, when it is complete, and what it says of what is missing. */
class OpenStepTest {
    private static final UUID JOB = new UUID(1, 2);

    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    static InboundMessage message(int rank, String variable) {
        InboundMessage message = new InboundMessage();
        message.begin(rank, 0, 0, 1);
        message.job(JOB);
        message.metadata().rank(rank).variable(variable).origin(3, 0, 0);
        return message;
    }

    private static InboundMessage last(int rank) {
        InboundMessage message = message(rank, "last");
        message.metadata().endOfStep(true);
        return message;
    }

    private static OpenStep step(int rankCount) {
        return new OpenStep(new StepGroup(JOB, 3), 5, rankCount, 0);
    }

    @Test
    void shouldWantTheRanksThatThereAre() {
        OpenStep step = step(2);
        assertThat(step.wants(-1)).isFalse();
        assertThat(step.wants(0)).isTrue();
        assertThat(step.wants(1)).isTrue();
        assertThat(step.wants(2)).isFalse();
        OpenStep unknown = step(0);
        assertThat(unknown.wants(-1)).isFalse();
        assertThat(unknown.wants(Integer.MAX_VALUE)).isTrue();
        step.add(message(0, "a"), 2);
        assertThat(step.wants(0)).isTrue();
        step.add(message(0, "b"), 2);
        assertThat(step.wants(0)).as("it has all its messages").isFalse();
    }

    @Test
    void shouldBeCompleteWithTheMarkOfEachRank() {
        OpenStep step = step(2);
        step.add(last(1), 0);
        assertThat(step.isOver()).isFalse();
        assertThat(step.isComplete()).isFalse();
        step.add(message(0, "a"), 0);
        assertThat(step.isOver()).isFalse();
        step.add(last(0), 0);
        assertThat(step.isOver()).isTrue();
        assertThat(step.isComplete()).isTrue();
        assertThat(step.missing()).isEmpty();
        assertThat(step.missingRanks()).isEmpty();
        step.trouble = "too large";
        assertThat(step.isComplete()).isFalse();
        assertThat(step.missing()).isEqualTo("too large");
    }

    @Test
    void shouldCountMessagesAsTheReceiverOrElseTheSenderSays() {
        OpenStep step = step(1);
        InboundMessage message = message(0, "a");
        message.metadata().stepMessageCount(2);
        step.add(message, 3);
        step.add(message, 3);
        assertThat(step.isOver()).as("the receiver says three").isFalse();
        step.add(message, 3);
        assertThat(step.isComplete()).isTrue();
        step = step(1);
        step.add(message, 0);
        assertThat(step.missing()).isEqualTo("rank 0: 1 of 2");
        step.add(message(0, "b"), 0);
        assertThat(step.isComplete()).as("the sender says two, once").isTrue();
    }

    @Test
    void shouldLearnHowManyRanksThereAre() {
        OpenStep step = step(0);
        step.add(last(1), 0);
        assertThat(step.isOver()).isFalse();
        assertThat(step.rankCount()).isZero();
        assertThat(step.missing()).isEqualTo("nobody said how many ranks there are");
        InboundMessage message = last(0);
        message.metadata().rankCount(2);
        step.add(message, 0);
        assertThat(step.rankCount()).isEqualTo(2);
        assertThat(step.isComplete()).isTrue();
        message.metadata().rankCount(3);
        step.add(message, 0);
        assertThat(step.rankCount()).as("what was said first holds").isEqualTo(2);
    }

    @Test
    void shouldCountOnceARankThatIsOverTwice() {
        OpenStep step = step(2);
        step.add(last(0), 0);
        step.add(last(0), 0);
        assertThat(step.isOver()).isFalse();
        assertThat(step.missingRanks()).containsExactly(1);
    }

    @Test
    void shouldNeverBeCompleteWithoutWhatWasLost() {
        OpenStep step = step(2);
        step.lost(0, 2);
        step.lost(0, 1);
        step.add(last(0), 0);
        InboundMessage message = last(1);
        step.gaveUp(message, 0);
        assertThat(step.isOver()).as("its mark holds although it never arrives").isTrue();
        assertThat(step.isComplete()).isFalse();
        assertThat(step.missingRanks()).containsExactly(0, 1);
        assertThat(step.missing())
                .isEqualTo("rank 0: 3 messages were lost, rank 1: 1 messages were lost");
        assertThat(step.messages()).hasSize(1);
        OpenStep counted = step(1);
        counted.gaveUp(message(0, "a"), 2);
        assertThat(counted.isOver()).isFalse();
        counted.add(message(0, "b"), 2);
        assertThat(counted.isOver()).as("one here and one lost are two").isTrue();
        assertThat(counted.isComplete()).isFalse();
    }

    @Test
    void shouldWaitForALostProcessOnlyIfItComesBack() {
        OpenStep step = step(3);
        step.add(message(0, "a"), 0);
        step.died(0);
        step.died(1);
        step.died(1);
        assertThat(step.wants(0)).isFalse();
        assertThat(step.isOver()).as("counted once").isFalse();
        step.add(last(2), 0);
        assertThat(step.isOver()).isTrue();
        assertThat(step.isComplete()).isFalse();
        assertThat(step.lostRanks()).containsExactly(0, 1);
        assertThat(step.missingRanks()).containsExactly(0, 1);
        assertThat(step.missing())
                .isEqualTo(
                        "rank 0: its process was lost, rank 1: its process was lost, nothing came");
        step.died(3);
        step.died(2);
        assertThat(step.lostRanks()).as("2 is over, 3 is none").containsExactly(0, 1);
        step.cameBack(1);
        step.cameBack(1);
        step.cameBack(2);
        assertThat(step.isOver()).isFalse();
        assertThat(step.wants(1)).isTrue();
        assertThat(step.wants(2)).as("it was never lost").isFalse();
        assertThat(step.lostRanks()).containsExactly(0);
        step.ready();
        step.cameBack(0);
        assertThat(step.lostRanks()).as("too late").containsExactly(0);
    }

    @Test
    void shouldNameWhatIsMissingOfEachRank() {
        OpenStep step = step(3);
        step.add(message(1, "a"), 0);
        step.add(message(1, "b"), 0);
        step.add(message(2, "c"), 4);
        assertThat(step.missing())
                .isEqualTo("rank 0: nothing came, rank 1: no end after 2 messages, rank 2: 1 of 4");
        step.trouble = "it is too old";
        assertThat(step.missing()).startsWith("it is too old, rank 0: nothing came, rank 1");
    }

    @Test
    void shouldNameSomeRanksInTextAndManyInAList() {
        OpenStep step = step(70_000);
        step.add(last(3), 0);
        assertThat(step.missing()).endsWith(", rank 18: nothing came, ...").hasSize(408);
        int[] missing = step.missingRanks();
        assertThat(missing).hasSize(65_536);
        assertThat(missing[2]).isEqualTo(2);
        assertThat(missing[3]).isEqualTo(4);
        assertThat(missing[65_535]).isEqualTo(65_536);
        assertThat(step(16).missingRanks()).hasSize(16).endsWith(15);
        assertThat(step(17).missingRanks()).hasSize(17).endsWith(16);
    }

    @Test
    void shouldNameKnownRanksOnlyWhenNobodySaidHowManyThereAre() {
        OpenStep step = step(0);
        assertThat(step.missingRanks()).isEmpty();
        step.lost(0, 1);
        step.lost(7, 1);
        step.add(last(9), 0);
        step.lost(1_000_000, 1);
        assertThat(step.missingRanks()).containsExactly(0, 7, 1_000_000);
        // A rank that was heard of before it was said that there are less of them.
        InboundMessage message = last(0);
        message.metadata().rankCount(2);
        step.add(message, 0);
        assertThat(step.missingRanks()).containsExactly(0, 1, 7, 1_000_000);
    }

    @Test
    void shouldGiveMessagesInTheOrderOfRanks() {
        OpenStep step = step(3);
        InboundMessage first = message(2, "a");
        InboundMessage second = message(0, "a");
        InboundMessage third = message(0, "b");
        step.add(first, 0);
        step.add(second, 0);
        step.add(third, 0);
        List<StepPart> each = new ArrayList<>();
        step.forEach(each::add);
        assertThat(each).containsExactlyInAnyOrder(first, second, third);
        assertThat(step.messages()).containsExactly(second, third, first);
        assertThat(step.messages()).isSameAs(step.messages());
        assertThatThrownBy(() -> step.messages().clear())
                .isInstanceOf(UnsupportedOperationException.class);
        assertThat(step.message(0, "b")).isSameAs(third);
        assertThat(step.message(0, "a")).isSameAs(second);
        assertThat(step.message(2, "b")).isNull();
        assertThat(step.message(1, "a")).isNull();
    }

    @Test
    void shouldSayWhichStepItIs() {
        OpenStep step = step(4);
        step.failures = 2;
        assertThat(step.serviceId()).isEqualTo(JOB);
        assertThat(step.applicationId()).isEqualTo(3);
        assertThat(step.step()).isEqualTo(5);
        assertThat(step.rankCount()).isEqualTo(4);
        assertThat(step.failureCount()).isEqualTo(2);
        assertThat(step).hasToString("step 5 of application 3");
    }
}
