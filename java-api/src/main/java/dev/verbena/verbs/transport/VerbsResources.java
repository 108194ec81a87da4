package dev.verbena.verbs.transport;

import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.verbs.Access;
import dev.verbena.verbs.CompletionChannel;
import dev.verbena.verbs.CompletionQueue;
import dev.verbena.verbs.DeviceAttributes;
import dev.verbena.verbs.GidEntry;
import dev.verbena.verbs.NumaAdvice;
import dev.verbena.verbs.PathContext;
import dev.verbena.verbs.PortAttributes;
import dev.verbena.verbs.ProtectionDomain;
import dev.verbena.verbs.QueuePair;
import dev.verbena.verbs.QueuePairAddress;
import dev.verbena.verbs.QueuePairContext;
import dev.verbena.verbs.RdmaDevice;
import dev.verbena.verbs.RdmaDevices;
import dev.verbena.verbs.SharedReceiveQueue;
import dev.verbena.verbs.internal.OwnershipTransfer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.agrona.CloseHelper;
import org.agrona.ErrorHandler;

/**
 * The device as one transport uses it: its queues, the path to peers, and what it can. Owned by the
 * transport's thread.
 */
final class VerbsResources implements AutoCloseable {
    private static final int SENDS_PER_PAIR_MAX = 256;
    private static final int SENDS_EXTRA = 8;
    private static final int READS_MAX = 16;
    private static final int SEGMENT_MAX = 1 << 30;

    /** 7 would be "without end" on Soft-RoCE. */
    private static final int RETRIES = 6;

    private static final int NOT_READY_RETRIES = 6;

    /** 10.24 ms: with the retries, 60 ms for a peer that has no receive, which credits forbid. */
    private static final int NOT_READY_TIMER = 20;

    private static final int TIMEOUT_CODE_MIN = 10;
    private static final int TIMEOUT_CODE_MAX = 20;
    private static final long TIMEOUT_UNIT_NS = 4096;

    final RdmaDevice device;
    final ProtectionDomain domain;
    final CompletionChannel channel;
    final CompletionQueue sends;
    final CompletionQueue receives;
    final SharedReceiveQueue shared;
    final GidEntry gid;
    final String reason;
    final int mtu;
    final int segmentMax;
    final int readsInMax;
    final int sendsPerPair;

    /** Connections for which the shared receive queue has room. */
    final int connectionsMax;

    /** Requests of all pairs together that may be outstanding. */
    final int sendsMax;

    final boolean hasAtomics;
    private final int lid;
    private final int readsOutMax;
    private final int timeoutCode;
    private final VerbsOptions options;
    private final ErrorHandler errorHandler;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private String lost = "";

