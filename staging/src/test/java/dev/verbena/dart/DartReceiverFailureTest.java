package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A receiver that can no longer work says so. */
@Timeout(120)
class DartReceiverFailureTest {
    @Test
    void shouldSayThatItHasRunOutOfMemory() throws Exception {
        try (DartWorld world = new DartWorld("shm").receive()) {
            OutOfMemoryError error = new OutOfMemoryError("made by the test");
            world.onMessage =
                    () -> {
                        throw error;
                    };
            world.master(c -> c.closeTimeoutNs(1));
            DartClient client = world.client(0, c -> c.closeTimeoutNs(1));
            DartTicket ticket = client.sendCopy(DartWorld.bytes(100, 1), 0, 100, null, 1);
            Await.until("failure", () -> world.receiver.failure() != null);
            assertThat(world.receiver.failure()).isSameAs(error);
            assertThat(world.receiver.awaitFinished(1, 60 * DartWorld.LIMIT_NS)).isFalse();
            assertThat(ticket.state()).isNotEqualTo(TicketState.STREAMED);
            world.clients.clear();
            try {
                client.close(1);
            } catch (DartException e) {
                assertThat(e.code()).isEqualTo(DartException.Code.UNCONFIRMED);
            }
        }
    }
}
