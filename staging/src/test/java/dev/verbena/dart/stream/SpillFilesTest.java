package dev.verbena.dart.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.DurableStore;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.Settings;
import dev.verbena.dart.WireEnvironment;
import dev.verbena.dart.wire.FrameFlyweight;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** Names, locks, room and life of the files into which a server spills. */
class SpillFilesTest {
    private static final int FRAME = 8192;
    private static final int LIMIT = 1 << 20;

    private final WireEnvironment wire = new WireEnvironment();
    private final OwnerFixture shared = shared(wire, LIMIT);
    private final SpillFiles files = new SpillFiles(shared);
    private final String stream = SpillFiles.stream(shared.run(), 3);

    static OwnerFixture shared(WireEnvironment wire, long limit) {
        OwnerFixture shared =
                new OwnerFixture(
                        Settings.of(
                                new DartServer.Context()
                                        .environment(wire)
                                        .configurationFile("none")
                                        .receiver("wire", 7000)
                                        .bufferCount(3)
                                        .bufferSize(64 * 1024)
                                        .framePayloadMax(FRAME)
                                        .spill("spill", limit)));
        return shared;
    }

    private static UnsafeBuffer bytes(int length) {
        return new UnsafeBuffer(new byte[length]);
    }

    private String lastError() {
        return wire.errors.get(wire.errors.size() - 1).getMessage();
    }

    private void write(SpillFile file, int length) {
        file.writer.append(bytes(length), 0, length);
        file.length += length;
        files.grew(length);
    }

    @Test
    void shouldNameFilesByStreamFrameAndCount() {
        SpillFile first = files.begin(7);
        SpillFile second = files.begin(1_000_000);
        assertThat(first.name).isEqualTo(stream + "-0000000000000000007-000001.frames");
        assertThat(second.name).isEqualTo(stream + "-0000000000001000000-000002.frames");
        assertThat(stream).isEqualTo("spill-" + shared.run() + "-3");
        assertThat(wire.disk.names(".frames")).containsExactly(first.name, second.name);
        assertThat(shared.spillFiles.get()).isEqualTo(2);
        assertThat(SpillFiles.firstFrame(first.name)).isEqualTo(7);
        assertThat(SpillFiles.firstFrame(second.name)).isEqualTo(1_000_000);
        for (String other : new String[] {"", "-", "--", "spill", stream + "-x-000001.frames"}) {
            assertThat(SpillFiles.firstFrame(other)).as(other).isEqualTo(Long.MAX_VALUE);
        }
    }

    @Test
    void shouldLockAStreamOnceUntilItIsOver() {
        SpillFiles other = new SpillFiles(shared);
        assertThat(files.lock("a")).isTrue();
        assertThat(files.lock("b")).isTrue();
        assertThat(other.lock("a")).isFalse();
        files.unlock("c");
        files.unlock("a");
        assertThat(wire.disk.names(".lock")).containsExactly("b.lock");
        assertThat(other.lock("b")).isFalse();
        assertThat(other.lock("a")).isTrue();
        other.unlock("b");
        assertThat(files.lock("b")).as("only who has it gives it back").isFalse();
    }

    @Test
    void shouldLockItsOwnStreamOnceAndSayWhyNot() {
        SpillFiles other = new SpillFiles(shared);
        wire.disk.isLockless = true;
        assertThat(files.lockOwn()).contains("cannot lock " + stream + ".lock");
        wire.disk.isLockless = false;
        assertThat(files.lockOwn()).isEmpty();
        assertThat(other.lockOwn()).isEqualTo("somebody has the lock " + stream + ".lock");
        assertThat(files.lockOwn()).as("it has it already").isEmpty();
        files.close();
        assertThat(wire.disk.names("")).isEmpty();
        assertThat(other.lockOwn()).as("given back").isEmpty();
    }

