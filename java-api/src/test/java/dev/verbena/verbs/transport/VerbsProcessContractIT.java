package dev.verbena.verbs.transport;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.Turns;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportProcessContract;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Peers that are killed, stopped and restarted, over a device. A process takes half a minute to
 * start on an emulated processor, so those tests that a device makes no harder than shared memory
 * run with {@code -Dverbena.long=true} only ({@code ./verbena test --tier vm --long}), and of the
 * others one each day.
 */
@Tag("verbs-device")
class VerbsProcessContractIT extends TransportProcessContract {
    @Override
    protected String scheme() {
        return VerbsTransportProvider.SCHEME;
    }

    @Override
    protected Transport open(TransportContext context) {
        return VerbsTesting.open(context);
    }

    @Override
    protected int times(int count) {
        return Math.min(count, 2);
    }

    @Override
    protected List<String> childOptions() {
        return List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
    }

    private static void assumeTurn(String name) {
        VerbsTesting.requireDevice();
        Turns.assume(name, "killed", "frozen");
    }

    private static void assumeLong() {
        VerbsTesting.requireDevice();
        // --long: restarts of processes over a device
        assumeTrue(Boolean.getBoolean("verbena.long"), "takes long: -Dverbena.long=true runs it");
    }

    @Test
    @Override
    public void shouldReportALossOnceAfterEveryCompletionWhenThePeerIsKilled() throws Exception {
        assumeTurn("killed");
        super.shouldReportALossOnceAfterEveryCompletionWhenThePeerIsKilled();
    }

    @Test
    @Override
    public void shouldReportTheLossOfAFrozenPeerAndMeetItAgain() throws Exception {
        assumeTurn("frozen");
        super.shouldReportTheLossOfAFrozenPeerAndMeetItAgain();
    }

    @Test
    @Override
    public void shouldMoveBytesBetweenProcesses() throws Exception {
        assumeLong();
        super.shouldMoveBytesBetweenProcesses();
    }

    @Test
    @Override
    public void shouldReportTheLossOfAnIdlePeer() throws Exception {
        assumeLong();
        super.shouldReportTheLossOfAnIdlePeer();
    }

    @Test
    @Override
    public void shouldLoseNothingWhenThePeerStopsForLessThanItsTimeout() throws Exception {
        assumeLong();
        super.shouldLoseNothingWhenThePeerStopsForLessThanItsTimeout();
    }

    @Test
    @Override
    public void shouldTakeARestartedPeerForAnother() throws Exception {
        assumeLong();
        super.shouldTakeARestartedPeerForAnother();
    }

    @Test
    @Override
    public void shouldTellThePeerWhenAProcessCloses() throws Exception {
        assumeLong();
        super.shouldTellThePeerWhenAProcessCloses();
    }

    @Test
    @Override
    public void shouldCloseItsRegionWhateverItsWriterWasDoingWhenKilled() throws Exception {
        assumeLong();
        super.shouldCloseItsRegionWhateverItsWriterWasDoingWhenKilled();
    }
}
