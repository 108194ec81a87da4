package dev.verbena.nsim.network;

import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.engine.InstantHandler;
import dev.verbena.nsim.internal.VirtualTime;
import dev.verbena.nsim.topology.Congestion;
import dev.verbena.nsim.topology.Topology;
import java.util.Arrays;

/**
 * The network at message level: a message is a flow over the route that its packets would take, and
 * has its max-min fair share of the DMA engines and cables on it ({@link FairShares}). What is left
 * of the time of a packet-level put on an idle network, the latency of routers and cables and the
 * filling of the pipeline, is added when the flow has gone. So a message that is alone takes
 * exactly as long as at packet level. Requests and control packets take the time of an idle
 * network.
 *
 * <p>Three events per put: it begins, its data arrive, its control packet arrives; and one for each
 * time that flows end. One thread; nothing allocated per message once tables have grown.
 */
public final class MessageNetwork implements NetworkModel, InstantHandler, Congestion {
    private static final long NEVER = Long.MAX_VALUE;

    private final Engine engine;
    private final LinkTable linkTable;
    private final Topology topology;
    private final NetworkContext context;
    private final MessageTable messages = new MessageTable();
    private final LinkStatistics links;
    private final FlowTable flows;
    private final FairShares shares;
    private final FinishQueue finish = new FinishQueue();
    private final TransferTime onCable;
    private final TransferTime atPort;
    private final TransferTime inMemory;
    private final int payload;
    private final int header;
    private final long perRouterPs;
    private final boolean hasDma;
    private final long[] sent;
    private MessageHandler handler;
    private int[] way = new int[64];
    private int wayCount;
    private long wakePs = NEVER;

    /**
     * A network at rest.
     *
     * @param engine with {@link NetworkModel#entities} entities, not used by another network
     */
    public MessageNetwork(Engine engine, Topology topology, NetworkContext context) {
        this.engine = engine;
        this.topology = topology;
        this.context = context;
        linkTable = new LinkTable(topology, context);
        links = new LinkStatistics(topology, linkTable.portBase, linkTable.ports);
        payload = context.payload;
        header = context.header;
        long portRate = Math.min(context.linkRate(), context.switchRate);
        onCable = new TransferTime(context.linkRate());
        atPort = new TransferTime(portRate);
        inMemory = new TransferTime(context.dmaRate);
        hasDma = context.dmaRate != 0;
        long flitPs = context.isFlitStored ? onCable.of(context.flit) : 0;
        perRouterPs = VirtualTime.sum(VirtualTime.sum(context.routerPs(), context.cablePs), flitPs);
        int dmas = !hasDma ? 0 : (context.isDmaShared ? 1 : 2) * linkTable.nodes;
        flows = new FlowTable(Math.addExact(linkTable.links, dmas));
        Arrays.fill(flows.capacity, 0, linkTable.ports, FlowTable.capacity(portRate));
        Arrays.fill(
                flows.capacity,
                linkTable.ports,
                linkTable.links,
                FlowTable.capacity(context.linkRate()));
        Arrays.fill(
                flows.capacity,
                linkTable.links,
                flows.capacity.length,
                FlowTable.capacity(context.dmaRate));
        shares = new FairShares(flows);
        sent = new long[topology.isAdaptive() ? linkTable.nodes : 0];
        engine.instantHandler(this);
        engine.handler(
                EventKinds.SUBMIT, (time, node, message) -> begin(time, node, (int) message));
        engine.handler(
                EventKinds.LOCAL, (time, node, message) -> onData(time, node, (int) message));
        engine.handler(EventKinds.ASKED, (time, node, message) -> start(time, node, (int) message));
        engine.handler(
                EventKinds.ARRIVE, (time, node, message) -> onData(time, node, (int) message));
        engine.handler(
                EventKinds.CONFIRMED, (time, node, message) -> complete(time, (int) message));
        engine.handler(EventKinds.FLOW, (time, target, argument) -> onFlowsEnd(time));
    }

    @Override
    public MessageTable messages() {
        return messages;
    }

    @Override
    public void handler(MessageHandler value) {
        handler = value;
    }

    @Override
    public int packetsInFlight() {
        return 0;
    }

    @Override
    public LinkStatistics links() {
        return links;
    }

    /** Flows that have a share of a port. */
    @Override
    public int waiting(int router, int port) {
        return flows.count[linkTable.portBase[router] + port];
    }

    @Override
    public void submit(int message) {
        long now = engine.nowPs();
        messages.issuedPs(message, now);
        int node = messages.source(message);
        if (context.overheadPs == 0) {
            begin(now, node, message);
        } else {
            engine.schedule(now + context.overheadPs, node, node, EventKinds.SUBMIT, message);
        }
    }

    private void begin(long timePs, int node, int message) {
        int to = messages.destination(message);
        if (node == to) {
            long packets = context.packetCount(messages.bytes(message));
            long last = messages.bytes(message) - (packets - 1) * payload;
            long time = inMemory.of(packets, payload, (int) last);
            engine.schedule(timePs + time, node, node, EventKinds.LOCAL, message);
        } else if (messages.kind(message) == MessageTable.GET) {
            small(timePs, node, to, context.requestBytes, EventKinds.ASKED, message);
        } else {
            start(timePs, node, message);
        }
    }

    /** A packet that takes no room: a request, or a control packet. */
    private void small(long timePs, int from, int to, int bytes, int kind, int message) {
        walk(from, to);
        count(1, bytes, onCable.of(bytes), atPort.of(bytes));
        engine.schedule(timePs + latencyPs() + atPort.of(bytes), to, from, kind, message);
    }

