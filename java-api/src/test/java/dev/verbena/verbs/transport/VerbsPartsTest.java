package dev.verbena.verbs.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import dev.verbena.verbs.VerbsStub;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Opening and closing a transport over the recording libibverbs. */
@Timeout(120)
class VerbsPartsTest {
    private static boolean isKeeperThere() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("verbena-verbs-keeper"));
    }

    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final TransportContext context =
            new TransportContext()
                    .errorHandler(errors::add)
                    .connectionsMax(2)
                    .option("device", "stub0")
                    .option("address", "127.0.0.1");

    @Test
    void shouldTakeBackWhatWasMadeAndTellWhyWhenOnePartCannotBeMade() {
        VerbsStub stub = VerbsStub.open();
        try {
            int before = stub.openObjects();
            for (String call :
                    List.of("ibv_alloc_pd", "ibv_create_srq", "ibv_reg_mr", "ibv_create_qp")) {
                stub.fail(call, 12);
                assertThatThrownBy(() -> Transports.open("verbs", context))
                        .as(call)
                        .hasMessageContaining(call)
                        .hasNoSuppressedExceptions();
                assertThat(stub.openObjects()).as(call).isEqualTo(before);
            }
            context.option("address", "192.0.2.1");
            assertThatThrownBy(() -> Transports.open("verbs", context))
                    .hasMessageContaining("no TCP socket");
            assertThat(stub.openObjects()).isEqualTo(before);
            Await.until("the keeper's thread ends", () -> !isKeeperThere());
        } finally {
            stub.close();
        }
    }

    @Test
    void shouldBeginTheKeepersThreadWhenThereWasNoneToBeHadBefore() {
        ThreadFactory none =
                keeper -> {
                    throw new OutOfMemoryError("unable to create native thread, for a test");
                };
        Await.until("no keeper of others", () -> !isKeeperThere());
        assertThatThrownBy(() -> SideChannelLoop.join(none)).isInstanceOf(OutOfMemoryError.class);
        SideChannelLoop loop = SideChannelLoop.join();
        loop.flush();
        assertThat(isKeeperThere()).isTrue();
        loop.leave();
    }

    @Test
    void shouldCloseTheRestWhenOnePartCannotBeClosed() {
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
