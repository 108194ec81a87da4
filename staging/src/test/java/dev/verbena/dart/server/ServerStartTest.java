package dev.verbena.dart.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.DurableStore;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ForwardingEnvironment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.MemoryDisk;
import dev.verbena.dart.Settings;
import dev.verbena.dart.WireEnvironment;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of a server when something fails at its start. */
@Timeout(60)
class ServerStartTest {
    private static final long SECOND = 1_000_000_000L;

    private final WireEnvironment wire = new WireEnvironment();
    private MasterAdmission master;
    private boolean isDeaf;

    private static DartServer.Context master(Environment environment) {
        return new DartServer.Context()
                .environment(environment)
                .configurationFile("x/dart.conf")
                .discard(true)
                .master();
    }

    /** The master's part of t1, with a transport that only has an address. */
    private void start(DartServer.Context context) {
        ServerShared shared = new ServerShared(Settings.of(context));
        Transport transport =
                (Transport)
                        Proxy.newProxyInstance(
                                Transport.class.getClassLoader(),
                                new Class<?>[] {Transport.class},
                                (proxy, method, arguments) -> answer(method.getName()));
        master = new MasterAdmission(shared, transport, null, null, null);
    }

    private Object answer(String method) {
        if (isDeaf) {
            throw new TransportException("it cannot listen, says the test");
        }
        return method.equals("uri") ? URI.create("shm://host/job/a") : null;
    }

    private long now() {
        return wire.clock.nanoTime();
    }

    private void work() {
        for (int i = 0; i < 20; i++) {
            master.doWork(now());
        }
    }

    /** As with a device that is full, or a file server that is away, for a moment. */
    @Test
    void shouldPublishAgainWhenItsFileCannotBeWritten() {
        wire.disk.renameFailures = 2;
        start(master(wire));
        work();
        assertThat(master.isPublished()).isFalse();
        assertThat(master.nextDeadlineNs(now())).isEqualTo(now() + SECOND);
        wire.clock.advanceNs(SECOND - 1);
        work();
        assertThat(wire.disk.renameFailures).as("too early").isEqualTo(1);
        wire.clock.advanceNs(1);
        work();
        assertThat(master.isPublished()).isFalse();
        wire.clock.advanceNs(SECOND);
        work();
        assertThat(master.isPublished()).isTrue();
        assertThat(wire.disk.names("dart.conf")).hasSize(1);
        assertThat(master.nextDeadlineNs(now())).isEqualTo(ProtocolAgent.NO_DEADLINE);
        assertThat(wire.errors).hasSize(1);
        assertThat(wire.errors.get(0)).hasMessageContaining("cannot publish x/dart.conf: ");
    }

    @Test
    void shouldEndWhenItsFileCannotBeWrittenInTime() {
        wire.disk.renameFailures = 1;
        start(master(wire).bootTimeoutNs(0));
        assertThatThrownBy(this::work)
                .isInstanceOf(DartException.class)
                .hasMessageContaining("cannot publish x/dart.conf: ")
                .matches(e -> ((DartException) e).code() == DartException.Code.NOT_BOOTSTRAPPED);
    }

    @Test
    void shouldOpenNoStoreForATransportThatCannotListen() {
        isDeaf = true;
        assertThatThrownBy(() -> start(master(wire))).hasMessageContaining("cannot listen");
        assertThat(wire.disk.openStores).isZero();
    }

    @Test
    void shouldLeaveNoStoreOpenWhicheverRegionCannotBeMade() {
        List<Throwable> errors = new ArrayList<>();
        int failing = 0;
        try (RealEnvironment real =
                RealEnvironment.builder().job("start").errorHandler(errors::add).build()) {
            do {
                errors.clear();
                Limited limited = new Limited(real, failing++);
                PullAgent t1 = new PullAgent(new ServerShared(Settings.of(master(limited))));
                t1.onStart();
                t1.onClose();
                assertThat(limited.disk.openStores).as("%s, %s", failing, errors).isZero();
            } while (!errors.isEmpty());
        }
        assertThat(failing).isGreaterThan(2);
    }

    /** A transport that makes so many regions. */
    private static final class Limited extends ForwardingEnvironment {
        private final MemoryDisk disk = new MemoryDisk();
        private int left;

        Limited(Environment inner, int regions) {
            super(inner);
            left = regions;
        }

        @Override
        public DurableStore store(String directory) {
            return disk.open();
        }

        @Override
        public Transport openTransport(String scheme, TransportContext context) {
            Transport opened = super.openTransport(scheme, context);
            return (Transport)
                    Proxy.newProxyInstance(
                            Transport.class.getClassLoader(),
                            new Class<?>[] {Transport.class},
                            (proxy, method, arguments) -> {
                                if (method.getName().equals("allocate") && left-- == 0) {
                                    throw new TransportException("no more, says the test");
                                }
                                try {
                                    return method.invoke(opened, arguments);
                                } catch (InvocationTargetException e) {
                                    throw e.getCause();
                                }
                            });
        }
    }
}