    /** The links of a route, the node's first. */
    private void walk(int from, int to) {
        int router = topology.routerOf(from);
        int inPort = topology.portOf(from);
        int inClass = 0;
        int state = sent.length == 0 ? 0 : topology.entry(from, to, ++sent[from], this);
        way[0] = linkTable.ports + from;
        wayCount = 1;
        while (true) {
            long hop = topology.route(router, inPort, inClass, from, to, state);
            int link = linkTable.portBase[router] + Topology.portIn(hop);
            if (wayCount == way.length) {
                way = Arrays.copyOf(way, 2 * wayCount);
            }
            way[wayCount++] = link;
            int peer = linkTable.peer[link];
            if (linkTable.isNode(peer)) {
                return;
            }
            router = linkTable.entity[peer] - linkTable.nodes;
            inPort = peer - linkTable.portBase[router];
            inClass = Topology.classIn(hop);
            state = Topology.stateIn(hop);
        }
    }

    /** What the route that was walked costs beside transfers. */
    private long latencyPs() {
        return VirtualTime.sum(VirtualTime.times(wayCount - 1, perRouterPs), context.cablePs);
    }

    private void count(long packets, long bytes, long nodeBusyPs, long portBusyPs) {
        for (int i = 0; i < wayCount; i++) {
            int link = way[i];
            links.packets[link] += packets;
            links.bytes[link] += bytes;
            links.busyPs[link] += i == 0 ? nodeBusyPs : portBusyPs;
        }
    }

    /** The data of a message leave a node's memory from now on. */
    private void start(long timePs, int from, int message) {
        boolean isPut = messages.kind(message) == MessageTable.PUT;
        int to = isPut ? messages.destination(message) : messages.source(message);
        long bytes = messages.bytes(message);
        long packets = context.packetCount(bytes);
        int last = (int) (bytes - (packets - 1) * payload);
        walk(from, to);
        long onWire = bytes + packets * header;
        count(
                packets,
                onWire,
                onCable.of(packets, payload + header, last + header),
                atPort.of(packets, payload + header, last + header));
        long alonePs = VirtualTime.sum(latencyPs(), transferPs(packets, last));
        if (onWire == 0) {
            engine.schedule(timePs + alonePs, to, from, EventKinds.ARRIVE, message);
            return;
        }
        int row = flows.add(message, packets, timePs);
        long onWireWeight = FlowTable.weight(onWire, packets);
        for (int i = 0; i < wayCount; i++) {
            flows.use(row, way[i], onWireWeight);
        }
        if (hasDma) {
            long weight = FlowTable.weight(bytes, packets);
            flows.use(row, linkTable.links + from, weight);
            flows.use(
                    row,
                    linkTable.links + (context.isDmaShared ? 0 : linkTable.nodes) + to,
                    weight);
        }
        long gonePs = FlowTable.durationOf(packets, flows.levelAlone(row));
        flows.latencyPs[row] = Math.max(0, alonePs - gonePs);
        shares.touch(row);
        engine.wantInstantEnd();
    }

    /** Packets one behind another through memory, cable and memory, each with its own time. */
    private long transferPs(long packets, int last) {
        long read = inMemory.of(last);
        long wire = atPort.of(last + header);
        long ofLast = VirtualTime.sum(2 * read, wire);
        if (packets == 1) {
            return ofLast;
        }
        long readFull = inMemory.of(payload);
        long wireFull = atPort.of(payload + header);
        long slower = Math.max(readFull, wireFull);
        long byFirst = VirtualTime.sum(VirtualTime.times(packets - 1, readFull), ofLast);
        long both = VirtualTime.sum(readFull, wireFull);
        long others = VirtualTime.sum(both, VirtualTime.times(packets - 2, slower));
        // The last on the wire, or one more that is read.
        long end = VirtualTime.sum(Math.max(wire, readFull), read);
        return Math.max(byFirst, VirtualTime.sum(others, end));
    }

    private void onFlowsEnd(long timePs) {
        if (timePs == wakePs) {
            wakePs = NEVER;
        }
        while (!finish.isEmpty() && finish.firstTime() <= timePs) {
            int row = finish.first();
            finish.removeFirst();
            int message = flows.message[row];
            boolean isPut = messages.kind(message) == MessageTable.PUT;
            int from = isPut ? messages.source(message) : messages.destination(message);
            int to = isPut ? messages.destination(message) : messages.source(message);
            long arrivesPs = timePs + flows.latencyPs[row];
            engine.schedule(arrivesPs, to, from, EventKinds.ARRIVE, message);
            shares.touch(row);
            flows.remove(row);
            engine.wantInstantEnd();
        }
        wake();
    }

    @Override
    public void onInstantEnd(long timePs) {
        int looked = shares.solve();
        for (int i = 0; i < looked; i++) {
            int row = shares.flow(i);
            long level = shares.levelOf(row);
            if (level != flows.level[row]) {
                flows.proceed(row, timePs, level);
                finish.set(row, flows.finishPs(row));
            }
        }
        shares.done();
        wake();
    }

    private void wake() {
        if (!finish.isEmpty() && finish.firstTime() < wakePs) {
            wakePs = finish.firstTime();
            engine.schedule(wakePs, 0, 0, EventKinds.FLOW, 0);
        }
    }

    private void onData(long timePs, int node, int message) {
        messages.firstInPs(message, timePs);
        handler.onData(timePs, message);
        int from = messages.source(message);
        if (messages.kind(message) == MessageTable.GET || from == node) {
            complete(timePs, message);
        } else {
            small(timePs, node, from, context.controlBytes, EventKinds.CONFIRMED, message);
        }
    }

    private void complete(long timePs, int message) {
        handler.onComplete(timePs, message);
        messages.remove(message);
    }
}
