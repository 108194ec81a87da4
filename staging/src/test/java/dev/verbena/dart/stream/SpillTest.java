package dev.verbena.dart.stream;

import static dev.verbena.dart.stream.SpillFoundTest.STREAM;
import static dev.verbena.dart.stream.SpillFoundTest.frame;
import static dev.verbena.dart.stream.SpillFoundTest.join;
import static dev.verbena.dart.stream.SpillFoundTest.name;
import static dev.verbena.dart.wire.FrameFlyweight.FIRST;
import static dev.verbena.dart.wire.FrameFlyweight.LAST;
import static java.nio.ByteOrder.BIG_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.WireEnvironment;
import dev.verbena.dart.wire.FrameFlyweight;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** Which streams a server takes over, what it tells of them, and when it may end. */
class SpillTest {
    private static final int WHOLE = FIRST | LAST;
    private static final long KEEP_NS = 1_000_000_000;
    private static final long LOOK_NS = 50_000_000;

    private final WireEnvironment wire = new WireEnvironment();
    private final OwnerFixture shared = SpillFilesTest.shared(wire, 1 << 20);
    private final List<ServerBuffer> released = new ArrayList<>();
    private final List<ServerBuffer> givenBack = new ArrayList<>();
    private int wakes;
    private Spill spill;
    private ReceiverLink link;

    private void start() {
        shared.wakeT1 = () -> wakes++;
        spill = new Spill(shared, shared.settings.environment().streams());
        link = new ReceiverLink(shared, givenBack::add, wire, spill.files(), null, null);
        spill.serve(link, released::add, givenBack::add);
    }

    private long now() {
        return wire.clock.nanoTime();
    }

    private void leave(String stream, int number) {
        wire.disk.put(name(stream, number), join(frame(number, WHOLE, number, 10)));
    }

    private ServerBuffer hold() {
        ServerBuffer buffer = new ServerBuffer(0, 0, new UnsafeBuffer(new byte[10]));
        buffer.length = 10;
        buffer.flags = WHOLE;
        link.add(buffer);
        return buffer;
    }

    private void work(int cycles) {
        for (int i = 0; i < cycles; i++) {
            spill.doWork(now());
        }
    }

    private List<String> reports() {
        return wire.errors.stream().map(Throwable::getMessage).toList();
    }

    @Test
    void shouldTakeOverTheStreamsThatNobodyElseHas() {
        String two = SpillFiles.stream(SpillFoundTest.RUN, 10);
        String lively = SpillFiles.stream(SpillFoundTest.RUN, 11);
        leave(STREAM, 1);
        leave(STREAM, 2);
        leave(two, 1);
        leave(lively, 1);
        new SpillFiles(shared).lock(lively);
        for (String other : List.of("notes.frames", "a-b.frames", "-1-1.frames", "x-1-1.frames")) {
            wire.disk.put(other, new byte[9]);
        }
        wire.disk.put(name(STREAM, 3) + SpillFiles.DAMAGED_SUFFIX, new byte[9]);
        start();
        assertThat(reports())
                .hasSize(2)
                .anyMatch(text -> text.contains("found 2 files, 116 bytes, of server 9 of an"))
                .anyMatch(text -> text.contains("found 1 files, 58 bytes, of server 10 of an"));
        assertThat(shared.spillBytes.get()).isEqualTo(3 * 58);
        assertThat(shared.spillFiles.get()).isEqualTo(3);
        assertThat(wire.disk.names(".lock"))
                .containsExactly(two + ".lock", lively + ".lock", STREAM + ".lock");
        shared.serverId = -1;
        assertThat(spill.doWork(now())).as("each is looked at").isEqualTo(2);
        assertThat(shared.spillMessages.get()).isEqualTo(3);
        assertThat(spill.doWork(now())).isZero();
        spill.close();
        assertThat(reports()).hasSize(3);
        assertThat(reports().get(2)).contains("kept 3 messages, 174 bytes in 3 files");
        assertThat(wire.disk.names(".lock")).containsExactly(lively + ".lock");
    }

    @Test
    void shouldKeepFilesAtWhichItHasNotLookedYet() {
        leave(STREAM, 1);
        leave(STREAM, 2);
        start();
        spill.close();
        assertThat(wire.disk.names(".frames"))
                .containsExactlyInAnyOrder(name(STREAM, 1), name(STREAM, 2));
    }

    @Test
    void shouldSayWhyItLeavesAStream() {
        leave(STREAM, 1);
        wire.disk.isLockless = true;
        start();
        assertThat(reports()).hasSize(1);
        assertThat(reports().get(0))
                .contains("what is left of " + STREAM + " is kept, and not delivered")
                .contains("cannot lock");
        assertThat(shared.spillFiles.get()).isZero();
        assertThat(spill.doWork(now())).isZero();
    }

