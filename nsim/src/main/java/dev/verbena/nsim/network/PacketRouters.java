package dev.verbena.nsim.network;

import dev.verbena.nsim.engine.Engine;
import java.util.Arrays;

/**
 * Routers at packet level. A head that has been routed asks at its output; at the end of each
 * instant in which something changed, an output that is free takes in turn one of those whose next
 * buffer has room and whose input feeds no other output. From then on all times of the packet at
 * this router are known: the head leaves after switch allocation and traversal, the tail a packet's
 * duration later, and the router before gets a credit for the room that it leaves. The moment of
 * this decision is the reservation of the room behind, so a lone channel of n packets carries n
 * packets per (duration + router + 2 cables + switch allocation + traversal).
 */
final class PacketRouters implements Fabric {
    private static final long NEVER = Long.MAX_VALUE;
    private static final int WORDS_MAX = Integer.MAX_VALUE - 64;

    private final Engine engine;
    private final LinkTable linkTable;
    private final PacketTable packets;
    private final PacketNetwork network;
    private final LinkStatistics links;

    /** Null unless asked for. */
    private final LinkDetails details;

    private final TransferTime duration;

    /** From decision to the head's departure. */
    private final long departPs;

    /** From the head's departure to its being ready for an output of the next router. */
    private final long readyPs;

    private final long cablePs;
    private final int channels;
    private final int nodes;

    /** Queues at inputs, by channel. */
    private final int[] head;

    private final int[] tail;

    /** Until when a link's output takes no other packet, and its input feeds no other. */
    private final long[] outputFree;

    private final long[] inputFree;

    /** When a link will be looked at again in any case. */
    private final long[] wake;

    /** Inputs that ask for a link: bits by channel within the router. */
    private final long[] requests;

    /** How many inputs ask for a link. */
    private final int[] asking;

    private final int[] requestBase;
    private final int[] requestWords;
    private final int[] last;

    /** For checking, counted where assertions are on. */
    private final int[] held;

    private final int buffer;
    private int fullest;

    PacketRouters(
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
        details = network.details();
        duration = new TransferTime(Math.min(context.linkRate(), context.switchRate));
        departPs = context.switchAllocationPs + context.switchPs;
        long flitPs =
                context.isFlitStored ? new TransferTime(context.linkRate()).of(context.flit) : 0;
        cablePs = context.cablePs;
        readyPs = cablePs + flitPs + context.routingPs + context.vcAllocationPs;
        channels = linkTable.channels;
        nodes = linkTable.nodes;
        head = new int[linkTable.ports * channels];
        tail = new int[linkTable.ports * channels];
        Arrays.fill(head, PacketTable.NONE);
        outputFree = new long[linkTable.ports];
        inputFree = new long[linkTable.ports];
        wake = new long[linkTable.ports];
        last = new int[linkTable.ports];
        requestBase = new int[linkTable.ports];
        asking = new int[linkTable.ports];
        requestWords = new int[linkTable.routers];
        requests = new long[requestWords()];
        held = new int[head.length];
        buffer = context.vcBuffer;
        engine.handler(EventKinds.READY, this::onReady);
        engine.handler(EventKinds.WAKE, (time, target, link) -> network.decide((int) link));
    }

    /** Finds where the bits of each output are; answers how many words they are in all. */
    private int requestWords() {
        long words = 0;
        for (int r = 0; r < linkTable.routers; r++) {
            int ports = linkTable.portBase[r + 1] - linkTable.portBase[r];
            requestWords[r] = (int) (((long) ports * channels + 63) >> 6);
            for (int i = 0; i < ports && words < WORDS_MAX; i++) {
                requestBase[linkTable.portBase[r] + i] = (int) words;
                words += requestWords[r];
            }
        }
        if (words >= WORDS_MAX) {
            throw new IllegalArgumentException(
                    ("%s is too large for the packet level: each of %s ports of %s routers takes"
                                    + " a bit for each other channel of its router, in all more than 16 GiB; take"
                                    + " level=message, or more levels of routers with fewer ports")
                            .formatted(
                                    linkTable.topology.name(), linkTable.ports, linkTable.routers));
        }
        return (int) words;
    }

    @Override
    public void inject(long timePs, int node, int packet, int channel) {
        sendHead(timePs, node, packet, channel);
    }

    /** The head of a packet leaves by a channel whose other end is a router. */
    private void sendHead(long timePs, int source, int packet, int channel) {
        int link = channel / channels;
        int to = linkTable.peer[link];
        long at = (long) (to * channels + channel - link * channels) << 32 | packet;
        engine.schedule(timePs + readyPs, linkTable.entity[to], source, EventKinds.READY, at);
        if (engine.isElsewhere(linkTable.entity[to])) {
            packets.leave(packet, engine);
        }
    }

    @Override
    public void release(long timePs, int node, int channel) {
        int router = linkTable.entity[channel / channels];
        engine.schedule(timePs + cablePs, router, node, EventKinds.CREDIT, channel);
    }

