package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.verbs.Access;
import dev.verbena.verbs.AddressHandle;
import dev.verbena.verbs.CompletionChannel;
import dev.verbena.verbs.CompletionFlyweight;
import dev.verbena.verbs.CompletionQueue;
import dev.verbena.verbs.CompletionStatus;
import dev.verbena.verbs.ConnectionContext;
import dev.verbena.verbs.GidEntry;
import dev.verbena.verbs.MemoryRegion;
import dev.verbena.verbs.PathContext;
import dev.verbena.verbs.Post;
import dev.verbena.verbs.ProtectionDomain;
import dev.verbena.verbs.QueuePair;
import dev.verbena.verbs.QueuePairContext;
import dev.verbena.verbs.QueuePairType;
import dev.verbena.verbs.RdmaDevice;
import dev.verbena.verbs.ReceiveRequests;
import dev.verbena.verbs.SendRequestFlyweight;
import dev.verbena.verbs.SendRequests;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One side of a measurement over a device: queue pairs, and memory in two halves, from which is
 * sent and into which the peer may write. One thread.
 */
final class PerftestEndpoint implements AutoCloseable {
    private static final int QUEUE_KEY = 0x11111111;
    private static final long SLEEP_NS = 100_000_000L;
    private static final int POLL_LIMIT = 16;

    final List<QueuePair> queues = new ArrayList<>();
    final SendRequests[] sends;
    final CompletionQueue sendCompletions;
    final CompletionQueue receiveCompletions;
    final MemoryRegion region;
    final PerftestMemory places;
    private final PerftestOptions options;
    private final PerftestTool tool;
    private final Opened opened = new Opened();
    private final CompletionChannel channel;
    private final Patience patience = new Patience();
    private boolean isArmed;
    private final ReceiveRequests[] receives;
    private final GidEntry gid;
    private final int lid;
    private final int reads;
    private final int mtu;
    private final List<PerftestKeys> keys = new ArrayList<>();
    private final List<AddressHandle> targets = new ArrayList<>();
    private List<PerftestKeys> theirs = List.of();

    /** How both sides agreed to lay out their memory and their packets. */
    record Agreement(int cycle, int cacheLine, int mtu) {}

    PerftestEndpoint(
            RdmaDevice device,
            PerftestOptions options,
            GidEntry gid,
            Agreement agreement,
            int sizeMax) {
        this.options = options;
        this.tool = options.tool;
        this.gid = gid;
        this.mtu = agreement.mtu();
        this.lid = device.port(options.devicePort).lid();
        this.reads = reads(device);
        int count = options.queues;
        sends = new SendRequests[count];
        receives = new ReceiveRequests[count];
        try {
            OffHeapMemory memory =
                    opened.add(
                            OffHeapMemories.allocate(
                                    PerftestMemory.length(agreement, sizeMax, count)));
            ProtectionDomain domain = opened.add(device.allocateProtectionDomain());
            region = opened.add(domain.register(memory, access()));
            places = new PerftestMemory(region, options, agreement, sizeMax);
            channel = options.isEvents ? opened.add(device.createCompletionChannel()) : null;
            sendCompletions = opened.add(completions(device, count * options.sendDepth()));
            int receiveDepth = tool.isSend() ? receiveDepth(device) : 1;
            receiveCompletions = opened.add(completions(device, count * receiveDepth));
            for (int q = 0; q < count; q++) {
                openQueue(domain, q, receiveDepth);
            }
        } catch (RuntimeException | Error e) {
            CloseHelper.close(e::addSuppressed, this);
            throw e;
        }
    }

    private CompletionQueue completions(RdmaDevice device, int capacity) {
        return device.createCompletionQueue(capacity, channel, 0);
    }

    private int receiveDepth(RdmaDevice device) {
        int completions = device.attributes().completionsMax() / options.queues;
        return options.receiveDepth(Math.min(device.attributes().requestsMax(), completions));
    }

    /** The peer may do what is measured, and nothing else. */
    private int access() {
        if (tool.isSend()) {
            return Access.LOCAL_WRITE;
        }
        int may =
                tool.isRead()
                        ? Access.REMOTE_READ
                        : tool.isAtomic() ? Access.REMOTE_ATOMIC : Access.REMOTE_WRITE;
        return Access.LOCAL_WRITE | may;
    }

