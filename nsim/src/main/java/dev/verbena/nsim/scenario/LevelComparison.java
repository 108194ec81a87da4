package dev.verbena.nsim.scenario;

import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.network.Level;
import dev.verbena.nsim.network.MessageHandler;
import dev.verbena.nsim.network.MessageTable;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.network.NetworkModel;
import dev.verbena.nsim.topology.TieRule;
import dev.verbena.nsim.topology.Topologies;
import dev.verbena.nsim.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Message level beside packet level: random small machines with up to 40 puts and gets of 1 byte to
 * 1 MiB that start within 200 us, each case run at both levels. An error is (message level - packet
 * level) / packet level, of the time from the start of a message until its data are in memory, and
 * of the time until the last message of a case is complete.
 */
public final class LevelComparison {
    private static final int START = NetworkModel.KINDS_FREE;
    private static final int MESSAGES_MAX = 40;
    private static final int SIZE_BITS_MAX = 20;
    private static final int SLOTS = 2_000;
    private static final long SLOT_PS = 100_000;
    private static final List<String> SHAPES =
            List.of(
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
                    "dragonfly(p=2,a=2,h=1)",
                    "hyperx(3,3;nodes=2)");

    private final double[] messages;
    private final double[] cases;

    private LevelComparison(double[] messages, double[] cases) {
        this.messages = messages;
        this.cases = cases;
        Arrays.sort(messages);
        Arrays.sort(cases);
    }

    /** Runs the cases of the seeds from 1 to a number. */
    public static LevelComparison run(int count) {
        double[] messages = new double[count * MESSAGES_MAX];
        double[] cases = new double[count];
        int used = 0;
        for (int seed = 1; seed <= count; seed++) {
            Case random = new Case(seed);
            long[] packet = random.run(Level.PACKET);
            long packetEnd = random.endPs;
            long[] message = random.run(Level.MESSAGE);
            cases[seed - 1] = error(random.endPs, packetEnd);
            for (int i = 0; i < packet.length; i++) {
                messages[used++] = error(message[i], packet[i]);
            }
        }
        return new LevelComparison(Arrays.copyOf(messages, used), cases);
    }

    private static double error(long message, long packet) {
        return packet == 0 ? 0 : (double) (message - packet) / packet;
    }

    /** Errors of single messages with their signs, in ascending order. */
    public double[] messageErrors() {
        return messages.clone();
    }

    /** Errors of the time of whole cases with their signs, in ascending order. */
    public double[] caseErrors() {
        return cases.clone();
    }

    /** The size that a part of some errors does not exceed, whatever their signs. */
    public static double absolute(double[] errors, double part) {
        double[] sizes = Arrays.stream(errors).map(Math::abs).sorted().toArray();
        int at = (int) Math.ceil(part * sizes.length) - 1;
        return sizes[Math.max(0, at)];
    }

    private record Message(long startPs, int from, int to, int kind, long bytes) {}

    /** One machine with its messages. */
    private static final class Case implements MessageHandler {
        private final Topology topology;
        private final long dmaRate;
        private final int header;
        private final List<Message> messages = new ArrayList<>();
        private long[] took;
        private long endPs;
        private MessageTable table;

        Case(long seed) {
            SeededRandom random = new SeededRandom(seed);
            topology = Topologies.parse(SHAPES.get(random.below(SHAPES.size())), TieRule.BALANCED);
            long[] rates = {2_800_000_000L, 6_000_000_000L, 0};
            dmaRate = rates[random.below(rates.length)];
            header = 32 * random.below(2);
            int count = 1 + random.below(MESSAGES_MAX);
            int nodes = topology.nodes();
            int slots = 1 + random.below(SLOTS);
            for (int i = 0; i < count; i++) {
                long startPs = SLOT_PS * random.below(slots);
                int from = random.below(nodes);
                int to = (from + 1 + random.below(nodes - 1)) % nodes;
                int kind = random.below(4) == 0 ? MessageTable.GET : MessageTable.PUT;
                int most = 1 << random.below(SIZE_BITS_MAX);
                messages.add(new Message(startPs, from, to, kind, most + random.below(most)));
            }
        }

        /** How long each message took until its data were in memory. */
        long[] run(Level level) {
            took = new long[messages.size()];
            Engine engine = new Engine(NetworkModel.entities(topology));
            NetworkContext context =
                    new NetworkContext().dmaRate(dmaRate).header(header).level(level);
            NetworkModel network = NetworkModel.of(engine, topology, context);
            network.handler(this);
            table = network.messages();
            engine.handler(START, (time, node, i) -> start(network, (int) i));
            for (int i = 0; i < messages.size(); i++) {
                int node = messages.get(i).from;
                engine.schedule(messages.get(i).startPs, node, node, START, i);
            }
            engine.run();
            return took;
        }

        private void start(NetworkModel network, int i) {
            Message message = messages.get(i);
            int row = table.add(message.kind, message.from, message.to, message.bytes);
            table.ranks(row, message.from, message.to, 0, i);
            network.submit(row);
        }

        @Override
        public void onData(long timePs, int message) {
            int i = table.number(message);
            took[i] = timePs - messages.get(i).startPs;
        }

        @Override
        public void onComplete(long timePs, int message) {
            endPs = timePs;
        }
    }
}
