package dev.verbena.nsim.network;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.topology.Topology;
import dev.verbena.nsim.topology.TreeTopology;
import org.junit.jupiter.api.Test;

class IdleHandlerTest {
    private static final int PACKET = 2048;
    private static final int COUNT = 50;

    private final Topology topology = TreeTopology.single(2);
    private final Engine engine = new Engine(NetworkModel.entities(topology));
    private final PacketNetwork network = new PacketNetwork(engine, topology, new NetworkContext());
    private int submitted;
    private int arrived;
    private long lastPs;

    private void put(long bytes) {
        network.submit(network.messages().add(MessageTable.PUT, 0, 1, bytes));
        submitted++;
    }

    private long run() {
        network.handler(
                new MessageHandler() {
                    @Override
                    public void onData(long timePs, int message) {
                        arrived++;
                        lastPs = timePs;
                    }

                    @Override
                    public void onComplete(long timePs, int message) {}
                });
        engine.run(Long.MAX_VALUE, Long.MAX_VALUE);
        assertThat(arrived).isEqualTo(submitted);
        return lastPs;
    }

    /** Messages that are given whenever the interface has none follow one another without a gap. */
    @Test
    void shouldKeepASourceAsBusyAsOneLongMessageDoes() {
        network.idleHandler(
                (timePs, node) -> {
                    if (node == 0 && submitted < COUNT) {
                        put(PACKET);
                    }
                });
        long together = run();
        assertThat(submitted).isEqualTo(COUNT);
        IdleHandlerTest other = new IdleHandlerTest();
        other.put((long) COUNT * PACKET);
        assertThat(together).isEqualTo(other.run());
    }
}
