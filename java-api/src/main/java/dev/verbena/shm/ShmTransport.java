package dev.verbena.shm;

import dev.verbena.memory.Leaks;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.softnic.bindings.Layout;
import dev.verbena.softnic.bindings.softnic;
import dev.verbena.transport.Capability;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.TransportLimits;
import dev.verbena.transport.core.CompletionShare;
import dev.verbena.transport.core.SharedKey;
import dev.verbena.transport.core.TransportPart;
import java.net.URI;
import java.nio.file.Path;
import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;

/**
 * One software NIC with the shm personality. Every operation is done when its call returns; {@code
 * FENCE} therefore has nothing left to do.
 */
final class ShmTransport extends ShmOperations implements TransportPart {
    /** Messages taken from one ring before the next ring has its turn. */
    private static final int MESSAGES_PER_RING = 16;

    private static final int CLOCK_POLLS_MAX = 256;
    private static final long CLOCK_SHORT_NS = 20_000L;
    private static final long LOOK_MIN_NS = 1_000_000L;
    private static final long LOOK_MAX_NS = 50_000_000L;

    private final CompletionShare share = new CompletionShare();
    private final TransportContext context;
    private final ShmRegions regions;
    private final ShmFiles files;
    private final ShmInbox inbox;
    private final Leaks.Watch watch;
    private final boolean isBounce;
    private final long shm;
    private final long nic;
    private final long controlBell;
    private final long lookNs;

    private int bellSeen;
    private int pollsUntilClock;
    private int clockPolls = 1;
    private long lastClockNs;
    private long lookDueNs;

    private ShmTransport(
            TransportContext context,
            TransportLimits limits,
            NativeScratch scratch,
            CompletionRing completions,
            ShmConnections connections,
            URI uri,
            long shm,
            boolean isBounce) {
        super(uri, limits, scratch, completions, connections);
        this.context = context;
        this.shm = shm;
        this.isBounce = isBounce;
        this.nic = softnic.shm_nic(shm);
        this.controlBell = softnic.snic_area(nic) + Layout.AREA_CONTROL_BELL;
        this.regions =
                new ShmRegions(this, guard, nic, scratch, completions, context.peerTimeoutNs());
        this.files = new ShmFiles(nic, scratch);
        this.inbox = new ShmInbox(connections, regions);
        this.lookNs = Math.max(LOOK_MIN_NS, Math.min(LOOK_MAX_NS, context.peerTimeoutNs() / 8));
        this.lookDueNs = lastClockNs = System.nanoTime();
        this.watch = Leaks.watch(this, toString());
    }

    static ShmTransport open(TransportContext context, boolean isBounce) {
        NativeScratch scratch = new NativeScratch();
        long shm;
        try {
            shm = ShmCreation.create(context, scratch, isBounce);
        } catch (RuntimeException e) {
            scratch.close();
            throw e;
        }
        long nic = softnic.shm_nic(shm);
        int connectionsMax = softnic.shm_connections_max(shm);
        TransportLimits limits = limits(context, connectionsMax, Layout.SHM_PRIVATE_MAX);
        CompletionRing completions = new CompletionRing(context.outstandingMax());
        String name = NativeScratch.text(softnic.snic_name(nic), Layout.SNIC_NAME_MAX);
        return new ShmTransport(
                context,
                limits,
                scratch,
                completions,
                new ShmConnections(shm, scratch, completions, context, connectionsMax),
                new ShmAddress(context.job(), name, softnic.snic_incarnation(nic)).uri(),
                shm,
                isBounce);
    }

    @Override
    public long capabilities() {
        long all = Capability.ATOMICS | Capability.PUT_NOTIFY | Capability.FOREIGN_MEMORY;
        all |= hasSums ? Capability.SUMS : 0;
        return isBounce ? all : all | Capability.APPLICATION_BYPASS;
    }

    @Override
    public String explain() {
        return ("shm: software NIC %s. Peers are processes of this user on this host. "
                        + "Toolkit memory is mapped by peers and reached by plain loads and "
                        + "stores; other memory is reached %s")
                .formatted(
                        uri,
                        isBounce
                                ? "through a helper thread of its owner (foreignMemory=bounce)."
                                : "by cross-memory attach, one system call each.");
    }

    ShmRegions regions() {
        return regions;
    }

    // ---- as a part of several ----

    @Override
    public void addTo(SharedKey key, RegisteredRegion region) {
        ShmRegion own = own(region);
        key.segment(own.keySlot(), own.keyGeneration(), own.keySecret());
    }

    @Override
    public void translate(long connection, RemoteDescriptor shared, RemoteDescriptor own) {
        ShmConnection to = connections.open(connection);
        int slot = SharedKey.slot(shared);
        long begin = to == null ? 0 : to.addressOf(slot);
        own.set(
                shared.kind() == RemoteDescriptor.KIND_AUTO ? RemoteDescriptor.KIND_SHM : 0,
                shared.rights(),
                shared.generation(),
                shared.base() - begin,
                shared.length(),
                Integer.toUnsignedLong(slot),
                shared.keyHigh());
    }

