package dev.verbena.dart.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.staging.DeliveredNumbers;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What a receiver's journal writes and when, read as the next receiver reads it. */
class ReceiverJournalTest {
    private static final String NEXT = ReceiverJournal.NAME + "-next";
    private static final long RETRY_NS = 500_000_000;

    private final StoreFixture bench = new StoreFixture(c -> {});

    private void until(BooleanSupplier condition) {
        for (int i = 0; i < 100 && !condition.getAsBoolean(); i++) {
            bench.journal(1);
        }
        assertThat(condition.getAsBoolean()).isTrue();
    }

    /** A message of which something was acknowledged. */
    private InboundMessage begun(InboundStream stream, int client, long settled) {
        InboundMessage message = StoreFixture.message(client, 12, "n", 1000);
        bench.files.begin(message);
        message.settledEnd = settled;
        message.isBegunSettled = true;
        stream.open.put(client, message);
        stream.isDirty = true;
        return message;
    }

    private void written() {
        bench.journal(30);
    }

    private byte[] content() {
        return bench.wire.disk.content(ReceiverJournal.NAME);
    }

    @Test
    void shouldWriteNothingForNobody() {
        bench.streams.clear();
        assertThat(bench.journal.doWork(bench.now, bench.streams)).isZero();
        assertThat(bench.journal.nextDeadlineNs(bench.streams))
                .isEqualTo(ProtocolAgent.NO_DEADLINE);
        assertThat(bench.wire.disk.names("state")).isEmpty();
        bench.beginJournal(true);
        assertThat(bench.journal.doWork(bench.now, bench.streams)).isPositive();
    }

    @Test
    void shouldWriteItAnewUnderAnotherNameAndThenReplaceTheFirst() {
        bench.wire.disk.put(ReceiverJournal.NAME, new byte[3]);
        bench.beginJournal(true);
        assertThat(bench.journal.isEarlierSafe()).isFalse();
        assertThat(bench.journal.rewritesBegun()).isZero();
        assertThat(bench.journal.nextDeadlineNs(bench.streams)).isEqualTo(bench.now);
        bench.wire.disk.isStuck = true;
        bench.journal(50);
        assertThat(bench.journal.nextDeadlineNs(bench.streams))
                .isEqualTo(ProtocolAgent.NO_DEADLINE);
        assertThat(content()).as("the other is not forced").hasSize(3);
        assertThat(bench.wire.disk.content(NEXT)).isNotNull();
        assertThat(bench.journal.isEarlierSafe()).isFalse();
        bench.wire.disk.isStuck = false;
        bench.wire.disk.renameLooks = 10;
        until(() -> content().length > 3);
        until(bench.journal::isEarlierSafe);
        assertThat(bench.journal.rewritesBegun()).isEqualTo(1);
        assertThat(bench.journal.rewritesDone()).isEqualTo(1);
        assertThat(bench.wire.disk.content(NEXT)).isNull();
        assertThat(bench.read().damage()).isEmpty();
    }

    @Test
    void shouldTellWhichRoundIsOnTheDevice() {
        assertThat(bench.journal.isEarlierSafe()).as("there was no earlier").isTrue();
        assertThat(bench.journal.isDurable(0)).isFalse();
        assertThat(bench.journal.isDurable(1)).isFalse();
        until(() -> bench.journal.isDurable(1));
        assertThat(bench.journal.isDurable(2)).isFalse();
        bench.stream.isDirty = true;
        until(() -> bench.journal.isDurable(2));
        assertThat(bench.journal.isDurable(3)).isFalse();
        assertThat(bench.journal.isDurable(0)).isFalse();
    }

    @Test
    void shouldAppendWhatIsNewAndNothingOtherwise() {
        written();
        int length = content().length;
        written();
        assertThat(content()).hasSize(length);
        assertThat(bench.journal.doWork(bench.now, bench.streams)).isZero();
        InboundStream second = bench.stream(new UUID(9, 9), 5);
        second.beginAt(40);
        written();
        assertThat(content().length).isGreaterThan(length);
        assertThat(bench.journal.rewritesBegun()).isEqualTo(1);
        InboundStream read = bench.read().streams().get(1);
        assertThat(read.job).isEqualTo(second.job);
        assertThat(read.serverId).isEqualTo(5);
        assertThat(read.settledNext()).isEqualTo(40);
        assertThat(second.isDirty).isFalse();
        assertThat(second.journalIndex).isEqualTo(bench.stream.journalIndex + 1);
    }

