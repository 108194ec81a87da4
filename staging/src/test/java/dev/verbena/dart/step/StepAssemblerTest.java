package dev.verbena.dart.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartStep;
import dev.verbena.dart.DartStepContext;
import dev.verbena.dart.StepStatistics;
import dev.verbena.dart.store.InboundMessage;
import dev.verbena.dart.store.InboundStream;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What opens a step, what it may take, when it is handed over, and what follows a failure. */
class StepAssemblerTest extends AssembledSteps {
    private static final int OVERHEAD = 2048;

    @Test
    void shouldHandOverAStepWhenItHasAllRanksAndFreeItsMessages() {
        assembler(c -> {});
        InboundMessage first = taken(0, 5);
        assertThat(assembler.doWork(now)).isZero();
        assertThat(assembler.statistics().openCount()).isEqualTo(1);
        assertThat(assembler.statistics().openBytes()).isEqualTo(OVERHEAD);
        InboundMessage second = taken(1, 5);
        assertThat(assembler.statistics().openBytes()).isEqualTo(2 * OVERHEAD);
        assertThat(assembler.doWork(now)).isEqualTo(1);
        assertThat(handled).hasSize(1);
        assertThat(handled.get(0).isComplete()).isTrue();
        assertThat(free).containsExactlyInAnyOrder(first, second);
        StepStatistics statistics = assembler.statistics();
        assertThat(statistics.completeCount()).isEqualTo(1);
        assertThat(statistics.incompleteCount()).isZero();
        assertThat(statistics.openCount()).isZero();
        assertThat(statistics.openBytes()).isZero();
        assertThat(assembler.doWork(now)).isZero();
        assertThat(errors).isEmpty();
    }

    @Test
    void shouldKeepApplicationsAndJobsApart() {
        assembler(c -> {});
        taken(0, 5);
        InboundMessage other = message(1, 5, 0);
        other.metadata().origin(4, 0, 0);
        assertThat(assembler.admit(stream, other)).isTrue();
        InboundStream otherJob = new InboundStream(new UUID(1, 3), 0, false);
        assertThat(assembler.admit(otherJob, message(1, 5, 0))).isTrue();
        assertThat(assembler.statistics().openCount()).isEqualTo(3);
    }

    @Test
    void shouldNotWakeAStepThatHasEnded() {
        assembler(c -> c.rankCount(1));
        taken(0, 5);
        InboundMessage second = admitted(0, 5);
        assertThat(second.step()).as("the step is ready").isNull();
        assertThat(assembler.take(second)).isFalse();
        assertThat(assembler.statistics().surplusCount()).isEqualTo(1);
        assertThat(lastError())
                .isEqualTo(
                        "surplus: message 5 of client 0, rank 0, is not part of step 5 of"
                                + " application 3");
        assembler.doWork(now);
        InboundMessage late = admitted(0, 5);
        assertThat(late.step()).isNull();
        assertThat(assembler.take(late)).isFalse();
        assertThat(assembler.statistics().lateCount()).isEqualTo(1);
        assertThat(assembler.statistics().surplusCount()).isEqualTo(1);
        assertThat(lastError()).startsWith("late: message 5 of client 0");
        assertThat(assembler.statistics().openCount()).isZero();
    }

    @Test
    void shouldOpenNoStepForARankThatThereIsNot() {
        assembler(c -> {});
        for (int rank : new int[] {-1, 2}) {
            InboundMessage message = admitted(rank, 5);
            assertThat(message.step()).isNull();
            assertThat(assembler.statistics().openCount()).isZero();
        }
        taken(0, 5);
        assertThat(admitted(0, 5).step()).as("this rank has what it needs").isNull();
        assertThat(admitted(1, 5).step()).isNotNull();
    }

    @Test
    void shouldBelieveTheSenderAboutRanksIfItWasToldNothing() {
        assembler(c -> c.rankCount(0));
        InboundMessage message = message(0, 5, 0);
        message.metadata().rankCount(3);
        assembler.admit(stream, message);
        assertThat(message.step().rankCount()).isEqualTo(3);
        assembler(c -> c.rankCount(2));
        assembler.admit(stream, message);
        assertThat(message.step().rankCount()).isEqualTo(2);
    }