    private void onReady(long timePs, int target, long argument) {
        int packet = (int) argument;
        int channel = (int) (argument >>> 32);
        int router = target - nodes;
        assert isHeld(channel) : "a packet comes to a full buffer";
        int out = linkTable.route(router, channel, packets, packet);
        if (details != null) {
            details.arrive(engine.nowPs(), packet, out);
        }
        if (head[channel] == PacketTable.NONE) {
            head[channel] = packet;
            request(router, out, channel);
        } else {
            packets.next(tail[channel], packet);
        }
        tail[channel] = packet;
    }

    private void request(int router, int out, int channel) {
        int bit = channel - linkTable.portBase[router] * channels;
        requests[requestBase[out] + (bit >> 6)] |= 1L << bit;
        asking[out]++;
        network.decide(out);
    }

    @Override
    public void arbitrate(long timePs, int out) {
        int router = linkTable.entity[out] - nodes;
        if (asking[out] == 0) {
            return;
        }
        if (outputFree[out] > timePs) {
            wakeAt(outputFree[out], out);
            return;
        }
        int bits = requestWords[router] << 6;
        int start = last[out] + 1;
        long earliest = scan(timePs, router, out, start, bits);
        if (earliest != 0 && start > 0) {
            earliest = Math.min(earliest, scan(timePs, router, out, 0, start));
        }
        if (earliest == 0) {
            if (asking[out] > 0) {
                wakeAt(outputFree[out], out);
            }
        } else if (earliest != NEVER) {
            wakeAt(earliest, out);
        }
    }

    /**
     * Grants the first that may go, and answers 0; otherwise when the first input is free that has
     * room behind the output, or {@link #NEVER}.
     */
    private long scan(long timePs, int router, int out, int from, int to) {
        long earliest = NEVER;
        int base = linkTable.portBase[router] * channels;
        for (int word = from >> 6; word << 6 < to; word++) {
            long bits = requests[requestBase[out] + word];
            if (word == from >> 6) {
                bits &= -1L << from;
            }
            for (; bits != 0; bits &= bits - 1) {
                int bit = (word << 6) + Long.numberOfTrailingZeros(bits);
                if (bit >= to) {
                    return earliest;
                }
                int channel = base + bit;
                int packet = head[channel];
                if (linkTable.credits[packets.out(packet)] == 0) {
                    links.creditStalls[out]++;
                } else if (inputFree[channel / channels] > timePs) {
                    earliest = Math.min(earliest, inputFree[channel / channels]);
                } else {
                    last[out] = bit;
                    grant(timePs, router, channel, packet);
                    return 0;
                }
            }
        }
        return earliest;
    }

    private boolean isHeld(int channel) {
        if (engine.isElsewhere(linkTable.entity[linkTable.peer[channel / channels]])) {
            return true; // the room is counted where the credits are
        }
        fullest = Math.max(fullest, ++held[channel]);
        return held[channel] <= buffer;
    }

    @Override
    public boolean isFreed(int channel) {
        int link = channel / channels;
        int to = linkTable.peer[link];
        return linkTable.isNode(to)
                || engine.isElsewhere(linkTable.entity[to])
                || --held[to * channels + channel - link * channels] >= 0;
    }

    @Override
    public int waiting(int router, int port) {
        int link = linkTable.portBase[router] + port;
        return linkTable.held(link) + asking[link];
    }

    @Override
    public int fullestBuffer() {
        return fullest;
    }

    private void wakeAt(long timePs, int out) {
        if (wake[out] <= engine.nowPs() || wake[out] > timePs) {
            wake[out] = timePs;
            int router = linkTable.entity[out];
            engine.schedule(timePs, router, router, EventKinds.WAKE, out);
        }
    }

    private void grant(long timePs, int router, int channel, int packet) {
        int self = nodes + router;
        int outChannel = packets.out(packet);
        int out = outChannel / channels;
        int in = channel / channels;
        int size = packets.size(packet);
        long busy = duration.of(size);
        leaveQueue(router, channel, packet, out);
        linkTable.credits[outChannel]--;
        outputFree[out] = timePs + busy;
        inputFree[in] = timePs + busy;
        links.bytes[out] += size;
        links.packets[out]++;
        links.busyPs[out] += busy;
        if (details != null) {
            details.leave(timePs, packet, out);
            details.busy(timePs, out, busy);
        }
        long departs = timePs + departPs;
        int before = linkTable.peer[in];
        int creditChannel = before * channels + channel - in * channels;
        engine.schedule(
                departs + busy + cablePs,
                linkTable.entity[before],
                self,
                EventKinds.CREDIT,
                creditChannel);
        int to = linkTable.peer[out];
        if (linkTable.isNode(to)) {
            long at = (long) outChannel << 32 | packet;
            engine.schedule(
                    departs + busy + cablePs, linkTable.entity[to], self, EventKinds.ARRIVE, at);
        } else {
            sendHead(departs, self, packet, outChannel);
        }
    }

    private void leaveQueue(int router, int channel, int packet, int out) {
        int bit = channel - linkTable.portBase[router] * channels;
        requests[requestBase[out] + (bit >> 6)] &= ~(1L << bit);
        asking[out]--;
        int next = packets.next(packet);
        head[channel] = next;
        packets.next(packet, PacketTable.NONE);
        if (next != PacketTable.NONE) {
            request(router, packets.out(next) / channels, channel);
        }
    }
}
