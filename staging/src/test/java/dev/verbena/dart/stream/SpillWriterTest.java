package dev.verbena.dart.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartWorld;
import dev.verbena.dart.WireEnvironment;
import dev.verbena.dart.wire.FrameFlyweight;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When parts are copied to files, when their buffers are free, and what follows a failure. */
class SpillWriterTest {
    private static final int FRAME = 8192;
    private static final long AWAY_NS = 200_000_000;
    private static final long LOOK_NS = 50_000_000;
    private static final long RETRY_NS = 1_000_000_000;

    private final WireEnvironment wire = new WireEnvironment();
    private final List<ServerBuffer> released = new ArrayList<>();
    private final List<ServerBuffer> givenBack = new ArrayList<>();
    private final List<ServerBuffer> all = new ArrayList<>();
    private OwnerFixture shared;
    private SpillFiles files;
    private ReceiverLink link;
    private SpillWriter writer;
    private long now;

    /** A receiver that has been away for long enough. */
    private void start(long limit) {
        shared = SpillFilesTest.shared(wire, limit);
        files = new SpillFiles(shared);
        link = new ReceiverLink(shared, givenBack::add, wire, files, null, null);
        writer = new SpillWriter(shared, files, link, released::add, this::giveBack);
        now = link.awaySinceNs() + AWAY_NS;
    }

    private void giveBack(ServerBuffer buffer) {
        givenBack.add(buffer);
        assertThat(writer.isFree(buffer)).isTrue();
    }

    private ServerBuffer hold(int length) {
        ServerBuffer buffer = new ServerBuffer(0, 0, new UnsafeBuffer(new byte[length]));
        buffer.window.putBytes(0, DartWorld.bytes(length, length), 0, length);
        buffer.length = length;
        buffer.clientId = 7;
        buffer.sequence = link.held().tail() + 1;
        buffer.flags = FrameFlyweight.FIRST | FrameFlyweight.LAST;
        link.add(buffer);
        return buffer;
    }

    private void work(int cycles) {
        for (int i = 0; i < cycles; i++) {
            writer.doWork(now);
        }
    }

    private int fileCount() {
        return wire.disk.names(SpillFiles.SUFFIX).size();
    }

    private String lastError() {
        return wire.errors.get(wire.errors.size() - 1).getMessage();
    }

    /** Numbers of the frames in all files, in order. */
    private List<Long> framesInFiles() {
        List<Long> numbers = new ArrayList<>();
        FrameFlyweight frame = new FrameFlyweight();
        for (String name : wire.disk.names(SpillFiles.SUFFIX)) {
            UnsafeBuffer bytes = new UnsafeBuffer(wire.disk.content(name));
            for (int at = 0; at < bytes.capacity(); ) {
                frame.wrap(bytes, at).check();
                numbers.add(frame.sequence());
                at += FrameFlyweight.LENGTH + frame.payloadLength();
            }
        }
        return numbers;
    }

    /** The receiver gets everything up to this part, and says so. */
    private void acknowledge(ServerBuffer last) {
        HeldBuffers held = link.held();
        while (held.sentUpTo() < last.lastFrame()) {
            held.written();
        }
        held.acknowledge(last.lastFrame() + 1, buffer -> writer.isFree(buffer));
    }

    private static Long[] numbers(ServerBuffer first, ServerBuffer last) {
        return LongStream.rangeClosed(first.firstFrame, last.lastFrame())
                .boxed()
                .toArray(Long[]::new);
    }

    private static int copied(int length) {
        return length + Math.max(1, (length + FRAME - 1) / FRAME) * FrameFlyweight.LENGTH;
    }

