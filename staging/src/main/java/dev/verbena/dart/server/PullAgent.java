package dev.verbena.dart.server;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartException;
import dev.verbena.dart.config.JobScheme;
import dev.verbena.dart.config.ServerSettings;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.staging.CounterMirror;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.NanoClock;

/**
 * t1: owns the transport. Takes headers, has their data pulled by {@link PartPuller}, tells clients
 * how far their messages are. Registration is in {@link ServerRegistry}.
 */
final class PullAgent implements ProtocolAgent {
    /** Pieces of a part that are pulled in a cycle, before the other agents have their turn. */
    private static final int PIECES_LIMIT = 8;

    private static final int POLL_LIMIT = 64;
    private static final int CREDITS_PER_CONNECTION = 16;
    private static final int CLOSE_POLLS = 1000;
    private static final long CLOSE_PAUSE_NS = 1_000_000;
    private final ServerShared shared;
    private final ServerSettings settings;
    private final CounterMirror mirror;
    private final NanoClock clock;
    private final Events events = new Events();
    private final ControlFlyweight incoming = new ControlFlyweight();
    private int unsettled;
    volatile Transport transport;
    private JobScheme scheme;
    private HeaderQueue headers;
    private HeaderIntake intake;
    private PartPuller puller;
    private BufferReturns returns;
    private ReversePuts reverse;
    private ControlOutbox outbox;
    private ServerCommands commands;
    private HeaderRelay relay;
    volatile ServerRegistry registry;
    volatile boolean isEnded;
    private volatile DartException fatal;

    PullAgent(ServerShared shared) {
        this.shared = shared;
        this.settings = shared.settings;
        this.clock = settings.environment().nanoClock();
        String role = settings.isMaster() ? "dart master" : "dart slave";
        this.mirror =
                new CounterMirror(settings.environment(), role)
                        .show("clients", shared.clients)
                        .show("headers", shared.headers)
                        .show("headers parked", shared.parkedHeaders)
                        .show("messages pulled", shared.transferred)
                        .show("messages confirmed", shared.streamed)
                        .show("messages failed", shared.failed)
                        .show("bytes pulled", shared.pulledBytes)
                        .show("bytes streamed", shared.streamedBytes)
                        .show("reconnections", shared.reconnects)
                        .show("bytes spilled", shared.spillBytes)
                        .show("files spilled", shared.spillFiles)
                        .show("messages spilled", shared.spillMessages)
                        .show("messages replayed", shared.replayedMessages)
                        .show("spill failures", shared.spillFailures)
                        .show("clients lost", shared.lostClients)
                        .show("records malformed", shared.malformed)
                        .show("buffers in ebq", shared::emptyCount)
                        .show("buffers in pbq", shared::pendingCount)
                        .show("buffers in fbq", shared::fullCount)
                        .show("buffers in t3", shared.streamingBuffers);
    }

    DartException fatal() {
        return fatal;
    }

    @Override
    public void onStart() {
        try {
            open();
        } catch (RuntimeException e) {
            // The other agents begin all the same: what is begun is closed.
            shared.report(e);
        }
    }

    /** Once the transport is known; whether it is open. */
    private boolean open() {
        try {
            if (scheme == null) {
                scheme = new JobScheme(settings.service(), null, null);
            }
            String found = scheme.find();
            if (found != null) {
                open(found);
            }
            return found != null;
        } catch (RuntimeException e) {
            fatal =
                    e instanceof DartException known
                            ? known
                            : new DartException(
                                    DartException.Code.NOT_BOOTSTRAPPED, e.getMessage(), e);
            isEnded = true;
            throw e;
        }
    }