    private int reads(RdmaDevice device) {
        if (!tool.isRead() && !tool.isAtomic()) {
            return options.reads == null ? 1 : options.reads;
        }
        long most = Math.min(255, device.attributes().limit("max_qp_rd_atom"));
        if (options.reads != null && options.reads > most) {
            throw new Messages.Failure(
                    "-o " + options.reads + ": the device can do " + most + " reads at a time");
        }
        return options.reads == null ? (int) Math.max(1, most) : options.reads;
    }

    private void openQueue(ProtectionDomain domain, int q, int receiveDepth) {
        QueuePair queue =
                opened.add(
                        domain.createQueuePair(
                                new QueuePairContext()
                                        .type(options.connection)
                                        .completions(sendCompletions, receiveCompletions)
                                        .sendCapacity(options.sendDepth())
                                        .receiveCapacity(receiveDepth)
                                        .inlineMax(options.inline)));
        queues.add(queue);
        if (!options.isManaged) {
            queue.toInit(path(reads));
        }
        if (tool.isSend()) {
            receives[q] = opened.add(queue.newReceives(receiveDepth));
        }
        keys.add(
                new PerftestKeys(
                        lid,
                        reads,
                        queue.number(),
                        queue.address(null, 0).packetNumber(),
                        region.remoteKey(),
                        region.remoteAddress(places.receiveOffset(q)),
                        gid == null ? null : gid.gid(),
                        0));
    }

    private PathContext path(int peersReads) {
        PathContext path =
                new PathContext()
                        .port(options.devicePort)
                        .mtu(mtu)
                        .access(access())
                        .readsMax(Math.max(1, Math.min(peersReads, reads)), Math.max(1, reads))
                        .timeoutCode(options.timeoutCode)
                        .notReadyRetries(7)
                        .queueKey(QUEUE_KEY)
                        .serviceLevel(options.serviceLevel)
                        .trafficClass(options.trafficClass);
        return gid == null ? path : path.gidIndex(gid.index());
    }

    PerftestKeys keys(int q) {
        return keys.get(q);
    }

    /** Connects all by rdma_cm. */
    void join(BootstrapQueue manager) {
        ConnectionContext context =
                new ConnectionContext()
                        .access(access())
                        .responderResources(reads)
                        .initiatorDepth(reads)
                        .timeoutCode(options.timeoutCode)
                        .retries(7)
                        .notReadyRetries(7);
        queues.forEach(queue -> manager.join(queue, context));
    }

    /** Both sides know each other: queue pairs become ready, requests are prepared. */
    void connect(List<PerftestKeys> theirs) {
        this.theirs = List.copyOf(theirs);
        for (int q = 0; q < queues.size(); q++) {
            if (!options.isManaged) {
                connect(q);
            }
            sends[q] = opened.add(queues.get(q).newSends(Math.max(options.list, places.slots(0))));
        }
    }

    private void connect(int q) {
        PerftestKeys peer = theirs.get(q);
        boolean isDatagram = options.connection == QueuePairType.UD;
        if (gid != null && gid.gid().isIpv4() != peer.gid().isIpv4()) {
            throw new Messages.Failure(
                    "one side's address is of IPv4, the other one's of IPv6: %s and "
                            + "%s; choose with -x on both sides",
                    gid.gid().address(), peer.gid().address());
        }
        PathContext path = path(Math.min(255, peer.reads()));
        queues.get(q).toReadyToReceive(path, isDatagram ? null : peer.target());
        queues.get(q).toReadyToSend(path);
        if (isDatagram) {
            AddressHandle target =
                    queues.get(q).domain().createAddressHandle(path, peer.gid(), peer.lid());
            targets.add(opened.add(target));
        }
    }

    /** Fills the requests of a queue pair for messages of one size, not signalled. */
    void prepare(int q, int size) {
        int slots = places.slots(size);
        PerftestKeys peer = theirs.get(q);
        for (int i = 0; i < sends[q].capacity(); i++) {
            long at = (long) (i % slots) * places.turn(size);
            SendRequestFlyweight request = sends[q].at(i);
            request.segment(region, places.sendOffset(q) + at, size).id(q).signalled(false);
            if (tool.isWrite()) {
                request.write(peer.address() + at, peer.remoteKey());
                request.inline(size <= options.inline);
            } else if (tool.isRead()) {
                request.read(peer.address() + at, peer.remoteKey());
            } else if (tool.isSend()) {
                request.send().inline(size <= options.inline);
                if (options.connection == QueuePairType.UD) {
                    request.to(targets.get(q), peer.number(), QUEUE_KEY);
                }
            } else if (options.atomicType == PerftestOptions.AtomicType.FETCH_AND_ADD) {
                request.fetchAdd(peer.address() + at, peer.remoteKey(), 1);
            } else {
                request.compareSwap(peer.address() + at, peer.remoteKey(), 0, 0);
            }
        }
    }

