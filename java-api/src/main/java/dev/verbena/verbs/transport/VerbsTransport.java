package dev.verbena.verbs.transport;

import dev.verbena.memory.Leaks;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Capability;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.TransportLimits;
import dev.verbena.transport.internal.OwnerGuard;
import dev.verbena.verbs.CompletionQueue;
import dev.verbena.verbs.internal.Takeover;
import java.net.URI;
import java.util.concurrent.atomic.AtomicBoolean;
import org.agrona.DirectBuffer;

/** One RDMA device opened for one thread; see the package for how it works. */
final class VerbsTransport extends VerbsOperations {
    private static final long CLOSE_TIMEOUT_NS = 10_000_000_000L;
    private static final long SLEEP_MAX_NS = 1_000_000_000L;

    /** While something has to be brought to its end that may come without an event. */
    private static final long SLEEP_BUSY_NS = 10_000_000L;

    private final TransportContext context;
    private final VerbsParts parts;
    private final Object closeLock = new Object();
    private final AtomicBoolean isWoken = new AtomicBoolean();
    private final Leaks.Watch watch;
    private final VerbsRegions regions;
    private final Meeting meeting;
    private final Inbox inbox;
    private final EventQueue events;
    private final Card card;
    private final CardNews news;
    private final URI uri;
    private final long incarnation;
    private boolean isPolling;
    private boolean isSendsArmed;
    private boolean isReceivesArmed;

    private VerbsTransport(TransportContext context, VerbsParts parts) {
        super(
                new OwnerGuard("verbs transport " + parts.address.uri()),
                parts.limits,
                parts.works,
                parts.connections,
                parts.card.hasAtomics);
        this.context = context;
        this.parts = parts;
        this.card = parts.card;
        this.regions = parts.regions;
        this.meeting = parts.meeting;
        this.inbox = parts.inbox;
        this.events = parts.events;
        this.news = new CardNews(context, card, connections);
        this.incarnation = parts.address.incarnation();
        this.uri = parts.address.uri();
        regions.of(this);
        this.watch = Leaks.watch(this, toString());
    }

    static VerbsTransport open(TransportContext context, VerbsOptions options) {
        return new VerbsTransport(context, VerbsParts.open(context, options));
    }

    long incarnation() {
        return incarnation;
    }

    @Override
    public URI uri() {
        return uri;
    }

    @Override
    public long capabilities() {
        return Capability.PUT_NOTIFY
                | Capability.FOREIGN_MEMORY
                | Capability.APPLICATION_BYPASS
                | (card.hasAtomics ? Capability.ATOMICS : 0);
    }

    @Override
    public TransportLimits limits() {
        return limits;
    }

    @Override
    public String explain() {
        long dropped = inbox.droppedCount();
        return "verbs: "
                + uri
                + ". Peers are reached through an RDMA card: "
                + parts.explanation
                + news.explain()
                + (dropped == 0
                        ? ""
                        : "; " + dropped + " notifications came for regions that were closed");
    }

    @Override
    public String toString() {
        return "verbs transport " + uri;
    }

    // ---- memory ----

    @Override
    public RegisteredRegion allocate(long length, int rights) {
        enterControl();
        try {
            return regions.allocate(length, rights);
        } finally {
            guard.exit();
        }
    }

    @Override
    public RegisteredRegion register(OffHeapMemory memory, int rights) {
        enterControl();
        try {
            return regions.register(memory, rights);
        } finally {
            guard.exit();
        }
    }

    void closeRegion(VerbsRegion region) {
        enterControl();
        try {
            regions.close(region);
        } finally {
            guard.exit();
        }
    }

    // ---- connections ----

    @Override
    public void listen() {
        enterControl();
        try {
            meeting.listen();
        } finally {
            guard.exit();
        }
    }

