package dev.verbena.dart.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.dart.DartConfiguration;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.Settings;
import dev.verbena.dart.WireEnvironment;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportLimits;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** Whom a slave connects to, and whom not any more. */
class ServerRegistryTest {
    private static final UUID JOB = new UUID(1, 2);
    private static final long TIMEOUT_NS = 1_000_000_000L;
    private static final long STEP_NS = 20_000_000L;
    private static final URI MASTER = URI.create("shm://h/j/m");
    private static final int CONTEXT_AT = 4;

    private final WireEnvironment wire = new WireEnvironment();
    private final ServerShared shared = shared();

    /** Contexts of the connections that were asked for; the place in the list is the handle. */
    private final List<Long> connects = new ArrayList<>();

    private final List<Long> disconnects = new ArrayList<>();
    private final List<Long> sends = new ArrayList<>();
    private final Transport transport =
            (Transport)
                    Proxy.newProxyInstance(
                            Transport.class.getClassLoader(),
                            new Class<?>[] {Transport.class},
                            (proxy, method, arguments) -> answer(method.getName(), arguments));
    private final ServerRegistry registry;

    ServerRegistryTest() {
        shared.identify(JOB, 0, 1);
        registry = registry(shared, null, 0);
    }

    private ServerRegistry registry(ServerShared its, ControlOutbox outbox, long timeoutNs) {
        return new ServerRegistry(
                its, transport, outbox, taken -> {}, dropped -> {}, reached -> {}, timeoutNs);
    }

    private Object answer(String method, Object[] arguments) {
        switch (method) {
            case "connect" -> {
                connects.add((Long) arguments[CONTEXT_AT]);
                return (long) connects.size();
            }
            case "disconnect" -> {
                disconnects.add((Long) arguments[0]);
                return Transport.ACCEPTED;
            }
            case "allocate" -> {
                return region();
            }
            case "send" -> {
                sends.add((Long) arguments[0]);
                return Transport.ACCEPTED;
            }
            case "uri" -> {
                return MASTER;
            }
            case "limits" -> {
                return new TransportLimits(128, 1, 1, 1, 1, 64);
            }
            default -> {
                // Nothing that this looks at.
            }
        }
        return null;
    }

    private ServerShared shared() {
        return new ServerShared(
                Settings.of(
                        new DartServer.Context()
                                .environment(wire)
                                .configurationFile("x/dart.conf")
                                .discard(true)
                                .slave()));
    }

    private static Object region() {
        UnsafeBuffer memory = new UnsafeBuffer(new byte[4096]);
        return Proxy.newProxyInstance(
                RegisteredRegion.class.getClassLoader(),
                new Class<?>[] {RegisteredRegion.class},
                (proxy, method, arguments) -> method.getName().equals("buffer") ? memory : null);
    }

    /** The master hands over a process of client 7 that has registered so often before. */
    private ServerPeer take(int before) {
        UnsafeBuffer memory = new UnsafeBuffer(new byte[ControlFlyweight.LENGTH]);
        new ControlFlyweight()
                .begin(memory, 0, ControlFlyweight.FORWARD, JOB)
                .registration()
                .write(ControlFlyweight.ROLE_CLIENT, 4, 0, 0, URI.create("shm://h/j/p" + before))
                .registration()
                .assigned(7, before)
                .end();
        // The first peer of a slave is its master.
        registry.onRecord(
                registry.peer(0), new ControlFlyweight().wrap(memory, 0, memory.capacity()));
        return last();
    }

    private ServerPeer last() {
        return registry.peer(connects.get(connects.size() - 1));
    }

    @Test
    void shouldConnectAgainToAClientThatDidNotAnswerInTime() {
        ServerPeer peer = take(0);
        registry.onConnectFailed(peer, Status.TIMED_OUT, "no answer");
        assertThat(connects).hasSize(2);
        registry.onConnectFailed(last(), Status.TIMED_OUT, "no answer");
        assertThat(connects).hasSize(3);
        registry.onConnectFailed(last(), Status.TIMED_OUT, "no answer");
        assertThat(connects).hasSize(3);
        assertThat(registry.clients.byId(7)).isNull();
    }

    @Test
    void shouldNotConnectAgainToAClientWhosePlaceIsTaken() {
        ServerPeer before = take(0);
        ServerPeer now = take(1);
        registry.onConnectFailed(before, Status.TIMED_OUT, "no answer");
        assertThat(connects).hasSize(2);
        assertThat(registry.peer(before.context)).isNull();
        assertThat(registry.clients.byId(7)).isSameAs(now.client);
        assertThat(shared.lostClients.get()).as("it was lost when its place was taken").isZero();
    }

    @Test
    void shouldLetAClientGoThatIsReachedWhenItsPlaceIsTaken() {
        ServerPeer before = take(0);
        ServerPeer now = take(1);
        registry.onConnected(1, before);
        assertThat(disconnects).containsExactly(1L);
        assertThat(registry.peer(before.context)).isNull();
        registry.onConnected(2, now);
        assertThat(disconnects).hasSize(1);
        assertThat(now.client.isWelcomePending).isTrue();
    }

    /** What comes late of a connection is not of the one that follows. */
    @Test
    void shouldKeepTheSecondConnectionToTheMasterWhenTheFirstEndsLate() {
        String text = new DartConfiguration(JOB, 0, MASTER, 2, 1).encode();
        wire.disk.put("dart.conf", text.getBytes(UTF_8));
        ControlOutbox outbox = new ControlOutbox(transport, 2, 0);
        ServerRegistry slave = registry(shared(), outbox, TIMEOUT_NS);
        step(slave);
        slave.onConnected(1, slave.peer(0));
        step(slave);
        outbox.onCompletion(0);
        slave.onRecord(slave.peer(0), welcome(ControlFlyweight.RESULT_STOPPING));
        step(slave);
        slave.onEnded(1, 0, "");
        slave.onConnected(1, slave.peer(0));
        slave.onConnected(2, slave.peer(0));
        step(slave);
        slave.onEnded(1, 0, "");
        assertThat(connects).hasSize(2);
        assertThat(disconnects).containsExactly(1L, 1L);
        assertThat(sends).containsExactly(1L, 2L);
        wire.clock.advanceNs(TIMEOUT_NS);
        assertThatThrownBy(() -> slave.doWork(wire.clock.nanoTime()))
                .isInstanceOfSatisfying(
                        DartException.class,
                        e -> assertThat(e.code()).isEqualTo(DartException.Code.SERVER_STOPPING));
    }

    private void step(ServerRegistry slave) {
        wire.clock.advanceNs(STEP_NS);
        slave.doWork(wire.clock.nanoTime());
    }

    private static ControlFlyweight welcome(int result) {
        UnsafeBuffer memory = new UnsafeBuffer(new byte[ControlFlyweight.LENGTH]);
        new ControlFlyweight()
                .begin(memory, 0, ControlFlyweight.WELCOME, JOB)
                .welcome(0, 0, result, 0)
                .end();
        return new ControlFlyweight().wrap(memory, 0, memory.capacity());
    }
}