    private void open(String found) {
        int connections = settings.clientsMax() + settings.serverCount() + 16;
        TransportContext opening =
                settings.service()
                        .transportContext()
                        .creditsPerConnection(CREDITS_PER_CONNECTION)
                        .receiveSlotCount(connections * CREDITS_PER_CONNECTION)
                        .outstandingMax(Math.max(4096, settings.bufferCount() + 2048))
                        .connectionsMax(connections);
        Transport opened = null;
        try {
            opened = settings.environment().openTransport(found, opening);
            headers = new HeaderQueue(shared);
            puller = new PartPuller(shared, opened, headers);
            returns = new BufferReturns(shared, puller);
            outbox = new ControlOutbox(opened, 1024, 0);
            reverse = new ReversePuts(shared, opened);
            registry =
                    new ServerRegistry(
                            shared,
                            opened,
                            outbox,
                            this::taken,
                            this::dropped,
                            this::reached,
                            scheme.leftNs());
            puller.clients(registry.clients);
            relay = settings.isDelegating() ? new HeaderRelay(shared, outbox) : null;
            intake = new HeaderIntake(shared, registry.clients, headers, relay);
            commands = new ServerCommands(shared, outbox, registry::stopServers);
            transport = opened;
        } catch (RuntimeException e) {
            closeQuietly(registry);
            if (opened != null) {
                closeTransport(opened);
            }
            throw e;
        }
    }

    @Override
    public int doWork() {
        if (isEnded || transport == null && !isOpened()) {
            return 0;
        }
        long now = clock.nanoTime();
        int work = Math.max(0, transport.poll(events, POLL_LIMIT));
        work += returns.takeEmpty(registry.clients);
        try {
            work += registry.doWork(now);
        } catch (DartException e) {
            fatal = e;
            isEnded = true;
            throw e;
        }
        work += commands.doWork();
        if (relay != null) {
            work += relay.doWork();
        }
        work += pull();
        work += registry.clients.tell();
        work += reverse.doWork(registry.clients);
        work += stop();
        mirror.publish(now);
        return work;
    }

    /** A slave that looks for its job opens its transport late. */
    private boolean isOpened() {
        // Nothing is to be drained yet.
        isEnded = shared.isStopRequested;
        return !isEnded && open();
    }

    /** Short parts at once, long ones in pieces, each looked at while it is in the cache. */
    private int pull() {
        int work = puller.pull();
        for (int i = 0; i < PIECES_LIMIT && puller.isPulling(); i++) {
            int come = transport.poll(events, POLL_LIMIT);
            if (come <= 0) {
                break;
            }
            work += come + puller.pull();
        }
        return work;
    }

    private int stop() {
        if (!shared.isStopRequested) {
            return 0;
        }
        if (shared.isStopNow) {
            registry.sayGoodbye();
            isEnded = true;
            return 1;
        }
        if (headers.suspendedCount > 0) {
            registry.clients.forEach(headers::resume);
        }
        if (!shared.isDrained) {
            if (puller.isIdle() && isDelegateDone()) {
                shared.drained();
                return 1;
            }
            return 0;
        }
        boolean isTold = shared.replayed.isEmpty() && shared.losses.isEmpty();
        boolean isIdle = isTold && outbox.isIdle() && commands.isIdle();
        if (shared.isFinished && registry.sayGoodbye() && isIdle && outbox.isIdle()) {
            isEnded = true;
            return 1;
        }
        return 0;
    }

    /** Nothing is still with a server that pulls for this one. */
    private boolean isDelegateDone() {
        if (relay == null) {
            return true;
        }
        unsettled = relay.isEmpty() ? 0 : 1;
        registry.clients.forEach(this::countUnsettled);
        return unsettled == 0;
    }

    private void countUnsettled(ServedClient client) {
        if (client.state != ServedClient.GONE && !client.isSettledByDelegate()) {
            unsettled++;
        }
    }

    @Override
    public long nextDeadlineNs() {
        if (registry == null) {
            return isEnded ? NO_DEADLINE : scheme.nextDeadlineNs();
        }
        return registry.nextDeadlineNs(clock.nanoTime());
    }

    @Override
    public void onClose() {
        mirror.close();
        closeQuietly(scheme);
        try {
            closeService();
        } finally {
            closeQuietly(shared.bufferMemory);
        }
    }