    @Test
    void shouldHaveNoMoreStepsOpenThanItMay() {
        assembler(c -> c.openStepsMax(2));
        taken(0, 5);
        admitted(0, 6);
        // What step 5 waits for comes by another server.
        assembler.admit(new InboundStream(JOB, 1, false), message(1, 5, 0));
        assertThat(isRefused(0, 7, 0)).isTrue();
        assertThat(assembler.statistics().waitCount()).isEqualTo(1);
        assertThat(isRefused(0, 7, 0)).isTrue();
        assertThat(assembler.statistics().waitCount()).as("the same frame").isEqualTo(1);
        stream.beginAt(9);
        assertThat(isRefused(0, 7, 0)).isTrue();
        assertThat(assembler.statistics().waitCount()).isEqualTo(2);
        taken(1, 5);
        assembler.doWork(now);
        admitted(0, 7);
    }

    @Test
    void shouldHoldNoMoreBytesThanItMayAndLetTheOldestGoOn() {
        assembler(c -> c.bytesMax(10_000).messagesPerRank(9));
        assembler.admit(stream, message(0, 5, 4000 - OVERHEAD));
        assertThat(isRefused(0, 6, 6001 - OVERHEAD)).isTrue();
        assertThat(isRefused(0, 6, 6000 - OVERHEAD)).as("exactly all").isFalse();
        assertThat(assembler.statistics().openBytes()).isEqualTo(10_000);
        assertThat(isRefused(1, 6, 0)).isTrue();
        InboundMessage oldest = message(1, 5, 6000 - OVERHEAD);
        assertThat(assembler.admit(stream, oldest)).isTrue();
        assertThat(oldest.step().bytes).as("the oldest alone may have all").isEqualTo(10_000);
        InboundMessage beyond = admitted(1, 5);
        assertThat(beyond.step()).isNull();
        assembler.doWork(now);
        assertThat(handled).hasSize(1);
        assertThat(handled.get(0).missing()).startsWith("it takes more than bytesMax 10000");
        assertThat(assembler.statistics().incompleteCount()).isEqualTo(1);
        assertThat(assembler.statistics().openBytes()).isEqualTo(6000);
        assertThat(isRefused(1, 6, 0)).as("now it is the oldest").isFalse();
    }

    @Test
    void shouldEndAStepThatIsTooLargeWithItsFirstMessage() {
        assembler(c -> c.bytesMax(10_000));
        assertThat(isRefused(0, 5, 10_000 - OVERHEAD)).isFalse();
        assembler(c -> c.bytesMax(9_999));
        InboundMessage large = message(0, 5, 10_000 - OVERHEAD);
        assertThat(assembler.admit(stream, large)).isTrue();
        assertThat(large.step()).isNull();
        assembler.doWork(now);
        assertThat(handled.get(0).missing()).contains("bytesMax 9999");
    }

    @Test
    void shouldGiveBackTheRoomOfWhatDoesNotArrive() {
        assembler(c -> c.messagesPerRank(2));
        InboundMessage duplicate = admitted(0, 5);
        OpenStep step = duplicate.step();
        assembler.droppedDuplicate(duplicate);
        assertThat(duplicate.step()).isNull();
        assertThat(assembler.statistics().openBytes()).isZero();
        assertThat(step.bytes).isZero();
        assertThat(step.group.bytes).isZero();
        assembler.droppedDuplicate(duplicate);
        assertThat(assembler.statistics().openBytes()).isZero();
        InboundMessage given = admitted(0, 5);
        assembler.gaveUp(given);
        assembler.gaveUp(given);
        assertThat(given.step()).isNull();
        assertThat(assembler.statistics().openBytes()).isZero();
        assertThat(step.missing()).startsWith("rank 0: 1 messages were lost");
        taken(0, 5);
        taken(1, 5);
        assertThat(assembler.doWork(now)).isZero();
        taken(1, 5);
        assembler.doWork(now);
        assertThat(handled).hasSize(1);
        assertThat(assembler.statistics().incompleteCount()).isEqualTo(1);
        assertThat(assembler.statistics().completeCount()).isZero();
    }

    @Test
    void shouldEndAStepWhoseLastMessageWasGivenUp() {
        assembler(c -> {});
        taken(0, 5);
        assembler.gaveUp(admitted(1, 5));
        assembler.doWork(now);
        assertThat(handled).hasSize(1);
        assertThat(handled.get(0).isComplete()).isFalse();
    }

