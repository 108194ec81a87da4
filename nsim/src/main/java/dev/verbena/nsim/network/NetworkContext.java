package dev.verbena.nsim.network;

import dev.verbena.nsim.topology.TieRule;

/**
 * The parameters of a machine; defaults are those of Table 1 of the NSIM-ACE paper and, for what
 * the paper does not give, of nsim-ace.md, section 2.2. Setters answer this object. Units: bytes
 * per second, picoseconds, bytes.
 */
public final class NetworkContext {
    /** Twice this, payload and header, times the picoseconds of a second has 63 bits. */
    private static final int BYTES_MAX = 4 << 20;

    private long linkRate = 4_000_000_000L;
    long switchRate = 4_000_000_000L;
    long routingPs = 4_000;
    long vcAllocationPs = 4_000;
    long switchAllocationPs = 4_000;
    long switchPs = 128_000;
    long cablePs = 600;
    long dmaRate = 2_800_000_000L;
    boolean isDmaShared;
    long overheadPs;
    int payload = 2048;
    int header;
    int flit = 16;
    boolean isFlitStored;
    int vcPerClass = 2;
    int vcBuffer = 2;
    int nicBuffer = 16;
    boolean isNicFifo;
    int controlBytes = 16;
    int requestBytes = 16;
    private boolean isLoopback;
    boolean isDetailed;
    private long shortMax = 8192;
    private Level level = Level.PACKET;
    private TieRule tie = TieRule.BALANCED;

    /** Table 1. */
    public NetworkContext() {}

    /** Bytes per second of a cable, {@code link.bandwidth}. */
    public long linkRate() {
        return linkRate;
    }

    /** Sets {@link #linkRate()}. */
    public NetworkContext linkRate(long value) {
        linkRate = atLeast("link.bandwidth", value, 1);
        return this;
    }

    /** Bytes per second of a router's port, {@code switch.throughput}. */
    public NetworkContext switchRate(long value) {
        switchRate = atLeast("switch.throughput", value, 1);
        return this;
    }

    /** Finding the output, {@code router.rc}. */
    public NetworkContext routingPs(long value) {
        routingPs = atLeast("router.rc", value, 0);
        return this;
    }

    /** Allocating a virtual channel, {@code router.va}. */
    public NetworkContext vcAllocationPs(long value) {
        vcAllocationPs = atLeast("router.va", value, 0);
        return this;
    }

    /** Allocating the crossbar, {@code router.sa}. */
    public NetworkContext switchAllocationPs(long value) {
        switchAllocationPs = atLeast("router.sa", value, 0);
        return this;
    }

    /** The rest of a router's pipeline, {@code router.st}. */
    public NetworkContext switchPs(long value) {
        switchPs = atLeast("router.st", value, 0);
        return this;
    }

    /** From the head's arrival at an idle router to its departure: the sum of the four stages. */
    public long routerPs() {
        try {
            long allocationPs = Math.addExact(vcAllocationPs, switchAllocationPs);
            return Math.addExact(Math.addExact(routingPs, allocationPs), switchPs);
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(
                    "router.rc, router.va, router.sa and router.st together take more than the 106"
                            + " days that can be simulated");
        }
    }

    /** One end of a cable to the other, {@code cable.latency}. */
    public NetworkContext cablePs(long value) {
        cablePs = atLeast("cable.latency", value, 0);
        return this;
    }

    /** Bytes per second between memory and network interface, {@code dma.bandwidth}; 0: no time. */
    public NetworkContext dmaRate(long value) {
        dmaRate = atLeast("dma.bandwidth", value, 0);
        return this;
    }

    /** Whether one engine serves both directions, {@code dma=shared}; otherwise one each. */
    public NetworkContext isDmaShared(boolean value) {
        isDmaShared = value;
        return this;
    }

    /** From a call to the network interface, {@code node.overhead}: the paper's node latency. */
    public NetworkContext overheadPs(long value) {
        overheadPs = atLeast("node.overhead", value, 0);
        return this;
    }

