package dev.verbena.dart.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.dart.AckMode;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartStepContext;
import dev.verbena.dart.DartWorld;
import dev.verbena.dart.Settings;
import dev.verbena.staging.Checksum;
import java.util.Set;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** Names, lengths, failures and leftovers of messages' files, on a disk in memory. */
class MessageFilesBoundsTest {
    private static final int LENGTH = 1000;

    private StoreFixture bench = new StoreFixture(c -> {});

    private static DartReceiver.Context handling(DartReceiver.Context context) {
        return context.handler(message -> {}).messageLengthMax(LENGTH);
    }

    private InboundMessage begun(long sequence) {
        InboundMessage message = StoreFixture.message(7, sequence, "n", LENGTH);
        bench.files.begin(message);
        return message;
    }

    private boolean append(InboundMessage message, int from, int length) {
        UnsafeBuffer all = DartWorld.bytes(LENGTH, 5);
        return bench.files.hasRoom(message, all, from, length);
    }

    private void put(String name, int length) {
        bench.wire.disk.put(name, DartWorld.bytes(length, 5).byteArray());
    }

    /** What an earlier receiver's journal tells of a message in this state. */
    private InboundMessage earlier(int state, long settled) {
        InboundMessage message = StoreFixture.message(7, 12, "n", LENGTH);
        message.state = state;
        message.fileName = "n";
        message.temporaryName = ".receiving-2-7-12-40";
        message.settledEnd = settled;
        message.isBegunSettled = settled > 0;
        return message;
    }