    @Test
    void shouldAcknowledgeWhatIsOnTheDevice() {
        written();
        InboundStream stream = bench.stream;
        stream.taken(null, 0, 10, true);
        stream.taken(null, 0, 10, true);
        assertThat(stream.settle()).isEqualTo(2);
        assertThat(stream.acknowledgedNext()).isEqualTo(1);
        bench.wire.disk.isStuck = true;
        bench.journal(30);
        assertThat(stream.acknowledgedNext()).isEqualTo(1);
        bench.wire.disk.isStuck = false;
        written();
        assertThat(stream.acknowledgedNext()).isEqualTo(3);
        assertThat(bench.read().streams().get(0).settledNext()).isEqualTo(3);
    }

    @Test
    void shouldWriteItsRecordsPieceByPiece() {
        bench.wire.disk.stateMax = 7;
        bench.journal(60);
        assertThat(bench.read().damage()).isEmpty();
        assertThat(bench.journal.isDurable(1)).isTrue();
        bench.stream.isDirty = true;
        bench.journal(60);
        assertThat(bench.journal.isDurable(2)).isTrue();
        assertThat(bench.read().damage()).isEmpty();
    }

    @Test
    void shouldTellOfMessagesAsFarAsTheyAreSettled() {
        written();
        InboundMessage message = begun(bench.stream, 7, 300);
        InboundMessage other = StoreFixture.message(8, 12, "unsettled", 1000);
        bench.files.begin(other);
        bench.stream.open.put(8, other);
        written();
        assertThat(message.isJournaled).isTrue();
        assertThat(message.journaledEnd).isEqualTo(300);
        assertThat(other.isJournaled).isFalse();
        assertThat(bench.read().messages()).hasSize(1);
        InboundMessage read = bench.read().messages().get(0);
        assertThat(read.clientId).isEqualTo(7);
        assertThat(read.sequence).isEqualTo(12);
        assertThat(read.tag).isEqualTo(33);
        assertThat(read.fileName).isEqualTo("n");
        assertThat(read.temporaryName).isEqualTo(message.temporaryName);
        assertThat(read.metadata.payloadLength()).isEqualTo(1000);
        assertThat(read.settledEnd).isEqualTo(300);
        int length = content().length;
        message.settledEnd = 400;
        bench.stream.isDirty = true;
        written();
        assertThat(content().length - length).as("no second BEGIN").isLessThan(100);
        assertThat(bench.read().messages().get(0).settledEnd).isEqualTo(400);
        length = content().length;
        bench.stream.isDirty = true;
        written();
        int settled = content().length - length;
        message.state = InboundMessage.SETTLED;
        message.settledEnd = 500;
        bench.stream.isDirty = true;
        written();
        assertThat(content()).as("nothing of it").hasSize(length + 2 * settled);
    }

    @Test
    void shouldPromiseNamesOnceAndKeepThemWhenItIsWrittenAnew() {
        written();
        InboundMessage message = bench.complete(bench.stream, 7, 12, "n");
        bench.stream.isDirty = true;
        written();
        assertThat(bench.read().messages()).as("only forced yet").isEmpty();
        message.state = InboundMessage.PROMISING;
        message.flags = 5;
        message.checksum = 77;
        bench.stream.isDirty = true;
        written();
        assertThat(message.promiseRound).isPositive();
        assertThat(bench.journal.isDurable(message.promiseRound)).isTrue();
        long round = message.promiseRound;
        int length = content().length;
        bench.stream.isDirty = true;
        written();
        assertThat(content().length - length).as("not again").isLessThan(60);
        for (int i = 0; i < 2; i++) {
            InboundMessage read = bench.read().messages().get(0);
            assertThat(read.state).isEqualTo(InboundMessage.PROMISING);
            assertThat(read.flags).isEqualTo(5);
            assertThat(read.promisedSum).isEqualTo(77);
            message.state = InboundMessage.RENAMING;
            bench.journal.rewriteSoon(bench.now);
            bench.journal(40);
        }
        assertThat(bench.journal.rewritesDone()).isEqualTo(3);
        assertThat(message.promiseRound).isEqualTo(round);
    }

