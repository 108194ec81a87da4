package dev.verbena.nsim.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.topology.Topology;
import dev.verbena.nsim.topology.TreeTopology;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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
}
