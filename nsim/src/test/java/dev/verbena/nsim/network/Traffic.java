package dev.verbena.nsim.network;

import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.scenario.SeededRandom;
import dev.verbena.nsim.topology.Topology;
import dev.verbena.nsim.topology.TopologyChecks;

/** Nodes that send one-packet puts at a rate, as long as not too many are under way. */
final class Traffic implements MessageHandler {
    private static final int TICK = 30;
    private static final int SIZE = 2048;
    private static final int OUTSTANDING_MAX = 64;
    private static final double LINK_BYTES_PER_PS = 0.004;

    /** Where a node sends next; -1 for nowhere. */
    interface Pattern {
        int next(int node, SeededRandom random);
    }

    final Engine engine;
    final PacketNetwork network;
    final long[] arrivedFrom;
    long submitted;
    long completed;
    long overtaken;
    long expectedLinkBytes;
    long latencyPs;
    long arrived;
    private final Topology topology;
    private final Pattern pattern;
    private final SeededRandom random = new SeededRandom(5);
    private final int[] outstanding;
    private final int[] sent;
    private final int[] arrivedLast;
    private final long intervalPs;
    private final NetworkContext context;
    private boolean isStopped;

    /** Offered load: a part of a cable's rate. */
    Traffic(Topology topology, NetworkContext context, Pattern pattern, double offered) {
        this.topology = topology;
        this.pattern = pattern;
        this.context = context;
        engine = new Engine(NetworkModel.entities(topology));
        network = new PacketNetwork(engine, topology, context);
        network.handler(this);
        int n = topology.nodes();
        outstanding = new int[n];
        arrivedFrom = new long[n];
        sent = new int[n * n];
        arrivedLast = new int[n * n];
        intervalPs = Math.round(SIZE / (LINK_BYTES_PER_PS * offered));
        engine.handler(TICK, (time, node, argument) -> tick(time, node));
        for (int node = 0; node < n; node++) {
            engine.schedule(random.below((int) intervalPs), node, node, TICK, 0);
        }
    }

    private void tick(long timePs, int node) {
        if (isStopped) {
            return;
        }
        int to = outstanding[node] < OUTSTANDING_MAX ? pattern.next(node, random) : -1;
        if (to >= 0 && to < topology.nodes()) {
            int message = network.messages().add(MessageTable.PUT, node, to, SIZE);
            network.messages().ranks(message, node, to, 0, ++sent[node * topology.nodes() + to]);
            network.submit(message);
            outstanding[node]++;
            submitted++;
            if (node != to) {
                int there = TopologyChecks.routersBetween(topology, node, to) + 1;
                int back = TopologyChecks.routersBetween(topology, to, node) + 1;
                expectedLinkBytes += (long) SIZE * there + (long) context.controlBytes * back;
            }
        }
        engine.schedule(timePs + intervalPs, node, node, TICK, 0);
    }

    void stop() {
        isStopped = true;
    }

    void runUntil(long timePs) {
        engine.run(timePs, Long.MAX_VALUE);
    }

    /** Accepted load, as a part of a cable's rate per node that sends. */
    double accepted(long warmUpPs, long measurePs, double perSender) {
        runUntil(warmUpPs);
        long before = arrived;
        runUntil(warmUpPs + measurePs);
        double bytes = (double) SIZE * (arrived - before);
        return perSender * bytes / (measurePs * LINK_BYTES_PER_PS) / topology.nodes();
    }

    @Override
    public void onData(long timePs, int message) {
        MessageTable messages = network.messages();
        int from = messages.fromRank(message);
        arrivedFrom[from] += messages.bytes(message);
        latencyPs += timePs - messages.issuedPs(message);
        arrived++;
        int pair = from * topology.nodes() + messages.toRank(message);
        if (messages.number(message) != arrivedLast[pair] + 1) {
            overtaken++;
        }
        arrivedLast[pair] = messages.number(message);
    }

    @Override
    public void onComplete(long timePs, int message) {
        outstanding[network.messages().fromRank(message)]--;
        completed++;
    }
}
