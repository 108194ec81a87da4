package dev.verbena.flesnet.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.dfs.IntervalRanges;
import dev.verbena.flesnet.wire.Assignment;
import dev.verbena.flesnet.wire.SyncFlyweight;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Decisions that an input takes, and those that it refuses. */
@Timeout(60)
class InputRecoveryTest {
    private final InputLink[] links = new InputLink[3];
    private final Assignment assignment = new Assignment(3);
    private boolean isEnding;
    private InputRecovery recovery;

    private final InputRecovery.Engine engine =
            new InputRecovery.Engine() {
                @Override
                public void lose(InputLink link, String reason) {
                    link.lose();
                }

                @Override
                public boolean isEnding() {
                    return isEnding;
                }
            };

    /** Timeslices 0 to 6 were sent; 0, 2 and 3 are complete, 2 on the node that is lost. */
    @BeforeEach
    void send() {
        for (int c = 0; c < 3; c++) {
            links[c] = new InputLink(new FlesnetContext(), c, null, 0);
            links[c].greeted(10, 3, false);
        }
        recovery = recovery(false);
        for (int t = 0; t <= 6; t++) {
            InputLink link = links[t % 3];
            long position = link.positionFor(100);
            int slot = link.slotOfNext();
            link.posted();
            link.finished(t, position, 100);
            link.onWritten(slot);
            link.reportedTo(link.done());
            recovery.onSent(t);
        }
        acknowledge(0, 2);
        acknowledge(2, 1);
    }

    private static SyncFlyweight message(int type) {
        return new SyncFlyweight().begin(new UnsafeBuffer(new byte[256]), 0, type, 0, 1);
    }

    private InputRecovery recovery(boolean isTimed) {
        return new InputRecovery(
                links, assignment, new IntervalRanges(1, 3), null, engine, isTimed);
    }

    private void acknowledge(int node, int count) {
        SyncFlyweight ack = message(SyncFlyweight.ACK);
        ack.i64(0, links[node].dataPosition(count)).i64(8, count).i64(16, count).i64(24, count);
        assertThat(links[node].onAck(ack)).isTrue();
    }

    private SyncFlyweight decision(long trigger, long done, int... nodes) {
        SyncFlyweight message = message(SyncFlyweight.DECISION);
        message.i32(0, assignment.epoch()).i64(4, trigger).i32(12, nodes.length);
        for (int i = 0; i < nodes.length; i++) {
            message.i32(16 + 12 * i, nodes[i]).i64(20 + 12 * i, done);
        }
        return message.extend(12 * nodes.length);
    }

    private void lose(int node) {
        links[node].lose();
        recovery.suspect(node);
    }

    private void requireReport(int epoch, Integer... suspected) {
        SyncFlyweight report = message(SyncFlyweight.FAILURE_REPORT);
        recovery.writeReport(report);
        List<Integer> written = new ArrayList<>();
        for (int c = 0; c < 3; c++) {
            if (report.buffer().getByte(report.body() + 16 + 9 * c) != 0) {
                written.add(c);
            }
        }
        assertThat(report.i32(0)).isEqualTo(epoch);
        assertThat(written).containsExactly(suspected);
    }

    private void requireDecisionAck(InputLink link, int epoch, int failed) {
        assertThat(recovery.isAckDue(link)).isTrue();
        SyncFlyweight ack = message(SyncFlyweight.DECISION_ACK);
        recovery.applied(link.ackedEpoch()).write(ack);
        link.decisionAckSent();
        assertThat(ack.i32(0)).isEqualTo(epoch);
        assertThat(ack.count(12, 3, 12)).isEqualTo(1);
        assertThat(ack.i32(16)).isEqualTo(failed);
    }

    private void requireRefused(SyncFlyweight message) {
        assertThatThrownBy(() -> recovery.onDecision(message))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(recovery.doWork(0)).isZero();
    }

    @Test
    void shouldRefuseADecisionThatNoReportsCanLeadTo() {
        requireRefused(decision(5, 1, 2));
        recovery.suspect(2);
        requireRefused(decision(5, 1));
        // Timeslice 3 is complete; what is beyond 6 this input has not sent.
        requireRefused(decision(2, 1, 2));
        requireRefused(decision(7, 1, 2));
        // The lost node had acknowledged one.
        requireRefused(decision(5, 0, 2));
        recovery.onDecision(decision(5, 1, 2));
        assertThat(recovery.doWork(0)).isEqualTo(1);
        assertThat(assignment.liveCount()).isEqualTo(2);
        assertThat(recovery.isBusy()).isFalse();
    }

    /** One connection has sent the report, the other one has not, when the next node is lost. */
    @Test
    void shouldReportTheSameToEveryComputeNode() {
        lose(2);
        requireReport(0, 2);
        lose(1);
        requireReport(0, 2);
        recovery.onDecision(decision(6, 1, 2));
        assertThat(recovery.doWork(0)).isEqualTo(1);
        requireReport(1, 1);
    }

    @Test
    void shouldSendEveryDecisionToAComputeNodeThatIsSlow() {
        lose(2);
        recovery.onDecision(decision(6, 1, 2));
        assertThat(recovery.doWork(0)).isEqualTo(1);
        lose(1);
        recovery.onDecision(decision(6, 0, 1));
        assertThat(recovery.doWork(0)).isEqualTo(1);
        requireDecisionAck(links[0], 0, 2);
        requireDecisionAck(links[0], 1, 1);
        assertThat(recovery.isAckDue(links[0])).isFalse();
    }

    @Test
    void shouldSendADecisionUnchangedWhileTheNextIsToBeCarriedOut() {
        lose(2);
        recovery.onDecision(decision(6, 1, 2));
        assertThat(recovery.doWork(0)).isEqualTo(1);
        lose(1);
        recovery.onDecision(decision(6, 0, 1));
        requireDecisionAck(links[0], 0, 2);
        assertThat(recovery.isAckDue(links[0])).isFalse();
    }

    @Test
    void shouldSetNoTriggerWhenEverythingIsReleased() {
        isEnding = true;
        recovery.suspect(2);
        SyncFlyweight report = message(SyncFlyweight.FAILURE_REPORT);
        recovery.writeReport(report);
        assertThat(report.i64(4)).isEqualTo(Long.MAX_VALUE);
        recovery.onDecision(decision(1_000_000_000, 333_333_000, 2));
        assertThat(recovery.doWork(0)).isEqualTo(1);
    }

    /** Others may have been delivered less without it: it says how far everything was. */
    @Test
    void shouldSetATriggerWhenEverythingIsReleasedInATimedRun() {
        recovery = recovery(true);
        recovery.onSent(6);
        isEnding = true;
        recovery.suspect(2);
        SyncFlyweight report = message(SyncFlyweight.FAILURE_REPORT);
        recovery.writeReport(report);
        assertThat(report.i64(4)).isEqualTo(6);
    }

    @Test
    void shouldWriteNothingAnewBeforeTheComputeNodeHasDecided() {
        lose(2);
        recovery.onDecision(decision(4, 1, 2));
        assertThat(recovery.doWork(0)).isEqualTo(1);
        // Node 1 has decided, of which this input knows; node 0 may look at timeslice 6 yet.
        links[1].onDecision(0);
        assertThat(recovery.isHeld(links[1], 5)).isFalse();
        assertThat(recovery.isHeld(links[0], 5)).isTrue();
        links[0].onDecision(0);
        assertThat(recovery.isHeld(links[0], 5)).isFalse();
    }
}
