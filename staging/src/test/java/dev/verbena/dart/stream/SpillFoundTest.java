package dev.verbena.dart.stream;

import static dev.verbena.dart.wire.FrameFlyweight.CLIENT_LOST;
import static dev.verbena.dart.wire.FrameFlyweight.FIRST;
import static dev.verbena.dart.wire.FrameFlyweight.GIVEN_UP;
import static dev.verbena.dart.wire.FrameFlyweight.LAST;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.verbena.dart.WireEnvironment;
import dev.verbena.dart.wire.ClientNotice;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.StreamName;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a server takes of the files of an earlier one, and what becomes of the others. */
class SpillFoundTest {
    static final UUID RUN = new UUID(7, 8);
    static final String STREAM = SpillFiles.stream(RUN, 9);
    private static final int WHOLE = FIRST | LAST;

    private final WireEnvironment wire = new WireEnvironment();
    private final OwnerFixture shared = SpillFilesTest.shared(wire, 1 << 26);
    private final SpillFiles files = new SpillFiles(shared);
    private final List<SpillFile> list = new ArrayList<>();
    private final ReceiverLink link =
            new ReceiverLink(shared, this::replayed, wire, files, new StreamName(RUN, 9), null);
    private final SpillFound found = new SpillFound(shared, files, STREAM, list, link);

    SpillFoundTest() {
        shared.serverId = -1; // Without it a link does not connect.
        assertThat(files.lock(STREAM)).isTrue();
    }

    private void replayed(ServerBuffer part) {
        files.released(part.spillFile);
    }

    /** A frame of so many bytes of a message of client 5. */
    static byte[] frame(long number, int flags, long message, int length) {
        return frame(FrameFlyweight.DATA, number, flags, 5, message, length);
    }

