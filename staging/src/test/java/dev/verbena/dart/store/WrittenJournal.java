package dev.verbena.dart.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.UUID;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** A journal under construction. */
final class WrittenJournal {
    final ExpandableArrayBuffer buffer = new ExpandableArrayBuffer();
    final JournalRecord record = new JournalRecord(buffer);
    int lastAt;
    int end;

    /** int, long, UUID, String (with its length before it), byte[] (likewise). */
    WrittenJournal add(int type, Object... fields) {
        lastAt = end;
        record.begin(end, type);
        for (Object field : fields) {
            if (field instanceof Integer number) {
                record.putInt(number);
            } else if (field instanceof Long number) {
                record.putLong(number);
            } else if (field instanceof UUID job) {
                record.putJob(job);
            } else if (field instanceof String text) {
                record.putText(text);
            } else {
                byte[] bytes = (byte[]) field;
                record.putBytes(new UnsafeBuffer(bytes), bytes.length);
            }
        }
        end = record.end();
        return this;
    }

    byte[] bytes() {
        return Arrays.copyOf(buffer.byteArray(), end);
    }

    JournalReader read() {
        JournalReader reader = new JournalReader();
        reader.read(new JournalReaderTest.Bytes(bytes()));
        return reader;
    }

    JournalReader taken() {
        JournalReader reader = read();
        assertThat(reader.damage()).isEmpty();
        return reader;
    }

    /** Its last record is refused, those before it are not. */
    JournalReader refused() {
        JournalReader reader = read();
        assertThat(reader.damage()).isEqualTo("record that makes no sense at byte " + lastAt);
        return reader;
    }
}
