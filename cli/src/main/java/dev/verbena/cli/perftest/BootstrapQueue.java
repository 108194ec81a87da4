package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.verbs.Access;
import dev.verbena.verbs.CompletionChannel;
import dev.verbena.verbs.CompletionFlyweight;
import dev.verbena.verbs.CompletionQueue;
import dev.verbena.verbs.CompletionStatus;
import dev.verbena.verbs.ConnectionChannel;
import dev.verbena.verbs.ConnectionContext;
import dev.verbena.verbs.ConnectionEvent;
import dev.verbena.verbs.ConnectionEventType;
import dev.verbena.verbs.ConnectionException;
import dev.verbena.verbs.ConnectionIdentifier;
import dev.verbena.verbs.MemoryRegion;
import dev.verbena.verbs.PortSpace;
import dev.verbena.verbs.ProtectionDomain;
import dev.verbena.verbs.QueuePair;
import dev.verbena.verbs.QueuePairContext;
import dev.verbena.verbs.RdmaDevice;
import dev.verbena.verbs.ReceiveRequests;
import dev.verbena.verbs.SendRequests;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;

/**
 * Bootstrap by rdma_cm: each record is one message on a queue pair of its own. The measured queue
 * pairs are connected by rdma_cm, too. One thread.
 */
final class BootstrapQueue implements BootstrapLink {
    private static final int ROOM = 128;
    private static final int RECEIVES = 4;
    private static final int BACKLOG = 1024;
    private static final long STEP_NS = 60_000_000_000L;
    private static final long SLICE_NS = 100_000_000L;
    private static final long FAREWELL_NS = 1_000_000_000L;
    private static final long END_NS = 3_000_000_000L;
    private static final long RETRY_NS = 100_000_000L;
    private static final long SENT = 1L << 32;

    private final boolean isClient;
    private final Opened opened = new Opened();
    private final ConnectionChannel channel;
    private final List<ConnectionIdentifier> measured = new ArrayList<>();
    private final Deque<byte[]> arrived = new ArrayDeque<>();
    private InetSocketAddress address;
    private ConnectionIdentifier identifier;
    private ConnectionIdentifier listener;
    private RdmaDevice device;
    private CompletionChannel bell;
    private CompletionQueue completions;
    private MemoryRegion region;
    private QueuePair queue;
    private SendRequests sends;
    private ReceiveRequests receives;
    private boolean isSent;
    private boolean isGone;
    private boolean isUnhurried;

    private BootstrapQueue(InetSocketAddress address, boolean isClient) {
        this.address = address;
        this.isClient = isClient;
        this.channel = opened.add(ConnectionChannel.open());
    }

    /** To a server, which may still be about to start. */
    static BootstrapQueue connect(InetSocketAddress server, long patienceMs) {
        long deadlineNs = System.nanoTime() + patienceMs * 1_000_000;
        while (true) {
            BootstrapQueue link = new BootstrapQueue(server, true);
            try {
                link.identifier = link.opened.add(link.channel.createIdentifier(PortSpace.TCP));
                link.identifier.resolve(server, STEP_NS);
                link.open();
                link.establish(link.identifier, link.queue, context());
                return link;
            } catch (ConnectionException e) {
                link.close();
                if (System.nanoTime() - deadlineNs >= 0) {
                    throw new Messages.Failure(
                            "nobody listens by rdma_cm on " + server + ": " + e.getMessage());
                }
            } catch (RuntimeException e) {
                link.close();
                throw e;
            }
            LockSupport.parkNanos(RETRY_NS);
        }
    }

    /**
     * Waits for one client.
     *
     * @param listening runs as soon as a client can connect; gets the port
     */
    static BootstrapQueue accept(InetSocketAddress at, IntConsumer listening) {
        BootstrapQueue link = new BootstrapQueue(at, false);
        boolean isMet = false;
        try (ConnectionIdentifier first = link.channel.createIdentifier(PortSpace.TCP)) {
            first.bind(at);
            first.listen(1);
            int port = first.localAddress().getPort();
            link.address = new InetSocketAddress(at.getAddress(), port);
            listening.accept(port);
            link.identifier = link.opened.add(first.awaitRequest(Long.MAX_VALUE).identifier());
            link.open();
            link.identifier.accept(link.queue, context());
            link.identifier.await(ConnectionEventType.ESTABLISHED, STEP_NS);
            isMet = true;
            return link;
        } finally {
            if (!isMet) {
                link.close();
            }
        }
    }

    private static ConnectionContext context() {
        return new ConnectionContext().access(Access.LOCAL_WRITE).retries(7).notReadyRetries(7);
    }

    private void establish(ConnectionIdentifier by, QueuePair of, ConnectionContext context) {
        by.connect(of, context);
        by.await(ConnectionEventType.ESTABLISHED, STEP_NS);
    }

    private void open() {
        OffHeapMemory memory = opened.add(OffHeapMemories.allocate((RECEIVES + 1L) * ROOM));
        device = opened.add(identifier.openDevice());
        ProtectionDomain domain = opened.add(device.allocateProtectionDomain());
        region = opened.add(domain.register(memory, Access.LOCAL_WRITE));
        bell = opened.add(device.createCompletionChannel());
        completions = opened.add(device.createCompletionQueue(2 * RECEIVES, bell, 0));
        queue =
                opened.add(
                        domain.createQueuePair(
                                new QueuePairContext()
                                        .completions(completions)
                                        .sendCapacity(2)
                                        .receiveCapacity(RECEIVES)));
        sends = opened.add(queue.newSends(1));
        receives = opened.add(queue.newReceives(RECEIVES));
        identifier.prepare(queue, context());
        for (int i = 0; i < RECEIVES; i++) {
            postReceive(i);
        }
    }