    @Test
    void shouldKeepMessagesThatAStepHoldsWhenItIsWrittenAnew() {
        InboundMessage held = begun(bench.stream, 7, 1000);
        written();
        bench.stream.open.remove(7);
        held.state = InboundMessage.HELD;
        held.promiseRound = 1;
        bench.stream.delivered.add(held);
        bench.journal.rewriteSoon(bench.now);
        written();
        assertThat(bench.journal.rewritesDone()).isEqualTo(2);
        assertThat(bench.read().messages()).hasSize(1);
    }

    @Test
    void shouldForgetMessagesItHasToldOf() {
        InboundMessage message = begun(bench.stream, 7, 300);
        bench.journal.forget(bench.stream, message);
        assertThat(message.isJournaled).isFalse();
        written();
        assertThat(bench.read().messages()).hasSize(1);
        bench.stream.open.remove(7);
        bench.journal.forget(bench.stream, message);
        written();
        assertThat(bench.read().damage()).isEmpty();
        assertThat(bench.read().messages()).isEmpty();
    }

    @Test
    void shouldTellWhatWasDelivered() {
        written();
        bench.stream.neverAgain(7, 3);
        bench.stream.neverAgain(7, 4);
        bench.stream.neverAgain(9, 1);
        bench.stream.isDirty = true;
        written();
        for (int i = 0; i < 2; i++) {
            InboundStream read = bench.read().streams().get(0);
            assertThat(read.hasDelivered(7, 3)).isTrue();
            assertThat(read.hasDelivered(7, 4)).isTrue();
            assertThat(read.hasDelivered(7, 5)).isFalse();
            assertThat(read.hasDelivered(7, 2)).isFalse();
            assertThat(read.hasDelivered(9, 1)).isTrue();
            assertThat(read.hasDelivered(9, 2)).isFalse();
            assertThat(bench.stream.newsOf).isEmpty();
            bench.journal.rewriteSoon(bench.now);
            written();
        }
    }

    @Test
    void shouldTellOfGapsInWhatWasDelivered() {
        written();
        bench.stream.neverAgain(7, 3);
        bench.stream.isDirty = true;
        written();
        bench.stream.neverAgain(7, (1L << DeliveredNumbers.GENERATION_SHIFT) + 2);
        bench.stream.isDirty = true;
        written();
        for (int i = 0; i < 2; i++) {
            InboundStream read = bench.read().streams().get(0);
            assertThat(bench.read().damage()).isEmpty();
            assertThat(read.hasDelivered(7, 3)).isTrue();
            assertThat(read.hasDelivered(7, (1L << DeliveredNumbers.GENERATION_SHIFT) + 2))
                    .isTrue();
            assertThat(read.hasDelivered(7, (1L << DeliveredNumbers.GENERATION_SHIFT) + 1))
                    .isFalse();
            bench.journal.rewriteSoon(bench.now);
            written();
        }
    }

    @Test
    void shouldTellOfWhatWasDeliveredBehindLaterMessages() {
        written();
        bench.stream.neverAgain(7, 3);
        bench.stream.neverAgain(7, 5);
        bench.stream.isDirty = true;
        written();
        InboundMessage half = begun(bench.stream, 7, 1000);
        assertThat(half.sequence).isGreaterThan(5);
        bench.stream.neverAgain(7, half.sequence + 1);
        bench.stream.isDirty = true;
        written();
        assertThat(bench.read().messages()).as("its beginning is settled").hasSize(1);
        bench.stream.neverAgain(7, half.sequence);
        bench.stream.neverAgain(7, 4);
        bench.stream.isDirty = true;
        written();
        for (int i = 0; i < 2; i++) {
            InboundStream read = bench.read().streams().get(0);
            assertThat(bench.read().messages()).isEmpty();
            assertThat(LongStream.range(0, half.sequence + 3).filter(n -> read.hasDelivered(7, n)))
                    .containsExactly(3L, 4L, 5L, half.sequence, half.sequence + 1);
            bench.journal.rewriteSoon(bench.now);
            written();
        }
    }

