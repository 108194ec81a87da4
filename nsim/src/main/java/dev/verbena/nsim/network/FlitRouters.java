package dev.verbena.nsim.network;

import dev.verbena.nsim.engine.Engine;
import java.util.Arrays;

/**
 * Routers flit by flit: the slow reference for {@link PacketRouters}, written apart from it. Each
 * flit is an event when it arrives and one when it enters the pipeline of its output; that an
 * output or an input is busy is a flag that the last flit clears, and credits go back when the last
 * flit has gone. Buffers are counted in flits, and a flit that would overflow one, or is sent
 * before it came, ends the run.
 *
 * <p>It shares tables with the packet level (linkTable, credits, messages) and no decision:
 * arbiter, queues and the moments of credits are written twice on purpose. What both had from one
 * place would be wrong in both, and the comparison (nsim-ace.md, assertion 12) would not see it.
 */
final class FlitRouters implements Fabric {
    private static final int NONE = -1;

    private final Engine engine;
    private final LinkTable linkTable;
    private final PacketTable packets;
    private final PacketNetwork network;
    private final LinkStatistics links;
    private final int flit;
    private final int flitsMax;
    private final TransferTime onCable;
    private final TransferTime atPort;
    private final long departPs;
    private final long arrivePs;
    private final long decidePs;
    private final long cablePs;
    private final int channels;

    /** The packet whose flits arrive by a channel, and how many have not come yet. */
    private final int[] arriving;

    private final int[] missing;
    private final int[] buffered;

    /** Packets that have been routed, by channel: a ring of as many as fit into the buffer. */
    private final int[][] waiting;

    private final int[] waitingCount;

    /** What a link sends: packet, its channels in and out, the next flit. */
    private final int[] sent;

    private final int[] sentFrom;
    private final int[] sentBy;
    private final int[] sentFlits;
    private final long[] sentSince;
    private final boolean[] isInputBusy;
    private final int[] last;

    FlitRouters(
            Engine engine,
            LinkTable linkTable,
            PacketTable packets,
            PacketNetwork network,
            NetworkContext context) {
        this.engine = engine;
        this.linkTable = linkTable;
        this.packets = packets;
        this.network = network;
        links = network.links();
        flit = context.flit;
        int size = context.payload + context.header;
        int largest = Math.max(size, Math.max(context.controlBytes, context.requestBytes));
        flitsMax = context.vcBuffer * flits(largest);
        onCable = new TransferTime(context.linkRate());
        atPort = new TransferTime(Math.min(context.linkRate(), context.switchRate));
        departPs = context.switchAllocationPs + context.switchPs;
        cablePs = context.cablePs;
        arrivePs = cablePs + (context.isFlitStored ? onCable.of(flit) : 0);
        decidePs = context.routingPs + context.vcAllocationPs;
        channels = linkTable.channels;
        int count = linkTable.ports * channels;
        arriving = new int[count];
        Arrays.fill(arriving, NONE);
        missing = new int[count];
        buffered = new int[count];
        waiting = new int[count][context.vcBuffer + 1];
        waitingCount = new int[count];
        sent = new int[linkTable.links];
        Arrays.fill(sent, NONE);
        sentFrom = new int[linkTable.links];
        sentBy = new int[linkTable.links];
        sentFlits = new int[linkTable.links];
        sentSince = new long[linkTable.links];
        isInputBusy = new boolean[linkTable.ports];
        last = new int[linkTable.ports];
        engine.handler(EventKinds.FLIT, this::onFlit);
        engine.handler(EventKinds.FLIT_SENT, (time, target, link) -> send(time, (int) link));
        engine.handler(EventKinds.READY, this::onReady);
        engine.handler(EventKinds.WAKE, (time, target, link) -> network.decide((int) link));
    }

    private int flits(int size) {
        return Math.max(1, (size + flit - 1) / flit);
    }

    @Override
    public void inject(long timePs, int node, int packet, int channel) {
        int link = linkTable.ports + node;
        // The last flit of the packet before is on the cable still, if its time is not a whole one.
        start(timePs, link, packet, NONE, channel);
    }

    private void start(long timePs, int link, int packet, int from, int by) {
        sent[link] = packet;
        sentFrom[link] = from;
        sentBy[link] = by;
        sentFlits[link] = 0;
        sentSince[link] = timePs;
        send(timePs, link);
    }