    @Test
    void shouldRefuseAFolderThatAnotherUses() {
        assertThatThrownBy(
                        () ->
                                new MessageFiles(
                                        Settings.of(
                                                new DartReceiver.Context()
                                                        .environment(bench.wire)
                                                        .directory("disk"))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("another receiver stores into disk");
        bench.files.close();
        assertThat(bench.wire.disk.names("")).isEmpty();
        assertThat(bench.store.tryLock(".receiving-lock", 0)).as("it was given back").isNotNull();
    }

    @Test
    void shouldNameFilesByMessageAndACount() {
        InboundMessage first = begun(12);
        assertThat(first.temporaryName).isEqualTo(".receiving-2-7-12-0");
        assertThat(begun(13).temporaryName).isEqualTo(".receiving-2-7-13-1");
        assertThat(first.fileName).isEqualTo("n");
        InboundMessage unnamed = StoreFixture.message(7, 12, "", LENGTH);
        assertThat(bench.files.plainName(unnamed)).isEqualTo("message-7-12");
        bench = new StoreFixture(Settings::namesOfClients);
        assertThat(bench.files.plainName(unnamed)).isEqualTo("client-7.message-12");
        assertThat(bench.files.plainName(first)).isEqualTo("client-7.n");
    }

    @Test
    void shouldRefuseATemporaryNameThatIsThere() {
        put(".receiving-2-7-12-0", 1);
        assertThatThrownBy(() -> begun(12))
                .isInstanceOf(DartException.class)
                .hasMessageContaining("is there already");
    }

    @Test
    void shouldDeleteItsOwnLeftoversOnlyAndUseNoNameOfThemAgain() {
        for (String name :
                new String[] {
                    ".receiving-2-7-12-40",
                    ".receiving-2-7-12-39",
                    ".receiving-2-7-12-x",
                    ".receiving-2-7-12-123456789012345678",
                    ".receiving-2-7-12-50",
                    "mine-99",
                    ReceiverJournal.NAME
                }) {
            put(name, 1);
        }
        bench.files.deleteLeftovers(Set.of(".receiving-2-7-12-50"));
        assertThat(bench.wire.disk.names(""))
                .containsExactlyInAnyOrder(
                        ".receiving-2-7-12-50", "mine-99", ReceiverJournal.NAME, ".receiving-lock");
        assertThat(begun(12).temporaryName).isEqualTo(".receiving-2-7-12-41");
        assertThat(begun(12).temporaryName).isEqualTo(".receiving-2-7-12-42");
    }

    @Test
    void shouldAppendWhatThereIsRoomForAndReportAFailure() {
        InboundMessage message = begun(12);
        assertThat(append(message, 0, 400)).isTrue();
        message.received = 400;
        assertThat(append(message, 400, 600)).isTrue();
        assertThat(append(message, 400, 600)).as("it has them already").isTrue();
        assertThat(bench.wire.disk.content(message.temporaryName))
                .isEqualTo(DartWorld.bytes(LENGTH, 5).byteArray());
        assertThat(bench.files.hasFailed(message)).isFalse();
        bench.wire.disk.capacity = 0;
        message.received = LENGTH;
        assertThatThrownBy(() -> append(message, 0, 10))
                .isInstanceOf(DartException.class)
                .hasMessageContaining("No space left");
        assertThat(bench.files.hasFailed(message)).isTrue();
        message.file = null;
        assertThat(bench.files.hasFailed(message)).isFalse();
        message.rename = bench.store.rename("none", "n");
        assertThat(bench.files.hasFailed(message)).as("not done yet").isFalse();
        while (!message.rename.isDone()) {
            assertThat(message.rename.error()).isEmpty();
        }
        assertThat(bench.files.hasFailed(message)).isTrue();
        InboundMessage other = StoreFixture.message(7, 13, "n", LENGTH);
        put("there", 1);
        other.rename = bench.store.rename("there", "n");
        while (!other.rename.isDone()) {
            assertThat(bench.files.hasFailed(other)).isFalse();
        }
        assertThat(bench.files.hasFailed(other)).isFalse();
    }

    @Test
    void shouldComeBackWhenTheWriterIsBehind() {
        InboundMessage message = StoreFixture.message(7, 12, "n", LENGTH);
        message.temporaryName = ".receiving-state-like";
        message.file = bench.store.create(message.temporaryName);
        bench.wire.disk.stateMax = 300;
        assertThat(append(message, 0, LENGTH)).as("piece after piece").isTrue();
        assertThat(bench.wire.disk.content(message.temporaryName))
                .isEqualTo(DartWorld.bytes(LENGTH, 5).byteArray());
        bench.wire.disk.stateMax = 0;
        message.received = LENGTH;
        assertThat(append(message, 0, 1)).isFalse();
    }

    @Test
    void shouldForceWhatHasArrived() {
        assertThat(bench.files.forceUnfinished(null)).isZero();
        InboundMessage message = begun(12);
        append(message, 0, 400);
        message.received = 400;
        assertThat(bench.files.isSafe(message)).isFalse();
        assertThat(bench.files.forceUnfinished(message)).isEqualTo(1);
        assertThat(message.forceAsked).isEqualTo(400);
        for (int i = 0; i < 5; i++) {
            message.file.forcedPosition();
        }
        assertThat(bench.files.isSafe(message)).isTrue();
        message.received = 401;
        assertThat(bench.files.isSafe(message)).isFalse();
        bench = new StoreFixture(c -> c.ack(AckMode.DELIVERED));
        assertThat(bench.files.isSafe(begun(12))).as("nobody wants it").isTrue();
    }

    @Test
    void shouldKnowWhatIsTooLongForMemory() {
        InboundMessage message = StoreFixture.message(7, 12, "n", LENGTH);
        InboundMessage longer = StoreFixture.message(7, 12, "n", LENGTH + 1);
        assertThat(bench.files.isTooLong(longer)).as("nobody needs it in memory").isFalse();
        bench = new StoreFixture(MessageFilesBoundsTest::handling);
        assertThat(bench.files.isTooLong(message)).isFalse();
        assertThat(bench.files.isTooLong(longer)).isTrue();
        bench =
                new StoreFixture(
                        c -> c.steps(new DartStepContext(step -> {})).messageLengthMax(LENGTH));
        assertThat(bench.files.isTooLong(longer)).isTrue();
    }

    @Test
    void shouldGoOnBehindWhatWasSettled() {
        put(".receiving-2-7-12-40", 500);
        InboundMessage message = earlier(InboundMessage.RECEIVING, 300);
        assertThat(bench.files.resume(message)).isEmpty();
        assertThat(message.received).isEqualTo(300);
        assertThat(message.position).isEqualTo(message.metadataLength + 300);
        assertThat(message.isJournaled).isTrue();
        assertThat(message.journaledEnd).isEqualTo(300);
        assertThat(message.isAside).isTrue();
        assertThat(bench.wire.disk.content(message.temporaryName)).hasSize(300);
        assertThat(begun(12).temporaryName).isEqualTo(".receiving-2-7-12-41");
        message = earlier(InboundMessage.RECEIVING, 301);
        assertThat(bench.files.resume(message))
                .isEqualTo("its file .receiving-2-7-12-40 is gone or too short");
        message = earlier(InboundMessage.RECEIVING, 0);
        message.temporaryName = ".receiving-2-7-12-60";
        assertThat(bench.files.resume(message)).as("nothing was settled").isEmpty();
        assertThat(message.journaledEnd).isEqualTo(-1);
        bench.wire.disk.unreadable = "40";
        message = earlier(InboundMessage.RECEIVING, 300);
        assertThat(bench.files.resume(message)).contains(".receiving-2-7-12-40");
    }

    @Test
    void shouldGoBackToWhatWasSettled() {
        InboundMessage message = begun(12);
        append(message, 0, 500);
        message.received = 500;
        message.settledEnd = 300;
        assertThat(bench.files.goBack(message)).isEmpty();
        assertThat(message.received).isEqualTo(300);
        assertThat(bench.wire.disk.content(message.temporaryName)).hasSize(300);
        message.settledEnd = 301;
        assertThat(bench.files.goBack(message)).contains("is gone or too short");
        bench.wire.disk.unreadable = "receiving";
        assertThat(bench.files.goBack(message)).isNotEmpty();
    }

    @Test
    void shouldReadAWholeMessageAgainForItsHandlerAndItsSum() {
        bench = new StoreFixture(MessageFilesBoundsTest::handling);
        put(".receiving-2-7-12-40", LENGTH);
        InboundMessage message = earlier(InboundMessage.PROMISING, 0);
        assertThat(bench.files.resume(message)).isEmpty();
        assertThat(message.state).isEqualTo(InboundMessage.PROMISING);
        assertThat(message.received).isEqualTo(LENGTH);
        assertThat(message.position).isEqualTo(message.metadataLength + LENGTH);
        assertThat(message.forceAsked).isEqualTo(LENGTH);
        UnsafeBuffer expected = DartWorld.bytes(LENGTH, 5);
        assertThat(message.length()).isEqualTo(LENGTH);
        for (int i = 0; i < LENGTH; i++) {
            assertThat(message.buffer().getByte(i)).isEqualTo(expected.getByte(i));
        }
        assertThat(message.crc.value()).isEqualTo(new Checksum().of(expected, 0, LENGTH));
    }

    @Test
    void shouldTakeAFinalFileOnlyIfItIsTheMessage() {
        put("n", LENGTH);
        InboundMessage message = earlier(InboundMessage.PROMISING, 0);
        message.isSumPromised = true;
        message.promisedSum = new Checksum().of(DartWorld.bytes(LENGTH, 5), 0, LENGTH);
        assertThat(bench.files.resume(message)).isEmpty();
        assertThat(message.state).isEqualTo(InboundMessage.RENAMED);
        InboundMessage other = earlier(InboundMessage.PROMISING, 0);
        other.isSumPromised = true;
        other.promisedSum = message.promisedSum + 1;
        assertThat(bench.files.resume(other))
                .isEqualTo("its file n has been taken away or replaced");
        put("n", LENGTH - 1);
        assertThat(bench.files.resume(earlier(InboundMessage.PROMISING, 0))).isNotEmpty();
        bench.store.delete("n");
        assertThat(bench.files.resume(earlier(InboundMessage.PROMISING, 0))).isNotEmpty();
    }

    @Test
    void shouldBringBackWhatWasPutAsidePieceByPiece() {
        bench = new StoreFixture(MessageFilesBoundsTest::handling);
        put(".receiving-2-7-12-40", 500);
        InboundMessage message = earlier(InboundMessage.RECEIVING, 500);
        bench.files.resume(message);
        UnsafeBuffer piece = new UnsafeBuffer(new byte[300]);
        var file = bench.store.read(message.temporaryName);
        bench.files.bringBack(message, file, piece);
        assertThat(message.broughtBack()).isEqualTo(300);
        assertThat(message.isAside).isTrue();
        assertThatThrownBy(() -> bench.files.bringBack(message, null, piece))
                .isInstanceOf(DartException.class)
                .hasMessageContaining("its file .receiving-2-7-12-40 is gone or too short");
        put("short", 499);
        assertThatThrownBy(() -> bench.files.bringBack(message, bench.store.read("short"), piece))
                .isInstanceOf(DartException.class);
        bench.files.bringBack(message, file, piece);
        assertThat(message.isAside).isFalse();
        UnsafeBuffer expected = DartWorld.bytes(500, 5);
        for (int i = 0; i < 500; i++) {
            assertThat(message.memory.getByte(message.metadataLength + i))
                    .isEqualTo(expected.getByte(i));
        }
    }

    @Test
    void shouldDenyAPromiseUntilTheJournalIsWrittenAnew() {
        InboundMessage free = begun(11);
        bench.files.discard(free);
        assertThat(free.file).isNull();
        assertThat(bench.wire.disk.content(free.temporaryName)).isNull();
        InboundMessage renamed = begun(11);
        renamed.promiseRound = 1;
        renamed.state = InboundMessage.RENAMED;
        bench.files.discard(renamed);
        assertThat(bench.wire.disk.content(renamed.temporaryName)).isNull();
        bench.journal(30);
        InboundMessage promised = begun(12);
        append(promised, 0, LENGTH);
        promised.promiseRound = 1;
        promised.state = InboundMessage.PROMISING;
        bench.files.discard(promised);
        assertThat(bench.wire.disk.content(promised.temporaryName)).isEmpty();
        assertThat(bench.files.deleteDenials()).isZero();
        assertThat(bench.wire.disk.content(promised.temporaryName)).isNotNull();
        bench.journal.rewriteSoon(bench.now);
        bench.journal(30);
        bench.files.denied("other");
        assertThat(bench.files.deleteDenials()).isEqualTo(1);
        assertThat(bench.wire.disk.content(promised.temporaryName)).isNull();
        assertThat(bench.files.deleteDenials()).as("the other is still promised").isZero();
        put("other", 1);
        bench.files.forgetDenials();
        assertThat(bench.wire.disk.content("other")).isNull();
        bench.journal.rewriteSoon(bench.now);
        bench.journal(30);
        assertThat(bench.files.deleteDenials()).isZero();
    }
}
