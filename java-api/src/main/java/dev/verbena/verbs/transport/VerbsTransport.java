package dev.verbena.verbs.transport;

import dev.verbena.memory.Leaks;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Capability;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.core.CompletionShare;
import dev.verbena.verbs.CompletionQueue;
import dev.verbena.verbs.internal.OwnershipTransfer;
import java.net.URI;
import org.agrona.DirectBuffer;

/** One RDMA device opened for one thread; see the package for how it works. */
final class VerbsTransport extends VerbsOperations {
    private static final long SLEEP_MAX_NS = 1_000_000_000L;

    /** While something has to be brought to its end that may come without an event. */
    private static final long SLEEP_BUSY_NS = 10_000_000L;

    private final CompletionShare share = new CompletionShare();
    private final TransportContext context;
    private final VerbsParts parts;
    private final Leaks.Watch watch;
    private final Handshakes handshakes;
    private final Inbox inbox;
    private final VerbsEvents events;
    private final DeviceEvents news;
    private boolean isSendsArmed;
    private boolean isReceivesArmed;

    private VerbsTransport(TransportContext context, VerbsParts parts) {
        super(
                parts.address.uri(),
                limits(context, parts.resources.connectionsMax, Frames.PRIVATE_MAX),
                parts.works,
                parts.connections,
                parts.resources.hasAtomics);
        this.context = context;
        this.parts = parts;
        this.handshakes = parts.handshakes;
        this.inbox = parts.inbox;
        this.events = connections.events();
        this.news = new DeviceEvents(parts.resources, connections);
        parts.regions.of(this);
        this.watch = Leaks.watch(this, toString());
    }

    static VerbsTransport open(TransportContext context, VerbsOptions options) {
        return new VerbsTransport(context, VerbsParts.open(context, options));
    }

    long incarnation() {
        return parts.address.incarnation();
    }

    @Override
    public long capabilities() {
        return Capability.PUT_NOTIFY
                | Capability.FOREIGN_MEMORY
                | Capability.APPLICATION_BYPASS
                | (parts.resources.hasAtomics ? Capability.ATOMICS : 0);
    }

    @Override
    public String explain() {
        long dropped = inbox.droppedCount();
        return "verbs: %s. Peers are reached through an RDMA card: %s%s%s"
                .formatted(
                        uri,
                        parts.explanation,
                        news.explain(),
                        dropped == 0
                                ? ""
                                : "; "
                                        + dropped
                                        + " notifications came for regions that were closed");
    }

    void closeRegion(VerbsRegion region) {
        enterOpen();
        try {
            parts.regions.close(region);
        } finally {
            guard.exit();
        }
    }

    // ---- the hooks of the shell ----

    @Override
    protected RegisteredRegion allocateRegion(long length, int rights) {
        return parts.regions.allocate(length, rights);
    }

    @Override
    protected RegisteredRegion registerRegion(OffHeapMemory memory, int rights) {
        return parts.regions.register(memory, rights);
    }

    @Override
    protected String openRegions(boolean isOwnerOutside) {
        return isOwnerOutside ? parts.regions.names() : null;
    }

    @Override
    protected void listenForPeers() {
        handshakes.listen();
    }

    @Override
    protected long connectTo(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs) {
        return handshakes.connect(
                VerbsAddress.of(peer), privateData, offset, length, context, timeoutNs);
    }

    @Override
    protected int acceptPeer(long connection, long context) {
        return handshakes.accept(connection, context);
    }

    @Override
    protected int rejectPeer(long connection) {
        return handshakes.reject(connection);
    }

    @Override
    protected int disconnectPeer(long connection) {
        return handshakes.disconnect(connection);
    }

    @Override
    protected void retainMessage(long messageToken) {
        inbox.retain(messageToken);
    }

    @Override
    protected void releaseMessage(long messageToken) {
        inbox.release(messageToken);
    }

    @Override
    protected int deliver(TransportHandler handler, int limit) {
        readNews();
        connections.takeCompletions();
        int count = deliverCompletions(handler, share.of(limit));
        share.used(count, limit);
        if (handshakes.hasFrames()) {
            handshakes.read();
        }
        if (!events.isEmpty()) {
            count += events.deliver(handler, limit - count);
        }
        // One that waits for completions may have to come before messages.
        return events.isEmpty() ? count + inbox.deliver(handler, limit - count) : count;
    }

    private int deliverCompletions(TransportHandler handler, int limit) {
        int count = 0;
        for (long end = works.lastNumber(); count < limit && works.isWaiting(end); count++) {
            works.deliver(handler);
        }
        return count;
    }

    private void readNews() {
        if (handshakes.takeLookDue()) {
            news.read();
        }
    }

    private boolean hasWork() {
        readNews();
        connections.takeCompletions();
        return works.hasEnded() || !events.isEmpty() || handshakes.hasFrames() || inbox.hasSome();
    }

    @Override
    protected boolean awaitEvents(long deadlineNs) {
        while (true) {
            if (takeWakeup() || hasWork() || guard.isClosed()) {
                return true;
            }
            long leftNs = deadlineNs - System.nanoTime();
            if (leftNs <= 0) {
                return false;
            }
            connections.returnCredits();
            arm();
            if (hasWork()) {
                return true;
            }
            sleep(Math.min(leftNs, connections.isBusy() ? SLEEP_BUSY_NS : SLEEP_MAX_NS));
        }
    }

    /** Completions that come from here on ring. */
    private void arm() {
        if (!isSendsArmed) {
            parts.resources.sends.requestNotification(false);
            isSendsArmed = true;
        }
        if (!isReceivesArmed) {
            parts.resources.receives.requestNotification(false);
            isReceivesArmed = true;
        }
    }

    private void sleep(long ns) {
        CompletionQueue queue = parts.resources.channel.await(ns);
        while (queue != null) {
            isSendsArmed &= queue != parts.resources.sends;
            isReceivesArmed &= queue != parts.resources.receives;
            queue = parts.resources.channel.await(0);
        }
    }

    @Override
    protected void ringBell() {
        parts.resources.channel.wakeup();
    }

    @Override
    protected void free() {
        OwnershipTransfer.takeOver(parts.requests);
        try {
            parts.close();
        } catch (RuntimeException e) {
            context.errorHandler()
                    .onError(new TransportException(this + ": " + e.getMessage(), 0, e));
        }
        watch.closed();
    }
}
