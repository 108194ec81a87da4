package dev.verbena.portals.transport;

import dev.verbena.portals.MemoryDescriptorContext;
import dev.verbena.portals.PortalsException;
import dev.verbena.portals.PortalsInterface;
import dev.verbena.transport.Capability;
import dev.verbena.transport.TransportContext;
import java.net.URI;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The transport {@code portals://}; see the package for how the contract's words become Portals
 * calls. Opened by {@link PortalsTransportProvider}.
 */
public final class PortalsTransport extends PortalsOperations {
    private static final int FOREIGN_PROBE_LENGTH = 64;

    private final PortalsInterface ni;
    private final long capabilities;

    PortalsTransport(TransportContext context, PortalsInterface ni, ResourceSizes sizes) {
        super(
                context,
                ni,
                new PortalsAddress(context.job(), ni.id(), ni.incarnation()).uri(),
                sizes);
        this.ni = ni;
        this.capabilities =
                Capability.PUT_NOTIFY
                        | Capability.APPLICATION_BYPASS
                        | (reachesForeignMemory() ? Capability.FOREIGN_MEMORY : 0);
    }

    private boolean reachesForeignMemory() {
        UnsafeBuffer probe =
                new UnsafeBuffer(
                        BufferUtil.allocateDirectAligned(
                                FOREIGN_PROBE_LENGTH, FOREIGN_PROBE_LENGTH));
        try {
            ni.bind(
                            new MemoryDescriptorContext()
                                    .region(probe.addressOffset(), FOREIGN_PROBE_LENGTH)
                                    .acceptPut(true),
                            false)
                    .close();
            return true;
        } catch (PortalsException e) {
            return false;
        }
    }

    @Override
    public long capabilities() {
        return capabilities;
    }

    @Override
    public String explain() {
        return ("Portals 3.3, emulated over the software NIC: %s. Messages go to a list "
                        + "of %s descriptors of %s bytes at table entry %s. Memory from allocate "
                        + "is mapped by peers; other memory is %s There are no atomics: Portals "
                        + "3.3 has a swap only.")
                .formatted(
                        uri,
                        ReceiveQueue.LIST_LENGTH,
                        resources.messages.bufferLength(),
                        PortalsResources.MESSAGE_INDEX,
                        (capabilities & Capability.FOREIGN_MEMORY) != 0
                                ? "reached with cross-memory attach."
                                : "refused by this kernel.");
    }

    /**
     * Counters of the receive queue.
     *
     * @throws IllegalStateException after close
     */
    public PortalsStatistics statistics() {
        return whileOpen(
                () ->
                        new PortalsStatistics(
                                resources.messages.linkedCount(),
                                resources.messages.unlinkCount(),
                                resources.messages.replacementCount(),
                                resources.messages.bufferCount(),
                                resources.messages.lossCount(),
                                droppedSends()));
    }

    /** For tests: the Portals objects, on the owner's thread only. */
    PortalsResources resources() {
        return resources;
    }

    /**
     * A status register of the interface, for example {@code PortalsRegister.DESCRIPTORS}.
     *
     * @throws IllegalStateException after close
     */
    public long register(int register) {
        return whileOpen(() -> ni.status(register));
    }

    // ---- the hooks of the shell ----

    @Override
    protected void listenForPeers() {
        resources.listen();
    }

    @Override
    protected long connectTo(URI peer, byte[] privateData, long context, long deadlineNs) {
        return connections.connect(PortalsAddress.of(peer), peer, privateData, context, deadlineNs);
    }

    @Override
    protected int bell() {
        return resources.bell();
    }

    @Override
    protected void sleep(int bell, long ns) {
        ni.await(bell, ns);
    }

    @Override
    protected void ringBell() {
        ni.ring();
    }

    @Override
    protected void free() {
        try {
            connections.closeAll();
        } finally {
            inbox.close();
            ni.closeAll();
        }
    }
}