    @Test
    void shouldFillItsLimitToTheByteAndCutFilesAtAQuarter() {
        assertThat(files.lengthMax()).isEqualTo(LIMIT / 4);
        assertThat(new SpillFiles(shared(wire, 1L << 40)).lengthMax()).isEqualTo(64 << 20);
        assertThat(files.hasRoom(LIMIT)).isTrue();
        assertThat(files.hasRoom(LIMIT + 1)).isFalse();
        SpillFile file = files.begin(1);
        write(file, 1000);
        assertThat(files.hasRoom(LIMIT - 1000)).isTrue();
        assertThat(files.hasRoom(LIMIT - 999)).isFalse();
        assertThat(shared.spillBytes.get()).isEqualTo(1000);
        SpillFile found = new SpillFile("found");
        found.length = 500;
        files.add(found);
        assertThat(shared.spillBytes.get()).isEqualTo(1500);
        files.delete(file);
        files.delete(file);
        assertThat(shared.spillBytes.get()).isEqualTo(500);
        assertThat(shared.spillFiles.get()).isEqualTo(1);
        assertThat(wire.disk.names(".frames")).isEmpty();
    }

    @Test
    void shouldDeleteAFileThatNobodyWritesOrNeeds() {
        SpillFile file = files.begin(1);
        file.live = 2;
        files.released(file);
        files.endWriting(file);
        assertThat(file.writer).isNull();
        assertThat(wire.disk.names(".frames")).hasSize(1);
        files.released(file);
        assertThat(wire.disk.names(".frames")).isEmpty();
        SpillFile written = files.begin(2);
        written.live = 1;
        files.released(written);
        assertThat(wire.disk.names(".frames")).as("it is still written").hasSize(1);
        files.endWriting(written);
        assertThat(wire.disk.names(".frames")).isEmpty();
        SpillFile open = files.begin(3);
        files.delete(open);
        assertThat(open.writer).isNull();
    }

    @Test
    void shouldKnowHowMuchIsForced() {
        SpillFile file = files.begin(1);
        write(file, 100);
        assertThat(file.forced()).isEqualTo(-1);
        file.live = 1;
        files.endWriting(file);
        assertThat(file.forced()).as("what nobody writes is as long as it is").isEqualTo(100);
    }

    @Test
    void shouldKeepADamagedFileUnderAnotherName() {
        SpillFile file = files.begin(1);
        write(file, 100);
        DurableStore.Completion rename = files.keepDamaged(file);
        while (!rename.isDone()) {
            assertThat(shared.spillFiles.get()).isZero();
        }
        assertThat(rename.error()).isEmpty();
        assertThat(wire.disk.names("")).containsExactly(file.name + ".damaged");
        assertThat(shared.spillBytes.get()).isZero();
        files.keepDamaged(file);
        assertThat(shared.spillBytes.get()).as("it counts no more").isZero();
    }

    /** A part of two frames behind another in a file. */
    private ServerBuffer part(int length) {
        ServerBuffer part = new ServerBuffer(0, 0, bytes(length));
        part.length = length;
        part.firstFrame = 41;
        part.frameCount = 2;
        part.clientId = 7;
        part.sequence = 12;
        part.flags = FrameFlyweight.FIRST | FrameFlyweight.LAST;
        SpillFile file = files.begin(41);
        write(file, 10);
        part.spillOffset = 10;
        part.spillFile = file;
        UnsafeBuffer header = bytes(FrameFlyweight.LENGTH);
        for (int i = 0; i < 2; i++) {
            int payload = Math.min(FRAME, length - i * FRAME);
            DataFrames.encode(new FrameFlyweight(), header, part, i, i * FRAME, payload);
            file.writer.append(header, 0, FrameFlyweight.LENGTH);
            file.writer.append(part.window, i * FRAME, payload);
        }
        return part;
    }

    private int read(ServerBuffer part, int number, int length, boolean isPatient) {
        return files.read(part, number, length, bytes(FRAME + FrameFlyweight.LENGTH), isPatient);
    }

    @Test
    void shouldReadEachFrameOfAPart() {
        ServerBuffer part = part(FRAME + 100);
        assertThat(read(part, 0, FRAME, true)).isEqualTo(FRAME);
        assertThat(read(part, 1, 100, true)).isEqualTo(100);
        assertThat(part.spillFile.reader).isNotNull();
        assertThat(wire.errors).isEmpty();
        assertThat(shared.spillFailures.get()).isZero();
    }