    /** As with too many open files: the next server with this directory may be able to. */
    @Test
    void shouldLeaveAStreamOfWhichAFileCannotBeOpened() {
        String two = SpillFiles.stream(SpillFoundTest.RUN, 10);
        leave(STREAM, 1);
        leave(STREAM, 2);
        leave(two, 1);
        wire.disk.unreadable = name(STREAM, 2);
        start();
        assertThat(reports())
                .hasSize(2)
                .anyMatch(text -> text.contains("found 1 files, 58 bytes, of server 10 of an"))
                .anyMatch(
                        text ->
                                text.contains("what is left of " + STREAM + " is kept, and not")
                                        && text.contains(name(STREAM, 2)));
        assertThat(shared.spillFiles.get()).isEqualTo(1);
        assertThat(wire.disk.names(".lock")).containsExactly(two + ".lock");
        spill.close();
        assertThat(wire.disk.names(".frames")).hasSize(3);
        wire.disk.unreadable = "";
        start();
        assertThat(shared.spillFiles.get()).as("of both").isEqualTo(3);
    }

    @Test
    void shouldCloseItsStoreWhenTheDirectoryCannotBeListed() {
        wire.disk.isUnlistable = true;
        assertThatThrownBy(this::start).hasMessageContaining("cannot list");
        assertThat(wire.disk.openStores).isZero();
    }

    private ServerBuffer part(int flags, int slot, boolean isCounted) {
        ServerBuffer part = new ServerBuffer(-1, 0, null);
        part.spillFile = new SpillFile("f");
        part.spillFile.live = 2;
        part.flags = flags;
        part.slot = slot;
        part.isCounted = isCounted;
        return part;
    }

    @Test
    void shouldTellOnceMessagesOfFilesHaveArrived() {
        start();
        shared.spillMessages.set(5);
        ServerBuffer own = part(WHOLE, 2, true);
        ServerBuffer first = part(FIRST, 2, false);
        ServerBuffer earlier = part(LAST, -1, true);
        ServerBuffer dropped = part(LAST, 2, false);
        dropped.isDropped = true;
        ServerBuffer slotZero = part(LAST, 0, true);
        for (ServerBuffer part : List.of(own, first, earlier, dropped, slotZero)) {
            spill.replayed(part);
            assertThat(part.spillFile.live).isEqualTo(1);
        }
        assertThat(shared.spillMessages.get()).isEqualTo(2);
        assertThat(shared.replayedMessages.get()).isEqualTo(3);
        assertThat(wakes).isZero();
        assertThat(spill.doWork(now())).isEqualTo(2);
        assertThat(wakes).isEqualTo(1);
        assertThat(shared.replayed.poll()).isSameAs(own);
        assertThat(spill.doWork(now())).isZero();
        assertThat(wakes).isEqualTo(1);
        assertThat(shared.replayed.poll()).isSameAs(slotZero);
        assertThat(shared.replayed.poll()).isNull();
        hold();
        wire.clock.advanceNs(KEEP_NS);
        assertThat(spill.doWork(now())).isPositive();
        assertThat(wakes).as("nobody has anything to hear").isEqualTo(1);
    }

    @Test
    void shouldTellTheRestWhenThereIsRoomAgain() {
        start();
        int room = shared.replayed.capacity();
        for (int i = 0; i < room + 3; i++) {
            spill.replayed(part(WHOLE, 2, true));
        }
        assertThat(spill.doWork(now())).isEqualTo(room);
        assertThat(spill.doWork(now())).isZero();
        shared.replayed.clear();
        assertThat(spill.doWork(now())).isEqualTo(3);
    }

    @Test
    void shouldEndOnlyOnceTheReceiverHasBeenAwayForASecond() {
        start();
        wire.clock.advanceNs(5 * KEEP_NS);
        assertThat(spill.isKept(now(), false)).as("asked for the first time").isFalse();
        assertThat(spill.nextDeadlineNs(now())).isEqualTo(now() + LOOK_NS);
        assertThat(spill.isKept(now() + KEEP_NS - 1, false)).isFalse();
        assertThat(spill.isKept(now() + KEEP_NS, false)).isTrue();
        assertThat(spill.isKept(now(), true)).as("the receiver has everything").isTrue();
        hold();
        assertThat(spill.isKept(now() + KEEP_NS, false)).as("in memory only").isFalse();
        ServerBuffer other = new ServerBuffer(0, 0, null);
        assertThat(spill.isFree(other)).isTrue();
        work(20);
        assertThat(released).hasSize(1);
        assertThat(spill.isKept(now() + KEEP_NS, false)).isTrue();
    }

