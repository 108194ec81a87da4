package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.verbs.Access;
import dev.verbena.verbs.AddressHandle;
import dev.verbena.verbs.CompletionChannel;
import dev.verbena.verbs.CompletionFlyweight;
import dev.verbena.verbs.CompletionQueue;
import dev.verbena.verbs.GidEntry;
import dev.verbena.verbs.MemoryRegion;
import dev.verbena.verbs.PathContext;
import dev.verbena.verbs.ProtectionDomain;
import dev.verbena.verbs.QueuePair;
import dev.verbena.verbs.QueuePairAddress;
import dev.verbena.verbs.QueuePairContext;
import dev.verbena.verbs.QueuePairType;
import dev.verbena.verbs.RdmaDevice;
import dev.verbena.verbs.ReceiveRequests;
import dev.verbena.verbs.SendRequestFlyweight;
import dev.verbena.verbs.SendRequests;
import dev.verbena.verbs.SharedReceiveQueue;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;
import org.agrona.collections.Int2IntHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One side of a ping-pong: it answers every message. The client begins, on every queue pair. The
 * server answers with the bytes that came, the client compares what comes back: with one queue pair
 * every message, each of which has other bytes; with several, which share the memory, the last. One
 * thread.
 */
final class PingPong implements AutoCloseable {
    private static final int QUEUE_KEY = 0x11111111;
    private static final int PAGE = 4096;
    private static final byte FILL = 0x7b;
    private static final int POLL_LIMIT = 16;
    private static final long SLEEP_NS = 1_000_000_000;
    private static final int IS_SENT = 1;
    private static final int IS_ANSWERED = 2;

    private final PingPongCommand.Options options;
    private final boolean isClient;
    private final GidEntry gid;
    private final int lid;
    private final int header;
    private final QueuePairType type;
    private final Opened opened = new Opened();
    private final ProtectionDomain domain;
    private final MemoryRegion region;
    private final CompletionChannel channel;
    private final CompletionQueue completions;
    private final SharedReceiveQueue shared;
    private final List<QueuePair> queues = new ArrayList<>();
    private final SendRequestFlyweight[] sends;
    private final ReceiveRequests receives;
    private final Int2IntHashMap indexByNumber = new Int2IntHashMap(-1);
    private final int[] pending;
    private final boolean isEachChecked;
    private long sent;
    private long received;

    PingPong(RdmaDevice device, PingPongCommand.Options options, GidEntry gid, boolean isClient) {
        this.options = options;
        this.isClient = isClient;
        this.gid = gid;
        this.lid = device.port(options.devicePort).lid();
        this.type =
                switch (options.kind) {
                    case rc, srq -> QueuePairType.RC;
                    case uc -> QueuePairType.UC;
                    case ud -> QueuePairType.UD;
                };
        this.isEachChecked = options.isChecking && options.queues() == 1;
        this.header = type == QueuePairType.UD ? PerftestMemory.ROUTE_HEADER : 0;
        int count = options.queues();
        sends = new SendRequestFlyweight[count];
        pending = new int[count];
        try {
            OffHeapMemory memory = opened.add(OffHeapMemories.allocate(2L * half()));
            domain = opened.add(device.allocateProtectionDomain());
            region = opened.add(domain.register(memory, Access.LOCAL_WRITE));
            channel = options.isSleeping ? opened.add(device.createCompletionChannel()) : null;
            completions =
                    opened.add(device.createCompletionQueue(options.depth + 2 * count, channel, 0));
            boolean isShared = options.kind == PingPongCommand.Kind.srq;
            shared =
                    isShared ? opened.add(domain.createSharedReceiveQueue(options.depth, 1)) : null;
            for (int q = 0; q < count; q++) {
                openQueue(q);
            }
            receives =
                    opened.add(
                            isShared
                                    ? shared.newReceives(options.depth)
                                    : queues.get(0).newReceives(options.depth));
            fill();
            postReceives();
        } catch (RuntimeException | Error e) {
            CloseHelper.close(e::addSuppressed, this);
            throw e;
        }
    }

    private int half() {
        return (options.size() + header + PAGE - 1) / PAGE * PAGE;
    }

    private PathContext path() {
        PathContext path =
                new PathContext()
                        .port(options.devicePort)
                        .mtu(options.mtu)
                        .access(0)
                        .notReadyRetries(7)
                        .queueKey(QUEUE_KEY)
                        .serviceLevel(options.serviceLevel);
        return gid == null ? path : path.gidIndex(gid.index());
    }

    private void openQueue(int q) {
        QueuePairContext context =
                new QueuePairContext().type(type).completions(completions).sendCapacity(1);
        context =
                shared == null
                        ? context.receiveCapacity(options.depth)
                        : context.sharedReceives(shared);
        QueuePair queue = opened.add(domain.createQueuePair(context));
        queues.add(queue);
        indexByNumber.put(queue.number(), q);
        queue.toInit(path());
    }

    /** The first byte of every page is 0, which is what rdma-core's server looks at. */
    private void fill() {
        UnsafeBuffer message = region.buffer(0, half());
        message.setMemory(0, half(), FILL);
        if (isClient) {
            fillMessage(0);
        }
    }