    private VerbsResources(
            TransportContext context, VerbsOptions options, int wanted, int slotsPerConnection) {
        this.options = options;
        this.errorHandler = context.errorHandler();
        device = DeviceSearch.open(options.device(), options.devicePort());
        open.push(device);
        try {
            DeviceAttributes attributes = device.attributes();
            PortAttributes port = device.port(options.devicePort());
            hasAtomics = !attributes.atomicity().equals("none");
            mtu = port.mtu();
            lid = port.lid();
            segmentMax = segmentMax(options, port);
            readsInMax = Math.min(READS_MAX, (int) attributes.limit("max_qp_rd_atom"));
            readsOutMax = Math.min(READS_MAX, (int) attributes.limit("max_qp_init_rd_atom"));
            timeoutCode =
                    options.timeout() != 0
                            ? options.timeout()
                            : timeoutCode(context.peerTimeoutNs());
            if (options.gid() < 0) {
                gid = device.chooseGid(options.devicePort()).entry();
                reason = device.chooseGid(options.devicePort()).reason();
            } else {
                gid = device.gid(options.devicePort(), options.gid());
                reason = "GID index " + options.gid() + ": asked for by the option gid";
            }
            if (gid == null) {
                throw new TransportException(
                        ("option gid=%s: there is no address at this place; ./verbena devices "
                                        + "shows them")
                                .formatted(options.gid()));
            }
            sendsPerPair =
                    Math.min(
                            Math.min(SENDS_PER_PAIR_MAX, context.outstandingMax() + SENDS_EXTRA),
                            attributes.requestsMax());
            domain = kept(device.allocateProtectionDomain());
            channel = kept(device.createCompletionChannel());
            sendsMax =
                    Math.min(
                            attributes.completionsMax(),
                            Math.max(2 * sendsPerPair, context.outstandingMax() + SENDS_EXTRA));
            sends = kept(device.createCompletionQueue(sendsMax, channel, 0));
            long receivesMax =
                    Math.min(attributes.limit("max_srq_wr"), attributes.completionsMax());
            connectionsMax = (int) Math.min(wanted, receivesMax / slotsPerConnection);
            if (connectionsMax == 0) {
                throw new TransportException(
                        ("%s has shared receive queues of up to %s places; creditsPerConnection "
                                        + "asks for %s for each connection")
                                .formatted(device.info().name(), receivesMax, slotsPerConnection));
            }
            int receiveCount = connectionsMax * slotsPerConnection;
            receives = kept(device.createCompletionQueue(receiveCount, channel, 0));
            shared = kept(domain.createSharedReceiveQueue(receiveCount, 1));
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /**
     * Opens the device that the options name.
     *
     * @param wanted connections; there may be fewer if the device's queues are short
     */
    static VerbsResources open(
            TransportContext context, VerbsOptions options, int wanted, int slotsPerConnection) {
        return new VerbsResources(context, options, wanted, slotsPerConnection);
    }

    private <T extends AutoCloseable> T kept(T object) {
        open.push(object);
        return object;
    }

    private static int segmentMax(VerbsOptions options, PortAttributes port) {
        int most = (int) Math.min(SEGMENT_MAX, port.messageMax());
        return options.segmentLengthMax() == 0 ? most : Math.min(most, options.segmentLengthMax());
    }

    /**
     * So that all tries together take about as long as a peer may be silent: four fifths at least.
     */
    static int timeoutCode(long peerTimeoutNs) {
        int code = TIMEOUT_CODE_MIN;
        while (code < TIMEOUT_CODE_MAX
                && (TIMEOUT_UNIT_NS << code) * (RETRIES + 1) < peerTimeoutNs / 5 * 4) {
            code++;
        }
        return code;
    }

    /** A pair for requests of ours; nobody may reach memory through it. */
    QueuePair newOut() {
        QueuePairContext context =
                new QueuePairContext()
                        .completions(sends, sends)
                        .sendCapacity(sendsPerPair)
                        .receiveCapacity(1);
        return domain.createQueuePair(context);
    }

    /** A pair that carries out a peer's requests; its receives are the shared ones. */
    QueuePair newIn() {
        return domain.createQueuePair(
                new QueuePairContext()
                        .completions(sends, receives)
                        .sharedReceives(shared)
                        .sendCapacity(1));
    }

    private PathContext path(Endpoint peer) {
        PathContext path = new PathContext();
        path.serviceLevel(options.serviceLevel()).trafficClass(options.trafficClass());
        return path.port(options.devicePort())
                .gidIndex(gid.index())
                .mtu(Math.min(mtu, peer.mtu()))
                .timeoutCode(timeoutCode)
                .retries(RETRIES)
                .notReadyRetries(NOT_READY_RETRIES)
                .notReadyTimerCode(NOT_READY_TIMER);
    }

    /** Joins a pair for our requests with the peer's. */
    void joinOut(QueuePair out, Endpoint peer, QueuePairAddress in) {
        PathContext path = path(peer).access(0).readsMax(Math.min(readsOutMax, peer.readsMax()));
        out.connect(path, in);
    }

    /** Joins a pair that carries out the peer's requests. */
    void joinIn(QueuePair in, Endpoint peer, QueuePairAddress out) {
        PathContext path = path(peer).access(Access.REMOTE_ALL).readsMax(readsInMax);
        in.toInit(path);
        in.toReadyToReceive(path, out);
        in.toReadyToSend(path);
    }

    /** Tells the user's error handler. */
    void report(String what) {
        report(what, null);
    }

    /** As that, with what has led to it. */
    void report(String what, Exception cause) {
        errorHandler.onError(new TransportException("verbs: " + what, 0, cause));
    }

    /** Nothing can be done with the device any more, for this reason. */
    void lose(String why) {
        lost = why;
    }

    boolean isLost() {
        return !lost.isEmpty();
    }

    /** Why nothing can be done any more, and the remedy; empty while all is well. */
    String lost() {
        return isLost()
                ? lost + "; close this transport, and open another when there is a device again"
                : "";
    }

    int port() {
        return options.devicePort();
    }

    /** Whether the port has the local identifier that peers were told. */
    boolean hasItsLid() {
        return device.port(port()).lid() == lid;
    }

    QueuePairAddress address(QueuePair pair) {
        return pair.address(gid.gid(), lid);
    }

    /** What a peer must know of this end. */
    Endpoint endpoint(QueuePair out, QueuePair in, TransportContext context, long incarnation) {
        return new Endpoint(
                address(out),
                address(in),
                mtu,
                readsInMax,
                context.creditsPerConnection(),
                context.messageLengthMax(),
                context.peerTimeoutNs(),
                incarnation);
    }

    String explain() {
        String numa = NumaAdvice.of(device.info().name());
        return ("device %s port %s, %s; packets of %s bytes, requests of up to %s; a "
                        + "lost packet is noticed after %s ms; fork: %s%s")
                .formatted(
                        device.info().name(),
                        options.devicePort(),
                        reason,
                        mtu,
                        segmentMax,
                        (TIMEOUT_UNIT_NS << timeoutCode) / 1_000_000,
                        RdmaDevices.forkStatus(),
                        numa.isEmpty() ? "" : "; " + numa);
    }

    /** The calling thread closes instead of the owner, who is outside. */
    void takeOver() {
        OwnershipTransfer.takeOver(sends);
        OwnershipTransfer.takeOver(receives);
        OwnershipTransfer.takeOver(shared);
    }

    @Override
    public void close() {
        List<AutoCloseable> closing = new ArrayList<>(open);
        open.clear();
        CloseHelper.closeAll(closing);
    }
}