    @Override
    public long connect(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs) {
        VerbsAddress address = VerbsAddress.of(peer);
        if (length < 0 || length > Frames.PRIVATE_MAX) {
            throw new IllegalArgumentException(
                    "private data of " + length + " bytes; 0 to " + Frames.PRIVATE_MAX + " work");
        }
        if (length > 0) {
            privateData.boundsCheck(offset, length);
        }
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            return meeting.connect(address, privateData, offset, length, context, timeoutNs);
        } finally {
            guard.exit();
        }
    }

    @Override
    public int accept(long connection, long context) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            return meeting.accept(connection, context);
        } finally {
            guard.exit();
        }
    }

    @Override
    public int reject(long connection) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            return meeting.reject(connection);
        } finally {
            guard.exit();
        }
    }

    @Override
    public int disconnect(long connection) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            return meeting.disconnect(connection);
        } finally {
            guard.exit();
        }
    }

    // ---- messages ----

    @Override
    public void retain(long messageToken) {
        inbox.retain(messageToken);
    }

    @Override
    public void release(long messageToken) {
        if (!guard.enter()) {
            return;
        }
        try {
            inbox.release(messageToken);
        } finally {
            guard.exit();
        }
    }

    // ---- events ----

    @Override
    public int poll(TransportHandler handler, int limit) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            checkNotPolling("poll");
            return deliver(handler, limit);
        } finally {
            guard.exit();
        }
    }

    private int deliver(TransportHandler handler, int limit) {
        isPolling = true;
        try {
            readNews();
            connections.takeCompletions();
            int count = 0;
            for (long end = works.lastNumber(); count < limit && works.isWaiting(end); count++) {
                works.deliver(handler);
            }
            if (meeting.hasLetters()) {
                meeting.read();
            }
            if (!events.isEmpty()) {
                count += events.deliver(handler, limit - count, works, connections);
            }
            return count + inbox.deliver(handler, limit - count);
        } finally {
            isPolling = false;
        }
    }

    private void checkNotPolling(String call) {
        if (isPolling) {
            throw new IllegalStateException(call + " from inside a handler of " + this);
        }
    }

    private void readNews() {
        if (meeting.takeLookDue()) {
            news.read();
        }
    }

    private boolean hasWork() {
        readNews();
        connections.takeCompletions();
        return works.hasEnded() || !events.isEmpty() || meeting.hasLetters() || inbox.hasSome();
    }

    @Override
    public boolean await(long deadlineNs) {
        if (!guard.enter()) {
            return true;
        }
        try {
            checkNotPolling("await");
            while (true) {
                if (isWoken.getAndSet(false) || hasWork() || guard.isClosed()) {
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
        } finally {
            guard.exit();
        }
    }

    /** Completions that come from here on ring. */
    private void arm() {
        if (!isSendsArmed) {
            card.sends.requestNotification(false);
            isSendsArmed = true;
        }
        if (!isReceivesArmed) {
            card.receives.requestNotification(false);
            isReceivesArmed = true;
        }
    }

    private void sleep(long ns) {
        CompletionQueue queue = card.channel.await(ns);
        while (queue != null) {
            isSendsArmed &= queue != card.sends;
            isReceivesArmed &= queue != card.receives;
            queue = card.channel.await(0);
        }
    }

    @Override
    public void wakeup() {
        isWoken.set(true);
        card.channel.wakeup();
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    /** Enters a call of the control path, which throws where the data path answers CLOSED. */
    private void enterControl() {
        if (!guard.enter()) {
            throw new IllegalStateException("closed: " + this);
        }
    }

    @Override
    public void close() {
        synchronized (closeLock) {
            if (guard.isClosed()) {
                return;
            }
            if (guard.isInsideOnThisThread()) {
                throw new IllegalStateException("close from inside a handler of " + this);
            }
            regions.checkNone();
            if (!guard.close(CLOSE_TIMEOUT_NS, card.channel::wakeup)) {
                throw new IllegalStateException(
                        this + ": its owner has been inside a call for too long to close it");
            }
            try {
                regions.checkNone();
            } catch (IllegalStateException e) {
                guard.reopen();
                throw e;
            }
            Takeover.takeOver(parts.requests);
            try {
                parts.close();
            } catch (RuntimeException e) {
                context.errorHandler()
                        .onError(new TransportException(this + ": " + e.getMessage(), 0, e));
            }
            watch.closed();
        }
    }
}