    private void fillMessage(long number) {
        UnsafeBuffer message = region.buffer(0, half());
        for (int i = 0; i < options.size(); i++) {
            message.putByte(i, i % PAGE == 0 ? 0 : (byte) (PerftestMemory.pattern(i) + number));
        }
    }

    private void postReceives() {
        for (int i = 0; i < options.depth; i++) {
            receives.set(i, i, region, half(), options.size() + header);
        }
        checkPosted(post(0, options.depth), options.depth, true, 0);
    }

    private int post(int from, int count) {
        return shared == null
                ? queues.get(0).post(receives, from, count)
                : shared.post(receives, from, count);
    }

    List<QueuePairAddress> addresses() {
        return queues.stream().map(q -> q.address(gid == null ? null : gid.gid(), lid)).toList();
    }

    /** Every queue pair becomes ready for its peer. */
    void connect(List<QueuePairAddress> theirs) {
        PathContext path = path();
        for (int q = 0; q < queues.size(); q++) {
            QueuePair queue = queues.get(q);
            QueuePairAddress peer = theirs.get(q);
            boolean isDatagram = type == QueuePairType.UD;
            queue.toReadyToReceive(path, isDatagram ? null : peer);
            queue.toReadyToSend(path);
            SendRequests requests = opened.add(queue.newSends(1));
            sends[q] = requests.at(0).send().signalled(true).id(q);
            if (isDatagram) {
                AddressHandle target =
                        opened.add(domain.createAddressHandle(path, peer.gid(), peer.lid()));
                sends[q].to(target, peer.number(), QUEUE_KEY);
            }
            long from = isClient ? 0 : half() + header;
            sends[q].segment(region, from, options.size());
        }
    }

    /** All messages, there and back. */
    void run() {
        for (int q = 0; q < pending.length; q++) {
            pending[q] = IS_SENT;
            if (isClient) {
                send(q);
            }
        }
        announce();
        Patience patience = new Patience();
        while (sent < options.iterations || received < options.iterations) {
            int came = PerftestEndpoint.polled(completions.poll(POLL_LIMIT));
            for (int i = 0; i < came; i++) {
                take(completions.completion(i));
            }
            if (came > 0) {
                patience.reset();
            } else if (patience.waited(channel != null, "no message")) {
                await();
                Thread.yield();
            }
        }
    }

    private void announce() {
        if (channel != null) {
            completions.requestNotification(false);
        }
    }

    private void await() {
        if (channel != null && channel.await(SLEEP_NS) != null) {
            announce();
        }
    }

    /** Answers when both has happened: the last message went, and another one came. */
    private void take(CompletionFlyweight completion) {
        if (sent >= options.iterations && received >= options.iterations) {
            return;
        }
        PerftestEndpoint.requireSuccess(completion);
        int q = indexByNumber.get(completion.queuePairNumber());
        if (q < 0) {
            throw new Messages.Failure("a completion of a queue pair that nobody made");
        }
        if (completion.opcode() == CompletionFlyweight.RECEIVE) {
            received++;
            PerftestEndpoint.requireLength(completion.length() - header, options.size());
            if (isEachChecked) {
                verify(received - 1);
            }
            checkPosted(post((int) completion.id(), 1), 1, true, 0);
            pending[q] |= IS_ANSWERED;
        } else {
            sent++;
            pending[q] |= IS_SENT;
        }
        if (pending[q] == (IS_SENT | IS_ANSWERED) && sent < options.iterations) {
            send(q);
        }
    }

    private void send(int q) {
        pending[q] = 0;
        if (isEachChecked && isClient) {
            fillMessage(sent);
        }
        checkPosted(queues.get(q).post(sends[q]), 1, false, q);
    }

    private void checkPosted(int result, int wanted, boolean isReceive, int q) {
        if (result != wanted) {
            QueuePair queue = queues.get(q);
            throw PerftestEndpoint.notPosted(
                    result, isReceive ? queue.receiveRefusal() : queue.refusal());
        }
    }

    /**
     * The last message that came is what the client sends; where each was looked at, nothing is
     * left to do.
     *
     * @throws Messages.Failure naming the first byte that is wrong
     */
    void verify() {
        if (!isEachChecked) {
            verify(0);
        }
    }

    /** A server takes any number, and what rdma-core's clients send: the same byte everywhere. */
    private void verify(long number) {
        UnsafeBuffer came = region.buffer(half() + header, options.size());
        byte first = options.size() > 1 ? came.getByte(1) : 0;
        boolean isPlain =
                !isClient
                        && (first == FILL || first == 0)
                        && options.size() > 2
                        && came.getByte(2) == first;
        byte shift = (byte) (isClient ? number : first - PerftestMemory.pattern(1));
        for (int i = 0; i < options.size(); i++) {
            byte wanted = isPlain ? first : (byte) (PerftestMemory.pattern(i) + shift);
            byte value = came.getByte(i);
            if (value != (i % PAGE == 0 ? 0 : wanted)) {
                throw new Messages.Failure(
                        "byte " + i + " of message " + number + " arrived damaged: " + value);
            }
        }
    }

    @Override
    public void close() {
        // Receives are outstanding still; who resets a queue pair forgets them.
        queues.forEach(queue -> opened.add(queue::toReset));
        queues.clear();
        opened.close();
    }
}
