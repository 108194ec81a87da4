package dev.verbena.dart;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.dart.wire.ClientNotice;
import dev.verbena.dart.wire.ConnectNote;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.MetadataFlyweight;
import dev.verbena.dart.wire.PieceFlyweight;
import dev.verbena.dart.wire.RegisterFlyweight;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.staging.Checksum;
import java.net.URI;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Every bound of control records and notices: the last value that is taken on each side, and the
 * first that is MALFORMED.
 */
@Timeout(60)
class DecoderBoundsTest extends DecodedFields {
    private final ControlFlyweight control = new ControlFlyweight();

    // ---- control records

    private void control(int type, int available) {
        control.begin(buffer, AT, type, JOB);
        decoder =
                () -> {
                    int crc = new Checksum().of(buffer, AT, 124);
                    buffer.putInt(AT + 124, crc, LITTLE_ENDIAN);
                    control.wrap(buffer, AT, available);
                };
    }

    private void control(int type) {
        control(type, ControlFlyweight.LENGTH);
    }

    @Test
    void shouldBoundRegistrations() {
        for (int type : new int[] {ControlFlyweight.REGISTER, ControlFlyweight.FORWARD}) {
            control(type);
            control.registration().write(1, 4, 17, 2, URI.create("x".repeat(80)));
            bounds(24, 1, 1, type == ControlFlyweight.FORWARD ? 4 : 3);
            bounds(25, 1, 1, ControlFlyweight.URI_LENGTH_MAX);
            refused(25, 1, 255);
            bounds(26, 2, 0, ControlFlyweight.CREDITS_MAX);
            bounds(28, 4, 0, Integer.MAX_VALUE);
            bounds(32, 4, 0, RegisterFlyweight.APPLICATION_MAX);
            bounds(36, 4, 0, Integer.MAX_VALUE);
            bounds(120, 4, 0, ControlFlyweight.GENERATION_MAX);
            for (int at : new int[] {40, 119}) {
                bounds(at, 1, '!', '~');
                refused(at, 1, -1);
            }
        }
    }

    @Test
    void shouldBoundHeaders() {
        for (int length : new int[] {MetadataFlyweight.FIXED_LENGTH, 48}) {
            control(ControlFlyweight.HEADER, ControlFlyweight.LENGTH + length);
            control.header(7, 12, 3, 1000, ControlFlyweight.FLAG_CHECKSUM)
                    .headerData(77, length, 1);
            bounds(24, 4, 0, Integer.MAX_VALUE);
            bounds(32, 8, 1, MAX - 1);
            bounds(40, 8, 0, NUMBER_MAX);
            bounds(56, 4, length, length);
            bounds(60, 4, 0, Integer.MAX_VALUE);
            for (int flags : new int[] {0, 2, 4, 8, 14}) {
                taken(48, 4, flags);
            }
            for (int flags : new int[] {1, 16, -1}) {
                refused(48, 4, flags);
            }
        }
        control(ControlFlyweight.HEADER, ControlFlyweight.LENGTH + 39);
        control.header(7, 12, 3, 1000, 0).headerData(77, 39, 1);
        refused(56, 4, 39);
    }

    @Test
    void shouldBoundCommandsAndReplies() {
        for (int type : new int[] {ControlFlyweight.COMMAND, ControlFlyweight.REPLY}) {
            for (int length : new int[] {0, DartClient.COMMAND_LENGTH_MAX}) {
                control(type, ControlFlyweight.LENGTH + length);
                control.command(7, 12, 3, length);
                bounds(24, 4, 0, Integer.MAX_VALUE);
                bounds(32, 8, 1, MAX);
                bounds(56, 4, length, length);
            }
            int tooLong = DartClient.COMMAND_LENGTH_MAX + 1;
            control(type, ControlFlyweight.LENGTH + tooLong);
            control.command(7, 12, 3, tooLong);
            refused(56, 4, tooLong);
        }
    }

