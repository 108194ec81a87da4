package dev.verbena.ofi;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.ofi.bindings.fabric;

/** Access to a network: {@code struct fid_domain}. Makes everything but the fabric. */
public final class Domain extends OfiObject {
    private final FabricInfo info;

    Domain(Fabric parent, FabricInfo info) {
        super(
                "fi_domain",
                "domain " + info,
                parent,
                fabric.vfi_domain(parent.handle(), info.info()));
        this.info = info;
    }

    /** What it was opened with. */
    public FabricInfo info() {
        return info;
    }

    /**
     * A queue of completions: {@code fi_cq_open}.
     *
     * @param hasDescriptor whether one can sleep at it; not every provider has that
     * @throws OfiException if libfabric refuses
     */
    public CompletionQueue completionQueue(int size, boolean hasDescriptor) {
        return new CompletionQueue(this, size, hasDescriptor);
    }

    /**
     * A table of peers: {@code fi_av_open}.
     *
     * @throws OfiException if libfabric refuses
     */
    public AddressVector addressVector(int count) {
        return new AddressVector(this, count);
    }

    /**
     * A counter of completions: {@code fi_cntr_open}.
     *
     * @throws OfiException if libfabric refuses
     */
    public Counter counter() {
        return new Counter(this);
    }

    /**
     * An endpoint that is ready: {@code fi_endpoint}, {@code fi_ep_bind}, {@code fi_enable}.
     *
     * @param counter counts ended writes, reads and sends; or null
     * @throws OfiException if libfabric refuses
     */
    public Endpoint endpoint(CompletionQueue queue, AddressVector peers, Counter counter) {
        queue.requireFree();
        // One that cannot be enabled is not closed: providers take it for bound and crash.
        Endpoint endpoint = new Endpoint(this, queue, peers);
        endpoint.enable(counter);
        queue.bind(endpoint);
        return endpoint;
    }

    /**
     * Registers memory: {@code fi_mr_reg}. The memory is acquired until the region closes.
     *
     * @param access bits of {@link MemoryRegion}
     * @param key by which peers name it, unless the provider chooses keys; unique in the domain
     * @param endpoint that it is bound to, where the provider asks for that; or null
     * @throws OfiException if libfabric refuses
     */
    public MemoryRegion register(OffHeapMemory memory, long access, long key, Endpoint endpoint) {
        return new MemoryRegion(this, memory, access, key, endpoint);
    }
}
