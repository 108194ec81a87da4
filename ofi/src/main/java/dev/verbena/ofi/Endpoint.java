package dev.verbena.ofi;

import dev.verbena.ofi.bindings.fabric;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.agrona.UnsafeApi;

/**
 * A reliable datagram endpoint: {@code struct fid_ep}. Operations answer 0, {@link #AGAIN} or
 * another negated code of {@code rdma/fi_errno.h}; their contexts, from 0 to {@link #CONTEXTS} less
 * 1, come back in the completion queue, each for one operation at a time. Memory of an operation
 * stays in use until its completion. Thread-safe as {@code FI_THREAD_SAFE} says.
 */
public final class Endpoint extends OfiObject {
    /** Longest name of an endpoint, bytes. */
    public static final int NAME_MAX = 256;

    /** Not now: poll the completion queue, then again. */
    public static final int AGAIN = -fabric.VFI_EAGAIN;

    /** Operations that may be under way at a time. */
    public static final int CONTEXTS = 4096;

    private static final long MASK = (long) CONTEXTS - 1;

    private final Domain domain;
    private final CompletionQueue queue;
    private final AddressVector peers;
    private final long contexts;

    /** Memory of the operation with this context, until it has ended. */
    private final AtomicReferenceArray<MemoryRegion> inUse = new AtomicReferenceArray<>(CONTEXTS);

    Endpoint(Domain domain, CompletionQueue queue, AddressVector peers) {
        super(
                "fi_endpoint",
                "endpoint of " + domain.info(),
                domain,
                fabric.vfi_endpoint(domain.handle(), domain.info().info()));
        this.domain = domain;
        this.queue = queue;
        this.peers = peers;
        // Aligned to its size, so that a context's number is in its address.
        long bytes = (long) CONTEXTS * fabric.VFI_CONTEXT_BYTES;
        this.contexts = UnsafeApi.allocateMemory(2 * bytes);
    }

    void enable(Counter counter) {
        check("fi_ep_bind", fabric.vfi_bind_av(handle(), peers.handle()), ": " + peers);
        check(
                "fi_ep_bind",
                fabric.vfi_bind_cq(handle(), queue.handle(), fabric.VFI_SEND | fabric.VFI_RECV),
                ": " + queue);
        if (counter != null) {
            long ends = fabric.VFI_SEND | fabric.VFI_READ | fabric.VFI_WRITE;
            check(
                    "fi_ep_bind",
                    fabric.vfi_bind_counter(handle(), counter.handle(), ends),
                    ": " + counter);
        }
        check("fi_enable", fabric.vfi_enable(handle()), ": " + this);
    }

    /** Its name, which peers insert in their address vector: {@code fi_getname}. */
    public byte[] name() {
        long memory = UnsafeApi.allocateMemory(NAME_MAX);
        try {
            int length = (int) check("fi_getname", fabric.vfi_name(handle(), memory, NAME_MAX), "");
            byte[] name = new byte[length];
            for (int i = 0; i < length; i++) {
                name[i] = UnsafeApi.getByte(null, memory + i);
            }
            return name;
        } finally {
            UnsafeApi.freeMemory(memory);
        }
    }

    private long first() {
        long bytes = (long) CONTEXTS * fabric.VFI_CONTEXT_BYTES;
        return contexts + bytes - 1 & -bytes;
    }

    /** Before libfabric has it: another thread may poll its end before the call returns. */
    private long begin(MemoryRegion region, int context) {
        if (context < 0 || context >= CONTEXTS) {
            throw new IllegalArgumentException(
                    "context " + context + " is outside 0 to " + (CONTEXTS - 1));
        }
        if (!inUse.compareAndSet(context, null, region)) {
            throw new IllegalStateException("context " + context + " is of an operation under way");
        }
        region.use();
        return first() + (long) context * fabric.VFI_CONTEXT_BYTES;
    }

    private int begun(int answer, int context) {
        if (answer != 0) {
            ended(context);
        }
        return answer;
    }

    /** The operation with this context has ended. */
    void ended(long context) {
        MemoryRegion region = inUse.getAndSet((int) context, null);
        if (region != null) {
            region.unuse();
        }
    }

    static long contextOf(long address) {
        return address / fabric.VFI_CONTEXT_BYTES & MASK;
    }

    /** Sends a message: {@code fi_send}. */
    public int send(MemoryRegion from, long offset, long length, long peer, int context) {
        peers.require(peer);
        return begun(
                fabric.vfi_send(
                        handle(),
                        from.range(offset, length),
                        length,
                        from.descriptor(),
                        peer,
                        begin(from, context)),
                context);
    }

    /** Takes a message of any peer: {@code fi_recv}. */
    public int receive(MemoryRegion to, long offset, long length, int context) {
        return begun(
                fabric.vfi_recv(
                        handle(),
                        to.range(offset, length),
                        length,
                        to.descriptor(),
                        begin(to, context)),
                context);
    }

    /** Writes into a peer's memory; ended when it is there: {@code fi_writemsg}. */
    public int write(
            MemoryRegion from,
            long offset,
            long length,
            long peer,
            long remoteAddress,
            long key,
            int context) {
        peers.require(peer);
        return begun(
                fabric.vfi_write(
                        handle(),
                        from.range(offset, length),
                        length,
                        from.descriptor(),
                        peer,
                        remoteAddress,
                        key,
                        begin(from, context)),
                context);
    }

    /** Reads a peer's memory: {@code fi_read}. */
    public int read(
            MemoryRegion to,
            long offset,
            long length,
            long peer,
            long remoteAddress,
            long key,
            int context) {
        peers.require(peer);
        return begun(
                fabric.vfi_read(
                        handle(),
                        to.range(offset, length),
                        length,
                        to.descriptor(),
                        peer,
                        remoteAddress,
                        key,
                        begin(to, context)),
                context);
    }

    @Override
    public void close() {
        if (!isClosed()) {
            super.close();
            for (int i = 0; i < CONTEXTS; i++) {
                ended(i);
            }
            UnsafeApi.freeMemory(contexts);
        }
    }
}