    @Test
    void shouldBoundOtherControlRecords() {
        control(ControlFlyweight.WELCOME);
        bounds(36, 4, 0, ControlFlyweight.CREDITS_MAX);
        bounds(56, 4, 0, ControlFlyweight.HEARTBEAT_MS_MAX);
        control(ControlFlyweight.DONE);
        control.done(7, 12, 1, 4, 1);
        bounds(40, 4, 1, 4);
        bounds(44, 4, 0, ControlFlyweight.CREDITS_MAX);
        bounds(32, 8, 0, MAX);
        control(ControlFlyweight.CREDIT);
        bounds(44, 4, 0, ControlFlyweight.CREDITS_MAX);
        bounds(32, 8, 0, MAX);
        control(ControlFlyweight.GOODBYE);
        bounds(32, 8, 0, MAX);
        for (int length : new int[] {0, ControlFlyweight.TEXT_LENGTH_MAX}) {
            control(ControlFlyweight.HEARTBEAT, ControlFlyweight.LENGTH + length);
            control.heartbeat(7).text(new byte[length]);
            bounds(24, 4, 0, Integer.MAX_VALUE);
            bounds(56, 4, length, length);
        }
        int tooLong = ControlFlyweight.TEXT_LENGTH_MAX + 1;
        control(ControlFlyweight.HEARTBEAT, ControlFlyweight.LENGTH + tooLong);
        control.heartbeat(7).text(new byte[tooLong]);
        refused(56, 4, tooLong);
        control(ControlFlyweight.RESUME);
        control.resume(7, 12, 13);
        bounds(32, 8, 1, MAX - 1);
        bounds(40, 8, 0, MAX);
        control(ControlFlyweight.SUSPEND);
        bounds(28, 4, 0, 1);
        control(ControlFlyweight.BARRIER);
        bounds(32, 8, 1, MAX);
        control(ControlFlyweight.INBOX);
        control.inbox(7, 4, 0, PieceFlyweight.HEADER_LENGTH);
        bounds(28, 4, 1, 1024);
        bounds(40, 4, PieceFlyweight.HEADER_LENGTH, PieceFlyweight.LENGTH_MAX);
        bounds(32, 8, -1, MAX / 2 - 1);
        control(ControlFlyweight.STOP);
        taken(28, 4, -1);
        refused(4, 2, 0);
        refused(4, 2, ControlFlyweight.BARRIER + 1);
        refused(4, 2, -1);
    }

    @Test
    void shouldTakeNoOtherFormOfControlRecords() {
        control(ControlFlyweight.STOP);
        bounds(0, 4, ControlFlyweight.MAGIC, ControlFlyweight.MAGIC);
        bounds(6, 2, ControlFlyweight.VERSION, ControlFlyweight.VERSION);
        control(ControlFlyweight.STOP, ControlFlyweight.LENGTH - 1);
        refused(28, 4, 0);
        control(ControlFlyweight.STOP);
        decoder.decode();
        decoder = () -> control.wrap(buffer, AT, ControlFlyweight.LENGTH);
        for (int offset : new int[] {8, 123, 124, 127}) {
            refused(offset, 1, buffer.getByte(AT + offset) + 1);
        }
    }

    @Test
    void shouldTakeDescriptorsThatHoldWhatIsAnnounced() {
        RemoteDescriptor read = new RemoteDescriptor();
        control(ControlFlyweight.HEADER);
        control.header(7, 12, 3, 1000, 0)
                .descriptor(new RemoteDescriptor().set(1, 1, 2, 3, 1000, 5, 6));
        decoder = () -> control.descriptorInto(read);
        bounds(40, 8, 0, 1000);
        refused(64, 1, 99);
        control(ControlFlyweight.INBOX);
        control.inbox(7, 4, 0, 250).descriptor(new RemoteDescriptor().set(1, 1, 2, 3, 1000, 5, 6));
        decoder = () -> control.descriptorInto(read);
        bounds(28, 4, 0, 4);
        bounds(40, 4, 0, 250);
        refused(64, 1, 99);
    }

