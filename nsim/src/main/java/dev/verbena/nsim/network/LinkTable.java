package dev.verbena.nsim.network;

import dev.verbena.nsim.topology.Topology;
import java.util.Arrays;

/**
 * The links of a topology as arrays. Links are numbered: the ports of router 0, of router 1, ...,
 * then one per node. A virtual channel is link * {@link #channels} + its number in the link; as an
 * index into credits it stands for the link that leaves, as one into queues for the link that
 * arrives there.
 */
final class LinkTable {
    /** Asks and answers. */
    static final int MESSAGE_CLASSES = 2;

    final Topology topology;
    final int nodes;
    final int routers;

    /** The first link of a router. */
    final int[] portBase;

    final int ports;
    final int links;

    /** The other end's link, or -1. */
    final int[] peer;

    /** Whose link it is: a node, or nodes + router. */
    final int[] entity;

    /** Virtual channels of a link. */
    final int channels;

    final int perClass;

    /** Packets for which there is room at the other end, by channel. */
    final int[] credits;

    private final int classes;
    private final int buffer;

    LinkTable(Topology topology, NetworkContext context) {
        this.topology = topology;
        nodes = topology.nodes();
        routers = topology.routers();
        perClass = context.vcPerClass;
        buffer = context.vcBuffer;
        classes = topology.classes();
        portBase = new int[routers + 1];
        for (int r = 0; r < routers; r++) {
            portBase[r + 1] = Math.addExact(portBase[r], topology.ports(r));
        }
        ports = portBase[routers];
        links = Math.addExact(ports, nodes);
        peer = new int[links];
        entity = new int[links];
        channels = channels();
        credits = new int[links * channels];
        for (int r = 0; r < routers; r++) {
            for (int p = 0; p < topology.ports(r); p++) {
                connect(r, p, context);
            }
        }
        for (int n = 0; n < nodes; n++) {
            peer[ports + n] = portBase[topology.routerOf(n)] + topology.portOf(n);
            entity[ports + n] = n;
            fill(ports + n, context.vcBuffer);
        }
    }

    private int channels() {
        long ofLink = (long) MESSAGE_CLASSES * classes * perClass;
        if (ofLink > Integer.MAX_VALUE / Math.max(1, links)) {
            throw new IllegalArgumentException(
                    ("vc.perClass=%s makes too many virtual channels of the %s links of %s; set a"
                                    + " smaller vc.perClass")
                            .formatted(perClass, links, topology.name()));
        }
        return (int) ofLink;
    }

    private void connect(int router, int port, NetworkContext context) {
        int link = portBase[router] + port;
        int to = topology.peer(router, port);
        entity[link] = nodes + router;
        if (to == Topology.NOTHING) {
            peer[link] = -1;
        } else if (to < 0) {
            peer[link] = ports - 1 - to;
            fill(link, context.nicBuffer);
        } else {
            peer[link] = portBase[to] + topology.peerPort(router, port);
            fill(link, context.vcBuffer);
        }
    }

    private void fill(int link, int packets) {
        Arrays.fill(credits, link * channels, (link + 1) * channels, packets);
    }

    /** Packets that hold room behind a link. */
    int held(int link) {
        int sum = 0;
        for (int i = link * channels; i < (link + 1) * channels; i++) {
            sum += isNode(peer[link]) ? 0 : buffer - credits[i];
        }
        return sum;
    }

    boolean isNode(int link) {
        return link >= ports;
    }

    /** The number of a channel in its link. */
    int channel(int messageClass, int vcClass, int destination) {
        int lane = perClass == 1 ? 0 : destination % perClass;
        return (messageClass * classes + vcClass) * perClass + lane;
    }

    /** Chooses the channel by which a packet leaves a router that it came to; returns its link. */
    int route(int router, int inChannel, PacketTable packets, int packet) {
        int base = portBase[router];
        int destination = packets.destination(packet);
        long way =
                topology.route(
                        router,
                        inChannel / channels - base,
                        inChannel % channels / perClass % classes,
                        packets.source(packet),
                        destination,
                        packets.state(packet));
        packets.state(packet, Topology.stateIn(way));
        int out = base + Topology.portIn(way);
        int number = channel(packets.messageClass(packet), Topology.classIn(way), destination);
        packets.out(packet, out * channels + number);
        return out;
    }
}
