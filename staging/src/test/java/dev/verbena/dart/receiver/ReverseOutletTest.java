package dev.verbena.dart.receiver;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.DartWorld;
import dev.verbena.dart.WireEnvironment;
import dev.verbena.dart.store.InboundStream;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.PieceFlyweight;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whom a receiver knows to send to, and for how long. */
@Timeout(60)
class ReverseOutletTest {
    private static final UUID JOB = new UUID(5, 6);
    private static final UUID OTHER = new UUID(7, 8);
    private static final int MAX = 10;
    private static final long SILENCE_NS = 1_000_000_000L;

    private final WireEnvironment wire = new WireEnvironment();
    private final DartReceiver receiver =
            DartReceiver.embed(new DartReceiver.Context().environment(wire).handler(message -> {}));
    private final ReverseOutlet outlet =
            new ReverseOutlet(1 << 20, MAX, SILENCE_NS, wire.clock, wire.errorHandler());
    private InboundSession session = newSession();

    private InboundSession newSession() {
        return new InboundSession(
                (ReceiverEngine) receiver.agent(),
                wire.connect("wire", 7000),
                wire.clock.nanoTime());
    }

    @AfterEach
    void close() {
        receiver.close();
    }

    private void state(UUID job, int kind, int rank) {
        state(outlet, job, kind, rank);
    }

    private void state(ReverseOutlet of, UUID job, int kind, int rank) {
        UnsafeBuffer state = new UnsafeBuffer(new byte[FrameFlyweight.REVERSE_STATE_LENGTH]);
        state.putInt(0, kind, BIG_ENDIAN);
        state.putInt(4, rank + 1, BIG_ENDIAN);
        state.putInt(12, rank, BIG_ENDIAN);
        state.putInt(16, 4, BIG_ENDIAN);
        state.putInt(20, PieceFlyweight.LENGTH_MAX, BIG_ENDIAN);
        state.putLong(24, -1, BIG_ENDIAN);
        of.onState(session, job, 0, state, 0);
    }

    private int send(int rank) {
        return outlet.send(0, rank, PieceFlyweight.DATA, 1, new UnsafeBuffer(new byte[10]), 0, 10);
    }

    @Test
    void shouldForgetWhoHasGoneLongestWhenItIsFull() {
        for (int rank = 0; rank < MAX; rank++) {
            state(JOB, FrameFlyweight.REVERSE_HERE, rank);
        }
        assertThat(send(3)).isEqualTo(DartReceiver.ACCEPTED);
        assertThatThrownBy(() -> state(JOB, FrameFlyweight.REVERSE_HERE, MAX))
                .hasMessageContaining("more than 10 processes");
        state(JOB, FrameFlyweight.REVERSE_GONE, 3);
        state(JOB, FrameFlyweight.REVERSE_GONE, 5);
        state(JOB, FrameFlyweight.REVERSE_HERE, MAX);
        assertThat(wire.errors)
                .hasSize(1)
                .allMatch(e -> e.getMessage().contains("1 messages were taken by rank 3"));
        state(JOB, FrameFlyweight.REVERSE_HERE, MAX + 1);
        assertThat(outlet.destinationCount()).isEqualTo(MAX);
        for (int rank = 0; rank < MAX + 2; rank++) {
            boolean isGone = rank == 3 || rank == 5;
            assertThat(outlet.isHere(0, rank)).isEqualTo(!isGone);
        }
        assertThat(send(MAX)).isEqualTo(DartReceiver.ACCEPTED);
    }

    @Test
    void shouldForgetTheProcessesOfAJobThatEnded() {
        for (int rank = 0; rank < 4; rank++) {
            state(JOB, FrameFlyweight.REVERSE_HERE, rank);
            state(OTHER, FrameFlyweight.REVERSE_HERE, rank);
        }
        for (int rank = 0; rank < 2; rank++) {
            state(JOB, FrameFlyweight.REVERSE_GONE, rank);
        }
        assertThat(outlet.destinationCount()).isEqualTo(8);
        outlet.ended(JOB);
        assertThat(outlet.destinationCount()).isEqualTo(4);
        assertThat(outlet.isHere(0, 2)).isTrue();
    }

