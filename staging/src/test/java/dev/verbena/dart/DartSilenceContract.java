package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.dart.server.DartWireTest;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Silence between server and receiver in real time: processes are frozen, so that their connections
 * stay open and nothing comes. {@link DartWireTest} has the exact limits, in virtual time.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
public abstract class DartSilenceContract {
    private static final long SECOND = 1_000_000_000L;

    /** The last heartbeat may have come some time before the freeze. */
    private static final long LEAST_NS = 6 * SECOND;

    /** 12 s by the specification, and some for a machine that has other things to do. */
    private static final long MOST_NS = 15 * SECOND;

    /** For subclasses in other modules. */
    protected DartSilenceContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    private static boolean hasReported(DartWorld world) {
        return world.errors.stream().anyMatch(e -> e.getMessage().contains("nothing was heard"));
    }

    private static DartTicket send(DartClient client, int tag) {
        return client.sendCopy(DartWorld.bytes(5000, tag), 0, 5000, null, tag);
    }

    @Test
    @Tag("dart-D38")
    void shouldNoticeInRealTimeThatTheOtherSideIsSilent() throws Exception {
        try (DartWorld frozenReceiver = new DartWorld(scheme());
                DartWorld frozenServer = new DartWorld(scheme()).receive();
                ReceiverProcess receiver =
                        new ReceiverProcess(frozenReceiver.directory.resolve("out"), 0);
                DartNode server = DartNode.start(frozenServer, "master")) {
            frozenReceiver.receiverPort = receiver.port;
            frozenReceiver.master();
            DartClient client = frozenReceiver.client(0);
            send(client, 1).await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            server.await("ready");
            DartReceiver here = frozenServer.receiver;
            Await.until("connected", () -> here.statistics().openCount() == 1);
            receiver.signal("STOP");
            server.signal("STOP");
            long since = System.nanoTime();
            Await.until("a silent receiver is noticed", () -> hasReported(frozenReceiver));
            long byServer = System.nanoTime() - since;
            Await.until("a silent server", () -> here.statistics().openCount() == 0);
            long byReceiver = System.nanoTime() - since;
            receiver.signal("CONT");
            server.signal("CONT");
            assertThat(byServer).isBetween(LEAST_NS, MOST_NS);
            assertThat(byReceiver).isBetween(LEAST_NS, MOST_NS);
            // Both go on.
            send(client, 2).await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            DartClient other = frozenServer.client(0);
            send(other, 3).await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            assertThat(frozenServer.received).hasSize(1);
            other.close();
            frozenServer.clients.clear();
            server.end();
        }
    }
}
