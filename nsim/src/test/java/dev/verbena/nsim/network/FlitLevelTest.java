package dev.verbena.nsim.network;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.scenario.SeededRandom;
import dev.verbena.nsim.topology.TieRule;
import dev.verbena.nsim.topology.Topologies;
import dev.verbena.nsim.topology.Topology;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Packet level against a reference in which every flit is an event. */
@Tag("once")
class FlitLevelTest {
    private static final int CASES = 1000;
    private static final int START = 30;
    private static final String[] SHAPES = {
        "mesh(4)",
        "mesh(3,3)",
        "mesh(4,4)",
        "torus(5)",
        "torus(4,4)",
        "torus(2,3,2)",
        "switch(6)",
        "leafspine(leaves=3,down=3,spines=2)",
        "xgft(2,2,2;1,2,2)",
        "fattree(levels=2,down=4,up=2)",
        "dragonfly(p=2,a=2,h=1,routing=ugal)",
        "hyperx(3,3;nodes=2,routing=valiant)"
    };

    /** A case: a machine, its parameters, messages and when they start. */
    private static final class Case implements MessageHandler {
        final Topology topology;
        final SeededRandom random;
        final long[] startPs;
        final int[] ends;
        final int[] kinds;
        final long[] bytes;
        private long[] times;
        private Engine engine;

        Case(long seed) {
            random = new SeededRandom(seed);
            TieRule tie = random.below(2) == 0 ? TieRule.POSITIVE : TieRule.BALANCED;
            topology = Topologies.parse(SHAPES[random.below(SHAPES.length)], tie);
            assertThat(topology.routers()).isLessThanOrEqualTo(16);
            int count = 1 + random.below(40);
            startPs = new long[count];
            ends = new int[2 * count];
            kinds = new int[count];
            bytes = new long[count];
            for (int i = 0; i < count; i++) {
                // Many start together: what happens at one instant must not depend on order.
                startPs[i] = 100_000L * random.below(8);
                ends[2 * i] = random.below(topology.nodes());
                ends[2 * i + 1] = random.below(topology.nodes());
                kinds[i] = random.below(4) == 0 ? MessageTable.GET : MessageTable.PUT;
                bytes[i] = random.below(3) == 0 ? random.below(64) : random.below(900);
            }
        }

        NetworkContext context(long seed) {
            SeededRandom r = new SeededRandom(seed ^ 77);
            long[] rates = {4_000_000_000L, 3_300_000_000L, 2_000_000_000L};
            NetworkContext context =
                    new NetworkContext()
                            .payload(64 + r.below(200))
                            .header(r.below(3) * 8)
                            .vcBuffer(1 + r.below(3))
                            .vcPerClass(1 + r.below(2))
                            .nicBuffer(1 + r.below(4))
                            .switchRate(rates[r.below(3)])
                            .isFlitStored(r.below(2) == 0)
                            .isDmaShared(r.below(4) == 0)
                            .isNicFifo(r.below(4) == 0);
            return r.below(3) == 0 ? context.dmaRate(0) : context;
        }

        /** When each message was in memory, and when complete. */
        long[] run(NetworkContext context) {
            times = new long[2 * kinds.length];
            engine = new Engine(NetworkModel.entities(topology));
            PacketNetwork network = new PacketNetwork(engine, topology, context);
            network.handler(this);
            MessageTable messages = network.messages();
            engine.handler(
                    START,
                    (time, node, i) -> {
                        int at = (int) i;
                        int row = messages.add(kinds[at], node, ends[2 * at + 1], bytes[at]);
                        messages.ranks(row, node, 0, 0, at);
                        network.submit(row);
                    });
            for (int i = 0; i < kinds.length; i++) {
                engine.schedule(startPs[i], ends[2 * i], ends[2 * i], START, i);
            }
            this.messages = messages;
            engine.run();
            assertThat(network.messages().used())
                    .as("%s, flits: %s", topology.name(), context.level())
                    .isZero();
            return times;
        }

        private MessageTable messages;

        @Override
        public void onData(long timePs, int message) {
            times[2 * messages.number(message)] = timePs;
        }

        @Override
        public void onComplete(long timePs, int message) {
            times[2 * messages.number(message) + 1] = timePs;
        }
    }

    @Test
    @Tag("nsim-12")
    void shouldDeliverAtTheTimesOfTheFlitLevelInRandomCases() {
        for (long seed = 1; seed <= CASES; seed++) {
            Case random = new Case(seed);
            long[] packets = random.run(random.context(seed));
            long[] flits = random.run(random.context(seed).level(Level.FLIT));
            assertThat(packets).as("seed %d on %s", seed, random.topology.name()).isEqualTo(flits);
            assertThat(Arrays.stream(packets).max().orElse(0)).isPositive();
        }
    }
}
