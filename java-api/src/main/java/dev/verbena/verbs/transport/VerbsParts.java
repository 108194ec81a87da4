package dev.verbena.verbs.transport;

import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.verbs.QueuePair;
import dev.verbena.verbs.SendRequests;
import dev.verbena.verbs.transport.VerbsConnection.Sending;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.CloseHelper;

/** Makes the parts of a transport, in their order, and closes them in the reverse one. */
final class VerbsParts implements AutoCloseable {
    private static final AtomicInteger SERIAL = new AtomicInteger();
    private static final SecureRandom RANDOM = new SecureRandom();

    /** One for a message, one for a credit that the peer gives back, which takes a slot, too. */
    private static final int SLOTS_PER_CREDIT = 2;

    private static final int BATCH = 32;
    private static final int STRANGERS = 64;

    /** 48 bits: protocols have little room for addresses. */
    private static final int INCARNATION_SHIFT = 16;

    private static final long SLOT_BYTES_MAX = 1L << 30;

    final VerbsResources resources;
    final WorkPool works;
    final SendRequests requests;
    final ReceivePool receives;
    final VerbsRegions regions;
    final VerbsConnections connections;
    final Inbox inbox;
    final Handshakes handshakes;
    final VerbsAddress address;
    final String explanation;
    private final SideChannelLoop loop;
    private ServerSocketChannel listener;

    /**
     * @param made takes the parts that are to be closed, should one not be made
     */
    private VerbsParts(
            TransportContext context,
            VerbsOptions options,
            VerbsResources resources,
            Deque<AutoCloseable> made) {
        this.resources = resources;
        int most = resources.connectionsMax;
        int credits = context.creditsPerConnection();
        works = new WorkPool(resources, context.outstandingMax());
        made.push(works);
        try (QueuePair model = resources.newOut()) {
            requests = model.newSends(BATCH);
            made.push(requests);
        }
        for (int i = 0; i < BATCH; i++) {
            requests.at(i).signalled(true);
        }
        requests.handOver();
        receives =
                new ReceivePool(
                        resources, context.messageLengthMax(), credits * SLOTS_PER_CREDIT, most);
        made.push(receives);
        regions = new VerbsRegions(resources);
        long incarnation = RANDOM.nextLong() >>> INCARNATION_SHIFT | 1;
        QueuePairs pairs = new QueuePairs(resources, context, incarnation);
        Sending sending = new Sending(resources, works, requests);
        connections = new VerbsConnections(context, resources, sending, regions, pairs);
        inbox = new Inbox(resources, receives, regions, connections);
        loop = SideChannelLoop.join();
        made.push(loop::leave);
        handshakes = new Handshakes(context, resources, loop, connections, receives);
        address = openListener(context, options, incarnation, made);
        handshakes.name(address);
        explanation = resources.explain();
    }

    static VerbsParts open(TransportContext context, VerbsOptions options) {
        int credits = context.creditsPerConnection();
        int most = Math.min(context.connectionsMax(), context.receiveSlotCount() / credits);
        int slots = credits * SLOTS_PER_CREDIT;
        if ((long) slots * context.messageLengthMax() > SLOT_BYTES_MAX) {
            throw new IllegalArgumentException(
                    ("creditsPerConnection %s times messageLengthMax %s is more than half a "
                                    + "GiB")
                            .formatted(credits, context.messageLengthMax()));
        }
        Deque<AutoCloseable> made = new ArrayDeque<>();
        try {
            VerbsResources resources = VerbsResources.open(context, options, most, slots);
            made.push(resources);
            return new VerbsParts(context, options, resources, made);
        } catch (RuntimeException | Error e) {
            CloseHelper.closeAll(e::addSuppressed, made);
            throw e;
        }
    }

    private VerbsAddress openListener(
            TransportContext context,
            VerbsOptions options,
            long incarnation,
            Deque<AutoCloseable> made) {
        String name =
                context.name().isEmpty()
                        ? ProcessHandle.current().pid() + "-" + SERIAL.incrementAndGet()
                        : context.name();
        try {
            InetAddress host = host(options);
            listener =
                    loop.listen(
                            new InetSocketAddress(host, options.port()),
                            handshakes,
                            resources.connectionsMax + STRANGERS);
            made.push(() -> loop.close(listener));
            InetSocketAddress bound = (InetSocketAddress) listener.getLocalAddress();
            String text = host.getHostAddress();
            int scope = text.indexOf('%');
            text = scope < 0 ? text : text.substring(0, scope);
            return new VerbsAddress(
                    text.indexOf(':') < 0 ? text : "[" + text + "]",
                    bound.getPort(),
                    context.job(),
                    name,
                    incarnation);
        } catch (IOException e) {
            throw new TransportException(
                    ("verbs: no TCP socket to meet peers at (%s); options address and port "
                                    + "choose another")
                            .formatted(e.getMessage()),
                    0,
                    e);
        }
    }

    /** The address that the option gives, or that of the port, or that of this host. */
    private InetAddress host(VerbsOptions options) throws IOException {
        if (!options.address().isEmpty()) {
            return InetAddress.getByName(options.address());
        }
        if (resources.gid.gid().isIpv4() || !resources.gid.gid().isLinkLocal()) {
            InetAddress own = InetAddress.getByAddress(resources.gid.gid().bytes());
            if (java.net.NetworkInterface.getByInetAddress(own) != null) {
                return own;
            }
        }
        return InetAddress.getLocalHost();
    }

    /**
     * By the thread that closes; the owner is outside. What cannot be closed keeps nothing else
     * from being closed; the first failure is thrown at the end, with the others in it.
     */
    @Override
    public void close() {
        CloseHelper.closeAll(
                resources::takeOver,
                receives::takeOver,
                () -> loop.close(listener),
                connections::closeAll,
                handshakes::close,
                loop::flush,
                handshakes::clear,
                regions::closeRefused,
                requests,
                resources.shared,
                receives,
                works,
                resources,
                loop::leave);
    }
}