    @Test
    void shouldNotTellAsDeliveredWhatAStepStillHolds() {
        written();
        InboundMessage held = begun(bench.stream, 7, 1000);
        held.state = InboundMessage.HELD;
        bench.stream.open.remove(7);
        bench.stream.neverAgain(7, 11);
        bench.stream.delivered(held);
        bench.stream.neverAgain(7, 13);
        bench.stream.isDirty = true;
        written();
        InboundStream read = bench.read().streams().get(0);
        assertThat(read.hasDelivered(7, 11)).isTrue();
        assertThat(read.hasDelivered(7, 12)).isFalse();
    }

    @Test
    void shouldTellOfStreamsThatEndedAndForgetDroppedOnes() {
        InboundStream unknown = bench.stream(new UUID(9, 9), 4);
        bench.journal.finished(unknown);
        bench.journal.drop(unknown);
        written();
        assertThat(bench.read().damage()).isEmpty();
        assertThat(bench.read().streams()).hasSize(2).noneMatch(s -> s.isFinished);
        bench.stream.isFinished = true;
        bench.journal.finished(bench.stream);
        written();
        assertThat(bench.read().streams()).first().matches(s -> s.isFinished);
        bench.journal.rewriteSoon(bench.now);
        written();
        assertThat(bench.read().streams()).first().matches(s -> s.isFinished);
        assertThat(bench.read().streams()).last().matches(s -> !s.isFinished);
        bench.streams.remove(unknown);
        bench.journal.drop(unknown);
        written();
        assertThat(bench.read().streams()).hasSize(1);
    }

    @Test
    void shouldTellOfProcesses() {
        RankEntry entry = new RankEntry(StoreFixture.JOB, 7, 3, 5, 2, RankEntry.LOST);
        bench.processes.add(entry);
        written();
        assertThat(bench.read().processes()).hasSize(1);
        RankEntry other = new RankEntry(StoreFixture.JOB, 8, 3, 6, 2, RankEntry.HERE);
        bench.journal.process(other);
        written();
        assertThat(bench.read().processes()).hasSize(2);
        RankEntry read =
                bench.read().processes().stream().filter(e -> e.clientId() == 8).findAny().get();
        assertThat(read.rank()).isEqualTo(6);
        assertThat(read.applicationId()).isEqualTo(3);
        assertThat(read.registration()).isEqualTo(2);
        assertThat(read.state()).isEqualTo(RankEntry.HERE);
    }

    @Test
    void shouldTryAgainLaterWhenItCannotBeWrittenAndSayItOnce() {
        bench.wire.disk.failures = 2;
        bench.wire.disk.failing = "state";
        bench.journal(5);
        assertThat(bench.wire.errors).hasSize(1);
        assertThat(bench.lastError())
                .startsWith("receiver's state cannot be written, so nothing is acknowledged: ")
                .contains("no space left");
        assertThat(bench.journal.nextDeadlineNs(bench.streams)).isEqualTo(bench.now + RETRY_NS);
        bench.now += RETRY_NS - 1;
        assertThat(bench.journal.doWork(bench.now, bench.streams)).isZero();
        assertThat(bench.journal.rewritesBegun()).isEqualTo(1);
        bench.now++;
        assertThat(bench.journal.doWork(bench.now, bench.streams)).isPositive();
        bench.journal(5);
        assertThat(bench.wire.errors).hasSize(1);
        bench.now += RETRY_NS;
        written();
        assertThat(bench.read().damage()).isEmpty();
        assertThat(bench.journal.rewritesDone()).isEqualTo(3);
        bench.wire.disk.failures = 1;
        bench.stream.isDirty = true;
        written();
        assertThat(bench.wire.errors).as("it was well in between").hasSize(2);
    }