    private static byte[] frame(
            int type, long number, int flags, int client, long message, int length) {
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH + length]);
        new FrameFlyweight()
                .begin(bytes, 0, type)
                .flags(flags)
                .sequence(number)
                .message(client, message, 77, 1000 * number)
                .end(bytes, FrameFlyweight.LENGTH, length);
        return bytes.byteArray();
    }

    private static byte[] whole(long number) {
        return frame(number, WHOLE, number, 10);
    }

    static byte[] join(byte[]... frames) {
        int length = 0;
        for (byte[] frame : frames) {
            length += frame.length;
        }
        UnsafeBuffer all = new UnsafeBuffer(new byte[length]);
        int at = 0;
        for (byte[] frame : frames) {
            all.putBytes(at, frame);
            at += frame.length;
        }
        return all.byteArray();
    }

    static String name(String stream, int number) {
        return String.format("%s-%019d-%06d%s", stream, number, number, SpillFiles.SUFFIX);
    }

    private SpillFile file(byte[]... frames) {
        SpillFile file = new SpillFile(name(STREAM, list.size() + 1));
        add(file, frames);
        return file;
    }

    private void add(SpillFile file, byte[]... frames) {
        wire.disk.put(file.name, join(frames));
        file.reader = files.store().read(file.name);
        file.length = file.reader.length();
        files.add(file);
        list.add(file);
    }

    /** Looks at all of the files; their number, 64 frames in a cycle. */
    private void scan() {
        for (int i = 0; i < 3; i++) {
            found.doWork();
        }
    }

    /** The receiver has everything. */
    private void deliver() {
        HeldBuffers held = link.held();
        held.window(Long.MAX_VALUE);
        while (held.hasNext()) {
            held.written();
        }
        held.acknowledge(held.sentUpTo() + 1, this::replayed);
        for (int i = 0; i < 20; i++) {
            found.doWork();
        }
    }

    private List<Long> numbers() {
        List<Long> numbers = new ArrayList<>();
        for (long at = link.held().head(); at < link.held().tail(); at++) {
            numbers.add(link.held().at(at).firstFrame);
        }
        return numbers;
    }

    private String report() {
        assertThat(wire.errors).hasSize(1);
        return wire.errors.get(0).getMessage();
    }

    @Test
    void shouldHoldWhatEachFrameSays() {
        SpillFile first = file(frame(4, FIRST, 2, 100), frame(5, LAST, 2, 7));
        SpillFile second = file(frame(6, FIRST, 3, 0), frame(7, GIVEN_UP | LAST, 3, 0));
        scan();
        List<ServerBuffer> parts = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            parts.add(link.held().at(i));
        }
        assertThat(parts)
                .extracting(p -> p.spillFile, p -> p.spillOffset, p -> p.firstFrame, p -> p.length)
                .containsExactly(
                        tuple(first, 0L, 4L, 100),
                        tuple(first, 148L, 5L, 7),
                        tuple(second, 0L, 6L, 0),
                        tuple(second, 48L, 7L, 0));
        assertThat(parts)
                .extracting(p -> p.sequence, p -> p.flags, p -> p.isDropped, p -> p.isCounted)
                .containsExactly(
                        tuple(2L, FIRST, false, false),
                        tuple(2L, LAST, false, true),
                        tuple(3L, FIRST, false, false),
                        tuple(3L, GIVEN_UP | LAST, true, false));
        assertThat(parts)
                .allMatch(p -> p.clientId == 5 && p.tag == 77 && p.slot == -1)
                .allMatch(p -> p.frameCount == 1 && p.position == 1000 * p.firstFrame);
        assertThat(first.live).isEqualTo(2);
        assertThat(shared.spillMessages.get()).isEqualTo(1);
        assertThat(found.isEnded).isFalse();
        deliver();
        assertThat(found.isEnded).isTrue();
        assertThat(wire.disk.names("")).as("with the lock").isEmpty();
        assertThat(found.doWork()).isZero();
        assertThat(wire.errors).isEmpty();
    }

    /** So that the thread can do other things in between. */
    @Test
    void shouldLookAtSixtyFourFramesInACycle() {
        byte[][] frames = new byte[64][];
        for (int i = 0; i < frames.length; i++) {
            frames[i] = whole(i + 1);
        }
        file(frames);
        file(whole(65));
        assertThat(found.doWork()).isEqualTo(1);
        assertThat(link.held().count()).isEqualTo(64);
        assertThat(found.doWork()).isEqualTo(1);
        assertThat(link.held().count()).isEqualTo(65);
        assertThat(found.doWork()).as("nobody to connect to").isZero();
        shared.serverId = 3;
        assertThat(found.doWork()).isPositive();
        assertThat(wire.listen("", 0).accept()).isNotNull();
    }

    @Test
    void shouldTakeEachFrameOnceAndDeleteAFileThatHasNoOther() {
        file(whole(1), whole(2), whole(3));
        file(whole(2), whole(3));
        file(whole(3), whole(4));
        scan();
        assertThat(numbers()).containsExactly(1L, 2L, 3L, 4L);
        assertThat(wire.disk.names(SpillFiles.SUFFIX))
                .containsExactly(name(STREAM, 1), name(STREAM, 3));
        assertThat(wire.errors).isEmpty();
    }

    @Test
    void shouldEndAtOnceIfNothingIsLeft() {
        file();
        scan();
        assertThat(found.isEnded).isTrue();
        assertThat(wire.disk.names("")).isEmpty();
        assertThat(wire.errors).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"1, 71", "47, 117", "48, 118", "60, 130"})
    void shouldLeaveOutAFrameThatIsCutAtTheEndOfTheLastFile(int kept, int length) {
        byte[] cut = java.util.Arrays.copyOf(frame(2, WHOLE, 2, 13), kept);
        SpillFile file = file(frame(1, WHOLE, 1, 22), cut);
        assertThat(file.length).isEqualTo(length);
        scan();
        assertThat(numbers()).containsExactly(1L);
        assertThat(report())
                .contains(file.name + " is taken up to byte 70 of " + length)
                .contains("not complete");
        deliver();
        assertThat(wire.disk.names("")).isEmpty();
    }

    @Test
    void shouldSetAsideWhatFollowsAFrameThatIsMissing() {
        file(whole(1), whole(2));
        SpillFile gap = file(whole(4), whole(5));
        SpillFile later = file(whole(6));
        scan();
        assertThat(numbers()).containsExactly(1L, 2L);
        assertThat(report())
                .contains(gap.name + " is damaged at byte 0 of 116 (it goes on with frame 4, 3 is")
                .contains("in this and 1 later files is not")
                .contains("(3 intact frames of message 4 of client 5, 5 of client 5, 6 of client 5")
                .contains("kept, with " + SpillFiles.DAMAGED_SUFFIX + " at the end");
        HeldBuffers held = link.held();
        held.window(Long.MAX_VALUE);
        held.written();
        held.written();
        held.acknowledge(3, this::replayed);
        wire.disk.renameLooks = 2;
        assertThat(found.doWork()).as("renames asked for").isZero();
        assertThat(found.doWork()).as("one is done").isEqualTo(1);
        assertThat(found.isEnded).isFalse();
        assertThat(found.doWork()).as("the other, and the end").isEqualTo(2);
        assertThat(found.isEnded).isTrue();
        assertThat(wire.disk.names(""))
                .containsExactly(
                        gap.name + SpillFiles.DAMAGED_SUFFIX,
                        later.name + SpillFiles.DAMAGED_SUFFIX);
        assertThat(shared.spillBytes.get()).isZero();
    }

    /** An end that was not written whole has nothing behind it. */
    @ParameterizedTest
    @CsvSource({"3, 3, true", "3, 131, false", "6, 0, false", "8, 0, false"})
    void shouldSetAsideAFileWithNonsenseAndFramesBehind(int type, int flags, boolean isOther) {
        byte[] odd = frame(type, 3, flags, 5, 3, 10);
        if (isOther) {
            odd[0]++;
        }
        SpillFile file = file(whole(1), whole(2), odd, whole(4));
        scan();
        assertThat(numbers()).containsExactly(1L, 2L);
        assertThat(report())
                .contains(file.name + " is damaged at byte 116 of 232: ")
                .contains("in this and 0 later files")
                .contains("4 of client 5)");
        deliver();
        assertThat(wire.disk.names("")).containsExactly(file.name + SpillFiles.DAMAGED_SUFFIX);
    }

    @Test
    void shouldSetAsideACutFileThatIsNotTheLast() {
        SpillFile file = file(java.util.Arrays.copyOf(whole(1), 50));
        file(whole(2));
        scan();
        assertThat(numbers()).isEmpty();
        assertThat(report()).contains(file.name + " is damaged at byte 0 of 50: ");
        deliver();
        assertThat(found.isEnded).isTrue();
        assertThat(wire.disk.names(SpillFiles.DAMAGED_SUFFIX)).hasSize(2);
    }

    /** The device was full; what was not forced was copied again, into another file. */
    @ParameterizedTest
    @CsvSource({"1, 10", "1, 57", "2, 1", "2, 58"})
    void shouldGoOnInTheNextFileThatBeginsWithWhatIsCut(int frames, int kept) {
        byte[] cut = java.util.Arrays.copyOf(join(whole(frames), whole(frames + 1)), 58 + kept);
        byte[] before = frames == 1 ? new byte[0] : whole(1);
        SpillFile torn = file(before, cut);
        file(whole(2), whole(3), whole(4));
        scan();
        assertThat(numbers()).containsExactly(1L, 2L, 3L, 4L);
        deliver();
        assertThat(found.isEnded).isTrue();
        assertThat(wire.disk.names("")).isEmpty();
        if (kept < 58) {
            assertThat(report()).contains(torn.name + " is taken up to byte " + 58 * frames);
        }
    }

    /** The first part of a file was cut, and its server was killed before it deleted the file. */
    @Test
    void shouldGoOnInTheNextFileWhenNothingOfTheFirstIsWhole() {
        SpillFile torn = file(java.util.Arrays.copyOf(whole(1), 50));
        SpillFile next = new SpillFile(STREAM + "-0000000000000000001-000002.frames");
        add(next, whole(1), whole(2));
        scan();
        assertThat(numbers()).containsExactly(1L, 2L);
        assertThat(report()).contains(torn.name + " is taken up to byte 0 of 50");
    }

    @Test
    void shouldSayThatADamagedFileKeepsItsName() {
        wire.disk.renameFailures = 1;
        SpillFile file = file(whole(1), whole(3));
        scan();
        deliver();
        assertThat(wire.errors.get(1).getMessage())
                .contains("a damaged file stays under its name")
                .contains("I/O error");
        assertThat(found.isEnded).isTrue();
        assertThat(wire.disk.names("")).containsExactly(file.name);
    }

    /** Another server may be able to read them. */
    @Test
    void shouldLeaveFilesAsTheyAreIfTheDeviceFails() {
        SpillFile first = file(whole(1));
        SpillFile second = file(whole(2));
        second.reader = null;
        wire.disk.unreadable = second.name;
        scan();
        assertThat(numbers()).containsExactly(1L);
        assertThat(report())
                .contains(second.name + " is damaged at byte 0 of 58 (")
                .contains("(no message can be told)")
                .endsWith("kept for the next server with this directory");
        deliver();
        assertThat(found.isEnded).isTrue();
        assertThat(wire.disk.names("")).containsExactly(second.name);
        assertThat(first.live).isZero();
    }

    @Test
    void shouldOpenAFileThatCouldNotBeOpenedBefore() {
        SpillFile file = file(whole(1));
        file.reader = null;
        SpillFile gone = file(whole(2));
        gone.reader = null;
        files.store().delete(gone.name);
        scan();
        assertThat(numbers()).containsExactly(1L);
        assertThat(report()).contains(gone.name + " is taken up to byte 0 of 58");
    }

    /** F: first of its message, L: last, C: neither, G: given up, N: a notice; then the message. */
    @ParameterizedTest
    @CsvSource({
        "F1 C1 L1, 3",
        "F1 F2, 2",
        "F1 C2, 1",
        "F1 L2, 1",
        "F1 G2, 1",
        "F1 G1, 2",
        "F1 C1 C2, 2",
        "C3 C3 L3 F4, 4",
        "L3 C3, 1",
        "G3 C3, 1",
        "L3 L4, 2",
        "L3 G4, 2",
        "L3 L4 L5 C5, 3",
        "F1 N9 C1, 3",
        "L1 N9 C1, 2",
        "N9 C1 C2, 2",
    })
    void shouldEndAtAFrameOfAnotherMessageThanTheOneThatIsOpen(String frames, int taken) {
        String[] each = frames.split(" ");
        byte[][] bytes = new byte[each.length + 1][];
        for (int i = 0; i < each.length; i++) {
            int flags =
                    switch (each[i].charAt(0)) {
                        case 'F' -> FIRST;
                        case 'L' -> LAST;
                        case 'G' -> GIVEN_UP;
                        case 'N' -> CLIENT_LOST;
                        default -> 0;
                    };
            bytes[i] = frame(i + 1, flags, each[i].charAt(1) - '0', ClientNotice.LENGTH);
        }
        bytes[each.length] = frame(FrameFlyweight.DATA, each.length + 1, 0, 6, 1, 1);
        file(bytes);
        scan();
        boolean isWhole = taken == each.length;
        assertThat(numbers()).hasSize(isWhole ? taken + 1 : taken);
        assertThat(wire.errors).hasSize(isWhole ? 0 : 1);
        if (!isWhole) {
            assertThat(report()).contains("a frame of another message than the one");
        }
    }

    @Test
    void shouldParseNamesOfStreamsOnly() {
        assertThat(SpillFound.parse(STREAM)).isEqualTo(new StreamName(RUN, 9));
        assertThat(SpillFound.parse("spill-" + RUN + "-1234567"))
                .isEqualTo(new StreamName(RUN, 1_234_567));
        for (String other :
                List.of(
                        "",
                        "spill-",
                        "spill-" + RUN,
                        "spill-" + RUN + "-",
                        "spill-" + RUN + "-x",
                        "spill-" + RUN + "--1",
                        "spill-" + RUN + "+9",
                        "spilt-" + RUN + "-9",
                        "spill-" + "x".repeat(36) + "-9",
                        "spill-" + RUN + "-9-1")) {
            assertThat(SpillFound.parse(other)).as(other).isNull();
        }
    }

    @Test
    void shouldCloseItsConnection() {
        file(whole(1));
        shared.serverId = 3;
        for (int i = 0; i < 10; i++) {
            found.doWork();
        }
        found.close();
        assertThat(wire.listen("", 0).accept().write(new UnsafeBuffer(new byte[1]), 0, 1))
                .isEqualTo(-1);
    }
}
