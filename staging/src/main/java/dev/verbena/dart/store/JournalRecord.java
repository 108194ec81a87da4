package dev.verbena.dart.store;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.staging.Checksum;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;

/**
 * Records of a receiver's journal, little-endian, one after the other. Every record: {@code 0:4}
 * length of its body, {@code 4:4} CRC-32C of the body, then the body, which begins with its type.
 *
 * <pre>
 * HEADER    0:4 type 1   4:4 magic 0x4C4E4A56   8:4 version (1)
 * STREAM    0:4 type 2   4:4 index   8:16 job   24:4 server id   28:8 next frame
 * SETTLED   0:4 type 3   4:4 index   8:8 next frame   16:4 n   20: n times (4 client, 8 delivered up to)
 * BEGIN     0:4 type 4   4:4 index   8:4 client   12:8 message   20:4 tag   24:4 flags
 *           28:2 length and temporary name, 2 length and final name, 2 length and metadata block
 * PROGRESS  0:4 type 5   4:4 index   8:4 client   12:8 message   20:8 payload bytes settled
 * STORE     0:4 type 6   4:4 index   8:4 client   12:8 message   20:4 flags   24:4 CRC-32C of the payload
 * FORGET    0:4 type 7   4:4 index   8:4 client   12:8 message
 * FINISHED  0:4 type 8   4:4 index
 * DROP      0:4 type 9   4:4 index
 * RANGE     0:4 type 10  4:4 index   8:4 client   12:8 first message   20:8 last message delivered
 * PROCESS   0:4 type 11  4:4 state   8:16 job   24:4 client   28:4 application   32:4 rank   36:4 registrations
 * </pre>
 *
 * Writes at the end of a growing buffer. One thread.
 */
public final class JournalRecord {
    public static final int HEAD_LENGTH = 8;
    static final int BODY_MAX = 4 * 1024 * 1024;
    public static final int MAGIC = 0x4C4E4A56;
    public static final int VERSION = 1;

    public static final int HEADER = 1;
    public static final int STREAM = 2;
    static final int SETTLED = 3;
    static final int BEGIN = 4;
    static final int PROGRESS = 5;
    static final int STORE = 6;
    static final int FORGET = 7;
    static final int FINISHED = 8;
    static final int DROP = 9;
    static final int RANGE = 10;
    static final int PROCESS = 11;

    /** Most clients of which one SETTLED record speaks. */
    static final int CLIENTS_MAX = 65_536;

    private final ExpandableArrayBuffer buffer;
    private final Checksum crc = new Checksum();
    private int start;
    private int at;

    public JournalRecord(ExpandableArrayBuffer buffer) {
        this.buffer = buffer;
    }

    /** Begins a record at the end {@code length} of what is in the buffer. */
    public JournalRecord begin(int length, int type) {
        start = length;
        at = length + HEAD_LENGTH;
        return putInt(type);
    }

    public JournalRecord putInt(int value) {
        buffer.putInt(at, value, LITTLE_ENDIAN);
        at += 4;
        return this;
    }

    public JournalRecord putLong(long value) {
        buffer.putLong(at, value, LITTLE_ENDIAN);
        at += 8;
        return this;
    }

    public JournalRecord putJob(UUID job) {
        return putLong(job.getMostSignificantBits()).putLong(job.getLeastSignificantBits());
    }

    JournalRecord putText(String text) {
        byte[] bytes = text.getBytes(UTF_8);
        buffer.putShort(at, (short) bytes.length, LITTLE_ENDIAN);
        buffer.putBytes(at + 2, bytes);
        at += 2 + bytes.length;
        return this;
    }

    JournalRecord putBytes(DirectBuffer from, int length) {
        buffer.putShort(at, (short) length, LITTLE_ENDIAN);
        buffer.putBytes(at + 2, from, 0, length);
        at += 2 + length;
        return this;
    }

    /** Completes the record; the new end. */
    public int end() {
        int body = at - start - HEAD_LENGTH;
        buffer.putInt(start, body, LITTLE_ENDIAN);
        buffer.putInt(start + 4, crc.of(buffer, start + HEAD_LENGTH, body), LITTLE_ENDIAN);
        return at;
    }

    /** Text that begins at {@code at}, with its length before it; null if it does not fit. */
    static String text(DirectBuffer body, int at, int end) {
        if (end - at < 2) {
            return null;
        }
        int length = body.getShort(at, LITTLE_ENDIAN) & 0xFFFF;
        return length > end - at - 2 ? null : body.getStringWithoutLengthUtf8(at + 2, length);
    }

    /** Bytes that a {@link #text} takes in the record. */
    static int textLength(DirectBuffer body, int at) {
        return 2 + (body.getShort(at, LITTLE_ENDIAN) & 0xFFFF);
    }
}