    @Test
    void shouldTryAgainLaterWhenItCannotBeRenamed() {
        bench.wire.disk.renameFailures = 1;
        written();
        assertThat(bench.lastError()).contains("renaming " + NEXT + " failed");
        assertThat(bench.journal.rewritesDone()).isZero();
        bench.now += RETRY_NS;
        written();
        assertThat(bench.journal.rewritesDone()).isEqualTo(2);
    }

    @Test
    void shouldBeginNoRewriteWhileItsRenameIsOnItsWay() {
        bench.wire.disk.renameLooks = 40;
        until(() -> bench.wire.disk.content(NEXT) != null);
        bench.journal(8);
        bench.journal.rewriteSoon(bench.now);
        bench.journal(10);
        assertThat(bench.journal.rewritesBegun()).isEqualTo(1);
        bench.journal(200);
        assertThat(bench.journal.rewritesBegun()).isEqualTo(2);
    }

    @Test
    void shouldBeWrittenAnewWhenItHasGrown() {
        written();
        for (int i = 0; i < 50_000; i++) {
            bench.stream.neverAgain(i, 3);
        }
        long limit = (4 << 20) + 4L * content().length;
        int before = 0;
        for (int round = 0; round < 30 && bench.journal.rewritesBegun() == 1; round++) {
            assertThat(before).isLessThanOrEqualTo((int) limit);
            before = content().length;
            for (int i = 0; i < 50_000; i++) {
                bench.stream.newsOf.add(i);
            }
            bench.stream.isDirty = true;
            written();
        }
        assertThat(before).isGreaterThan((int) limit);
        assertThat(bench.journal.rewritesDone()).isEqualTo(2);
        assertThat(content().length).isLessThan(before);
    }

    @Test
    void shouldTryAgainLaterWhenItCannotBeOpened() {
        bench.wire.disk.capacity = 0;
        bench.journal(3);
        assertThat(bench.wire.errors).hasSize(1);
        assertThat(bench.journal.nextDeadlineNs(bench.streams)).isEqualTo(bench.now + RETRY_NS);
    }

    /** Each of its steps counts as work, so that the agent comes back at once. */
    @Test
    void shouldSayThatItWorkedUntilItWaits() {
        bench.wire.disk.renameLooks = 1;
        assertThat(bench.journal.doWork(bench.now, bench.streams)).isEqualTo(2);
        int worked = 0;
        for (int i = 0; i < 20; i++) {
            worked += bench.journal.doWork(bench.now, bench.streams);
        }
        assertThat(worked).as("forced, and renamed").isEqualTo(2);
        bench.stream.isDirty = true;
        assertThat(bench.journal.doWork(bench.now, bench.streams)).isEqualTo(2);
        bench.wire.disk.stateMax = 0;
        bench.journal(10);
        bench.stream.isDirty = true;
        assertThat(bench.journal.doWork(bench.now, bench.streams)).isEqualTo(1);
        assertThat(bench.journal.doWork(bench.now, bench.streams))
                .as("the writer is behind")
                .isZero();
    }

    @Test
    void shouldLeaveItsFileIfItIsNeeded() {
        written();
        bench.journal.close(true);
        assertThat(content()).isNotNull();
        bench.journal.close(false);
        assertThat(content()).isNull();
    }

    @Test
    void shouldLeaveNoHalfFile() {
        bench.wire.disk.isStuck = true;
        bench.journal(20);
        assertThat(bench.wire.disk.content(NEXT)).isNotNull();
        bench.journal.close(true);
        assertThat(bench.wire.disk.content(NEXT)).isNull();
        bench.wire.disk.isStuck = false;
        bench.beginJournal(false);
        bench.journal.close(false);
        assertThat(bench.wire.disk.names("state")).isEmpty();
        bench.beginJournal(false);
        bench.wire.disk.renameLooks = 1_000;
        bench.journal(30);
        bench.journal.close(false);
        assertThat(bench.wire.disk.names("state")).as("its rename was asked for").isEmpty();
    }
}