    @Test
    void shouldNotCountForAStepWhatArrivesBehindItsEnd() {
        assembler(c -> {});
        InboundMessage first = admitted(0, 5);
        InboundMessage second = admitted(0, 5);
        InboundMessage third = admitted(1, 5);
        InboundMessage fourth = admitted(1, 5);
        InboundMessage fifth = admitted(1, 5);
        InboundMessage sixth = admitted(1, 5);
        assertThat(assembler.take(first)).isTrue();
        assertThat(assembler.take(second)).as("this rank is over").isFalse();
        assertThat(assembler.statistics().openBytes()).isEqualTo(5 * OVERHEAD);
        assertThat(assembler.take(third)).isTrue();
        assertThat(assembler.take(fourth)).as("the step is ready").isFalse();
        assertThat(assembler.statistics().openBytes()).isEqualTo(4 * OVERHEAD);
        assertThat(assembler.statistics().surplusCount()).isEqualTo(2);
        assembler.gaveUp(fifth);
        assembler.droppedDuplicate(sixth);
        assertThat(assembler.statistics().openBytes())
                .as("a step that is ready gives all back when it ends")
                .isEqualTo(4 * OVERHEAD);
        assembler.doWork(now);
        assertThat(assembler.statistics().openBytes()).isZero();
        assertThat(free).containsExactlyInAnyOrder(first, third);
    }

    @Test
    void shouldKnowALateMessageThatWasBegunInTime() {
        assembler(c -> c.rankCount(1));
        InboundMessage first = admitted(0, 5);
        InboundMessage second = admitted(0, 5);
        assembler.take(first);
        assembler.doWork(now);
        assertThat(assembler.take(second)).isFalse();
        assertThat(assembler.statistics().lateCount()).isEqualTo(1);
        assertThat(assembler.statistics().openBytes()).isZero();
    }

    @Test
    void shouldBlameAStepForMessagesThatWereLostBeforeItsNext() {
        assembler(c -> c.messagesPerRank(2));
        assertThat(admitted(1, 5).step().missing())
                .as("begun, and nothing is lost")
                .contains("1: nothing");
        taken(0, 5);
        InboundMessage next = message(0, 5, 0);
        next.begin(0, 0, 0, 8);
        assembler.admit(stream, next);
        assertThat(next.step().missing()).startsWith("rank 0: 2 messages were lost");
    }

    @Test
    void shouldCountNoMessageAsLostThatCameAndIsPartOfNoStep() {
        assembler(c -> c.rankCount(1));
        numbered(1, 5);
        assembler.doWork(now);
        numbered(2, 5);
        assertThat(assembler.statistics().lateCount()).isEqualTo(1);
        numbered(3, 6);
        numbered(4, 6);
        assertThat(assembler.statistics().surplusCount()).isEqualTo(1);
        assembler.doWork(now);
        numbered(5, 7);
        assembler.doWork(now);
        numbered(7, 8);
        assembler.doWork(now);
        assertThat(handled)
                .extracting(DartStep::isComplete)
                .containsExactly(true, true, true, false);
    }

    @Test
    void shouldBlameAStepForAMessageThatWasLostBeforeOneOfNoStep() {
        assembler(c -> c.rankCount(1).messagesPerRank(2));
        numbered(1, 1);
        numbered(2, 1);
        assembler.doWork(now);
        numbered(3, 2);
        // 4 is lost.
        numbered(5, 1);
        assertThat(assembler.statistics().lateCount()).isEqualTo(1);
        numbered(6, 2);
        assembler.doWork(now);
        assertThat(handled.get(1).missing()).startsWith("rank 0: 1 messages were lost");
        numbered(7, 3);
        numbered(8, 3);
        assembler.doWork(now);
        assertThat(handled)
                .extracting(DartStep::isComplete)
                .as("a loss is blamed on one step")
                .containsExactly(true, false, true);
    }

    private void numbered(long sequence, long step) {
        InboundMessage message = message(0, step, 0);
        message.begin(0, 0, 0, sequence);
        assembler.admit(stream, message);
        assembler.take(message);
    }

    @Test
    void shouldWaitForNoLostRankUntilItIsHeardOfAgain() {
        assembler(c -> {});
        taken(0, 5);
        assembler.lost(JOB, 3, 1);
        assertThat(assembler.doWork(now)).isEqualTo(1);
        assertThat(handled.get(0).lostRanks()).containsExactly(1);
        taken(0, 6);
        assertThat(assembler.doWork(now)).as("nor do later ones").isEqualTo(1);
        assertThat(handled.get(1).lostRanks()).containsExactly(1);
        InboundMessage early = admitted(0, 7);
        InboundMessage back = admitted(1, 7);
        assertThat(back.step()).isNotNull();
        assertThat(assembler.take(early)).isTrue();
        assertThat(assembler.doWork(now)).isZero();
        assertThat(assembler.take(back)).isTrue();
        assembler.doWork(now);
        assertThat(handled).hasSize(3);
        assertThat(handled.get(2).isComplete()).isTrue();
    }

