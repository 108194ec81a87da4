package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** DART over a transport: one small subclass for each provider names the scheme. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
public abstract class DartContract {
    /** URI scheme of the provider. */
    protected abstract String scheme();

    @Test
    @Tag("dart-D16")
    void shouldDeliverEqualBytes() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            world.master();
            DartClient client = world.client(0);
            UnsafeBuffer data = DartWorld.bytes(1000, 1);
            DartTicket ticket =
                    client.sendCopy(data, 0, 1000, new DartMetadata().name("a").step(7), 5);
            ticket.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            world.awaitReceived(1);
            assertThat(world.received.get(0).payload()).isEqualTo(data.byteArray());
        }
    }
}
