package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.dart.wire.ControlFlyweight;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process asks a slave that all servers stop, and the master cannot be reached just then. */
@Timeout(180)
class DartStopAskedTest {
    @Test
    void shouldAskAgainWhenItsMasterCouldNotBeReached() throws Exception {
        try (DartWorld world = new DartWorld("shm").receive()) {
            ProbeEnvironment probe = new ProbeEnvironment(world.environment);
            AtomicInteger asked = new AtomicInteger();
            probe.refusesRecord =
                    type -> type == ControlFlyweight.STOP && asked.incrementAndGet() <= 3;
            DartServer master = world.master(c -> c.serverCount(2).stoppableByClients(true));
            DartServer slave = world.slave(c -> c.environment(probe).stoppableByClients(true));
            List<DartClient> clients = List.of(world.client(0), world.client(1));
            clients.stream()
                    .filter(client -> client.serverId() == 1)
                    .findFirst()
                    .orElseThrow()
                    .stopServers();
            assertThat(master.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
            assertThat(slave.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
            assertThat(asked.get()).isGreaterThan(3);
            world.clients.clear();
            clients.forEach(client -> client.close(0));
        }
    }
}
