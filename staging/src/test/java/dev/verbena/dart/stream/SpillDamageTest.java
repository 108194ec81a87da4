package dev.verbena.dart.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.DurableStore.ReadableFile;
import dev.verbena.dart.DartWorld;
import dev.verbena.dart.store.JournalReaderTest;
import dev.verbena.dart.wire.ClientNotice;
import dev.verbena.dart.wire.FrameFlyweight;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.MutableDirectBuffer;
import org.junit.jupiter.api.Test;

/** Which frames are found in a damaged file, and which messages are named. */
class SpillDamageTest {
    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    private final ExpandableArrayBuffer bytes = new ExpandableArrayBuffer();
    private final SpillDamage damage = new SpillDamage();
    private int end;

    private int frame(int type, int flags, int client, long message, int length) {
        int at = end;
        bytes.putBytes(at + FrameFlyweight.LENGTH, DartWorld.bytes(length, 1), 0, length);
        new FrameFlyweight()
                .begin(bytes, at, type)
                .flags(flags)
                .sequence(1)
                .message(client, message, 0, 0)
                .end(bytes, at + FrameFlyweight.LENGTH, length);
        end += FrameFlyweight.LENGTH + length;
        return at;
    }

    private int data(int client, long message, int length) {
        return frame(FrameFlyweight.DATA, 0, client, message, length);
    }

    private long look(long from, int length) {
        byte[] all = new byte[length];
        bytes.getBytes(0, all);
        return damage.look(new JournalReaderTest.Bytes(all), from);
    }

    @Test
    void shouldFindWholeFramesAndNameTheirMessages() {
        data(7, 12, 100);
        data(7, 12, 0);
        data(8, 1, 1);
        assertThat(look(0, end)).isEqualTo(3);
        assertThat(damage).hasToString("3 intact frames of message 12 of client 7, 1 of client 8");
        assertThat(damage.look(new JournalReaderTest.Bytes(new byte[0]), 0)).isZero();
        assertThat(damage).as("of several files").hasToString(damage.toString());
    }

    @Test
    void shouldCountOnlyWhatIsWhole() {
        int first = data(7, 12, 100);
        int last = data(7, 13, 0);
        assertThat(look(0, last - 1)).as("the payload is cut").isZero();
        assertThat(look(0, last)).isEqualTo(1);
        assertThat(look(0, end - 1)).as("the header is cut").isEqualTo(1);
        assertThat(look(0, end)).isEqualTo(2);
        assertThat(look(first + 1, end)).isEqualTo(1);
        assertThat(look(last + 1, end)).isZero();
        assertThat(look(end, end)).isZero();
    }

    @Test
    void shouldFindFramesWhereverTheyBegin() {
        for (int gap : new int[] {1, 2, 3, 4, 5, 47, 48, 49, 1000}) {
            end = gap;
            data(7, 12, 10);
            end += gap;
            data(7, 13, 10);
            assertThat(look(0, end)).as("gap of %d", gap).isEqualTo(2);
            bytes.setMemory(0, end, (byte) 0);
        }
    }

    /** It searches pieces of the longest frame. */
    @Test
    void shouldFindAFrameAtTheBorderOfTwoPieces() {
        int piece = FrameFlyweight.LENGTH + FrameFlyweight.PAYLOAD_MAX;
        for (int at = piece - 5; at < piece + 3; at++) {
            end = at;
            data(7, 12, 10);
            assertThat(look(0, end)).as("at %d", at).isEqualTo(1);
            bytes.setMemory(at, 100, (byte) 0);
        }
    }

    @Test
    void shouldPassOverWhatOnlyLooksLikeAFrame() {
        frame(FrameFlyweight.HEARTBEAT, 0, 7, 12, 0);
        int broken = data(7, 13, 20);
        bytes.putByte(end - 1, (byte) (bytes.getByte(end - 1) ^ 1));
        int wrong = data(7, 14, 20);
        bytes.putByte(wrong + 4, (byte) 9);
        data(7, 15, 20);
        assertThat(broken).isPositive();
        assertThat(look(0, end)).isEqualTo(1);
        assertThat(damage).hasToString("1 intact frames of message 15 of client 7");
    }

    @Test
    void shouldNotNameNoticesAsMessages() {
        frame(FrameFlyweight.DATA, FrameFlyweight.CLIENT_LOST, 7, 12, ClientNotice.LENGTH);
        assertThat(look(0, end)).isEqualTo(1);
        assertThat(damage).hasToString("no message can be told");
    }

    @Test
    void shouldNameFiftyMessagesAndSayThatThereAreMore() {
        for (int i = 1; i <= SpillDamage.NAMED_MAX; i++) {
            data(7, i, 0);
        }
        look(0, end);
        assertThat(damage.toString()).endsWith("50 of client 7").startsWith("50 intact");
        int from = data(7, 51, 0);
        data(7, 52, 0);
        look(from, end);
        assertThat(damage.toString()).endsWith(", 50 of client 7 and more").startsWith("52 intact");
    }

    @Test
    void shouldTellWhatItFoundBeforeTheDeviceFailed() {
        int first = data(7, 12, 10);
        data(7, 13, 10);
        byte[] all = new byte[end];
        bytes.getBytes(0, all);
        ReadableFile whole = new JournalReaderTest.Bytes(all);
        ReadableFile failing =
                new ReadableFile() {
                    @Override
                    public long length() {
                        return whole.length();
                    }

                    @Override
                    public int read(long at, MutableDirectBuffer to, int offset, int length) {
                        if (at > first) {
                            throw new UncheckedIOException(new IOException("says the test"));
                        }
                        return whole.read(at, to, offset, length);
                    }

                    @Override
                    public void close() {
                        // Nothing to close.
                    }
                };
        assertThat(damage.look(failing, 0)).isEqualTo(1);
        assertThat(damage).hasToString("1 intact frames of message 12 of client 7");
    }
}
