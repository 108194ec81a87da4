package dev.verbena.dart.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.RegisterFlyweight;
import dev.verbena.staging.Checksum;
import java.util.Arrays;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every bound of a receiver's journal: the last value that is taken, and the first that is not. */
@Timeout(60)
class JournalRefusalTest {
    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    private static final UUID JOB = new UUID(0x1111_2222_3333_4444L, 0x5555_6666_7777_8888L);
    private static final int PAYLOAD = 5000;
    private static final long NEXT_MAX = FrameFlyweight.NUMBER_MAX + 1;
    private static final String TEMPORARY = ".receiving-2-7-12-0";

    private static WrittenJournal empty() {
        return new WrittenJournal()
                .add(JournalRecord.HEADER, JournalRecord.MAGIC, JournalRecord.VERSION);
    }

    /** With stream 1 of server 2, whose next frame is 5. */
    private static WrittenJournal streams() {
        return empty().add(JournalRecord.STREAM, 1, JOB, 2, 5L);
    }

    private static byte[] block() {
        UnsafeBuffer block = new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX]);
        int length = new DartMetadata().name("n").payload(PAYLOAD, false, 0).encode(block, 0);
        return Arrays.copyOf(block.byteArray(), length);
    }

    private static Object[] begin(long message, String temporaryName, String name, byte[] block) {
        return new Object[] {1, 7, message, 33, 44, temporaryName, name, block};
    }

    /** With message 12 of client 7, begun. */
    private static WrittenJournal messages() {
        return streams().add(JournalRecord.BEGIN, begin(12, TEMPORARY, "n", block()));
    }

    private static String damage(byte[] bytes) {
        JournalReader reader = new JournalReader();
        reader.read(new JournalReaderTest.Bytes(bytes));
        return reader.damage();
    }

    @Test
    @Tag("dart-D37")
    void shouldSayWhereAFileIsCutShort() {
        WrittenJournal journal = streams();
        byte[] bytes = journal.bytes();
        int at = journal.lastAt;
        assertThat(damage(Arrays.copyOf(bytes, at))).isEmpty();
        assertThat(damage(Arrays.copyOf(bytes, at + JournalRecord.HEAD_LENGTH - 1)))
                .isEqualTo("ends within the head of a record at byte " + at);
        assertThat(damage(Arrays.copyOf(bytes, at + JournalRecord.HEAD_LENGTH)))
                .isEqualTo("record of 36 bytes at byte " + at);
        assertThat(damage(Arrays.copyOf(bytes, bytes.length - 1)))
                .isEqualTo("record of 36 bytes at byte " + at);
        assertThat(damage(bytes)).isEmpty();
    }

    @Test
    void shouldSayWhichChecksumIsWrong() {
        WrittenJournal journal = streams();
        byte[] bytes = journal.bytes();
        bytes[bytes.length - 1]++;
        assertThat(damage(bytes))
                .isEqualTo("wrong checksum of the record at byte " + journal.lastAt);
        bytes[bytes.length - 1]--;
        bytes[journal.lastAt + 4]++;
        assertThat(damage(bytes))
                .isEqualTo("wrong checksum of the record at byte " + journal.lastAt);
    }

    @Test
    void shouldRefuseRecordsThatAreTooShortOrTooLong() {
        assertThat(empty().add(JournalRecord.FINISHED).read().damage())
                .isEqualTo("record of 4 bytes at byte 20");
        byte[] bytes = streams().add(JournalRecord.FINISHED, 1).bytes();
        UnsafeBuffer buffer = new UnsafeBuffer(bytes);
        int at = bytes.length - 8 - JournalRecord.HEAD_LENGTH;
        for (int length : new int[] {7, 0, -1, Integer.MIN_VALUE, 9, Integer.MAX_VALUE}) {
            buffer.putInt(at, length, java.nio.ByteOrder.LITTLE_ENDIAN);
            assertThat(damage(bytes)).isEqualTo("record of " + length + " bytes at byte " + at);
        }
        assertThat(ofLength(JournalRecord.BODY_MAX)).contains("makes no sense");
        assertThat(ofLength(JournalRecord.BODY_MAX + 1)).startsWith("record of 4194305 bytes");
    }

    private static String ofLength(int bodyLength) {
        WrittenJournal journal = streams();
        UnsafeBuffer body = new UnsafeBuffer(new byte[bodyLength]);
        body.putInt(0, 99, java.nio.ByteOrder.LITTLE_ENDIAN);
        int at = journal.end;
        journal.buffer.putInt(at, bodyLength, java.nio.ByteOrder.LITTLE_ENDIAN);
        int crc = new Checksum().of(body, 0, bodyLength);
        journal.buffer.putInt(at + 4, crc, java.nio.ByteOrder.LITTLE_ENDIAN);
        journal.buffer.putBytes(at + JournalRecord.HEAD_LENGTH, body, 0, bodyLength);
        journal.end = at + JournalRecord.HEAD_LENGTH + bodyLength;
        return journal.read().damage();
    }

    @Test
    void shouldTakeNoOtherHeader() {
        int magic = JournalRecord.MAGIC;
        empty().taken();
        new WrittenJournal().add(JournalRecord.HEADER, magic + 1, JournalRecord.VERSION).refused();
        new WrittenJournal().add(JournalRecord.HEADER, magic, JournalRecord.VERSION + 1).refused();
        new WrittenJournal().add(JournalRecord.HEADER, magic, JournalRecord.VERSION, 0).refused();
        new WrittenJournal().add(JournalRecord.STREAM, 1, JOB, 2, 5L).refused();
        empty().add(JournalRecord.HEADER, magic, JournalRecord.VERSION).refused();
    }

    @Test
    void shouldTakeNoRecordOfAStreamThatWasNotBegun() {
        streams().add(JournalRecord.FINISHED, 2).refused();
        streams().add(JournalRecord.FINISHED, 1).taken();
        streams().add(99, 1).refused();
    }

    @Test
    @Tag("dart-D37")
    void shouldTakeStreamsWithinTheirBounds() {
        InboundStream stream = streams().taken().streams().get(0);
        assertThat(stream.job).isEqualTo(JOB);
        assertThat(stream.serverId).isEqualTo(2);
        assertThat(stream.settledNext()).isEqualTo(5);
        assertThat(stream.acknowledgedNext()).isEqualTo(5);
        assertThat(stream.journalIndex).isZero();
        assertThat(stream.isFinished).isFalse();
        empty().add(JournalRecord.STREAM, 1, JOB, 0, 1L).taken();
        empty().add(JournalRecord.STREAM, 1, JOB, 2, NEXT_MAX).taken();
        empty().add(JournalRecord.STREAM, 0, JOB, 2, 5L).refused();
        empty().add(JournalRecord.STREAM, 1, JOB, -1, 5L).refused();
        empty().add(JournalRecord.STREAM, 1, JOB, 2, 0L).refused();
        empty().add(JournalRecord.STREAM, 1, JOB, 2, NEXT_MAX + 1).refused();
        empty().add(JournalRecord.STREAM, 1, JOB, 2, 5L, 0).refused();
        streams().add(JournalRecord.STREAM, 1, JOB, 3, 5L).refused();
    }

    @Test
    void shouldTakeNoMoreStreamsThanAReceiverHas() {
        WrittenJournal journal = empty();
        for (int i = 1; i <= 4096; i++) {
            journal.add(JournalRecord.STREAM, i, JOB, i, 1L);
        }
        assertThat(journal.taken().streams()).hasSize(4096);
        journal.add(JournalRecord.STREAM, 4097, JOB, 4097, 1L);
        assertThat(journal.refused().streams()).hasSize(4096);
    }

    @Test
    void shouldListStreamsInTheOrderOfTheirIndexes() {
        WrittenJournal journal = empty();
        for (int index : new int[] {70, 3, 900, 5}) {
            journal.add(JournalRecord.STREAM, index, JOB, index, 1L);
        }
        assertThat(journal.taken().streams())
                .extracting(s -> s.serverId)
                .containsExactly(3, 5, 70, 900);
    }

    @Test
    void shouldDropAndFinishStreams() {
        assertThat(streams().add(JournalRecord.DROP, 1).taken().streams()).isEmpty();
        streams().add(JournalRecord.DROP, 1, 0).refused();
        assertThat(streams().add(JournalRecord.FINISHED, 1).taken().streams().get(0).isFinished)
                .isTrue();
        streams().add(JournalRecord.FINISHED, 1, 0).refused();
        assertThat(messages().add(JournalRecord.PROGRESS, 1, 7, 12L, 1L).taken().messages())
                .hasSize(1);
        assertThat(
                        messages()
                                .add(JournalRecord.PROGRESS, 1, 7, 12L, 1L)
                                .add(JournalRecord.DROP, 1)
                                .taken()
                                .messages())
                .as("messages of a stream that is gone")
                .isEmpty();
    }

    @Test
    @Tag("dart-D37")
    void shouldTakeSettledFramesWithinTheirBounds() {
        InboundStream stream =
                streams()
                        .add(JournalRecord.SETTLED, 1, 9L, 2, 7, 11L, 8, 0L)
                        .taken()
                        .streams()
                        .get(0);
        assertThat(stream.settledNext()).isEqualTo(9);
        assertThat(stream.isDelivered(7, 11)).isTrue();
        assertThat(stream.isDelivered(7, 12)).isFalse();
        assertThat(stream.isDelivered(8, 1)).isFalse();
        assertThat(stream.newsOf).isEmpty();
        streams().add(JournalRecord.SETTLED, 1, 5L, 0).taken();
        streams().add(JournalRecord.SETTLED, 1, NEXT_MAX, 0).taken();
        streams().add(JournalRecord.SETTLED, 1, 4L, 0).refused();
        streams().add(JournalRecord.SETTLED, 1, NEXT_MAX + 1, 0).refused();
        streams().add(JournalRecord.SETTLED, 1, 9L).refused();
        streams().add(JournalRecord.SETTLED, 1, 9L, -1).refused();
        streams().add(JournalRecord.SETTLED, 1, 9L, 1).refused();
        streams().add(JournalRecord.SETTLED, 1, 9L, 0, 7, 11L).refused();
        streams().add(JournalRecord.SETTLED, 1, 9L, 1, 7, -1L).refused();
    }

    private static Object[] settled(int clients) {
        Object[] fields = new Object[3 + 2 * clients];
        fields[0] = 1;
        fields[1] = 9L;
        fields[2] = clients;
        for (int i = 0; i < clients; i++) {
            fields[3 + 2 * i] = i;
            fields[4 + 2 * i] = 1L + i;
        }
        return fields;
    }

    @Test
    void shouldTakeNoMoreClientsThanAStreamHas() {
        int most = JournalRecord.CLIENTS_MAX;
        WrittenJournal journal = streams().add(JournalRecord.SETTLED, settled(most));
        InboundStream stream = journal.taken().streams().get(0);
        assertThat(stream.isDelivered(most - 1, most)).isTrue();
        assertThat(stream.isDelivered(most - 1, most + 1)).isFalse();
        streams().add(JournalRecord.SETTLED, settled(most + 1)).refused();
        journal.add(JournalRecord.RANGE, 1, 3, 50L, 60L).taken();
        journal.add(JournalRecord.RANGE, 1, most, 50L, 60L).refused();
        journal = streams().add(JournalRecord.SETTLED, settled(most));
        journal.add(JournalRecord.SETTLED, 1, 9L, 1, 3, 70L).taken();
        journal.add(JournalRecord.SETTLED, 1, 9L, 1, 3, -1L).refused();
        journal = streams().add(JournalRecord.SETTLED, settled(most));
        journal.add(JournalRecord.SETTLED, 1, 9L, 1, most, 1L).refused();
    }

    /** All whose messages are here must fit once these are delivered. */
    @Test
    void shouldHaveRoomForNoMoreClientsThanTheJournalTakes() {
        InboundStream stream = new InboundStream(JOB, 2, true);
        for (int client = 0; client < JournalRecord.CLIENTS_MAX - 2; client++) {
            stream.neverAgain(client, 1);
        }
        assertThat(stream.hasRoomFor(-1)).isTrue();
        stream.open.put(-1, new InboundMessage());
        assertThat(stream.hasRoomFor(-2)).isTrue();
        stream.storing(new InboundMessage());
        assertThat(stream.hasRoomFor(-3)).isFalse();
        assertThat(stream.hasRoomFor(7)).as("it is known").isTrue();
    }

    @Test
    void shouldTakeRangesWithinTheirBounds() {
        InboundStream stream =
                streams().add(JournalRecord.RANGE, 1, 7, 3L, 5L).taken().streams().get(0);
        assertThat(stream.hasDelivered(7, 2)).isFalse();
        assertThat(stream.hasDelivered(7, 3)).isTrue();
        assertThat(stream.hasDelivered(7, 5)).isTrue();
        assertThat(stream.hasDelivered(7, 6)).isFalse();
        streams().add(JournalRecord.RANGE, 1, 7, 1L, 1L).taken();
        streams().add(JournalRecord.RANGE, 1, 7, 0L, 1L).refused();
        streams().add(JournalRecord.RANGE, 1, 7, 3L, 2L).refused();
        streams().add(JournalRecord.RANGE, 1, 7, 3L, 5L, 0).refused();
    }

    private static WrittenJournal process(int state, int application, int rank, int registration) {
        return empty().add(JournalRecord.PROCESS, state, JOB, 7, application, rank, registration);
    }

    @Test
    void shouldTakeProcessesWithinTheirBounds() {
        RankEntry entry = process(RankEntry.TOLD, 3, 4, 5).taken().processes().get(0);
        assertThat(entry.job()).isEqualTo(JOB);
        assertThat(entry.clientId()).isEqualTo(7);
        assertThat(entry.applicationId()).isEqualTo(3);
        assertThat(entry.rank()).isEqualTo(4);
        assertThat(entry.registration()).isEqualTo(5);
        assertThat(entry.state()).isEqualTo(RankEntry.TOLD);
        process(RankEntry.LOST, 0, 0, 0).taken();
        process(RankEntry.HERE, RegisterFlyweight.APPLICATION_MAX, 0, 0).taken();
        process(RankEntry.LOST - 1, 0, 0, 0).refused();
        process(RankEntry.HERE + 1, 0, 0, 0).refused();
        process(RankEntry.HERE, RegisterFlyweight.APPLICATION_MAX + 1, 0, 0).refused();
        process(RankEntry.HERE, -1, 0, 0).refused();
        process(RankEntry.HERE, 0, -1, 0).refused();
        process(RankEntry.HERE, 0, 0, -1).refused();
        empty().add(JournalRecord.PROCESS, RankEntry.HERE, JOB, 7, 0, 0, 0, 0).refused();
    }

    private static WrittenJournal lost(int count, WrittenJournal journal) {
        for (int i = 0; i < count; i++) {
            journal.add(JournalRecord.PROCESS, RankEntry.LOST, JOB, i, 0, i, 1);
        }
        return journal;
    }

    @Test
    void shouldForgetOfUntoldProcessesOnlyThoseThatAreTooMany() {
        int most = JournalReader.PROCESSES_MAX;
        JournalReader reader = lost(most, empty()).taken();
        assertThat(reader.processes()).hasSize(most);
        assertThat(reader.forgottenCount()).isZero();
        reader = lost(most + 2, empty()).taken();
        assertThat(reader.processes()).hasSize(most);
        assertThat(reader.forgottenCount()).isEqualTo(2);
        assertThat(reader.processes().get(0).rank()).isEqualTo(2);
        // One of whom somebody was told is forgotten first, and not counted.
        WrittenJournal told = empty();
        told.add(JournalRecord.PROCESS, RankEntry.TOLD, JOB, -5, 0, 9, 1);
        reader = lost(most, told).taken();
        assertThat(reader.processes()).hasSize(most);
        assertThat(reader.forgottenCount()).isZero();
        assertThat(reader.processes().get(0).rank()).isZero();
    }

    @Test
    void shouldTakeTheLastWordAboutAProcess() {
        WrittenJournal journal = empty();
        for (int state : new int[] {RankEntry.HERE, RankEntry.LOST}) {
            journal.add(JournalRecord.PROCESS, state, JOB, 7, 0, 4, 1);
        }
        assertThat(journal.taken().processes())
                .extracting(p -> p.state())
                .containsExactly(RankEntry.LOST);
        journal.add(JournalRecord.PROCESS, RankEntry.HERE, JOB, 7, 0, 4, 2);
        assertThat(journal.taken().processes())
                .extracting(p -> p.registration())
                .containsExactly(2);
        journal.add(JournalRecord.PROCESS, RankEntry.HERE, new UUID(0, 1), 7, 0, 4, 3);
        assertThat(journal.taken().processes()).hasSize(2);
    }

    private static JournalReader promised(WrittenJournal journal) {
        return journal.add(JournalRecord.STORE, 1, 7, 12L, 45).taken();
    }

    @Test
    @Tag("dart-D37")
    void shouldReadWhatIsKnownOfAMessage() {
        WrittenJournal journal = messages();
        assertThat(journal.taken().messages()).as("nothing of it is settled").isEmpty();
        JournalReader reader = journal.add(JournalRecord.PROGRESS, 1, 7, 12L, 4000L).taken();
        InboundMessage message = reader.messages().get(0);
        assertThat(message.clientId).isEqualTo(7);
        assertThat(message.sequence).isEqualTo(12);
        assertThat(message.serverId).isEqualTo(2);
        assertThat(message.tag).isEqualTo(33);
        assertThat(message.flags).isEqualTo(44);
        assertThat(message.temporaryName).isEqualTo(TEMPORARY);
        assertThat(message.fileName).isEqualTo("n");
        assertThat(message.metadata.payloadLength()).isEqualTo(PAYLOAD);
        assertThat(message.settledEnd).isEqualTo(4000);
        assertThat(message.isBegunSettled).isTrue();
        assertThat(message.state).isEqualTo(InboundMessage.RECEIVING);
        assertThat(reader.streamOf(message)).isSameAs(reader.streams().get(0));
        journal.add(JournalRecord.SETTLED, 1, 9L, 1, 7, 12L);
        assertThat(journal.taken().messages()).as("it is delivered").isEmpty();
    }

    @Test
    void shouldTakeBeginningsWithinTheirBounds() {
        for (String temporary :
                new String[] {"receiving-2", "", ".receiving-/x", ".receiving-\n"}) {
            streams().add(JournalRecord.BEGIN, begin(12, temporary, "n", block())).refused();
        }
        for (String name :
                new String[] {
                    "", ".", "..", "a/b", "/a", "a\\b", "\\a", "a\u0001", "x".repeat(256)
                }) {
            streams().add(JournalRecord.BEGIN, begin(12, TEMPORARY, name, block())).refused();
        }
        for (String name : new String[] {"...", ".a", "x".repeat(255)}) {
            streams().add(JournalRecord.BEGIN, begin(12, TEMPORARY, name, block())).taken();
        }
        streams().add(JournalRecord.BEGIN, begin(0, TEMPORARY, "n", block())).refused();
        streams().add(JournalRecord.BEGIN, begin(1, TEMPORARY, "n", block())).taken();
        streams().add(JournalRecord.BEGIN, begin(12, TEMPORARY, "n", new byte[0])).refused();
        streams().add(JournalRecord.BEGIN, 1, 7, 12L, 33).refused();
        streams().add(JournalRecord.BEGIN, 1, 7, 12L, 33, 44).refused();
        streams().add(JournalRecord.BEGIN, 1, 7, 12L, 33, 44, TEMPORARY).refused();
        streams().add(JournalRecord.BEGIN, 1, 7, 12L, 33, 44, TEMPORARY, "n").refused();
    }

    /** Longer than a signed short: its length is not a negative one. */
    @Test
    void shouldReadLengthsWithoutASign() {
        UnsafeBuffer body = new UnsafeBuffer(new byte[70_000]);
        body.putShort(10, (short) 40_000, java.nio.ByteOrder.LITTLE_ENDIAN);
        assertThat(JournalRecord.textLength(body, 10)).isEqualTo(40_002);
        assertThat(JournalRecord.text(body, 10, 40_012)).hasSize(40_000);
        assertThat(JournalRecord.text(body, 10, 40_011)).isNull();
        assertThat(JournalRecord.text(body, 10, 11)).isNull();
        assertThat(JournalRecord.text(body, 100, 102)).isEmpty();
    }

    @Test
    void shouldTakeANewNameOfAMessageThatItKnows() {
        WrittenJournal journal = messages().add(JournalRecord.PROGRESS, 1, 7, 12L, 4000L);
        journal.add(JournalRecord.BEGIN, begin(12, TEMPORARY, "other", block()));
        InboundMessage message = journal.taken().messages().get(0);
        assertThat(message.fileName).isEqualTo("other");
        assertThat(message.settledEnd).isEqualTo(4000);
        // Begun once more, in another file: nothing that was known of it holds.
        journal.add(JournalRecord.BEGIN, begin(12, ".receiving-2-7-12-1", "n", block()));
        assertThat(journal.taken().messages()).isEmpty();
    }

    @Test
    void shouldTakeProgressWithinItsBounds() {
        for (long end : new long[] {0, PAYLOAD}) {
            WrittenJournal journal = messages().add(JournalRecord.PROGRESS, 1, 7, 12L, end);
            assertThat(journal.taken().messages().get(0).settledEnd).isEqualTo(end);
        }
        messages().add(JournalRecord.PROGRESS, 1, 7, 12L, -1L).refused();
        messages().add(JournalRecord.PROGRESS, 1, 7, 12L, PAYLOAD + 1L).refused();
        messages().add(JournalRecord.PROGRESS, 1, 7, 12L).refused();
        messages().add(JournalRecord.PROGRESS, 1, 7, 12L, 0L, 0).refused();
        messages().add(JournalRecord.PROGRESS, 1, 7, 13L, 0L).refused();
        messages().add(JournalRecord.PROGRESS, 1, 8, 12L, 0L).refused();
    }

    @Test
    @Tag("dart-D37")
    void shouldReadPromisesWithAndWithoutASum() {
        InboundMessage message = promised(messages()).messages().get(0);
        assertThat(message.state).isEqualTo(InboundMessage.PROMISING);
        assertThat(message.promiseRound).isEqualTo(ReceiverJournal.EARLIER);
        assertThat(message.flags).isEqualTo(45);
        assertThat(message.isSumPromised).isFalse();
        assertThat(message.promisedSum).isZero();
        WrittenJournal journal = messages().add(JournalRecord.STORE, 1, 7, 12L, 46, 0x7777);
        message = journal.taken().messages().get(0);
        assertThat(message.flags).isEqualTo(46);
        assertThat(message.isSumPromised).isTrue();
        assertThat(message.promisedSum).isEqualTo(0x7777);
        messages().add(JournalRecord.STORE, 1, 7, 12L).refused();
        messages().add(JournalRecord.STORE, 1, 7, 12L, 45, 0x7777, 0).refused();
    }

    @Test
    void shouldForgetAMessage() {
        WrittenJournal journal = messages().add(JournalRecord.PROGRESS, 1, 7, 12L, 0L);
        InboundMessage message = journal.taken().messages().get(0);
        journal.add(JournalRecord.FORGET, 1, 7, 12L);
        JournalReader reader = journal.taken();
        assertThat(reader.messages()).isEmpty();
        assertThat(reader.streamOf(message)).isNull();
        journal.add(JournalRecord.PROGRESS, 1, 7, 12L, 0L).refused();
        messages().add(JournalRecord.FORGET, 1, 7, 12L, 0).refused();
        WrittenJournal cut = messages().add(JournalRecord.PROGRESS, 1, 7, 12L, 0L);
        cut.add(JournalRecord.FORGET, 1, 7, 0);
        assertThat(cut.refused().messages()).as("a record cut short forgets nothing").hasSize(1);
    }
}
