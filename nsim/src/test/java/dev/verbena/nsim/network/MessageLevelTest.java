package dev.verbena.nsim.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import dev.verbena.nsim.Machine;
import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.program.Program;
import dev.verbena.nsim.scenario.LevelComparison;
import dev.verbena.nsim.scenario.SeededRandom;
import dev.verbena.nsim.topology.TieRule;
import dev.verbena.nsim.topology.Topologies;
import dev.verbena.nsim.topology.Topology;
import java.util.function.UnaryOperator;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(120)
class MessageLevelTest {
    private static final long[] SIZES = {
        0, 1, 8, 2047, 2048, 2049, 4096, 5000, 65_536, 100_001, 2_000_000
    };

    private static SimulationResult run(Machine machine, int processes, Program program) {
        return new Simulation(machine.topology(), machine.network())
                .processes(processes)
                .run(program);
    }

    private static Machine machine(Level level, String topology, String... settings) {
        Machine machine = new Machine().set("topology", topology).set("level", level.name());
        for (String setting : settings) {
            machine.set(setting);
        }
        return machine;
    }

    /** A message that is alone takes as long as at packet level, to the picosecond. */
    @Test
    void shouldTakeTheTimeOfThePacketLevelWhenAlone() {
        String[][] variants = {
            {},
            {"packet.header=32"},
            {"dma.bandwidth=0"},
            {"dma.bandwidth=9e9"},
            {"dma=shared", "flitStore=true", "node.overhead=70ns"},
            {"switch.throughput=2.0e9", "packet.payload=1000"}
        };
        for (String[] variant : variants) {
            for (String shape : new String[] {"switch(4)", "mesh(5)", "torus(3,3)"}) {
                for (long bytes : SIZES) {
                    Program program =
                            rank -> {
                                if (rank.rank() == 0) {
                                    rank.complete(rank.put(rank.size() - 1, bytes, 0));
                                    rank.complete(rank.get(rank.size() - 1, bytes));
                                }
                            };
                    int nodes = machine(Level.PACKET, shape).topology().nodes();
                    SimulationResult packet =
                            run(machine(Level.PACKET, shape, variant), nodes, program);
                    SimulationResult message =
                            run(machine(Level.MESSAGE, shape, variant), nodes, program);
                    assertThat(message.executionPs())
                            .as("%d bytes on %s, %s", bytes, shape, String.join(" ", variant))
                            .isEqualTo(packet.executionPs());
                }
            }
        }
    }

    @Test
    void shouldCountOnEveryLinkWhatThePacketLevelCounts() {
        Program program =
                rank -> {
                    for (int i = 1; i < 5; i++) {
                        rank.put((rank.rank() + 3 * i) % rank.size(), 1_000L * i * i, 0);
                        rank.get((rank.rank() + 5 * i) % rank.size(), 700L * i);
                    }
                    rank.completeAll();
                };
        for (String shape : new String[] {"torus(4,4)", "fattree(levels=2,down=4,up=4,leaves=4)"}) {
            LinkStatistics packet = run(machine(Level.PACKET, shape), 16, program).links();
            LinkStatistics message = run(machine(Level.MESSAGE, shape), 16, program).links();
            for (int link = 0; link < packet.count(); link++) {
                assertThat(message.bytes(link)).isEqualTo(packet.bytes(link));
                assertThat(message.packets(link)).isEqualTo(packet.packets(link));
                assertThat(message.busyPs(link)).isEqualTo(packet.busyPs(link));
            }
        }
    }

    @Test
    void shouldShareAReceiverFairly() {
        int senders = 7;
        long bytes = 1_000_000;
        Program program =
                rank -> {
                    if (rank.rank() > 0) {
                        rank.put(0, bytes, 0);
                    }
                };
        SimulationResult result = run(machine(Level.MESSAGE, "switch(8)"), senders + 1, program);
        double expectedNs = senders * bytes / 2.8;
        assertThat((double) result.latency().getMinValue())
                .isCloseTo(expectedNs, Percentage.withPercentage(1));
        assertThat((double) result.latency().getMaxValue())
                .isCloseTo(expectedNs, Percentage.withPercentage(1));
    }

    /** The whole comparison has 1,000 cases: {@code verbena sim levels}. */
    @Test
    void shouldBeCloseToThePacketLevelInRandomCases() {
        LevelComparison comparison = LevelComparison.run(60);
        assertThat(LevelComparison.absolute(comparison.caseErrors(), 0.5)).isLessThan(0.05);
        assertThat(LevelComparison.absolute(comparison.messageErrors(), 0.5)).isLessThan(0.05);
    }

    @Test
    void shouldPlayScenariosTheSameWayEachTime() {
        UnaryOperator<Machine> withDetours =
                m -> m.set("topology", "dragonfly(p=2,a=4,h=2,routing=ugal)");
        Program program =
                rank -> {
                    rank.put((rank.rank() + rank.size() / 2) % rank.size(), 300_000, 0);
                    rank.poll(0);
                };
        Machine first = withDetours.apply(machine(Level.MESSAGE, "switch(2)"));
        Machine second = withDetours.apply(machine(Level.MESSAGE, "switch(2)"));
        SimulationResult one = run(first, 72, program);
        SimulationResult two = run(second, 72, program);
        assertThat(one.traceHash()).isEqualTo(two.traceHash());
        assertThat(one.executionPs()).isEqualTo(two.executionPs()).isPositive();
    }

    @Test
    void shouldRefuseAMessageOfMorePacketsThanItCanCount() {
        Machine machine = machine(Level.MESSAGE, "switch(2)", "packet.payload=1");
        long most = (1L << 33) - 1;
        assertThat(run(machine, 2, puts(most)).executionPs()).isGreaterThan(most * 250);
        assertThatThrownBy(() -> run(machine, 2, puts(most + 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("8589934592 bytes")
                .hasMessageContaining("packet.payload=1;");
    }

    private static Program puts(long bytes) {
        return rank -> {
            if (rank.rank() == 0) {
                rank.put(1, bytes, 0);
                rank.completeAll();
            }
        };
    }

    /** Every node always has a message under way. */
    private static final class Busy implements MessageHandler {
        private final Engine engine;
        private final NetworkModel network;
        private final SeededRandom random = new SeededRandom(3);
        private final int nodes;
        private long done;

        Busy(Topology topology, Level level) {
            engine = new Engine(NetworkModel.entities(topology));
            network = NetworkModel.of(engine, topology, new NetworkContext().level(level));
            network.handler(this);
            nodes = topology.nodes();
            for (int node = 0; node < nodes; node++) {
                next(node);
            }
        }

        private void next(int node) {
            int to = (node + 1 + random.below(nodes - 1)) % nodes;
            long bytes = 1 + random.below(100_000);
            network.submit(network.messages().add(MessageTable.PUT, node, to, bytes));
        }

        @Override
        public void onData(long timePs, int message) {
            done++;
        }

        @Override
        public void onComplete(long timePs, int message) {
            next(network.messages().source(message));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"PACKET", "MESSAGE"})
    @Tag("nsim-3")
    void shouldAllocateNothingPerMessage(Level level) {
        Busy busy = new Busy(Topologies.parse("torus(4,4,4)", TieRule.BALANCED), level);
        busy.engine.run(Long.MAX_VALUE, 400_000);
        long done = busy.done;
        AllocationMeter.requireNone(() -> busy.engine.run(Long.MAX_VALUE, 100_000));
        assertThat(busy.done).isGreaterThan(done + 100);
    }
}