    @Test
    void shouldWaitForAReceiverThatHasOnlyJustGone() {
        start();
        long awaySinceNs = link.awaySinceNs();
        assertThat(spill.isKept(awaySinceNs - KEEP_NS, false)).isFalse();
        assertThat(spill.isKept(awaySinceNs + KEEP_NS - 1, false)).isFalse();
        assertThat(spill.isKept(awaySinceNs + KEEP_NS, false)).isTrue();
    }

    @Test
    void shouldNotEndWhileTheReceiverIsThere() {
        start();
        link.doWork();
        for (int i = 0; i < 3; i++) {
            link.doWork();
        }
        wire.clock.advanceNs(KEEP_NS);
        spill.isKept(now() - KEEP_NS, false);
        greet(wire.listen("", 0).accept());
        link.doWork();
        assertThat(link.isAway()).isFalse();
        assertThat(spill.isKept(now(), false)).isFalse();
        assertThat(spill.isKept(now(), true)).isTrue();
    }

    /** The receiver's greeting. */
    private static void greet(ByteStream stream) {
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH + 24]);
        bytes.putLong(FrameFlyweight.LENGTH, 1 << 20, BIG_ENDIAN);
        bytes.putLong(FrameFlyweight.LENGTH + 8, 1, BIG_ENDIAN);
        bytes.putLong(FrameFlyweight.LENGTH + 16, 1 << 20, BIG_ENDIAN);
        new FrameFlyweight()
                .begin(bytes, 0, FrameFlyweight.HELLO_ACK)
                .end(bytes, FrameFlyweight.LENGTH, FrameFlyweight.HELLO_ACK_LENGTH);
        stream.write(bytes, 0, bytes.capacity());
    }

    @Test
    void shouldWaitForTheReceiverOfAnEarlierStream() {
        leave(STREAM, 1);
        shared.serverId = -1;
        start();
        long tryNs = link.nextDeadlineNs();
        work(2);
        assertThat(spill.nextDeadlineNs(now())).as("the next connect").isEqualTo(tryNs);
        assertThat(spill.isKept(now(), true)).isFalse();
        assertThat(spill.isKept(now() + KEEP_NS - 1, true)).isFalse();
        assertThat(spill.isKept(now() + KEEP_NS, true)).as("it is away").isTrue();
        shared.serverId = 3;
        work(3);
        greet(wire.listen("", 0).accept());
        work(3);
        assertThat(spill.isKept(now() + KEEP_NS, true)).as("it is there").isFalse();
    }

    @Test
    void shouldNotWaitForAStreamOfWhichNothingIsLeft() {
        wire.disk.put(name(STREAM, 1), new byte[0]);
        shared.serverId = -1;
        start();
        work(2);
        assertThat(wire.disk.names("")).isEmpty();
        assertThat(spill.isKept(now(), true)).isTrue();
        assertThat(spill.nextDeadlineNs(now() - KEEP_NS)).isEqualTo(now() - KEEP_NS + LOOK_NS);
    }

    @Test
    void shouldLookAgainForItsOwnMessages() {
        start();
        assertThat(spill.nextDeadlineNs(now())).isEqualTo(ProtocolAgent.NO_DEADLINE);
        hold();
        assertThat(spill.nextDeadlineNs(now())).isEqualTo(now() + LOOK_NS);
        work(20);
        wire.clock.advanceNs(KEEP_NS);
        work(20);
        assertThat(released).hasSize(1);
        spill.close();
        assertThat(reports().get(0)).contains("kept 1 messages");
        assertThat(link.held().at(0).spillFile.writer).as("closed").isNull();
    }

    /** Each keeps memory once it was read: directories have had thousands of files. */
    @Test
    void shouldKeepNoFileOpenThatItDoesNotRead() {
        for (int i = 1; i <= 9; i++) {
            leave(STREAM, i);
        }
        wire.disk.put(name(STREAM, 10), join(frame(11, WHOLE, 11, 10)));
        leave(STREAM, 12);
        start();
        assertThat(wire.disk.openReaders).as("found").isZero();
        work(3);
        assertThat(shared.spillMessages.get()).isEqualTo(9);
        assertThat(reports().get(1)).contains("(2 intact frames of message 11 of client 5, 12 of");
        assertThat(wire.disk.openReaders).as("looked through").isZero();
    }

    @Test
    void shouldCloseItsConnections() {
        leave(STREAM, 1);
        start();
        work(5);
        spill.close();
        assertThat(wire.listen("", 0).accept().write(new UnsafeBuffer(new byte[1]), 0, 1))
                .isEqualTo(-1);
    }
}