    @Test
    void shouldGiveTheReceiverTimeToComeBack() {
        start(1 << 20);
        assertThat(writer.nextDeadlineNs(now)).isEqualTo(ProtocolAgent.NO_DEADLINE);
        assertThat(writer.isAllForced()).isTrue();
        assertThat(writer.doWork(now)).isZero();
        hold(100);
        assertThat(writer.isAllForced()).isFalse();
        assertThat(writer.nextDeadlineNs(now)).isEqualTo(now + LOOK_NS);
        assertThat(writer.doWork(now - 1)).isZero();
        assertThat(fileCount()).isZero();
        assertThat(writer.doWork(now)).isPositive();
        assertThat(fileCount()).isEqualTo(1);
        assertThat(shared.spillBytes.get()).isEqualTo(copied(100)).isEqualTo(wire.disk.used());
    }

    @Test
    void shouldReleaseABufferOnceItsCopyIsForced() {
        start(1 << 20);
        ServerBuffer first = hold(2 * FRAME + 1);
        ServerBuffer second = hold(0);
        wire.disk.isStuck = true;
        work(50);
        assertThat(released).isEmpty();
        assertThat(link.held().at(0)).isSameAs(first);
        assertThat(writer.isAllForced()).isFalse();
        wire.disk.isStuck = false;
        work(50);
        assertThat(released).containsExactly(first, second);
        assertThat(first.spillFile).isNull();
        assertThat(writer.isAllForced()).isTrue();
        assertThat(writer.nextDeadlineNs(now)).isEqualTo(ProtocolAgent.NO_DEADLINE);
        assertThat(shared.spilledBytes.get()).isEqualTo(first.length);
        assertThat(shared.spillMessages.get()).isEqualTo(2);
        assertThat(shared.spillBytes.get()).isEqualTo(copied(first.length) + copied(0));
        UnsafeBuffer scratch = new UnsafeBuffer(new byte[FRAME + FrameFlyweight.LENGTH]);
        ServerBuffer standIn = link.held().at(0);
        assertThat(standIn.isStandIn()).isTrue();
        for (int i = 0; i < 3; i++) {
            int length = link.held().frameLength(standIn, i);
            assertThat(files.read(standIn, i, length, scratch, false)).isEqualTo(length);
            for (int at = 0; at < length; at++) {
                assertThat(scratch.getByte(FrameFlyweight.LENGTH + at))
                        .isEqualTo(first.window.getByte(i * FRAME + at));
            }
        }
        assertThat(files.read(link.held().at(1), 0, 0, scratch, false)).isZero();
        assertThat(wire.errors).isEmpty();
    }

    @Test
    void shouldCountNoMessageForAPartThatIsNotItsLast() {
        start(1 << 20);
        hold(10).flags = FrameFlyweight.FIRST;
        work(50);
        assertThat(released).hasSize(1);
        assertThat(shared.spillMessages.get()).isZero();
    }

    @Test
    void shouldGoOnBehindWhatTheReceiverHasAcknowledged() {
        start(1 << 20);
        hold(10);
        ServerBuffer second = hold(20);
        link.held().written();
        link.held().acknowledge(2, b -> {});
        work(50);
        assertThat(released).containsExactly(second);
        assertThat(shared.spillBytes.get()).isEqualTo(copied(20));
    }

    @Test
    void shouldFillTheLimitToTheByteAndSayOnceThatItIsReached() {
        long limit = 16L * copied(8 * FRAME);
        start(limit);
        for (int i = 0; i < 16; i++) {
            hold(8 * FRAME);
        }
        work(200);
        assertThat(released).hasSize(16);
        assertThat(shared.spillBytes.get()).isEqualTo(limit);
        assertThat(wire.errors).isEmpty();
        hold(0);
        work(50);
        assertThat(released).hasSize(16);
        assertThat(shared.spillFailures.get()).isEqualTo(1);
        assertThat(wire.errors).hasSize(1);
        assertThat(lastError()).contains("the limit of " + limit + " bytes is reached");
        assertThat(fileCount()).as("each of a quarter").isEqualTo(4);
    }