    /** The next flit enters the pipeline of a link, or the last one has. */
    private void send(long timePs, int link) {
        int packet = sent[link];
        int size = packets.size(packet);
        boolean isNode = linkTable.isNode(link);
        TransferTime rate = isNode ? onCable : atPort;
        int number = sentFlits[link]++;
        int count = flits(size);
        int self = linkTable.entity[link];
        if (number == count) {
            if (!isNode) {
                end(timePs, link);
            }
            return;
        }
        int from = sentFrom[link];
        if (from != NONE) {
            takeOut(from, packet, number);
        }
        long leaves = timePs + (isNode ? 0 : departPs);
        int to = linkTable.peer[link];
        int by = sentBy[link];
        if (!linkTable.isNode(to)) {
            long at = (long) (to * channels + by - link * channels) << 32 | packet;
            engine.schedule(leaves + arrivePs, linkTable.entity[to], self, EventKinds.FLIT, at);
        }
        // A node's link sends nothing more here: the interface knows when its cable is free.
        if (isNode && number + 1 == count) {
            return;
        }
        int bytes = Math.min(size, (number + 1) * flit);
        engine.schedule(sentSince[link] + rate.of(bytes), self, self, EventKinds.FLIT_SENT, link);
    }

    private void takeOut(int from, int packet, int number) {
        int missed = arriving[from] == packet ? missing[from] : 0;
        if (flits(packets.size(packet)) - missed <= number) {
            throw new IllegalStateException("flit " + number + " is sent before it came");
        }
        buffered[from]--;
    }

    private void end(long timePs, int out) {
        int packet = sent[out];
        int from = sentFrom[out];
        int in = from / channels;
        int self = linkTable.entity[out];
        sent[out] = NONE;
        isInputBusy[in] = false;
        links.busyPs[out] += timePs - sentSince[out];
        int before = linkTable.peer[in];
        engine.schedule(
                timePs + departPs + cablePs,
                linkTable.entity[before],
                self,
                EventKinds.CREDIT,
                before * channels + from - in * channels);
        int to = linkTable.peer[out];
        if (linkTable.isNode(to)) {
            long at = (long) sentBy[out] << 32 | packet;
            engine.schedule(
                    timePs + departPs + cablePs, linkTable.entity[to], self, EventKinds.ARRIVE, at);
        }
        int router = self - linkTable.nodes;
        for (int link = linkTable.portBase[router]; link < linkTable.portBase[router + 1]; link++) {
            network.decide(link);
        }
    }

    private void onFlit(long timePs, int target, long argument) {
        int packet = (int) argument;
        int channel = (int) (argument >>> 32);
        if (++buffered[channel] > flitsMax) {
            throw new IllegalStateException("the buffer of channel " + channel + " overflows");
        }
        // Not by the packet's number, which may have been another packet's before.
        if (missing[channel] == 0) {
            arriving[channel] = packet;
            missing[channel] = flits(packets.size(packet));
            engine.schedule(timePs + decidePs, target, target, EventKinds.READY, argument);
        }
        missing[channel]--;
    }

    private void onReady(long timePs, int target, long argument) {
        int packet = (int) argument;
        int channel = (int) (argument >>> 32);
        int out = linkTable.route(target - linkTable.nodes, channel, packets, packet);
        waiting[channel][waitingCount[channel]++] = packet;
        network.decide(out);
    }

    @Override
    public void release(long timePs, int node, int channel) {
        int router = linkTable.entity[channel / channels];
        engine.schedule(timePs + cablePs, router, node, EventKinds.CREDIT, channel);
    }

    @Override
    public void arbitrate(long timePs, int out) {
        if (sent[out] != NONE) {
            return;
        }
        int router = linkTable.entity[out] - linkTable.nodes;
        int base = linkTable.portBase[router] * channels;
        int count = linkTable.portBase[router + 1] * channels - base;
        for (int i = 1; i <= count; i++) {
            int number = (last[out] + i) % count;
            int channel = base + number;
            if (waitingCount[channel] == 0 || isInputBusy[channel / channels]) {
                continue;
            }
            int packet = waiting[channel][0];
            int by = packets.out(packet);
            if (by / channels == out && linkTable.credits[by] > 0) {
                last[out] = number;
                grant(timePs, out, channel, packet);
                return;
            }
        }
    }

    @Override
    public boolean isFreed(int channel) {
        return true; // counted in flits, always
    }

    @Override
    public int waiting(int router, int port) {
        int link = linkTable.portBase[router] + port;
        int count = linkTable.held(link);
        int end = linkTable.portBase[router + 1] * channels;
        for (int i = linkTable.portBase[router] * channels; i < end; i++) {
            count += waitingCount[i] > 0 && packets.out(waiting[i][0]) / channels == link ? 1 : 0;
        }
        return count;
    }

    @Override
    public int fullestBuffer() {
        return 0;
    }

    private void grant(long timePs, int out, int channel, int packet) {
        int by = packets.out(packet);
        linkTable.credits[by]--;
        System.arraycopy(waiting[channel], 1, waiting[channel], 0, --waitingCount[channel]);
        isInputBusy[channel / channels] = true;
        links.bytes[out] += packets.size(packet);
        links.packets[out]++;
        start(timePs, out, packet, channel, by);
        if (waitingCount[channel] > 0) {
            network.decide(packets.out(waiting[channel][0]) / channels);
        }
    }
}
