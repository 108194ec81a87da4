package dev.verbena.ugni.transport;

import dev.verbena.transport.Capability;
import dev.verbena.transport.TransportContext;
import java.net.URI;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The transport {@code gni://}; see the package for how the contract's words become uGNI calls.
 * Opened by {@link GniTransportProvider}.
 */
public final class GniTransport extends GniOperations {
    private static final int FOREIGN_PROBE_LENGTH = 64;

    private final long capabilities;
    private final long fmaMax;

    GniTransport(TransportContext context, GniResources resources, long fmaMax) {
        super(context, resources, AddressResolver.uri(resources), fmaMax);
        this.fmaMax = fmaMax;
        this.capabilities =
                Capability.ATOMICS
                        | Capability.PUT_NOTIFY
                        | Capability.APPLICATION_BYPASS
                        | (reachesForeignMemory() ? Capability.FOREIGN_MEMORY : 0);
    }

    private boolean reachesForeignMemory() {
        UnsafeBuffer probe =
                new UnsafeBuffer(
                        BufferUtil.allocateDirectAligned(
                                FOREIGN_PROBE_LENGTH, FOREIGN_PROBE_LENGTH));
        try {
            resources.register(probe.addressOffset(), FOREIGN_PROBE_LENGTH, 0, false);
            resources.deregister(resources.handleLow(), resources.handleHigh());
            return true;
        } catch (GniFailure e) {
            return false;
        }
    }

    @Override
    public long capabilities() {
        return capabilities;
    }

    @Override
    public String explain() {
        return ("uGNI, emulated over the software NIC: %s. Messages are short messages "
                        + "(SMSG) to a mailbox for each connection. Up to %s bytes move by FMA, "
                        + "more by BTE. Memory from allocate is mapped by peers; other memory is %s")
                .formatted(
                        uri,
                        fmaMax,
                        (capabilities & Capability.FOREIGN_MEMORY) != 0
                                ? "reached with cross-memory attach."
                                : "refused by this kernel.");
    }

    /**
     * Counters of what was posted.
     *
     * @throws IllegalStateException after close
     */
    public GniStatistics statistics() {
        return whileOpen(() -> engine.statistics());
    }

    // ---- the hooks of the shell ----

    @Override
    protected void listenForPeers() {
        connections.listen();
    }

    @Override
    protected long connectTo(URI peer, byte[] privateData, long context, long deadlineNs) {
        return connections.connect(GniAddress.of(peer), peer, privateData, context, deadlineNs);
    }

    @Override
    protected int bell() {
        return resources.bell();
    }

    @Override
    protected void sleep(int bell, long ns) {
        resources.await(bell, ns);
    }

    @Override
    protected void ringBell() {
        resources.ring();
    }

    @Override
    protected void free() {
        try {
            engine.takeEvents();
            connections.closeAll();
        } finally {
            resources.close();
        }
    }
}
