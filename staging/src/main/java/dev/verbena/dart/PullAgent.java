package dev.verbena.dart;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.agent.internal.PlantedFaults;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.NanoClock;

/**
 * t1: owns the transport. Takes headers, keeps them in order of arrival while no buffer is empty,
 * pulls the data of each into buffers, tells clients how far their messages are. Registration is in
 * {@link ServerRegistry}.
 */
final class PullAgent implements ProtocolAgent {
    static final int MESSAGE_LENGTH_MAX = ControlFlyweight.LENGTH + DartMetadata.LENGTH_MAX;
    private static final int POLL_LIMIT = 64;
    private static final int CREDITS_PER_CONNECTION = 16;

    private final ServerShared shared;
    private final DartServer.Context context;
    private final CounterMirror mirror;
    private final NanoClock clock;
    private final Events events = new Events();
    private final ControlFlyweight incoming = new ControlFlyweight();
    private final ArrayDeque<PullMessage> parked = new ArrayDeque<>();
    private final ArrayDeque<PullMessage> pool = new ArrayDeque<>();
    private int suspendedCount;
    private int unsettled;
    private ServerBuffer[] buffers;
    private final ArrayDeque<ServerBuffer> free = new ArrayDeque<>();
    private volatile Transport transport;
    private RegisteredRegion region;
    private ReversePuts reverse;
    private ControlOutbox outbox;
    private ServerCommands commands;
    private HeaderRelay relay;
    private volatile ServerRegistry registry;
    private volatile boolean isEnded;
    private volatile DartException fatal;
    private long lazyUntilNs;

    /** Planted: memory that nobody gives back. */
    private final java.util.List<Object> leaked = new java.util.ArrayList<>();

