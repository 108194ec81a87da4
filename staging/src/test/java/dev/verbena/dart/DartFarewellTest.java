package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers that are stopped when their receiver has left before them. */
@Timeout(120)
@Tag("once")
class DartFarewellTest {
    private static DartTicket send(DartWorld world) {
        DartClient client = world.client(0);
        DartTicket ticket = client.sendCopy(DartWorld.bytes(1000, 1), 0, 1000, null, 1);
        ticket.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
        client.close();
        return ticket;
    }

    @Test
    @Tag("dart-F14")
    void shouldEndInOrderWhenTheReceiverHasGoneAndNothingIsOwed() throws Exception {
        try (DartWorld world = new DartWorld("shm").receive()) {
            DartServer master = world.master();
            send(world);
            world.receiver.close();
            master.requestStop();
            assertThat(master.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
            assertThat(master.failure()).isNull();
            assertThat(master.lostMessages()).isEmpty();
        }
    }

    /** A receiver that was only cut off must hear that its server has finished. */
    @Test
    @Tag("dart-F14")
    void shouldSayFarewellToAReceiverThatComesBackInTime() throws Exception {
        try (DartWorld world = new DartWorld("shm").receive();
                CutProxy proxy = new CutProxy(world.receiverPort)) {
            DartServer master = world.master(c -> c.receiver("127.0.0.1", proxy.port()));
            send(world);
            proxy.cut();
            master.requestStop();
            assertThat(master.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
            assertThat(world.receiver.awaitFinished(1, DartWorld.LIMIT_NS)).isTrue();
        }
    }

    /** What the receiver has not confirmed is owed to it, however long it is away. */
    @Test
    @Tag("dart-F14")
    void shouldWaitForAReceiverToWhichSomethingIsOwed() throws Exception {
        try (DartWorld world = new DartWorld("shm").receive()) {
            DartServer master = world.master(c -> c.closeTimeoutNs(60_000_000_000L));
            DartClient client = world.client(0);
            client.sendCopy(DartWorld.bytes(1000, 1), 0, 1000, null, 1)
                    .await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            world.receiver.close();
            client.sendCopy(DartWorld.bytes(1000, 2), 0, 1000, null, 2)
                    .await(TicketState.TRANSFERRED, DartWorld.LIMIT_NS);
            master.requestStop();
            assertThat(master.awaitStopped(4_500_000_000L)).isFalse();
            world.receive(
                    world.receiverContext()
                            .listen("127.0.0.1", world.receiverPort)
                            .acceptGaps(true));
            assertThat(master.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
            assertThat(world.received).extracting(DartWorld.Received::tag).containsExactly(1, 2);
        }
    }
}