    @Test
    void shouldBeginAnotherFileWhenTheFirstIsLongEnoughAndForced() {
        start(16L * copied(8 * FRAME));
        for (int i = 0; i < 5; i++) {
            hold(8 * FRAME);
        }
        wire.disk.isStuck = true;
        work(50);
        assertThat(fileCount()).as("four fit, and are not forced").isEqualTo(1);
        assertThat(shared.spillBytes.get()).isEqualTo(4 * copied(8 * FRAME));
        wire.disk.isStuck = false;
        work(50);
        assertThat(fileCount()).isEqualTo(2);
        assertThat(released).hasSize(5);
        assertThat(shared.spillFiles.get()).isEqualTo(2);
    }

    @Test
    void shouldTryAgainInASecondWhenTheDeviceIsFullAndReleaseNothing() {
        start(1 << 20);
        wire.disk.capacity = 200;
        hold(1000);
        work(3);
        assertThat(wire.errors).hasSize(1);
        assertThat(lastError())
                .contains("cannot be written, processes wait until it can or the receiver is back")
                .contains("No space left");
        assertThat(shared.spillFailures.get()).isEqualTo(1);
        assertThat(fileCount()).as("what is half a part is of no use").isZero();
        assertThat(shared.spillBytes.get()).isZero();
        now += RETRY_NS - 1;
        work(3);
        assertThat(shared.spillFailures.get()).isEqualTo(1);
        now++;
        work(1);
        assertThat(shared.spillFailures.get()).isEqualTo(2);
        assertThat(wire.errors).as("said once").hasSize(1);
        wire.disk.capacity = Long.MAX_VALUE;
        now += RETRY_NS;
        work(50);
        assertThat(released).hasSize(1);
        assertThat(shared.spillBytes.get()).isEqualTo(copied(1000));
        hold(10);
        wire.disk.capacity = 0;
        work(3);
        assertThat(wire.errors).as("it was well in between").hasSize(2);
    }

    @Test
    void shouldCopyAgainWhatCouldNotBeForced() {
        start(1 << 20);
        wire.disk.failures = 1;
        ServerBuffer first = hold(1000);
        ServerBuffer second = hold(2000);
        work(5);
        assertThat(released).isEmpty();
        assertThat(first.spillFile).isNull();
        assertThat(fileCount()).isZero();
        assertThat(lastError()).contains("forcing").contains("no space left");
        now += RETRY_NS;
        work(50);
        assertThat(released).containsExactly(first, second);
        assertThat(shared.spillBytes.get()).isEqualTo(copied(1000) + copied(2000));
    }

    @Test
    void shouldWriteNothingWithoutALock() {
        start(1 << 20);
        wire.disk.isLockless = true;
        hold(1000);
        work(3);
        assertThat(fileCount()).isZero();
        assertThat(shared.spillFailures.get()).isEqualTo(1);
        assertThat(lastError()).contains("cannot lock");
        wire.disk.isLockless = false;
        now += RETRY_NS;
        work(50);
        assertThat(released).hasSize(1);
    }

    /** So much is copied in a cycle that it ends within a part. */
    private ServerBuffer half() {
        start(1 << 26);
        for (int i = 0; i < 70; i++) {
            all.add(hold(8 * FRAME));
        }
        writer.doWork(now);
        int part = 4 * 1024 * 1024 / copied(8 * FRAME);
        assertThat(wire.disk.used()).isBetween(4L << 20, (4L << 20) + FRAME);
        return all.get(part);
    }

