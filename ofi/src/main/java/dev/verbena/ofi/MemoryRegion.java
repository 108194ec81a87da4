package dev.verbena.ofi;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.ofi.bindings.fabric;
import java.util.concurrent.atomic.AtomicInteger;

/** Registered memory: {@code struct fid_mr}. It keeps the memory acquired until it closes. */
public final class MemoryRegion extends OfiObject {
    /** Access: operations of this side read it. */
    public static final long SEND = fabric.VFI_SEND | fabric.VFI_WRITE;

    /** Access: operations of this side write it. */
    public static final long RECEIVE = fabric.VFI_RECV | fabric.VFI_READ;

    /** Access: peers read it. */
    public static final long REMOTE_READ = fabric.VFI_REMOTE_READ;

    /** Access: peers write it. */
    public static final long REMOTE_WRITE = fabric.VFI_REMOTE_WRITE;

    private static final long ACCESS_ALL = SEND | RECEIVE | REMOTE_READ | REMOTE_WRITE;

    private final OffHeapMemory memory;
    private final String user;
    private final boolean isNamedByAddress;
    private final AtomicInteger uses = new AtomicInteger();

    MemoryRegion(Domain domain, OffHeapMemory memory, long access, long key, Endpoint endpoint) {
        super(
                "fi_mr_reg",
                "memory region",
                domain,
                register(domain, memory, access, key, endpoint));
        this.memory = memory;
        this.user = "libfabric key " + key;
        this.isNamedByAddress = domain.info().usesVirtualAddresses();
        memory.acquire(user);
    }

    private static long register(
            Domain domain, OffHeapMemory memory, long access, long key, Endpoint endpoint) {
        if ((access & ~ACCESS_ALL) != 0) {
            throw new IllegalArgumentException("access " + access + " has unknown bits");
        }
        boolean isBound = domain.info().bindsMemoryToEndpoints() && endpoint != null;
        return fabric.vfi_mr(
                domain.handle(),
                isBound ? endpoint.handle() : 0,
                memory.address(),
                memory.length(),
                access,
                key);
    }

    /** The key by which peers name it. */
    public long key() {
        return fabric.vfi_mr_key(handle());
    }

    /** What peers call its first byte: an address, or 0 where they count from the beginning. */
    public long remoteAddress() {
        return isNamedByAddress ? memory.address() : 0;
    }

    void use() {
        uses.incrementAndGet();
    }

    void unuse() {
        uses.decrementAndGet();
    }

    long descriptor() {
        return fabric.vfi_mr_descriptor(handle());
    }

    /** Address of a range, which must be inside. */
    long range(long offset, long length) {
        if ((offset | length) < 0 || offset > memory.length() - length) {
            throw new IllegalArgumentException(
                    "offset %s length %s is outside %s bytes"
                            .formatted(offset, length, memory.length()));
        }
        return memory.address() + offset;
    }

    /**
     * {@code fi_close}.
     *
     * @throws IllegalStateException while operations use it whose completions were not polled
     */
    @Override
    public void close() {
        if (!isClosed()) {
            if (uses.get() > 0) {
                throw new IllegalStateException(this + " has " + uses + " operations under way");
            }
            super.close();
            memory.release(user);
        }
    }
}
