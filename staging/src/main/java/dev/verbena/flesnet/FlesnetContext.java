package dev.verbena.flesnet;

import dev.verbena.agent.Environment;
import dev.verbena.flesnet.dfs.DfsParameters;
import dev.verbena.staging.Arguments;
import dev.verbena.transport.TransportContext;

/**
 * What all processes of a run must agree on. Fluent setters; {@link #conclude()} checks once.
 * Lengths are bytes, times nanoseconds; defaults are those of the paper (spec section 5.6).
 */
public final class FlesnetContext {
    private Environment environment;
    private String directory = "";
    private String scheme = "shm";
    private String job = "flesnet";
    private int inputs = 1;
    private int computes = 1;
    private int schedulers = 1;
    private int timesliceSize = 100;
    private int overlap = 1;
    private int dataExponent = 20;
    private int descriptorExponent = 6;
    private int sourceExponent = 24;
    private int sourceDescriptorExponent = 14;
    private RingEndPolicy ringEnd = RingEndPolicy.SKIP;
    private DescriptorMode descriptorMode = DescriptorMode.RDMA_WRITE;
    private AckKind ackKind = AckKind.COMPLETED;
    private InputLossPolicy inputLoss = InputLossPolicy.FREEZE;
    private long incompleteTimeoutNs;
    private long heartbeatNs = 1_000_000_000L;
    private long peerTimeoutNs = 5_000_000_000L;
    private long awakeNs = 100_000L;
    private long startPosition;
    private DfsParameters dfs;
    private IntervalHandler intervals = IntervalHandler.NONE;

    /** Everything at its default. */
    public FlesnetContext() {}

    /** Clocks, transports and files. */
    public FlesnetContext environment(Environment value) {
        environment = value;
        return this;
    }

    /** Directory in which compute nodes publish their addresses; no slash at its end. */
    public FlesnetContext directory(String value) {
        directory = value;
        return this;
    }

    /** Transport, {@code shm} by default. */
    public FlesnetContext scheme(String value) {
        scheme = value;
        return this;
    }

    /** Job of the transports. */
    public FlesnetContext job(String value) {
        job = value;
        return this;
    }

    /** Numbers of input nodes and of compute nodes, up to 16,380 and 4,096. */
    public FlesnetContext nodes(int inputNodes, int computeNodes) {
        inputs = inputNodes;
        computes = computeNodes;
        return this;
    }

    /** Microslices that begin in a timeslice, and those that it has beyond. */
    public FlesnetContext timeslice(int microslices, int overlapMicroslices) {
        timesliceSize = microslices;
        overlap = overlapMicroslices;
        return this;
    }

    /** Powers of two of each connection's ring: data bytes (4 to 30), descriptors (0 to 20). */
    public FlesnetContext rings(int dataBytes, int descriptors) {
        dataExponent = dataBytes;
        descriptorExponent = descriptors;
        return this;
    }

    /** Powers of two of an input's ring: content bytes (4 to 30), microslices (1 to 24). */
    public FlesnetContext sourceRing(int contentBytes, int microslices) {
        sourceExponent = contentBytes;
        sourceDescriptorExponent = microslices;
        return this;
    }

    /** At the end of a receive ring. */
    public FlesnetContext ringEnd(RingEndPolicy value) {
        ringEnd = value;
        return this;
    }

    /** How descriptors travel. */
    public FlesnetContext descriptorMode(DescriptorMode value) {
        descriptorMode = value;
        return this;
    }

    /** What counts as acknowledged in the scheduler's measurements. */
    public FlesnetContext ackKind(AckKind value) {
        ackKind = value;
        return this;
    }

    /** When an input node is lost. */
    public FlesnetContext inputLoss(InputLossPolicy value) {
        inputLoss = value;
        return this;
    }

    /**
     * Deliver a timeslice that is incomplete so long after its first arrival; then a run goes on
     * without an input as with {@link InputLossPolicy#SHRINK}. 0: wait.
     */
    public FlesnetContext incompleteTimeoutNs(long value) {
        incompleteTimeoutNs = value;
        return this;
    }

    /** Silence after which a peer is asked whether it lives. */
    public FlesnetContext heartbeatNs(long value) {
        heartbeatNs = value;
        return this;
    }

    /** Time after which a silent peer is given up, also one that has not said who it is. */
    public FlesnetContext peerTimeoutNs(long value) {
        peerTimeoutNs = value;
        return this;
    }

    /** How long a thread stays awake without work while work comes that fast; 0: not at all. */
    public FlesnetContext awakeNs(long value) {
        awakeNs = value;
        return this;
    }

    /** First position of all rings; another than 0 is for tests. */
    public FlesnetContext startPosition(long value) {
        startPosition = value;
        return this;
    }

    /** Paces inputs; null: best effort. The first {@code replicas} compute nodes schedule. */
    public FlesnetContext dfs(DfsParameters value, int replicas) {
        dfs = value;
        schedulers = replicas;
        return this;
    }

    /** Who sees what inputs measure; by default nobody. */
    public FlesnetContext intervals(IntervalHandler value) {
        intervals = value;
        return this;
    }