    /** The answer to its farewell got lost, and its clients were named again. */
    @Test
    void shouldKnowNobodyOfAServerThatFinishesTwice() {
        ReceiverEngine engine = (ReceiverEngine) receiver.agent();
        InboundStream stream = new InboundStream(JOB, 0, false);
        engine.shared().streams.add(stream);
        engine.finished(stream);
        state(engine.reverse(), JOB, FrameFlyweight.REVERSE_HERE, 3);
        assertThat(engine.reverse().destinationCount()).isEqualTo(1);
        engine.finished(stream);
        assertThat(engine.reverse().destinationCount()).isZero();
        assertThat(engine.statistics().finishedCount()).isEqualTo(1);
    }

    @Test
    void shouldSendToNobodyBehindAServerThatIsAwayForLong() {
        state(JOB, FrameFlyweight.REVERSE_HERE, 3);
        assertThat(send(3)).isEqualTo(DartReceiver.ACCEPTED);
        session.end();
        outlet.checkQuiet(wire.clock.nanoTime());
        long due = wire.clock.nanoTime() + SILENCE_NS;
        assertThat(outlet.nextDeadlineNs()).isEqualTo(due);
        outlet.checkQuiet(due - 1);
        assertThat(send(3)).isEqualTo(DartReceiver.ACCEPTED);
        outlet.checkQuiet(due);
        assertThat(send(3)).isEqualTo(DartReceiver.NO_SUCH_PROCESS);
        assertThat(outlet.statistics().processCount()).isZero();
        assertThat(outlet.nextDeadlineNs()).isEqualTo(ProtocolAgent.NO_DEADLINE);
        session = newSession();
        state(JOB, FrameFlyweight.REVERSE_HERE, 3);
        outlet.checkQuiet(due + SILENCE_NS);
        assertThat(send(3)).isEqualTo(DartReceiver.ACCEPTED);
        assertThat(outlet.statistics().pendingBytes()).as("none was lost").isEqualTo(3 * 74);
    }

    @Test
    void shouldStillMeanTheLatestJobWhenAnEarlierOneComesBack() {
        state(JOB, FrameFlyweight.REVERSE_HERE, 3);
        InboundSession lost = session;
        InboundSession latest = newSession();
        session = latest;
        state(OTHER, FrameFlyweight.REVERSE_HERE, 3);
        lost.end();
        outlet.checkQuiet(wire.clock.nanoTime());
        outlet.checkQuiet(wire.clock.nanoTime() + SILENCE_NS);
        assertThat(outlet.statistics().processCount()).isEqualTo(1);
        assertThat(outlet.nextDeadlineNs()).isEqualTo(ProtocolAgent.NO_DEADLINE);
        session = newSession();
        state(JOB, FrameFlyweight.REVERSE_HERE, 3);
        assertThat(outlet.statistics().processCount()).isEqualTo(2);
        assertThat(send(3)).isEqualTo(DartReceiver.ACCEPTED);
        UnsafeBuffer piece = new UnsafeBuffer(new byte[PieceFlyweight.LENGTH_MAX]);
        assertThat(outlet.next(session, piece, 0)).isZero();
        assertThat(outlet.next(latest, piece, 0)).isPositive();
        state(JOB, FrameFlyweight.REVERSE_GONE, 3);
        state(JOB, FrameFlyweight.REVERSE_HERE, 3);
        assertThat(send(3)).isEqualTo(DartReceiver.ACCEPTED);
        assertThat(outlet.next(session, piece, 0)).as("it began anew").isPositive();
    }

    /** Round after round of services that end in order. */
    @Test
    void shouldKnowNobodyOfServicesThatEnded() throws Exception {
        try (DartWorld world = new DartWorld("shm").receive()) {
            ReverseOutlet real = ((ReceiverEngine) world.receiver.agent()).reverse();
            for (int round = 1; round <= 3; round++) {
                DartServer master = world.master();
                DartClient client = world.client(0, c -> c.inbox(4));
                dev.verbena.agent.Await.until("known", () -> real.destinationCount() == 1);
                client.close();
                master.requestStop();
                assertThat(master.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
                assertThat(world.receiver.awaitFinished(round, DartWorld.LIMIT_NS)).isTrue();
                assertThat(real.destinationCount()).isZero();
                master.close();
            }
        }
    }
}