    /** Posts as many receives as a size needs at first. */
    void postReceives(int size) {
        for (int q = 0; q < queues.size(); q++) {
            int count = receives[q].capacity();
            for (int i = 0; i < count; i++) {
                receives[q].set(
                        i, q, region, places.receiveOffset(q), size + places.headerLength());
            }
            checkReceives(queues.get(q), queues.get(q).post(receives[q], 0, count), count);
        }
    }

    /** Posts one more receive. */
    void postReceive(int q, long number) {
        int index = (int) (number % receives[q].capacity());
        checkReceives(queues.get(q), queues.get(q).post(receives[q], index, 1), 1);
    }

    int receiveDepth() {
        return receives[0].capacity();
    }

    /** Throws if a message has another length than both sides were told. */
    void checkLength(int length, int size) {
        requireLength(length - places.headerLength(), size);
    }

    static void requireLength(int length, int size) {
        if (length != size) {
            throw new Messages.Failure(
                    "a message has %s bytes, not %s; have both sides the same -s?", length, size);
        }
    }

    /** True for fetch-and-add: what comes must grow by one each time. */
    boolean isCounting() {
        return tool.isAtomic() && options.atomicType == PerftestOptions.AtomicType.FETCH_AND_ADD;
    }

    /** Throws if not all sends were taken. */
    static void check(QueuePair queue, int result, int wanted) {
        if (result != wanted) {
            throw notPosted(result, queue.refusal());
        }
    }

    private static void checkReceives(QueuePair queue, int result, int wanted) {
        if (result != wanted) {
            throw notPosted(result, queue.receiveRefusal());
        }
    }

    static Messages.Failure notPosted(int result, int errno) {
        return new Messages.Failure(
                result == Post.REFUSED
                        ? "posting: the library refused with errno " + errno
                        : "posting: " + Post.name(result));
    }

    /** Polls; throws for a completion with an error. How many came, 0 if none did. */
    int poll(CompletionQueue completions, boolean isPatient) {
        int count = completions.poll(isPatient ? POLL_LIMIT : 1);
        for (int i = 0; i < count; i++) {
            requireSuccess(completions.completion(i));
        }
        return polled(count);
    }

    static void requireSuccess(CompletionFlyweight completion) {
        if (!completion.isSuccess()) {
            throw new Messages.Failure(
                    "completion on queue pair %s: %s",
                    completion.queuePairNumber(), CompletionStatus.text(completion.status()));
        }
    }

    /** What a poll answered: a device that fails answers a negative code. */
    static int polled(int count) {
        if (count < 0) {
            throw new Messages.Failure(
                    "polling failed: code %s; has the device gone? See verbena devices", count);
        }
        return count;
    }

    /**
     * Nothing came just now. With events: asks for one and, the next time, sleeps until it comes or
     * for a while. True if the caller may have waited for long.
     */
    boolean idle() {
        if (channel == null) {
            return false;
        }
        if (isArmed) {
            channel.await(SLEEP_NS);
        } else {
            sendCompletions.requestNotification(false);
            receiveCompletions.requestNotification(false);
        }
        isArmed = !isArmed;
        return !isArmed;
    }

    /** Waits for the next completion. */
    CompletionFlyweight next(CompletionQueue completions) {
        patience.reset();
        while (poll(completions, false) == 0) {
            patience.waited(idle(), "no completion");
        }
        return completions.completion(0);
    }

    /** Waits until the peer has written this byte. */
    void await(UnsafeBuffer window, int index, byte value) {
        patience.reset();
        while (window.getByteVolatile(index) != value) {
            patience.waited(false, "no write of the other side");
        }
    }

    @Override
    public void close() {
        // After a failure there may be work outstanding: a queue pair that is reset forgets it.
        queues.forEach(queue -> opened.add(queue::toReset));
        queues.clear();
        opened.close();
    }
}
