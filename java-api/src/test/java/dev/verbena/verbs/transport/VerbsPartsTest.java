package dev.verbena.verbs.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import dev.verbena.verbs.VerbsStub;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Opening and closing a transport over the recording libibverbs. */
@Timeout(120)
class VerbsPartsTest {
    private static boolean isKeeperThere() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("verbena-verbs-keeper"));
    }

    @Test
    void shouldCloseTheRestWhenOnePartCannotBeClosed() {
        List<Throwable> errors = new CopyOnWriteArrayList<>();
        TransportContext context =
                new TransportContext()
                        .errorHandler(errors::add)
                        .connectionsMax(2)
                        .option("device", "stub0")
                        .option("address", "127.0.0.1");
        VerbsStub stub = VerbsStub.open();
        try {
            for (String call : new String[] {"ibv_destroy_srq", "ibv_dealloc_pd"}) {
                errors.clear();
                int before = stub.openObjects();
                var transport = Transports.open("verbs", context);
                assertThat(isKeeperThere()).isTrue();
                stub.fail(call, 16);
                transport.close();
                assertThat(errors).hasSize(1);
                assertThat(errors.get(0)).hasMessageContaining(call);
                // The domain at most, and its device.
                assertThat(stub.openObjects() - before).isBetween(0, 2);
                Await.until("the keeper's thread ends", () -> !isKeeperThere());
            }
        } finally {
            stub.close();
        }
    }
}