    PullAgent(ServerShared shared) {
        this.shared = shared;
        this.context = shared.context;
        this.clock = context.environment.nanoClock();
        String role = context.isMaster ? "dart master" : "dart slave";
        this.mirror =
                new CounterMirror(context.environment, role)
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

    Transport transport() {
        return transport;
    }

    boolean isEnded() {
        return isEnded;
    }

    DartException fatal() {
        return fatal;
    }

    ServerRegistry registry() {
        return registry;
    }

    @Override
    public void onStart() {
        int connections = context.clientsMax + context.serverCount + 16;
        TransportContext opening =
                new TransportContext()
                        .messageLengthMax(MESSAGE_LENGTH_MAX)
                        .creditsPerConnection(CREDITS_PER_CONNECTION)
                        .receiveSlotCount(connections * CREDITS_PER_CONNECTION)
                        .outstandingMax(Math.max(4096, context.bufferCount + 2048))
                        .connectionsMax(connections)
                        .peerTimeoutNs(context.peerTimeoutNs)
                        .errorHandler(context.environment.errorHandler());
        if (!context.transportJob.isEmpty()) {
            opening.job(context.transportJob);
        }
        Transport opened = null;
        try {
            opened = context.environment.openTransport(context.transport, opening);
            long stride = (context.bufferSize + 4095L) & -4096L;
            region = opened.allocate(stride * context.bufferCount, 0);
            buffers = new ServerBuffer[context.bufferCount];
            for (int i = 0; i < buffers.length; i++) {
                buffers[i] =
                        new ServerBuffer(
                                i, i * stride, region.buffer(i * stride, context.bufferSize));
                free.add(buffers[i]);
            }
            outbox = new ControlOutbox(opened, 1024, 0);
            reverse = new ReversePuts(shared, opened);
            registry =
                    new ServerRegistry(shared, opened, outbox, this::dropClient, this::onReached);
            relay = context.isDelegating ? new HeaderRelay(shared, opened) : null;
            commands = new ServerCommands(shared, opened, registry::stopServers);
            shared.emptyBuffers.lazySet(free.size());
            transport = opened;
        } catch (RuntimeException e) {
            fatal = new DartException(DartException.Code.NOT_BOOTSTRAPPED, e.getMessage(), e);
            if (opened != null) {
                closeTransport(opened);
            }
            throw e;
        }
    }

    @Override
    public int doWork() {
        if (transport == null || isEnded) {
            return 0;
        }
        long now = clock.nanoTime();
        int work = Math.max(0, transport.poll(events, POLL_LIMIT));
        work += takeEmpty();
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
        work += registry.clients().tell();
        work += reverse.doWork(registry.clients());
        work += stop();
        mirror.publish(now);
        return work;
    }

    /** Buffers that t3 is done with. */
    private int takeEmpty() {
        int work = 0;
        ServerBuffer buffer;
        while (work < buffers.length && (buffer = shared.empty.poll()) != null) {
            work++;
            ServedClient client = registry.clients().client(buffer.slot, buffer.generation);
            if (client != null) {
                client.outstandingBuffers--;
                boolean isWhole =
                        buffer.isLast() && buffer.status == ServerBuffer.OK && !buffer.isDropped;
                if (isWhole && buffer.isSpilled) {
                    client.spilledUpTo = Math.max(client.spilledUpTo, buffer.sequence);
                    registry.clients().hasNews(client);
                } else if (isWhole) {
                    client.streamedUpTo = Math.max(client.streamedUpTo, buffer.sequence);
                    ServerShared.add(shared.streamed, 1);
                    registry.clients().hasNews(client);
                }
                registry.clients().freeIfGone(client);
            }
            free.add(buffer);
        }
        if (work > 0) {
            shared.emptyBuffers.lazySet(free.size());
        }
        return work + takeReplayed();
    }

    /** What the receiver confirmed out of files. */
    private int takeReplayed() {
        int work = 0;
        ServerBuffer part;
        while (work < POLL_LIMIT && (part = shared.replayed.poll()) != null) {
            work++;
            ServedClient client = registry.clients().client(part.slot, part.generation);
            if (client != null) {
                client.streamedUpTo = Math.max(client.streamedUpTo, part.sequence);
                registry.clients().hasNews(client);
            }
        }
        return work;
    }

    private int pull() {
        int work = 0;
        boolean hasPosted = false;
        while (!parked.isEmpty() && work < buffers.length) {
            PullMessage message = parked.peek();
            if (message.client.isHeld() && !message.isFailed && !isDrainingHeld(message.client)) {
                message.client.suspended.add(parked.poll());
                suspendedCount++;
                work++;
                continue;
            }
            if (message.isFailed && !needsAbort(message)) {
                parked.poll();
                message.isAllPosted = true;
                finishIfDone(message);
                work++;
                continue;
            }
            if (free.isEmpty() || isLazy(message) || !postPart(message)) {
                break;
            }
            hasPosted = true;
            work++;
            if (message.isAllPosted) {
                parked.poll();
                finishIfDone(message);
            }
        }
        if (work > 0) {
            shared.emptyBuffers.lazySet(free.size());
            shared.parkedHeaders.lazySet(parked.size() + suspendedCount);
        }
        if (hasPosted) {
            shared.wakeT2.run();
        }
        return work;
    }

    /** Planted: each message is begun milliseconds after the one before. */
    private boolean isLazy(PullMessage message) {
        if (!PlantedFaults.ENABLED
                || message.postedParts > 0
                || !PlantedFaults.isOn("dart-pull-begins-late")) {
            return false;
        }
        if (clock.nanoTime() - lazyUntilNs < 0) {
            return true;
        }
        lazyUntilNs = clock.nanoTime() + 5_000_000;
        return false;
    }

    /** A message given up half-way must be heard of by the receiver, through a part of its own. */
    private static boolean needsAbort(PullMessage message) {
        return message.postedParts > 0 && !message.isAbortOnItsWay;
    }

    private boolean postPart(PullMessage message) {
        ServerBuffer buffer = free.poll();
        ServedClient client = message.client;
        boolean isFirst = message.postedParts == 0;
        int metadata = isFirst ? message.metadataLength : 0;
        long left = message.payloadLength - message.posted;
        int length = message.isFailed ? 0 : (int) Math.min(left, context.bufferSize - metadata);
        buffer.pullBeganNs = clock.nanoTime();
        if (length > 0) {
            int answer =
                    transport.get(
                            client.peer == null ? 0 : client.peer.connection,
                            region,
                            buffer.regionOffset + metadata,
                            message.descriptor,
                            remoteOffset(message),
                            length,
                            buffer.index,
                            0);
            if (answer == Transport.BACK_PRESSURED) {
                free.addFirst(buffer);
                return false;
            }
            if (answer != Transport.ACCEPTED) {
                message.isFailed = true;
                message.failure = "the connection is gone";
                free.addFirst(buffer);
                return true;
            }
        }
        buffer.message = message;
        buffer.slot = client.slot;
        buffer.generation = client.generation;
        buffer.clientId = client.id;
        buffer.tag = message.tag;
        buffer.sequence = message.sequence;
        buffer.ordinal = client.nextOrdinal++;
        buffer.position = isFirst ? 0 : message.metadataLength + message.posted;
        buffer.payloadLength = length;
        buffer.length = metadata + length;
        buffer.isDropped = false;
        buffer.isSpilled = false;
        if (isFirst) {
            buffer.window.putBytes(0, message.metadata, 0, metadata);
        }
        message.posted += length;
        message.postedParts++;
        message.outstandingParts++;
        client.outstandingBuffers++;
        boolean isLast = message.posted == message.payloadLength || message.isFailed;
        message.isAllPosted = isLast;
        buffer.flags =
                (isFirst ? FrameFlyweight.FIRST | message.fileFlags & FrameFlyweight.FILE_BEGIN : 0)
                        | (isLast
                                ? FrameFlyweight.LAST | message.fileFlags & FrameFlyweight.FILE_END
                                : 0);
        if (isFirst && client.isReturningEarly) {
            client.earlyCredits++;
            registry.clients().hasNews(client);
        }
        shared.pending.offer(buffer);
        if (length == 0) {
            partEnded(buffer, message.isFailed ? Status.CANCELLED : Status.OK);
        }
        return true;
    }

    private static long remoteOffset(PullMessage message) {
        if (PlantedFaults.ENABLED && PlantedFaults.isOn("dart-part-offset-off-by-one")) {
            return Math.max(0, message.posted - 1);
        }
        return message.posted;
    }

    private void partEnded(ServerBuffer buffer, int status) {
        PullMessage message = buffer.message;
        buffer.message = null;
        if (PlantedFaults.ENABLED && PlantedFaults.isOn("dart-memory-grows")) {
            leaked.add(java.nio.ByteBuffer.allocateDirect(512));
        }
        buffer.pulledNs = clock.nanoTime();
        buffer.status = status == Status.OK ? ServerBuffer.OK : ServerBuffer.FAILED;
        if (status == Status.OK) {
            ServerShared.add(shared.pulledBytes, buffer.payloadLength);
            shared.events.pulled(
                    buffer.clientId,
                    buffer.sequence,
                    buffer.length,
                    buffer.pulledNs - buffer.pullBeganNs);
        } else {
            message.isFailed = true;
            message.isAbortOnItsWay = true;
            if (message.failure.isEmpty()) {
                message.failure = Status.name(status);
            }
        }
        message.outstandingParts--;
        shared.completed.offer(buffer);
        finishIfDone(message);
    }

    private void finishIfDone(PullMessage message) {
        if (!message.isAllPosted || message.outstandingParts > 0 || message.client == null) {
            return;
        }
        ServedClient client = message.client;
        ServerShared.add(message.isFailed ? shared.failed : shared.transferred, 1);
        if (message.isFailed) {
            report(message);
        }
        client.addDone(
                message.sequence,
                message.isFailed
                        ? ControlFlyweight.RESULT_TRANSFER_FAILED
                        : ControlFlyweight.RESULT_OK,
                client.isReturningEarly && message.postedParts > 0 ? 0 : 1);
        registry.clients().hasNews(client);
        message.client = null;
        pool.add(message);
    }

    private void report(PullMessage message) {
        ServedClient client = message.client;
        String why =
                client.state == ServedClient.GONE
                        ? "is dropped: its process is gone"
                        : "could not be read out of its process: "
                                + (message.failure.isEmpty() ? "it was refused" : message.failure);
        context.environment
                .errorHandler()
                .onError(
                        new DartException(
                                DartException.Code.TRANSFER_FAILED,
                                "message " + message.sequence + " of " + client + " " + why));
    }

    /** The client is gone: what it has not given yet will not come. */
    private void dropClient(ServedClient client) {
        if (client.delegate != null) {
            relay.farewell(client);
        }
        resumeTransfers(client);
        reverse.gone(client);
        for (PullMessage message : parked) {
            if (message.client == client) {
                message.isFailed = true;
            }
        }
    }

    /** A server that stops heeds no hint; it waits only for what it cannot do without. */
    private boolean isDrainingHeld(ServedClient client) {
        return shared.isStopRequested && (client.control == null || client.peer.isConnected);
    }

    /** The client for which this server pulls can be reached now. */
    private void onReached(ServedClient client) {
        if (!client.isSuspended) {
            resumeTransfers(client);
        }
    }

    private void onSuspend(ServedClient client, boolean isSuspended) {
        if (client.delegate != null) {
            relay.suspend(client, isSuspended);
            return;
        }
        client.isSuspended =
                isSuspended
                        && !(PlantedFaults.ENABLED && PlantedFaults.isOn("dart-suspend-ignored"));
        if (!isSuspended) {
            resumeTransfers(client);
        }
    }

    /** Its messages have waited longest, and go before its later ones. */
    private void resumeTransfers(ServedClient client) {
        client.isSuspended = false;
        suspendedCount -= client.suspended.size();
        PullMessage message;
        while ((message = client.suspended.pollLast()) != null) {
            parked.addFirst(message);
        }
    }

    private void onHeader(ServerPeer peer, DirectBuffer buffer, int offset) {
        ServedClient client = registry.clientOf(peer, incoming);
        long sequence = incoming.sequence();
        boolean isForgetful =
                PlantedFaults.ENABLED && PlantedFaults.isOn("dart-duplicate-header-accepted");
        if (sequence <= client.lastSequence && !isForgetful) {
            ServerShared.add(shared.duplicateHeaders, 1);
            client.isSeenPending = true;
            registry.clients().hasNews(client);
            return;
        }
        if (sequence - 1 - incoming.skipped() > client.lastSequence) {
            // An earlier header is missing; both will be sent again, in order.
            return;
        }
        if (client.outstandingHeaders >= ServedClient.DONE_CAPACITY) {
            malformed(client + " sends more headers than it has credits");
            return;
        }
        final long resumeAt = client.lastSequence + 1;
        client.outstandingHeaders++;
        client.lastSequence = sequence;
        if (shared.isStopRequested) {
            client.addDone(sequence, ControlFlyweight.RESULT_STOPPING, 1);
            registry.clients().hasNews(client);
            return;
        }
        if (client.delegate != null) {
            ServerShared.add(shared.headers, 1);
            int length = ControlFlyweight.LENGTH + incoming.metadataLength();
            relay.add(client, resumeAt, buffer, offset, length);
            return;
        }
        PullMessage message = pool.poll();
        if (message == null) {
            message = new PullMessage();
        }
        try {
            DartMetadata.peekLength(
                    buffer, offset + ControlFlyweight.LENGTH, incoming.metadataLength());
            message.begin(client, incoming, buffer, offset + ControlFlyweight.LENGTH);
        } catch (DartException e) {
            pool.add(message);
            malformed(e.getMessage());
            client.addDone(sequence, ControlFlyweight.RESULT_MALFORMED, 1);
            registry.clients().hasNews(client);
            return;
        }
        ServerShared.add(shared.headers, 1);
        parked.add(message);
        shared.parkedHeaders.lazySet(parked.size() + suspendedCount);
    }

    private void malformed(String what) {
        ServerShared.add(shared.malformed, 1);
        context.environment
                .errorHandler()
                .onError(new DartException(DartException.Code.MALFORMED, what));
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
        if (suspendedCount > 0) {
            registry.clients().forEach(this::resumeTransfers);
        }
        if (!shared.isDrained) {
            if (parked.isEmpty() && free.size() == buffers.length && isDelegateDone()) {
                shared.isDrained = true;
                shared.wakeT3.run();
                return 1;
            }
            return 0;
        }
        boolean isIdle = outbox.isIdle() && commands.isIdle();
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
        registry.clients().forEach(this::countUnsettled);
        return unsettled == 0;
    }

    private void countUnsettled(ServedClient client) {
        if (client.state != ServedClient.GONE && !client.isSettledByDelegate()) {
            unsettled++;
        }
    }

    @Override
    public long nextDeadlineNs() {
        return registry == null ? NO_DEADLINE : registry.nextDeadlineNs(clock.nanoTime());
    }

    @Override
    public void onClose() {
        mirror.close();
        if (transport == null) {
            return;
        }
        registry.clients().forEach(this::resumeTransfers);
        parked.forEach(this::reportLost);
        for (ServerBuffer buffer : buffers) {
            if (buffer.message != null) {
                reportLost(buffer.message);
            }
        }
        registry.close();
        closeTransport(transport);
        isEnded = true;
    }

    private void reportLost(PullMessage message) {
        shared.lost.add(
                message.client.id,
                message.sequence,
                "it had pulled",
                context.environment.errorHandler());
    }

    private void closeTransport(Transport opened) {
        // Disconnected first, so that nothing is outstanding when the memory goes.
        for (int i = 0; i < 1000 && outstanding(); i++) {
            opened.poll(events, POLL_LIMIT);
        }
        if (outbox != null) {
            outbox.close();
        }
        if (commands != null) {
            commands.close();
        }
        if (relay != null) {
            relay.close();
        }
        if (region != null) {
            region.close();
        }
        if (reverse != null) {
            reverse.close();
        }
        opened.close();
    }

    private boolean outstanding() {
        return outbox != null && !outbox.isIdle()
                || commands != null && !commands.isQuiet()
                || relay != null && !relay.isQuiet()
                || reverse != null && !reverse.isIdle();
    }

    @Override
    public String roleName() {
        return "dart-t1";
    }

    UUID job() {
        return shared.job;
    }

    /** The transport's events. */
    private final class Events implements TransportHandler {
        @Override
        public void onCompletion(
                long connection, int operation, long operationContext, int status, long value) {
            if (operation == Operation.GET) {
                partEnded(buffers[(int) operationContext], status);
                shared.wakeT2.run();
            } else if (operation == Operation.PUT_NOTIFY) {
                reverse.onCompletion(operationContext, status);
            } else if (!commands.onCompletion(operationContext)
                    && (relay == null || !relay.onCompletion(operationContext))) {
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
            try {
                incoming.wrap(buffer, offset, length);
                ServerPeer peer = registry.peer(peerContext);
                switch (incoming.type()) {
                    case ControlFlyweight.HEADER -> onHeader(peer, buffer, offset);
                    case ControlFlyweight.COMMAND ->
                            commands.onCommand(
                                    registry.clientOf(peer, incoming),
                                    incoming,
                                    buffer,
                                    offset + ControlFlyweight.LENGTH);
                    case ControlFlyweight.SUSPEND ->
                            onSuspend(registry.clientOf(peer, incoming), incoming.result() == 1);
                    case ControlFlyweight.INBOX ->
                            reverse.onInbox(registry.clientOf(peer, incoming), incoming);
                    default -> registry.onRecord(peer, incoming);
                }
            } catch (DartException e) {
                malformed(e.getMessage());
            }
        }

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer privateData, int offset, int length) {
            registry.onConnectRequest(connection);
        }

        @Override
        public void onConnected(long connection, long peerContext) {
            registry.onConnected(connection, peerContext);
        }

        @Override
        public void onConnectFailed(long connection, long peerContext, int status, String reason) {
            registry.onConnectFailed(peerContext, status, reason);
        }

        @Override
        public void onDisconnected(long connection, long peerContext) {
            registry.onGone(peerContext, "");
        }

        @Override
        public void onPeerLost(long connection, long peerContext, String reason) {
            registry.onGone(peerContext, reason);
        }
    }
}
