package dev.verbena.staging.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import dev.verbena.agent.Await;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.staging.TransportPair;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransportHandler;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class TransferEngineTest {
    private static final int BUFFERS = 3;
    private static final int SIZE = 1000;
    private static final int LENGTH = 10_500;
    private static final long BASE = 500;

    private final TransportPair pair = new TransportPair();
    private final List<Throwable> errors = new ArrayList<>();
    private final Recorder recorder = new Recorder();
    private RegisteredRegion remote;
    private TransferEngine<Transfer> engine;

    @BeforeEach
    void open() {
        remote = pair.right.allocate(LENGTH, RemoteDescriptor.REMOTE_ALL);
        for (int i = 0; i < LENGTH; i++) {
            remote.buffer(0, LENGTH).putByte(i, (byte) (i * 31 >> 3));
        }
        engine = new TransferEngine<>(pair.left, BUFFERS, SIZE, 4, BASE, recorder, errors::add);
    }

    @AfterEach
    void close() {
        engine.close();
        remote.close();
        pair.close();
    }

    /** What became of transfers, and what was pulled. */
    private final class Recorder implements TransferEngine.Handler<Transfer>, TransportHandler {
        final UnsafeBuffer pulled = new UnsafeBuffer(new byte[LENGTH]);
        final List<Integer> held = new ArrayList<>();
        boolean isHolding;
        int ended;
        int lastStatus = -1;

        @Override
        public void onPulled(
                Transfer transfer, int buffer, DirectBuffer window, long position, int length) {
            pulled.putBytes((int) position, window, 0, length);
            if (isHolding) {
                held.add(buffer);
            } else {
                engine.release(buffer);
            }
        }

        @Override
        public void fill(Transfer transfer, MutableDirectBuffer window, long position, int length) {
            window.setMemory(0, length, (byte) (position / SIZE + 1));
        }

        @Override
        public void onEnded(Transfer transfer, int status) {
            ended++;
            lastStatus = status;
        }

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            assertThat(engine.onCompletion(context, status)).isTrue();
        }
    }

    private Transfer transfer(long offset, long length) {
        Transfer transfer = new Transfer();
        remote.describe(0, LENGTH, RemoteDescriptor.REMOTE_ALL, transfer.descriptor());
        transfer.of(pair.leftConnection, offset, length);
        return transfer;
    }

    private void work() {
        engine.doWork();
        pair.poll(recorder, TransportHandler.IGNORE);
    }

    private void awaitEnded(int count) {
        Await.until(
                () -> recorder.ended + " ended",
                () -> {
                    work();
                    return recorder.ended == count;
                });
    }

    @Test
    void shouldPullMoreThanItsBuffersHold() {
        engine.pull(transfer(0, LENGTH));
        awaitEnded(1);
        assertThat(recorder.lastStatus).isEqualTo(Status.OK);
        assertThat(recorder.pulled).isEqualTo(remote.buffer(0, LENGTH));
        assertThat(engine.isIdle()).isTrue();
    }

    @Test
    void shouldPullAPartOfWhatADescriptorNames() {
        engine.pull(transfer(LENGTH - 1500, 1500));
        awaitEnded(1);
        assertThat(new UnsafeBuffer(recorder.pulled, 0, 1500))
                .isEqualTo(remote.buffer(LENGTH - 1500, 1500));
    }

    @Test
    void shouldPutPartByPart() {
        engine.put(transfer(100, 2 * SIZE + 1));
        awaitEnded(1);
        UnsafeBuffer there = remote.buffer(100, 2 * SIZE + 1);
        assertThat(there.getByte(0)).isEqualTo((byte) 1);
        assertThat(there.getByte(SIZE)).isEqualTo((byte) 2);
        assertThat(there.getByte(2 * SIZE)).isEqualTo((byte) 3);
    }

    @Test
    void shouldEndAnEmptyTransfer() {
        engine.pull(transfer(0, 0));
        awaitEnded(1);
        assertThat(recorder.lastStatus).isEqualTo(Status.OK);
    }

    @Test
    void shouldWaitWhileTheConsumerKeepsTheBuffers() {
        recorder.isHolding = true;
        engine.pull(transfer(0, LENGTH));
        Await.until(
                "all buffers are full",
                () -> {
                    work();
                    return recorder.held.size() == BUFFERS;
                });
        for (int i = 0; i < 100; i++) {
            work();
        }
        assertThat(recorder.held).hasSize(BUFFERS);
        assertThat(engine.isQuiet()).isTrue();
        assertThat(engine.isIdle()).isFalse();
        recorder.isHolding = false;
        recorder.held.forEach(engine::release);
        awaitEnded(1);
        assertThat(recorder.pulled).isEqualTo(remote.buffer(0, LENGTH));
        assertThatThrownBy(() -> engine.release(0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldLetAsManyTransfersWaitAsItMay() {
        for (int i = 0; i < 4; i++) {
            assertThat(engine.hasRoom()).isTrue();
            engine.pull(transfer(0, 10));
        }
        assertThat(engine.hasRoom()).isFalse();
        assertThatThrownBy(() -> engine.pull(transfer(0, 10)))
                .isInstanceOf(IllegalStateException.class);
        awaitEnded(4);
        assertThat(engine.hasRoom()).isTrue();
    }

    @Test
    void shouldEndATransferOnceWhoseMemoryIsRevoked() {
        Transfer transfer = transfer(0, LENGTH);
        remote.close();
        engine.pull(transfer);
        awaitEnded(1);
        assertThat(recorder.lastStatus).isEqualTo(Status.STALE_KEY);
        for (int i = 0; i < 100; i++) {
            work();
        }
        assertThat(recorder.ended).isEqualTo(1);
        assertThat(engine.isIdle()).isTrue();
    }

    @Test
    void shouldEndTransfersOfAPeerThatIsGoneAndServeOthers() {
        Transfer lost = transfer(0, LENGTH);
        lost.of(pair.leftConnection + 1_000_000, 0, LENGTH);
        engine.pull(lost);
        awaitEnded(1);
        assertThat(recorder.lastStatus).isEqualTo(Status.PEER_DEAD);
        engine.pull(transfer(0, LENGTH));
        awaitEnded(2);
        assertThat(recorder.lastStatus).isEqualTo(Status.OK);
    }

    @Test
    void shouldRefuseRangesOutsideADescriptor() {
        Transfer transfer = transfer(0, LENGTH);
        long[][] wrong = {{0, LENGTH + 1}, {1, LENGTH}, {-1, 1}, {0, -1}, {Long.MAX_VALUE, 1}};
        for (long[] range : wrong) {
            assertThatThrownBy(() -> transfer.of(1, range[0], range[1]))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("outside");
        }
    }

    @Test
    void shouldRefuseATransferThatIsBeingMoved() {
        Transfer transfer = transfer(0, LENGTH);
        engine.pull(transfer);
        assertThatThrownBy(() -> engine.pull(transfer)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> transfer.of(1, 0, 1)).isInstanceOf(IllegalStateException.class);
        awaitEnded(1);
        engine.pull(transfer);
        awaitEnded(2);
    }

    @Test
    void shouldKnowItsOwnOperationsOnly() {
        assertThat(engine.onCompletion(BASE - 1, Status.OK)).isFalse();
        assertThat(engine.onCompletion(BASE + BUFFERS, Status.OK)).isFalse();
    }

    @Test
    void shouldReportWhatATransportThrowsAndGoOn() {
        TransferEngine.Handler<Transfer> throwing =
                new TransferEngine.Handler<>() {
                    @Override
                    public void onPulled(
                            Transfer transfer, int buffer, DirectBuffer w, long at, int length) {}

                    @Override
                    public void onEnded(Transfer transfer, int status) {
                        recorder.onEnded(transfer, status);
                    }
                };
        try (TransferEngine<Transfer> puts =
                new TransferEngine<>(pair.left, 1, SIZE, 4, 0, throwing, errors::add)) {
            puts.put(transfer(0, 10));
            puts.doWork();
            assertThat(recorder.lastStatus).isEqualTo(Status.INTERNAL);
            assertThat(errors).hasSize(1);
            puts.put(transfer(0, 10));
            puts.doWork();
            assertThat(recorder.ended).isEqualTo(2);
        }
    }

    @Test
    void shouldAllocateNothing() {
        Transfer transfer = transfer(0, 2 * SIZE);
        AllocationMeter.requireNone(
                () -> {
                    for (int i = 0; i < 10_000; i++) {
                        int before = recorder.ended;
                        engine.pull(transfer);
                        while (recorder.ended == before) {
                            engine.doWork();
                            pair.left.poll(quiet, 64);
                        }
                    }
                });
    }

    /** As the recorder, without assertions, which allocate. */
    private final TransportHandler quiet =
            new TransportHandler() {
                @Override
                public void onCompletion(
                        long connection, int operation, long context, int status, long value) {
                    engine.onCompletion(context, status);
                }
            };
}
