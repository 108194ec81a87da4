package dev.verbena.dart.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.DurableStore.ReadableFile;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.receiver.RankWatch;
import dev.verbena.staging.Checksum;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.stream.LongStream;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A receiver's state as it is read back, whole and damaged. */
@Timeout(60)
public class JournalReaderTest {
    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    private static final UUID JOB = new UUID(3, 4);

    public record Bytes(byte[] bytes) implements ReadableFile {
        @Override
        public long length() {
            return bytes.length;
        }

        @Override
        public int read(long position, MutableDirectBuffer buffer, int offset, int length) {
            int n = (int) Math.min(length, bytes.length - position);
            buffer.putBytes(offset, bytes, (int) position, n);
            return n;
        }

        @Override
        public void close() {
            // Nothing to close.
        }
    }

    public static byte[] journal() {
        ExpandableArrayBuffer buffer = new ExpandableArrayBuffer();
        JournalRecord record = new JournalRecord(buffer);
        UnsafeBuffer block = new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX]);
        int length = new DartMetadata().name("n").payload(5000, false, 0).encode(block, 0);
        int end =
                record.begin(0, JournalRecord.HEADER)
                        .putInt(JournalRecord.MAGIC)
                        .putInt(JournalRecord.VERSION)
                        .end();
        end =
                record.begin(end, JournalRecord.STREAM)
                        .putInt(1)
                        .putJob(JOB)
                        .putInt(2)
                        .putLong(5)
                        .end();
        end =
                record.begin(end, JournalRecord.BEGIN)
                        .putInt(1)
                        .putInt(7)
                        .putLong(12)
                        .putInt(0)
                        .putInt(1)
                        .putText(".receiving-2-7-12-0")
                        .putText("n")
                        .putBytes(block, length)
                        .end();
        end =
                record.begin(end, JournalRecord.PROGRESS)
                        .putInt(1)
                        .putInt(7)
                        .putLong(12)
                        .putLong(4000)
                        .end();
        for (int[] range : new int[][] {{3, 5}, {7, 8}}) {
            end =
                    record.begin(end, JournalRecord.RANGE)
                            .putInt(1)
                            .putInt(7)
                            .putLong(range[0])
                            .putLong(range[1])
                            .end();
        }
        for (int state = 0; state < 3; state++) {
            end =
                    record.begin(end, JournalRecord.PROCESS)
                            .putInt(state)
                            .putJob(JOB)
                            .putInt(7 + state % 2)
                            .putInt(0)
                            .putInt(4)
                            .putInt(state)
                            .end();
        }
        end =
                record.begin(end, JournalRecord.SETTLED)
                        .putInt(1)
                        .putLong(9)
                        .putInt(1)
                        .putInt(7)
                        .putLong(11)
                        .end();
        return Arrays.copyOf(buffer.byteArray(), end);
    }

    @Test
    @Tag("dart-D37")
    void shouldReadWhatWasWritten() {
        JournalReader reader = new JournalReader();
        reader.read(new Bytes(journal()));
        assertThat(reader.damage()).isEmpty();
        InboundStream stream = reader.streams().get(0);
        assertThat(stream.job).isEqualTo(JOB);
        assertThat(stream.acknowledgedNext()).isEqualTo(9);
        assertThat(stream.isDelivered(7, 11)).isTrue();
        assertThat(stream.isDelivered(7, 12)).isFalse();
        // What came over this stream, and what may still come over another.
        assertThat(LongStream.range(0, 14).filter(n -> stream.hasDelivered(7, n)))
                .containsExactly(3L, 4L, 5L, 7L, 8L, 9L, 10L, 11L);
        // The last word about each process, in the order in which it was said.
        assertThat(reader.processes())
                .extracting(process -> process.clientId() + " " + process.state())
                .containsExactly("8 1", "7 2");
        assertThat(reader.processes()).allMatch(process -> process.rank() == 4);
        assertThat(reader.messages()).hasSize(1);
        assertThat(reader.messages().get(0).settledEnd).isEqualTo(4000);
    }

    /** A long journal also has what the receiver that wrote it had forgotten. */
    @Test
    void shouldForgetTheOldestProcessesAndReadOn() {
        int count = 3 * RankWatch.ENTRIES_MAX;
        byte[] start = journal();
        ExpandableArrayBuffer buffer = new ExpandableArrayBuffer();
        buffer.putBytes(0, start);
        JournalRecord record = new JournalRecord(buffer);
        int end = start.length;
        for (int i = 0; i < count; i++) {
            boolean isLost = i < 10;
            end =
                    record.begin(end, JournalRecord.PROCESS)
                            .putInt(isLost ? RankEntry.LOST : RankEntry.HERE)
                            .putJob(JOB)
                            .putInt(1000 + i)
                            .putInt(0)
                            .putInt(i)
                            .putInt(1)
                            .end();
        }
        end = record.begin(end, JournalRecord.FINISHED).putInt(1).end();
        JournalReader reader = new JournalReader();
        reader.read(new Bytes(Arrays.copyOf(buffer.byteArray(), end)));
        assertThat(reader.damage()).isEmpty();
        assertThat(reader.streams().get(0).isFinished).isTrue();
        assertThat(reader.processes()).hasSize(RankWatch.ENTRIES_MAX);
        assertThat(reader.forgottenCount()).isZero();
        assertThat(reader.processes().stream().filter(p -> p.state() == RankEntry.LOST))
                .extracting(process -> process.rank())
                .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        assertThat(reader.processes()).anyMatch(process -> process.rank() == count - 1);
    }

    @Test
    void shouldStopAtTheFirstRecordThatIsNotWhole() {
        byte[] whole = journal();
        for (int length = 0; length < whole.length; length++) {
            JournalReader reader = new JournalReader();
            reader.read(new Bytes(Arrays.copyOf(whole, length)));
            assertThat(reader.streams().size()).isLessThanOrEqualTo(1);
        }
    }

    @Test
    @Tag("seeded")
    void shouldSurviveHostileBytes() {
        long seed = Long.getLong("verbena.seed", 85);
        SplittableRandom random = new SplittableRandom(seed);
        Checksum crc = new Checksum();
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = journal();
            UnsafeBuffer buffer = new UnsafeBuffer(bytes);
            for (int i = random.nextInt(4); i >= 0; i--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            // Half of them with right checksums, so that what is behind them is tried.
            for (int at = 0; round % 2 == 0 && bytes.length - at >= 8; ) {
                int body = buffer.getInt(at, java.nio.ByteOrder.LITTLE_ENDIAN);
                if (body < 0 || body > bytes.length - at - 8) {
                    break;
                }
                buffer.putInt(
                        at + 4, crc.of(buffer, at + 8, body), java.nio.ByteOrder.LITTLE_ENDIAN);
                at += 8 + body;
            }
            JournalReader reader = new JournalReader();
            try {
                reader.read(new Bytes(bytes));
                reader.streams();
                reader.messages();
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + seed + ", round " + round, e);
            }
        }
    }
}