    @Override
    public boolean isOutstanding(RegisteredRegion region) {
        return regions.isOutstanding(own(region));
    }

    @Override
    public Runnable closeKeepingMemory(RegisteredRegion region) {
        return regions.closeKeepingMemory(own(region));
    }

    @Override
    public boolean hasProcessorAtomics() {
        return true;
    }

    // ---- the hooks of the shell ----

    @Override
    protected RegisteredRegion allocateRegion(long length, int rights) {
        return regions.allocate(length, rights);
    }

    @Override
    protected RegisteredRegion registerRegion(OffHeapMemory memory, int rights) {
        return regions.register(memory, rights);
    }

    @Override
    protected String openRegions(boolean isOwnerOutside) {
        String names = regions.names();
        return names == null ? files.names() : names;
    }

    @Override
    public OffHeapMemory mapFile(Path file, long length) {
        return whileOpen(() -> files.map(file, length));
    }

    @Override
    protected void listenForPeers() {
        int result = softnic.shm_listen(shm);
        if (result < 0) {
            throw Errno.exception("shm_listen", result, "");
        }
    }

    @Override
    protected long connectTo(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs) {
        return connections.connect(
                ShmAddress.of(peer), privateData, offset, length, context, timeoutNs);
    }

    @Override
    protected int acceptPeer(long connection, long context) {
        return connections.accept(connection, context);
    }

    @Override
    protected int rejectPeer(long connection) {
        return connections.reject(connection);
    }

    @Override
    protected int disconnectPeer(long connection) {
        return connections.disconnect(connection, inbox);
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
        int count = deliverCompletions(handler, share.of(limit));
        share.used(count, limit);
        lookAtControl();
        if (connections.hasEvents()) {
            count += connections.deliverEvents(handler, limit - count);
            if (connections.hasEvents()) {
                return count; // one that waits for completions may have to come before messages
            }
        }
        return count
                + connections.deliverMessages(inbox, handler, limit - count, MESSAGES_PER_RING);
    }

    private int deliverCompletions(TransportHandler handler, int limit) {
        int count = 0;
        for (long end = completions.lastNumber();
                count < limit && completions.isOutstanding(end);
                count++) {
            completions.deliver(handler);
        }
        return count;
    }

    /** Asks softnic about connections when a peer rang, and now and then. */
    private void lookAtControl() {
        int bell = UnsafeApi.getIntAcquire(null, controlBell);
        if (bell == bellSeen && --pollsUntilClock > 0) {
            return;
        }
        long nowNs = System.nanoTime();
        // A clock costs as much as a put: fast pollers look at it rarely, slow ones each time.
        clockPolls =
                nowNs - lastClockNs < CLOCK_SHORT_NS
                        ? Math.min(CLOCK_POLLS_MAX, clockPolls * 2)
                        : Math.max(1, clockPolls >> 2);
        lastClockNs = nowNs;
        pollsUntilClock = clockPolls;
        if (bell != bellSeen || nowNs - lookDueNs >= 0) {
            bellSeen = bell;
            lookDueNs = nowNs + lookNs;
            requireWhole();
            connections.control();
        }
    }

    private void requireWhole() {
        scratch.check("snic_damage", softnic.snic_damage(nic, scratch.why(), Layout.SNIC_WHY_MAX));
    }

    private boolean hasWork() {
        return !completions.isEmpty()
                || connections.hasEvents()
                || UnsafeApi.getIntAcquire(null, controlBell) != bellSeen
                || connections.isReadable();
    }

    @Override
    protected boolean awaitEvents(long deadlineNs) {
        while (true) {
            int seen = softnic.snic_doorbell(nic);
            if (takeWakeup() || hasWork() || guard.isClosed()) {
                return true;
            }
            long nowNs = System.nanoTime();
            if (nowNs - lookDueNs >= 0) {
                lookDueNs = nowNs + lookNs;
                requireWhole();
                connections.control();
                if (connections.hasEvents()) {
                    return true;
                }
            }
            long leftNs = deadlineNs - nowNs;
            if (leftNs <= 0) {
                return false;
            }
            softnic.snic_wait(nic, seen, Math.min(leftNs, lookNs));
        }
    }

    @Override
    protected void ringBell() {
        softnic.snic_ring_self(nic);
    }

    @Override
    protected void free() {
        int result = softnic.shm_close(shm);
        connections.forgetAll();
        scratch.close();
        watch.closed();
        if (result < 0) {
            String why = Errno.exception("shm_close", result, "").getMessage();
            context.errorHandler().onError(new TransportException(this + ": " + why));
        }
    }
}
