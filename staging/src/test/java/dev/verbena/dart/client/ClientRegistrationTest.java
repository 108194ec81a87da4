package dev.verbena.dart.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartConfiguration;
import dev.verbena.dart.Settings;
import dev.verbena.dart.WireEnvironment;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A client hears late of a connection to a master that is of no use to it any more. */
class ClientRegistrationTest {
    private static final UUID JOB = new UUID(1, 2);
    private static final long EPOCH_MS = 77;
    private static final URI MASTER = URI.create("shm://host/job/master");
    private static final long SERVER = 99;

    private final WireEnvironment wire = new WireEnvironment();
    private final List<Long> disconnects = new ArrayList<>();
    private int connects;
    private final ClientRegistration registration;

    ClientRegistrationTest() {
        wire.disk.put(
                "dart.conf",
                new DartConfiguration(JOB, EPOCH_MS, MASTER, 1, 0).encode().getBytes(UTF_8));
        Transport transport =
                (Transport)
                        Proxy.newProxyInstance(
                                Transport.class.getClassLoader(),
                                new Class<?>[] {Transport.class},
                                (proxy, method, arguments) -> answer(method.getName(), arguments));
        DartClient.Context context =
                new DartClient.Context()
                        .environment(wire)
                        .transport("shm")
                        .configurationFile("x/dart.conf");
        registration = new ClientRegistration(Settings.of(context), transport, null, 1L << 40);
        work();
        registration.again(JOB, EPOCH_MS);
    }

    private Object answer(String method, Object[] arguments) {
        if (method.equals("disconnect")) {
            disconnects.add((Long) arguments[0]);
            return Transport.ACCEPTED;
        }
        return method.equals("connect") ? (Object) (long) ++connects : URI.create("shm://h/j/me");
    }

    private void work() {
        wire.clock.advanceNs(1_000_000_000);
        registration.doWork(wire.clock.nanoTime(), false);
    }

    @Test
    void shouldNotTakeAnEarlierConnectionForItsOwn() {
        registration.onConnected(1);
        assertThat(disconnects).containsExactly(1L);
        work();
        assertThat(connects).isEqualTo(2);
        registration.onConnected(1);
        assertThat(disconnects).hasSize(2);
    }

    @Test
    void shouldGoOnConnectingWhenAnEarlierConnectionFails() {
        work();
        registration.onConnectFailed(1, Status.TIMED_OUT, "no answer");
        work();
        assertThat(connects).isEqualTo(2);
        registration.onConnectFailed(2, Status.TIMED_OUT, "no answer");
        assertThat(registration.isOver(wire.clock.nanoTime())).as("no master lives").isTrue();
    }

    @Test
    void shouldLetTheMasterGoThatAnswersWhenAServerIsFound() {
        work();
        registration.end(SERVER);
        registration.onConnected(2);
        assertThat(disconnects).containsExactly(2L);
        registration.onConnectFailed(2, Status.TIMED_OUT, "no answer");
        assertThat(registration.isOver(wire.clock.nanoTime())).isFalse();
    }
}