    @Test
    void shouldReadTheFieldsOfControlRecords() {
        UUID other = new UUID(JOB.getMostSignificantBits(), 1);
        control.begin(buffer, AT, ControlFlyweight.WELCOME, JOB)
                .welcome(7, 8, 9, 10)
                .welcomeLimits(1L << 40, 1L << 41, AckMode.NONE)
                .heartbeatMs(11);
        assertThat(control.type()).isEqualTo(ControlFlyweight.WELCOME);
        assertThat(control.job()).isEqualTo(JOB);
        assertThat(control.isOfJob(JOB)).isTrue();
        assertThat(control.isOfJob(other)).isFalse();
        assertThat(control.isOfJob(new UUID(1, JOB.getLeastSignificantBits()))).isFalse();
        assertThat(control.clientId()).isEqualTo(7);
        assertThat(control.serverId()).isEqualTo(8);
        assertThat(control.welcomeResult()).isEqualTo(9);
        assertThat(control.welcomeCredits()).isEqualTo(10);
        assertThat(control.messageLengthMax()).isEqualTo(1L << 40);
        assertThat(control.nextSequence()).isEqualTo(1L << 41);
        assertThat(control.heartbeatMs()).isEqualTo(11);
        assertThat(control.copy().getInt(24, LITTLE_ENDIAN)).isEqualTo(7);
        control.begin(buffer, AT, ControlFlyweight.HEADER, JOB)
                .header(7, 1L << 42, 13, 1L << 43, 14)
                .headerData(15, 16, 17);
        assertThat(control.sequence()).isEqualTo(1L << 42);
        assertThat(control.tag()).isEqualTo(13);
        assertThat(control.length()).isEqualTo(1L << 43);
        assertThat(control.flags()).isEqualTo(14);
        assertThat(control.dataCrc()).isEqualTo(15);
        assertThat(control.metadataLength()).isEqualTo(16);
        assertThat(control.skipped()).isEqualTo(17);
        assertThat(control.skipped(18).skipped()).isEqualTo(18);
        control.begin(buffer, AT, ControlFlyweight.DONE, JOB).done(7, 1L << 44, 2, 3, 4);
        assertThat(control.clientId()).isEqualTo(7);
        assertThat(control.sequence()).isEqualTo(1L << 44);
        assertThat(control.state()).isEqualTo(2);
        assertThat(control.result()).isEqualTo(3);
        assertThat(control.credits()).isEqualTo(4);
        control.begin(buffer, AT, ControlFlyweight.CREDIT, JOB).credit(7, 1L << 45, 5);
        assertThat(control.result()).isEqualTo(ControlFlyweight.RESULT_OK);
        assertThat(control.credits()).isEqualTo(5);
        control.begin(buffer, AT, ControlFlyweight.RESUME, JOB).resume(7, 2, 1L << 46);
        assertThat(control.sequence()).isEqualTo(2);
        assertThat(control.epochMs()).isEqualTo(1L << 46);
        control.begin(buffer, AT, ControlFlyweight.SUSPEND, JOB).suspend(7, true);
        assertThat(control.result()).isEqualTo(1);
        assertThat(control.suspend(7, false).result()).isZero();
        assertThat(control.stop(true).result()).isEqualTo(1);
        assertThat(control.stop(false).result()).isZero();
        assertThat(control.heartbeat(9).clientId()).isEqualTo(9);
        control.begin(buffer, AT, ControlFlyweight.REPLY, JOB).reply(7, 1L << 47, 3, 19);
        assertThat(control.sequence()).isEqualTo(1L << 47);
        assertThat(control.result()).isEqualTo(3);
        assertThat(control.metadataLength()).isEqualTo(19);
        control.begin(buffer, AT, ControlFlyweight.INBOX, JOB).inbox(7, 20, 1L << 48, 21);
        assertThat(control.slotCount()).isEqualTo(20);
        assertThat(control.taken()).isEqualTo(1L << 48);
        assertThat(control.slotLength()).isEqualTo(21);
    }

