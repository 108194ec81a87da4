package dev.verbena.nsim.network;

import dev.verbena.nsim.engine.ArrivalHandler;
import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.engine.InstantHandler;
import dev.verbena.nsim.engine.Partitions;
import dev.verbena.nsim.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The network at packet level, or at flit level if {@link NetworkContext#level()} says so: the same
 * network interfaces, other routers. One thread; nothing allocated per packet once tables have
 * grown.
 */
public final class PacketNetwork implements NetworkModel, InstantHandler, ArrivalHandler {
    private static final int FEW = 24;

    private final Engine engine;
    private final LinkTable linkTable;
    private final MessageTable messages;
    private final PacketTable packets = new PacketTable();
    private final LinkStatistics links;
    private final LinkDetails details;
    private final NetworkInterfaces interfaces;
    private final Fabric fabric;
    private final boolean[] isMarked;
    private int[] marked = new int[64];
    private int[] deciding = new int[64];
    private int markedCount;

    /**
     * A network at rest.
     *
     * @param engine with {@link NetworkModel#entities} entities, not used by another network
     */
    public PacketNetwork(Engine engine, Topology topology, NetworkContext context) {
        this(engine, new LinkTable(topology, context), new MessageTable.Store(), null, context);
    }

    private PacketNetwork(
            Engine engine,
            LinkTable linkTable,
            MessageTable.Store store,
            LinkStatistics links,
            NetworkContext context) {
        this.engine = engine;
        this.linkTable = linkTable;
        messages = new MessageTable(store);
        this.links =
                links != null
                        ? links
                        : new LinkStatistics(
                                linkTable.topology, linkTable.portBase, linkTable.ports);
        boolean isDetailed =
                context.isDetailed
                        && context.level() == Level.PACKET
                        && this.links.count() <= LinkDetails.LINKS_MAX;
        details = isDetailed ? new LinkDetails(this.links.count()) : null;
        isMarked = new boolean[linkTable.links];
        fabric =
                context.level() == Level.FLIT
                        ? new FlitRouters(engine, linkTable, packets, this, context)
                        : new PacketRouters(engine, linkTable, packets, this, context);
        interfaces =
                new NetworkInterfaces(engine, linkTable, packets, messages, fabric, this, context);
        engine.instantHandler(this);
        engine.handler(EventKinds.CREDIT, this::onCredit);
        engine.arrivalHandler(this);
    }

    /**
     * One network in several partitions of a parallel run: each has the interfaces and routers of
     * its entities, and all write the same statistics, each those of its own links.
     *
     * @param partitions by {@link #owners} and {@link #lookaheadPs}
     */
    public static List<PacketNetwork> partitioned(
            Partitions partitions, Topology topology, NetworkContext context) {
        LinkTable linkTable = new LinkTable(topology, context);
        MessageTable.Store store = new MessageTable.Store();
        List<PacketNetwork> networks = new ArrayList<>();
        for (int p = 0; p < partitions.count(); p++) {
            LinkStatistics links = p == 0 ? null : networks.get(0).links;
            networks.add(new PacketNetwork(partitions.engine(p), linkTable, store, links, context));
        }
        return networks;
    }

    /**
     * Which partition an entity belongs to: neighbours by number together, routers with their
     * nodes, as many nodes in each.
     */
    public static int[] owners(Topology topology, int count) {
        int nodes = topology.nodes();
        int routers = topology.routers();
        int[] nodesAt = new int[routers];
        for (int node = 0; node < nodes; node++) {
            nodesAt[topology.routerOf(node)]++;
        }
        long bare = Arrays.stream(nodesAt).filter(n -> n == 0).count();
        int[] owners = new int[NetworkModel.entities(topology)];
        long nodesBefore = 0;
        long bareBefore = 0;
        for (int r = 0; r < routers; r++) {
            if (nodesAt[r] > 0) {
                owners[nodes + r] = (int) (nodesBefore * count / nodes);
                nodesBefore += nodesAt[r];
            } else {
                owners[nodes + r] = (int) (bareBefore++ * count / bare);
            }
        }
        for (int node = 0; node < nodes; node++) {
            owners[node] = owners[nodes + topology.routerOf(node)];
        }
        return owners;
    }

    /**
     * The least time from a router's decision to what another router notices of it: its head comes,
     * or a credit.
     */
    public static long lookaheadPs(NetworkContext context) {
        return context.switchAllocationPs + context.switchPs + context.cablePs;
    }

    @Override
    public long onArrival(
            int kind, long argument, long first, long second, long third, long fourth) {
        if (kind != EventKinds.READY) {
            return argument;
        }
        int packet = packets.enter(first, second, third, fourth);
        return argument >>> 32 << 32 | packet;
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

    @Override
    public int packetsInFlight() {
        return packets.used();
    }

    @Override
    public LinkDetails details() {
        return details;
    }

    @Override
    public LinkStatistics links() {
        return links;
    }

    /**
     * The most packets that were at once in a channel of a router, from the arrival of the head
     * until the credit for the tail is back. Counted only where assertions are on; otherwise 0.
     */
    int fullestBuffer() {
        return fabric.fullestBuffer();
    }

    private void onCredit(long timePs, int target, long channel) {
        linkTable.credits[(int) channel]++;
        assert fabric.isFreed((int) channel) : "room is given back that was not taken";
        decide((int) channel / linkTable.channels);
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
            if (linkTable.isNode(link)) {
                interfaces.decide(timePs, link - linkTable.ports);
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