    private void postReceive(int index) {
        receives.set(index, index, region, index * (long) ROOM, ROOM);
        if (queue.post(receives, index, 1) != 1) {
            throw new IllegalStateException("a receive could not be posted");
        }
    }

    /** The device that leads to the other side; closed with this. */
    RdmaDevice device() {
        return device;
    }

    int devicePort() {
        return identifier.port();
    }

    /** A server accepts the queue pairs that are measured. */
    void listen() {
        if (!isClient) {
            listener = opened.add(channel.createIdentifier(PortSpace.TCP));
            listener.bind(address);
            listener.listen(BACKLOG);
        }
    }

    /** Connects one more queue pair that is measured. */
    void join(QueuePair measuredQueue, ConnectionContext context) {
        if (isClient) {
            measured.add(connected(measuredQueue, context));
            return;
        }
        ConnectionIdentifier peer = listener.awaitRequest(STEP_NS).identifier();
        measured.add(peer);
        peer.prepare(measuredQueue, context);
        peer.accept(measuredQueue, context);
        peer.await(ConnectionEventType.ESTABLISHED, STEP_NS);
    }

    /** The other side may need a moment until it listens. */
    private ConnectionIdentifier connected(QueuePair of, ConnectionContext context) {
        long deadlineNs = System.nanoTime() + STEP_NS;
        while (true) {
            ConnectionIdentifier one = channel.createIdentifier(PortSpace.TCP);
            try {
                one.resolve(address, STEP_NS);
                establish(one, of, context);
                return one;
            } catch (ConnectionException e) {
                one.close();
                of.toReset();
                if (System.nanoTime() - deadlineNs >= 0) {
                    throw e;
                }
            } catch (RuntimeException e) {
                one.close();
                throw e;
            }
            LockSupport.parkNanos(RETRY_NS);
        }
    }

    /** Ends the connections of what was measured, which is closed next. */
    void disjoin() {
        for (ConnectionIdentifier one : measured) {
            try {
                one.disconnect();
                one.await(FAREWELL_NS);
            } catch (RuntimeException e) {
                one.await(0); // the other side was first
            }
        }
        measured.forEach(ConnectionIdentifier::close);
        measured.clear();
    }

    @Override
    public boolean isClient() {
        return isClient;
    }

    @Override
    public void waitIndefinitely() {
        isUnhurried = true;
    }

    @Override
    public void write(byte[] bytes) {
        region.buffer(RECEIVES * (long) ROOM, ROOM).putBytes(0, bytes);
        isSent = false;
        int result =
                queue.post(
                        sends.at(0)
                                .segment(region, RECEIVES * (long) ROOM, bytes.length)
                                .send()
                                .id(SENT)
                                .signalled(true));
        if (result != 1) {
            throw PerftestEndpoint.notPosted(result, queue.refusal());
        }
        long deadlineNs = System.nanoTime() + STEP_NS;
        while (!isSent) {
            progress(deadlineNs);
        }
    }

    @Override
    public byte[] read(int length) {
        long deadlineNs = System.nanoTime() + STEP_NS;
        while (arrived.isEmpty()) {
            progress(isUnhurried ? System.nanoTime() + STEP_NS : deadlineNs);
        }
        byte[] bytes = arrived.poll();
        if (bytes.length != length) {
            throw new Messages.Failure(
                    "the other side does not speak as perftest does: %s bytes and not "
                            + "%s; have both -R and the same options?",
                    bytes.length, length);
        }
        return bytes;
    }

    private void progress(long deadlineNs) {
        if (take()) {
            return;
        }
        completions.requestNotification(false);
        if (take()) {
            return;
        }
        if (isGone) {
            throw new Messages.Failure("the other side has hung up; see what it says");
        }
        if (deadlineNs - System.nanoTime() < 0) {
            throw new Messages.Failure(
                    "the other side said nothing for " + STEP_NS / 1_000_000_000 + " s");
        }
        bell.await(SLICE_NS);
        ConnectionEvent event = identifier.await(0);
        if (event != null && event.type() == ConnectionEventType.DEVICE_REMOVAL) {
            throw new Messages.Failure("the device is gone: %s", event);
        }
        isGone |= event != null && event.type() == ConnectionEventType.DISCONNECTED;
    }

    private boolean take() {
        if (PerftestEndpoint.polled(completions.poll(1)) == 0) {
            return false;
        }
        CompletionFlyweight completion = completions.completion(0);
        if (!completion.isSuccess()) {
            throw new Messages.Failure(
                    "the other side has hung up: " + CompletionStatus.text(completion.status()));
        }
        if (completion.id() == SENT) {
            isSent = true;
            return true;
        }
        int index = (int) completion.id();
        byte[] bytes = new byte[Math.min(ROOM, completion.length())];
        region.buffer(index * (long) ROOM, ROOM).getBytes(0, bytes);
        arrived.add(bytes);
        postReceive(index);
        return true;
    }

    /** perftest sends nothing here: each side knows already that the other one is ready. */
    @Override
    public void part() {
        disjoin();
    }

    /**
     * The first side that disconnects ends the connection for both. A client waits less, so that
     * two clients of this program do not wait for each other.
     */
    @Override
    public void awaitEnd() {
        if (!measured.isEmpty()) {
            measured.get(0).await(isClient ? FAREWELL_NS : END_NS);
        }
        disjoin();
    }

    @Override
    public void close() {
        if (queue != null && !queue.isClosed()) {
            opened.add(queue::toReset);
        }
        if (!measured.isEmpty()) {
            opened.add(this::disjoin);
        }
        opened.close();
    }
}