    /**
     * Checks all values.
     *
     * @throws IllegalArgumentException naming the value and its range
     */
    public FlesnetContext conclude() {
        Arguments.notNull("environment", environment);
        Arguments.notNull("intervals", intervals);
        Arguments.notEmpty("directory", directory);
        Arguments.range("inputs", inputs, 1, 16_380);
        Arguments.range("computes", computes, 1, 4_096);
        Arguments.range("schedulers", schedulers, 0, computes);
        Arguments.range("timesliceSize", timesliceSize, 1, 1 << 20);
        Arguments.range("overlap", overlap, 0, 1 << 20);
        Arguments.range("dataExponent", dataExponent, 4, 30);
        Arguments.range("descriptorExponent", descriptorExponent, 0, 20);
        Arguments.range("sourceExponent", sourceExponent, 4, 30);
        Arguments.range("sourceDescriptorExponent", sourceDescriptorExponent, 1, 24);
        Arguments.range("heartbeatNs", heartbeatNs, 1, Long.MAX_VALUE / 64);
        Arguments.range("awakeNs", awakeNs, 0, 1_000_000_000L);
        Arguments.range("incompleteTimeoutNs", incompleteTimeoutNs, 0, Long.MAX_VALUE / 2);
        if (timesliceSize + overlap >= 1 << sourceDescriptorExponent) {
            throw new IllegalArgumentException(
                    "a timeslice of %s microslices does not fit an input ring of %s"
                            .formatted(timesliceSize + overlap, 1 << sourceDescriptorExponent));
        }
        long places = (long) computes * ComponentFlyweight.LENGTH << descriptorExponent;
        if (places > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "an input would need %s bytes for the descriptors of %s compute nodes with 2^%s each: at most 2 GiB"
                            .formatted(places, computes, descriptorExponent));
        }
        return this;
    }

    /** File by which a compute node is found. */
    public String serviceFile(int compute) {
        return directory + "/compute-" + compute;
    }

    /** Settings of a transport for a node with so many peers. */
    public TransportContext transport(int peers) {
        int message = Math.max(1024, 64 + 12 * computes);
        return new TransportContext()
                .job(job)
                .messageLengthMax(message)
                .creditsPerConnection(4)
                .receiveSlotCount(Math.max(64, 4 * peers))
                .connectionsMax(Math.max(16, peers + 4))
                .outstandingMax(Math.max(4096, 32 * peers))
                .peerTimeoutNs(peerTimeoutNs)
                .errorHandler(environment.errorHandler());
    }

    /** See {@link #environment(Environment)}. */
    public Environment environment() {
        return environment;
    }

    /** See {@link #scheme(String)}. */
    public String scheme() {
        return scheme;
    }

    /** Input nodes. */
    public int inputs() {
        return inputs;
    }

    /** Compute nodes. */
    public int computes() {
        return computes;
    }

    /** Compute nodes that schedule. */
    public int schedulers() {
        return dfs == null ? 0 : schedulers;
    }

    /** Microslices that begin in a timeslice. */
    public int timesliceSize() {
        return timesliceSize;
    }

    /** Microslices of a component. */
    public int microslicesPerComponent() {
        return timesliceSize + overlap;
    }

    /** Microslices beyond the timeslice. */
    public int overlap() {
        return overlap;
    }

    /** Power of two of a connection's data ring. */
    public int dataExponent() {
        return dataExponent;
    }

    /** Power of two of a connection's descriptor ring. */
    public int descriptorExponent() {
        return descriptorExponent;
    }

    /** Power of two of an input's content ring. */
    public int sourceExponent() {
        return sourceExponent;
    }

    /** Power of two of an input's ring of microslices. */
    public int sourceDescriptorExponent() {
        return sourceDescriptorExponent;
    }

    /** See {@link #ringEnd(RingEndPolicy)}. */
    public RingEndPolicy ringEnd() {
        return ringEnd;
    }

    /** See {@link #descriptorMode(DescriptorMode)}. */
    public DescriptorMode descriptorMode() {
        return descriptorMode;
    }

    /** See {@link #ackKind(AckKind)}. */
    public AckKind ackKind() {
        return ackKind;
    }

    /** See {@link #inputLoss(InputLossPolicy)}. */
    public InputLossPolicy inputLoss() {
        return inputLoss;
    }

    /** See {@link #incompleteTimeoutNs(long)}. */
    public long incompleteTimeoutNs() {
        return incompleteTimeoutNs;
    }

    /** See {@link #heartbeatNs(long)}. */
    public long heartbeatNs() {
        return heartbeatNs;
    }

    /** See {@link #peerTimeoutNs(long)}. */
    public long peerTimeoutNs() {
        return peerTimeoutNs;
    }

    /** See {@link #awakeNs(long)}. */
    public long awakeNs() {
        return awakeNs;
    }

    /** See {@link #startPosition(long)}. */
    public long startPosition() {
        return startPosition;
    }

    /** The scheduler's parameters; null: best effort. */
    public DfsParameters dfs() {
        return dfs;
    }

    /** See {@link #intervals(IntervalHandler)}. */
    public IntervalHandler intervals() {
        return intervals;
    }
}