    @Test
    void shouldEndAStepAtItsDeadlineAndNotBefore() {
        assembler(c -> {});
        assertThat(assembler.nextDeadlineNs()).isEqualTo(ProtocolAgent.NO_DEADLINE);
        admitted(0, 5);
        now += 10;
        admitted(0, 6);
        assertThat(assembler.nextDeadlineNs()).isEqualTo(1_000 + DEADLINE_NS);
        now = 1_000 + DEADLINE_NS - 1;
        assertThat(assembler.doWork(now)).isZero();
        now++;
        assertThat(assembler.doWork(now)).isEqualTo(2);
        assertThat(handled).hasSize(1);
        assertThat(handled.get(0).step()).isEqualTo(5);
        assertThat(assembler.statistics().incompleteCount()).isEqualTo(1);
        assertThat(assembler.nextDeadlineNs()).isEqualTo(1_010 + DEADLINE_NS);
    }

    @Test
    void shouldDropWhatIsIncompleteIfAsked() {
        assembler(c -> c.incomplete(DartStepContext.Incomplete.DROP));
        InboundMessage alone = taken(0, 5);
        taken(0, 6);
        taken(1, 6);
        now += DEADLINE_NS;
        assertThat(assembler.doWork(now)).isEqualTo(3);
        assertThat(handled).hasSize(1);
        assertThat(handled.get(0).step()).isEqualTo(6);
        assertThat(free).hasSize(3).contains(alone);
        assertThat(assembler.statistics().droppedCount()).isEqualTo(1);
        assertThat(assembler.statistics().completeCount()).isEqualTo(1);
        assertThat(lastError())
                .isEqualTo("step 5 of application 3 is dropped: rank 1: nothing came");
    }

    @Test
    void shouldSayAtItsEndWhatWasNotHandedOver() {
        assembler(c -> {});
        taken(0, 5);
        taken(0, 6);
        taken(1, 6);
        assembler.close();
        assertThat(errors).hasSize(2);
        assertThat(errors.get(0))
                .hasMessage(
                        "step 5 of application 3 was not handed over before the receiver closed:"
                                + " rank 1: nothing came");
        assertThat(errors.get(1))
                .hasMessage(
                        "step 6 of application 3 was not handed over before the receiver closed");
        assertThat(assembler.doWork(now)).isZero();
        assertThat(handled).isEmpty();
        assembler.close();
        assertThat(errors).hasSize(2);
    }

    private InboundMessage admittedOf(int application) {
        InboundMessage message = message(0, 5, 0);
        message.metadata().origin(application, 0, 0);
        assertThat(assembler.admit(stream, message)).isTrue();
        return message;
    }

    @Test
    void shouldForgetTheOldestIdleApplicationForA257th() {
        assembler(c -> c.rankCount(1));
        for (int i = 0; i < 256; i++) {
            InboundMessage message = admittedOf(i);
            if (i == 1 || i == 2) {
                assembler.take(message);
            }
        }
        assembler.doWork(now);
        assertThat(admittedOf(1).step()).as("it has ended").isNull();
        assertThat(admittedOf(1000).step()).isNotNull();
        assertThat(admittedOf(2).step()).as("still known").isNull();
        assertThat(admittedOf(1).step()).as("in the place of 2").isNotNull();
        InboundMessage beyond = admittedOf(1001);
        assertThat(beyond.step()).as("all others have open steps").isNull();
        assertThat(assembler.take(beyond)).isFalse();
        assertThat(assembler.statistics().surplusCount()).isEqualTo(1);
        assembler.lost(JOB, 1001, 0);
    }

    @Test
    void shouldRememberALimitedNumberOfLostRanks() {
        assembler(c -> c.rankCount(0));
        for (int rank = 0; rank <= 65_536; rank++) {
            assembler.lost(JOB, 3, rank);
        }
        InboundMessage message = message(70_000, 5, 0);
        assembler.admit(stream, message);
        assertThat(message.step().lostRanks()).hasSize(65_536).doesNotContain(65_536);
    }

    @Test
    void shouldSayWhenMessagesAreAcknowledged() {
        assertThat(assembler(c -> {}).isAcknowledgedWhenHandled()).isFalse();
        assertThat(assembler(c -> c.acknowledgeWhenHandled(true)).isAcknowledgedWhenHandled())
                .isTrue();
    }
}