    /** Most bytes of a message in one packet, {@code packet.payload}. */
    public NetworkContext payload(int value) {
        payload = bytes("packet.payload", value, 1);
        return this;
    }

    long packetCount(long bytes) {
        long packets = Math.max(1, bytes / payload + (bytes % payload == 0 ? 0 : 1));
        if (packets > FlowTable.PACKETS_MAX) {
            throw new IllegalArgumentException(
                    ("a message of %s bytes has %s packets of packet.payload=%s; %s is the most,"
                                    + " set a larger packet.payload")
                            .formatted(bytes, packets, payload, FlowTable.PACKETS_MAX));
        }
        return packets;
    }

    /** Bytes on the cable beside the payload, {@code packet.header}. */
    public NetworkContext header(int value) {
        header = bytes("packet.header", value, 0);
        return this;
    }

    /** Bytes of a flit, {@code flit}. */
    public NetworkContext flit(int value) {
        flit = bytes("flit", value, 1);
        return this;
    }

    /** Whether a head flit must be complete before it moves on, {@code flitStore}. */
    public NetworkContext isFlitStored(boolean value) {
        isFlitStored = value;
        return this;
    }

    /**
     * Virtual channels per class, {@code vc.perClass}; a packet's is its destination modulo this.
     */
    public NetworkContext vcPerClass(int value) {
        vcPerClass = (int) atLeast("vc.perClass", value, 1);
        return this;
    }

    /** Packets that a virtual channel of a router holds, {@code vc.buffer}. */
    public NetworkContext vcBuffer(int value) {
        vcBuffer = (int) atLeast("vc.buffer", value, 1);
        return this;
    }

    /** Packets that a network interface holds per direction and channel, {@code nic.buffer}. */
    public NetworkContext nicBuffer(int value) {
        nicBuffer = (int) atLeast("nic.buffer", value, 1);
        return this;
    }

    /** Whether messages leave a node one after the other, {@code nic=fifo}; otherwise in turn. */
    public NetworkContext isNicFifo(boolean value) {
        isNicFifo = value;
        return this;
    }

    /** Bytes of a control packet, {@code control.bytes}. */
    public NetworkContext controlBytes(int value) {
        controlBytes = bytes("control.bytes", value, 0);
        return this;
    }

    /** Bytes of a get's request, {@code request.bytes}. */
    public NetworkContext requestBytes(int value) {
        requestBytes = bytes("request.bytes", value, 0);
        return this;
    }

    /** Whether a rank may put to itself, {@code loopback}. */
    public boolean isLoopback() {
        return isLoopback;
    }

    /** Sets {@link #isLoopback()}. */
    public NetworkContext isLoopback(boolean value) {
        isLoopback = value;
        return this;
    }

    /**
     * Whether queues and the use of cables over time are recorded; packet level only, machines of
     * at most 65,536 links.
     */
    public NetworkContext isDetailed(boolean value) {
        isDetailed = value;
        return this;
    }

    /** The longest message that is sent without being asked for, {@code message.short}. */
    public long shortMax() {
        return shortMax;
    }

    /** Sets {@link #shortMax()}. */
    public NetworkContext shortMax(long value) {
        shortMax = atLeast("message.short", value, 0);
        return this;
    }

    /** How much of the network is modelled, {@code level}. */
    public Level level() {
        return level;
    }

    /** Sets {@link #level()}. */
    public NetworkContext level(Level value) {
        level = value;
        return this;
    }

    /** Which way round a ring if both are equally long, {@code tie}. */
    public TieRule tie() {
        return tie;
    }

    /** Sets {@link #tie()}. */
    public NetworkContext tie(TieRule value) {
        tie = value;
        return this;
    }

    private static int bytes(String key, int value, int least) {
        if (value > BYTES_MAX) {
            throw new IllegalArgumentException(key + " is " + value + "; at most " + BYTES_MAX);
        }
        return (int) atLeast(key, value, least);
    }

    private static long atLeast(String key, long value, long least) {
        if (value < least) {
            throw new IllegalArgumentException(
                    key + " is " + value + "; at least " + least + " is needed");
        }
        return value;
    }
}