    @Test
    void shouldRefuseAFrameThatIsNotWhatItWas() {
        ServerBuffer part = part(FRAME + 100);
        String name = part.spillFile.name;
        assertThat(read(part, 1, 101, true)).isEqualTo(SpillFiles.DAMAGED);
        assertThat(lastError())
                .isEqualTo(
                        "spill directory spill: frame 42 in "
                                + name
                                + " cannot be read (it is shorter than it was): message 12 of"
                                + " client 7 is lost");
        assertThat(read(part, 1, 99, true)).as("another length").isEqualTo(SpillFiles.DAMAGED);
        assertThat(shared.spillFailures.get()).isEqualTo(2);
        part.firstFrame++;
        assertThat(read(part, 1, 100, true)).as("another number").isEqualTo(SpillFiles.DAMAGED);
        part.firstFrame--;
        wire.disk.flip(name, 10 + 2 * FrameFlyweight.LENGTH + FRAME + 99);
        assertThat(read(part, 1, 100, true)).isEqualTo(SpillFiles.DAMAGED);
        assertThat(lastError()).contains("cannot be read (its checksum is wrong)");
        assertThat(read(part, 0, FRAME, true)).isEqualTo(FRAME);
        wire.disk.flip(name, 10);
        assertThat(read(part, 0, FRAME, false)).isEqualTo(SpillFiles.DAMAGED);
        assertThat(lastError()).contains("frame 41").contains("magic");
        part.flags = FrameFlyweight.CLIENT_LOST;
        read(part, 0, FRAME, false);
        assertThat(lastError())
                .endsWith("the receiver does not hear that a server took or lost client 7");
    }

    @Test
    void shouldReadAnotherTypeOfFrameAsDamage() {
        ServerBuffer part = part(FRAME + 100);
        SpillFile file = part.spillFile;
        part.spillOffset = file.length + 2L * FrameFlyweight.LENGTH + FRAME + 100;
        UnsafeBuffer header = bytes(FrameFlyweight.LENGTH);
        new FrameFlyweight()
                .begin(header, 0, FrameFlyweight.HEARTBEAT)
                .sequence(41)
                .end(header, 0, 0);
        file.writer.append(header, 0, FrameFlyweight.LENGTH);
        assertThat(read(part, 0, 0, true)).isEqualTo(SpillFiles.DAMAGED);
    }

    @Test
    void shouldWaitForADeviceIfItIsPatient() {
        ServerBuffer part = part(FRAME + 100);
        wire.disk.readFailures = 1;
        assertThat(read(part, 0, FRAME, true)).isEqualTo(SpillFiles.LATER);
        assertThat(part.spillFile.reader).as("it is opened anew").isNull();
        assertThat(wire.errors).isEmpty();
        assertThat(shared.spillFailures.get()).isZero();
        assertThat(read(part, 0, FRAME, true)).isEqualTo(FRAME);
        wire.disk.readFailures = 1;
        assertThat(read(part, 0, FRAME, false)).isEqualTo(SpillFiles.DAMAGED);
        assertThat(lastError()).contains("too many open files");
    }

    @Test
    void shouldReportAFileThatIsGone() {
        ServerBuffer part = part(FRAME + 100);
        files.store().delete(part.spillFile.name);
        assertThat(read(part, 0, FRAME, true)).isEqualTo(SpillFiles.DAMAGED);
    }

    @Test
    void shouldKeepAtItsEndWhatTheReceiverHasNot() {
        SpillFile kept = files.begin(1);
        write(kept, 100);
        kept.live = 1;
        kept.reader = files.store().read(kept.name);
        SpillFile free = files.begin(2);
        write(free, 50);
        shared.spillMessages.set(9);
        files.close();
        assertThat(wire.disk.names("")).containsExactly(kept.name);
        assertThat(kept.reader).isNull();
        assertThat(wire.errors).hasSize(1);
        assertThat(lastError())
                .contains("kept 9 messages, 100 bytes in 1 files, that the receiver has not");
    }

    @Test
    void shouldSayNothingAtItsEndIfNothingIsLeft() {
        files.begin(1);
        files.close();
        assertThat(wire.disk.names("")).isEmpty();
        assertThat(wire.errors).isEmpty();
    }
}