    @Test
    void shouldKeepABufferUntilItsCopyIsWhole() {
        ServerBuffer half = half();
        assertThat(writer.isAllForced()).isFalse();
        assertThat(writer.isFree(half)).isFalse();
        assertThat(givenBack).isEmpty();
        writer.doWork(now);
        assertThat(givenBack).containsExactly(half);
        ServerBuffer other = new ServerBuffer(0, 0, null);
        other.isReleasedLate = true;
        assertThat(writer.isFree(other)).isTrue();
        assertThat(other.isReleasedLate).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void shouldCopyAllThatFollowsAPartThatIsAcknowledgedWhileItIsCopied(int more) {
        int half = all.indexOf(half());
        acknowledge(all.get(half + more));
        assertThat(all.get(half).isReleasedLate).isTrue();
        work(50);
        assertThat(givenBack).containsExactly(all.get(half));
        List<ServerBuffer> rest = all.subList(half + more + 1, all.size());
        assertThat(released).containsExactlyElementsOf(rest).isNotEmpty();
        assertThat(writer.isAllForced()).isTrue();
        assertThat(framesInFiles())
                .containsExactly(numbers(rest.get(0), rest.get(rest.size() - 1)));
    }

    /** What is behind a hole in a file nobody could deliver. */
    @Test
    void shouldBeginAFileAnewWhenTheReceiverHasAllOfItAndMore() {
        start(1 << 20);
        wire.disk.isStuck = true;
        hold(10);
        work(5);
        ServerBuffer acknowledged = hold(20);
        ServerBuffer next = hold(30);
        acknowledge(acknowledged);
        work(1);
        assertThat(next.spillFile.live).isEqualTo(1);
        wire.disk.isStuck = false;
        work(50);
        assertThat(released).containsExactly(next);
        assertThat(framesInFiles()).containsExactly(next.firstFrame);
    }

    @Test
    void shouldGiveBackABufferWhoseCopyFailed() {
        ServerBuffer half = half();
        assertThat(writer.isFree(half)).isFalse();
        wire.disk.capacity = 0;
        work(2);
        assertThat(givenBack).containsExactly(half);
        assertThat(half.spillFile).isNull();
        assertThat(fileCount()).isZero();
    }

    @Test
    void shouldDeleteAFileOfWhichTheReceiverHasAll() {
        start(1 << 20);
        wire.disk.isStuck = true;
        ServerBuffer first = hold(10);
        ServerBuffer second = hold(20);
        work(5);
        link.held().written();
        link.held().written();
        link.held().acknowledge(2, b -> assertThat(writer.isFree(b)).isTrue());
        assertThat(first.spillFile).isNull();
        work(5);
        assertThat(fileCount()).isEqualTo(1);
        assertThat(second.spillFile.live).isEqualTo(1);
        link.held().acknowledge(3, b -> assertThat(writer.isFree(b)).isTrue());
        assertThat(writer.doWork(now)).isPositive();
        assertThat(fileCount()).isZero();
        assertThat(shared.spillBytes.get()).isZero();
        assertThat(writer.doWork(now)).isZero();
    }

    /** Each cycle that did something says so, for the agent must come back at once. */
    @Test
    void shouldSayWhetherItWorked() {
        start(1 << 20);
        hold(10);
        hold(20);
        assertThat(writer.doWork(now)).as("copied, and a force asked for").isEqualTo(2);
        assertThat(writer.doWork(now)).as("the device works").isZero();
        for (int i = 0; i < 5 && released.isEmpty(); i++) {
            assertThat(writer.isAllForced()).isFalse();
            int work = writer.doWork(now);
            assertThat(work).isEqualTo(released.size());
        }
        assertThat(released).hasSize(2);
        assertThat(writer.doWork(now)).isZero();
        wire.disk.failures = 1;
        hold(30);
        writer.doWork(now);
        assertThat(writer.doWork(now)).as("it found that it failed").isEqualTo(1);
    }

    @Test
    void shouldLeaveItsFileAtItsEndIfItIsNeeded() {
        start(1 << 20);
        ServerBuffer held = hold(10);
        work(50);
        writer.close();
        writer.close();
        assertThat(link.held().at(0).spillFile.writer).isNull();
        assertThat(fileCount()).isEqualTo(1);
        assertThat(released).containsExactly(held);
    }
}
