package dev.verbena.dart.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What t3 spills when servers and receiver share a secret, in virtual time. */
@Timeout(120)
class DartSpillSecretTest extends SpillingServers {
    private static final byte[] SECRET = "the shared secret of this test".getBytes();

    @Override
    DartServer.Context context(DartServer.Context of) {
        return of.secret(SECRET);
    }

    @Override
    DartReceiver.Context context(DartReceiver.Context of) {
        return of.secret(SECRET);
    }

    @Test
    @Tag("dart-F7")
    void shouldDeliverWhatAnEarlierServerSpilled() {
        wire.isRefusing = true;
        Server one = start(1);
        one.send(300);
        one.send(20_000);
        until(one, "all spilled", () -> one.free.size() == BUFFERS);
        one.t3.onClose();
        Server two = start(2);
        wire.isRefusing = false;
        until(two, "delivered", () -> received.size() == 2 && wire.disk.used() == 0);
        assertThat(received).isEqualTo(upTo(2));
    }
}
