package dev.verbena.nsim.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.topology.Topology;
import dev.verbena.nsim.topology.TreeTopology;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class PacketNetworkTest {
    @Test
    void shouldSayThatAMachineIsTooLargeAndWhatElseCanBeDone() {
        Topology topology = TreeTopology.single(500_000);
        NetworkContext context = new NetworkContext();
        Engine engine = new Engine(NetworkModel.entities(topology));
        assertThatThrownBy(() -> NetworkModel.of(engine, topology, context))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("switch(500000) is too large for the packet level")
                .hasMessageContaining("level=message");
        context.level(Level.MESSAGE);
        assertThat(NetworkModel.of(engine, topology, context).links().count()).isEqualTo(1_000_000);
    }

    /** The time of the largest has to fit into 63 bits. */
    @ParameterizedTest
    @ValueSource(
            strings = {"packet.payload", "packet.header", "flit", "control.bytes", "request.bytes"})
    void shouldRefusePacketsOfWhichNoTimeCanBeSaid(String key) {
        Machine machine = new Machine().set(key, "4194304");
        assertThatThrownBy(() -> machine.set(key, "4194305"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(key + " is 4194305; at most 4194304");
    }

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldRefuseAMessageOfMorePacketsThanCanBeCounted(Level level) {
        Topology topology = TreeTopology.single(2);
        NetworkContext context = new NetworkContext().level(level).isLoopback(true);
        for (int to = 0; to < 2; to++) {
            int peer = to;
            Simulation simulation = new Simulation(topology, context);
            assertThatThrownBy(() -> simulation.run(r -> r.put(peer, Long.MAX_VALUE, 0)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("has 4503599627370496 packets of packet.payload=2048");
        }
    }

    @Test
    void shouldTakeNoLessThanATimeWhenPacketsAreTheLargest() {
        for (long rate : new long[] {1_000_000_000L, Long.MAX_VALUE}) {
            long time = new TransferTime(rate).of(2 * 4_194_304);
            assertThat(time).isEqualTo(rate == Long.MAX_VALUE ? 1 : 8_388_608_000L);
        }
    }

    @Test
    void shouldNameTheKeyThatMakesTooManyChannels() {
        Topology topology = TreeTopology.single(1000);
        NetworkContext context = new NetworkContext().vcPerClass(2_000_000);
        Engine engine = new Engine(NetworkModel.entities(topology));
        assertThatThrownBy(() -> NetworkModel.of(engine, topology, context.level(Level.MESSAGE)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("vc.perClass=2000000")
                .hasMessageContaining("switch(1000)");
    }
}