    @Test
    void shouldReadTheFieldsOfRegistrations() {
        URI uri = URI.create("shm://job/name");
        control.begin(buffer, AT, ControlFlyweight.REGISTER, JOB)
                .registration()
                .write(2, 40_000, 17, 3, uri);
        RegisterFlyweight register = control.registration();
        assertThat(register.role()).isEqualTo(2);
        assertThat(register.creditsWanted()).isEqualTo(40_000);
        assertThat(register.rank()).isEqualTo(17);
        assertThat(register.applicationId()).isEqualTo(3);
        assertThat(register.uri()).isEqualTo(uri);
        assertThat(register.uriLength()).isEqualTo(uri.toString().length());
        assertThat(register.uriByte(0)).isEqualTo('s');
        assertThat(register.asForward(buffer, 512, 5, 6)).isSameAs(control);
        assertThat(control.offset()).isEqualTo(512);
        assertThat(control.type()).isEqualTo(ControlFlyweight.FORWARD);
        assertThat(register.assignedId()).isEqualTo(5);
        assertThat(register.generation()).isEqualTo(6);
        assertThat(register.uri()).isEqualTo(uri);
        buffer.putByte(512 + 40, (byte) '%');
        assertThatThrownBy(register::uri)
                .isInstanceOf(DartException.class)
                .hasMessageContaining("URI");
        URI longest = URI.create("x".repeat(ControlFlyweight.URI_LENGTH_MAX));
        assertThat(register.write(1, 1, 0, 0, longest)).isSameAs(control);
        assertThat(register.uri()).isEqualTo(longest);
        assertThatThrownBy(() -> register.write(1, 1, 0, 0, URI.create(longest + "x")))
                .hasMessageContaining("81 characters");
    }

    // ---- notes

    @Test
    void shouldBoundNoticesAboutClients() {
        order = BIG_ENDIAN;
        decoder = () -> ClientNotice.check(noticeAt(), ClientNotice.LENGTH);
        bounds(0, 4, 0, RegisterFlyweight.APPLICATION_MAX);
        bounds(4, 4, 0, Integer.MAX_VALUE);
        bounds(8, 4, 0, Integer.MAX_VALUE);
        decoder = () -> ClientNotice.check(noticeAt(), ClientNotice.LENGTH - 1);
        refused(0, 4, 0);
        decoder = () -> ClientNotice.check(noticeAt(), ClientNotice.LENGTH + 1);
        refused(0, 4, 0);
        put(0, 4, 11);
        put(4, 4, 12);
        put(8, 4, 13);
        assertThat(ClientNotice.applicationId(noticeAt())).isEqualTo(11);
        assertThat(ClientNotice.rank(noticeAt())).isEqualTo(12);
        assertThat(ClientNotice.registration(noticeAt())).isEqualTo(13);
    }

    private UnsafeBuffer noticeAt() {
        return new UnsafeBuffer(buffer, AT, ClientNotice.LENGTH);
    }

    @Test
    void shouldKnowTheJobOfAConnectNote() {
        UnsafeBuffer note = new UnsafeBuffer(new byte[64]);
        note.setMemory(0, 64, (byte) -1);
        assertThat(ConnectNote.encode(note, JOB, ConnectNote.LENGTH - 1)).isZero();
        assertThat(note.getInt(0)).isEqualTo(-1);
        assertThat(ConnectNote.encode(note, JOB, ConnectNote.LENGTH)).isEqualTo(24);
        assertThat(note.getInt(4)).isZero();
        assertThat(note.getInt(24)).isEqualTo(-1);
        buffer.putBytes(AT, note, 0, 24);
        assertThat(ConnectNote.isOfJob(buffer, AT, 24, JOB)).isTrue();
        assertThat(ConnectNote.isOfJob(buffer, AT, 23, JOB)).isFalse();
        for (int offset : new int[] {0, 8, 16}) {
            byte was = buffer.getByte(AT + offset);
            buffer.putByte(AT + offset, (byte) (was + 1));
            assertThat(ConnectNote.isOfJob(buffer, AT, 24, JOB)).isFalse();
            buffer.putByte(AT + offset, was);
        }
    }
}