    private void closeService() {
        if (transport == null) {
            return;
        }
        try {
            registry.clients.forEach(headers::resume);
            puller.reportLost();
            registry.close();
        } finally {
            // Whatever failed: peers must see the end, and nobody wait for this server any more.
            closeTransport(transport);
            isEnded = true;
        }
    }

    private void closeTransport(Transport opened) {
        // Nothing may be outstanding when the memory goes.
        for (int i = 0; i < CLOSE_POLLS && outstanding(); i++) {
            if (opened.poll(events, POLL_LIMIT) == 0) {
                opened.await(opened.nanoTime() + CLOSE_PAUSE_NS);
            }
        }
        closeQuietly(outbox);
        closeQuietly(puller);
        closeQuietly(reverse);
        opened.close();
    }

    /** What cannot be closed must not keep the rest open, and peers waiting. */
    private void closeQuietly(AutoCloseable part) {
        try {
            if (part != null) {
                part.close();
            }
        } catch (Exception e) {
            shared.report(e);
        }
    }

    private boolean outstanding() {
        return outbox != null && !outbox.isIdle() || reverse != null && !reverse.isIdle();
    }

    @Override
    public String roleName() {
        return "dart-t1";
    }

    private void taken(ServedClient client) {
        if (client.registration > 0) {
            // Another server may say later that it lost the process.
            headers.announce(client, FrameFlyweight.CLIENT_HERE);
        }
    }

    /** What it has not given yet will not come. */
    private void dropped(ServedClient client) {
        if (client.delegate != null) {
            relay.farewell(client);
        }
        headers.drop(client);
        reverse.gone(client);
        if (!client.isLeaving) {
            headers.announce(client, FrameFlyweight.CLIENT_LOST);
        }
    }

    private void reached(ServedClient client) {
        if (!client.isSuspended) {
            headers.resume(client);
        }
    }

    /** The transport's events. */
    private final class Events implements TransportHandler {
        @Override
        public void onCompletion(
                long connection, int operation, long operationContext, int status, long value) {
            if (operation == Operation.GET) {
                puller.onPulled((int) operationContext, status);
            } else if (operation == Operation.PUT_NOTIFY) {
                reverse.onCompletion(operationContext);
            } else {
                outbox.onCompletion(operationContext);
            }
        }

        @Override
        public void onMessage(
                long connection,
                long peerContext,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            ServerPeer peer = registry.peer(peerContext);
            if (peer == null) {
                return;
            }
            try {
                incoming.wrap(buffer, offset, length);
                switch (incoming.type()) {
                    case ControlFlyweight.HEADER ->
                            intake.onHeader(
                                    registry.clientOf(peer, incoming), incoming, buffer, offset);
                    case ControlFlyweight.COMMAND ->
                            commands.onCommand(
                                    registry.clientOf(peer, incoming),
                                    incoming,
                                    buffer,
                                    offset + ControlFlyweight.LENGTH);
                    case ControlFlyweight.SUSPEND ->
                            intake.onSuspend(
                                    registry.clientOf(peer, incoming), incoming.result() == 1);
                    case ControlFlyweight.INBOX ->
                            reverse.onInbox(registry.clientOf(peer, incoming), incoming);
                    default -> registry.onRecord(peer, incoming);
                }
            } catch (DartException e) {
                intake.malformed(e.getMessage());
            }
        }

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer privateData, int offset, int length) {
            registry.onConnectRequest(connection);
        }

        @Override
        public void onConnected(long connection, long peerContext) {
            ServerPeer peer = registry.peer(peerContext);
            if (peer == null) {
                transport.disconnect(connection);
            } else {
                registry.onConnected(connection, peer);
            }
        }

        @Override
        public void onConnectFailed(long connection, long peerContext, int status, String reason) {
            ServerPeer peer = registry.peer(peerContext);
            if (peer != null) {
                registry.onConnectFailed(peer, status, reason);
            }
        }

        @Override
        public void onDisconnected(long connection, long peerContext) {
            registry.onEnded(connection, peerContext, "");
        }

        @Override
        public void onPeerLost(long connection, long peerContext, String reason) {
            registry.onEnded(connection, peerContext, reason);
        }
    }
}
