package dev.verbena.nsim.network;

import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.engine.InstantHandler;
import dev.verbena.nsim.topology.Topology;
import java.util.Arrays;

/**
 * The network at packet level, or at flit level if {@link NetworkContext#isFlitLevel()}: the same
 * network interfaces, other routers. One thread; nothing allocated per packet once tables have
 * grown.
 */
public final class PacketNetwork implements NetworkModel, InstantHandler {
    /** Kinds of events from this number on are free for others. */
    public static final int KINDS_FREE = Kinds.FREE;

    private static final int FEW = 24;

    private final Engine engine;
    private final Wiring wiring;
    private final MessageTable messages = new MessageTable();
    private final PacketTable packets = new PacketTable();
    private final LinkStatistics links;
    private final NetworkInterfaces interfaces;
    private final Fabric fabric;
    private final boolean[] isMarked;
    private int[] marked = new int[64];
    private int[] deciding = new int[64];
    private int markedCount;

    /**
     * A network at rest.
     *
     * @param engine with {@link #entities} entities, not used by another network
     */
    public PacketNetwork(Engine engine, Topology topology, NetworkContext context) {
        this.engine = engine;
        wiring = new Wiring(topology, context);
        links = new LinkStatistics(topology, wiring.portBase, wiring.ports);
        isMarked = new boolean[wiring.links];
        fabric =
                context.isFlitLevel()
                        ? new FlitRouters(engine, wiring, packets, this, context)
                        : new PacketRouters(engine, wiring, packets, this, context);
        interfaces =
                new NetworkInterfaces(engine, wiring, packets, messages, fabric, this, context);
        engine.instantHandler(this);
        engine.handler(Kinds.CREDIT, this::onCredit);
    }

    /** How many entities an engine needs: nodes, then routers. */
    public static int entities(Topology topology) {
        return topology.nodes() + topology.routers();
    }

    @Override
    public MessageTable messages() {
        return messages;
    }

    @Override
    public void submit(int message) {
        interfaces.submit(engine.nowPs(), message);
    }

    @Override
    public void handler(MessageHandler handler) {
        interfaces.handler(handler);
    }

    /** Sets who keeps idle nodes busy. */
    public void idleHandler(IdleHandler handler) {
        interfaces.idleHandler(handler);
        for (int node = 0; node < wiring.nodes; node++) {
            decide(wiring.ports + node);
        }
    }

    @Override
    public int inFlight() {
        return messages.used();
    }

    /** Packets that are in a network interface, router or cable. */
    public int packetsInFlight() {
        return packets.used();
    }

    /** What went over each cable. */
    public LinkStatistics links() {
        return links;
    }

    /** Whole packets that are in memory so far, and their bytes without headers. */
    public long bytesDelivered() {
        return interfaces.bytesDelivered();
    }

    /** Bytes without headers that a node has received so far. */
    public long bytesDelivered(int node) {
        return interfaces.bytesDelivered(node);
    }

    /**
     * The most packets that were at once in a channel of a router, from the arrival of the head
     * until the credit for the tail is back. Counted only where assertions are on; otherwise 0.
     */
    int fullestBuffer() {
        return fabric.fullestBuffer();
    }

    private void onCredit(long timePs, int target, long channel) {
        wiring.credits[(int) channel]++;
        assert fabric.isFreed((int) channel) : "room is given back that was not taken";
        decide((int) channel / wiring.channels);
    }

    /**
     * Something changed that may let a packet pass a link: decided once, at the end of the instant,
     * links in the order of their numbers.
     */
    void decide(int link) {
        if (isMarked[link]) {
            return;
        }
        isMarked[link] = true;
        if (markedCount == marked.length) {
            marked = Arrays.copyOf(marked, 2 * markedCount);
        }
        marked[markedCount++] = link;
        engine.wantInstantEnd();
    }

    @Override
    public void onInstantEnd(long timePs) {
        int[] now = marked;
        int count = markedCount;
        marked = deciding.length >= now.length ? deciding : new int[now.length];
        deciding = now;
        markedCount = 0;
        sort(now, count);
        for (int i = 0; i < count; i++) {
            int link = now[i];
            isMarked[link] = false;
            if (wiring.isNode(link)) {
                interfaces.decide(timePs, link - wiring.ports);
            } else {
                fabric.arbitrate(timePs, link);
            }
        }
    }

    private static void sort(int[] numbers, int count) {
        if (count > FEW) {
            Arrays.sort(numbers, 0, count);
            return;
        }
        for (int i = 1; i < count; i++) {
            int number = numbers[i];
            int at = i;
            for (; at > 0 && numbers[at - 1] > number; at--) {
                numbers[at] = numbers[at - 1];
            }
            numbers[at] = number;
        }
    }
}
