package dev.verbena.verbs;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongFunction;
import java.util.function.LongToIntFunction;
import java.util.function.Predicate;
import org.agrona.DirectBuffer;

/**
 * What belongs together: memory, queue pairs and address handles of one domain may be used with
 * each other. {@code struct ibv_pd}. Thread-safe.
 */
public final class ProtectionDomain extends VerbsObject {
    /** {@code struct ibv_grh}; over IPv4 its last 20 bytes are the IP header. */
    private static final int ROUTE_HEADER = 40;

    private final ProtectionDomain original;
    private final ThreadDomain threads;

    ProtectionDomain(RdmaDevice device, long address, boolean isImported) {
        super(
                (isImported ? "imported protection domain " : "protection domain ")
                        + CallMemory.getInt(address + VerbsLayout.PD_HANDLE)
                        + " of "
                        + device.info().name(),
                address,
                isImported ? DestroyCall.IMPORTED_PROTECTION_DOMAIN : DestroyCall.PROTECTION_DOMAIN,
                List.of(device));
        this.original = this;
        this.threads = null;
    }

    /** A parent domain. */
    private ProtectionDomain(ProtectionDomain original, ThreadDomain threads, long address) {
        super(
                "parent domain of " + original,
                address,
                DestroyCall.PROTECTION_DOMAIN,
                Arrays.asList(original, threads));
        this.original = original.original;
        this.threads = threads;
    }

    /** The device. */
    @Override
    public RdmaDevice device() {
        return super.device();
    }

    /**
     * Makes a memory window, bound to nothing yet.
     *
     * @throws VerbsException where the device has none ({@link VerbsException#isUnsupported()}), or
     *     no more
     */
    public MemoryWindow allocateMemoryWindow(MemoryWindowType type) {
        if (type == null) {
            throw new IllegalArgumentException("a memory window needs its type");
        }
        return create(
                "ibv_alloc_mw",
                out -> verbscalls.vv_alloc_mw(address(), type.code(), out),
                DestroyCall.MEMORY_WINDOW,
                made -> new MemoryWindow(this, type, made));
    }

    /**
     * Registers all of a piece of memory.
     *
     * @param access of {@link Access}, by or
     * @throws VerbsException if the device refuses, with what to do about the usual cause
     */
    public MemoryRegion register(OffHeapMemory memory, int access) {
        return register(memory, 0, memory.length(), access);
    }

    /**
     * Registers a part of a piece of memory, which cannot be closed until the region is. Nothing is
     * copied; any address and length will do.
     *
     * @throws IndexOutOfBoundsException for a part that the memory does not have
     * @throws IllegalArgumentException for access that contradicts itself
     * @throws VerbsException if the device refuses, with what to do about the usual cause
     */
    public MemoryRegion register(OffHeapMemory memory, long offset, long length, int access) {
        return register(memory, offset, length, MemoryRegion.OWN_ADDRESS, access);
    }

    /**
     * As above, and requests name the region by another address than the one here. An address that
     * is never used again makes what is left of an old key worthless, even if the device gives the
     * same key once more.
     *
     * @param base address of the first byte in requests, here and at peers; it lies as the memory
     *     does within a page. Requests of such a region cannot be inline
     * @throws IllegalArgumentException for a base that lies otherwise, or is negative
     */
    public MemoryRegion register(
            OffHeapMemory memory, long offset, long length, long base, int access) {
        Access.check(access);
        MemoryRegion.checkPart(memory, offset, length);
        String user = "a registration of " + device().info().name();
        return MemoryRegion.holding(
                memory, user, () -> registerHeld(memory, user, offset, length, base, access));
    }

    private MemoryRegion registerHeld(
            OffHeapMemory memory, String user, long offset, long length, long base, int access) {
        synchronized (lock()) {
            long start = memory.address() + offset;
            long iova = MemoryRegion.base(start, base, length, access);
            long out = device().memory().out();
            int result = verbscalls.vv_reg_mr(address(), start, length, iova, access, out);
            if (result < 0) {
                throw new VerbsException(
                        "ibv_reg_mr",
                        -result,
                        length + " bytes of " + memory,
                        MemoryRegion.remedy(result));
            }
            return adoptRegion(
                    device().memory().made(),
                    new MemoryRegion.Extent(memory, user, start, iova, length, access, null));
        }
    }

    /** The object of a region that C has just made. Under the lock. */
    MemoryRegion adoptRegion(long address, MemoryRegion.Extent extent) {
        return adopt(
                this, address, extent.destroyCall(), made -> new MemoryRegion(this, made, extent));
    }

    private MemoryRegion createRegion(
            String call, LongToIntFunction creation, LongFunction<MemoryRegion.Extent> extent) {
        synchronized (lock()) {
            device().check(call, creation.applyAsInt(device().memory().out()));
            long made = device().memory().made();
            return adoptRegion(made, extent.apply(made));
        }
    }

    /**
     * Registers all memory that this process has or will have, by on-demand paging ({@code
     * ibv_reg_mr} of address 0 and the greatest length). Requests name what they use of it by
     * {@link MemoryRegion#part}. Peers get no access: any process with the key could change
     * anything in this process.
     *
     * @throws VerbsException where the device cannot
     */
    public MemoryRegion registerImplicit() {
        int access = Access.LOCAL_WRITE | Access.ON_DEMAND;
        return createRegion(
                "ibv_reg_mr",
                out -> verbscalls.vv_reg_mr(address(), 0, -1, 0, access, out),
                made -> MemoryRegion.Extent.everything(access));
    }

    /**
     * Registers a part of a device's own memory. Requests, here and at peers, name offsets in the
     * region: it is {@link Access#ZERO_BASED} always, and no request of it can be inline.
     *
     * @throws IllegalArgumentException for memory of another device
     * @throws IndexOutOfBoundsException for a part that the memory does not have
     * @throws VerbsException if the device refuses
     */
    public MemoryRegion register(DeviceMemory memory, long offset, long length, int access) {
        int all = access | Access.ZERO_BASED;
        Access.check(all);
        memory.checkRange(offset, length);
        memory.checkOf(device());
        return createRegion(
                "ibv_reg_dm_mr",
                out ->
                        verbscalls.vv_reg_dm_mr(
                                address(), memory.address(), offset, length, all, out),
                made -> new MemoryRegion.Extent(null, "", 0, 0, length, all, memory));
    }

    /**
     * A region that swallows what is written and reads as anything: for parts of a message that
     * nobody wants.
     *
     * @throws VerbsException where the device has none ({@link VerbsException#isUnsupported()})
     */
    public MemoryRegion allocateNullRegion() {
        return createRegion(
                "ibv_alloc_null_mr",
                out -> verbscalls.vv_alloc_null_mr(address(), out),
                made -> MemoryRegion.Extent.foreign(0, 0, Long.MAX_VALUE, Access.LOCAL_WRITE));
    }

    /**
     * Registers memory of another device by its dma-buf file.
     *
     * @param file number of an open file
     * @throws VerbsException where that is not possible
     */
    public MemoryRegion registerDmaBuf(
            int file, long offset, long length, long remoteBase, int access) {
        Access.check(access);
        long base = (access & Access.ZERO_BASED) == 0 ? remoteBase : 0;
        return createRegion(
                "ibv_reg_dmabuf_mr",
                out ->
                        verbscalls.vv_reg_dmabuf_mr(
                                address(), offset, length, remoteBase, file, access, out),
                made -> MemoryRegion.Extent.foreign(remoteBase, base, length, access));
    }

    /**
     * Takes part in a region that was registered in another context of the same device, in another
     * process as a rule ({@code ibv_import_mr}): requests of this domain's queue pairs may name it.
     * Its memory need not be there in this process. Closing gives it back; the region itself is
     * closed by the process that registered it, after all others.
     *
     * @param handle {@link MemoryRegion#handle} there
     * @param base {@link MemoryRegion#remoteAddress} of 0 there
     * @param access {@link MemoryRegion#access} there
     * @throws IllegalArgumentException for access that contradicts itself, or a negative base
     * @throws VerbsException if there is no such region; {@link VerbsException#isUnsupported()}
     *     where the driver cannot
     */
    public MemoryRegion importRegion(int handle, long base, int access) {
        Access.check(access);
        if (base < 0) {
            throw new IllegalArgumentException("base 0x" + Long.toHexString(base));
        }
        return createRegion(
                "ibv_import_mr",
                out -> verbscalls.vv_import_mr(address(), handle, out),
                made -> MemoryRegion.Extent.imported(made, base, access));
    }

    /**
     * Number that another context of the device(), in another process as a rule, imports it by.
     *
     * @throws IllegalStateException after close
     */
    public int handle() {
        return original.field(VerbsLayout.PD_HANDLE);
    }

    /**
     * Makes a parent domain of this one: the same protection, so that memory of either may be used
     * with queue pairs of the other, with a thread domain beside.
     *
     * @param threads null for none
     * @throws IllegalArgumentException for a thread domain of another device
     * @throws IllegalStateException after close, of this or of the thread domain
     * @throws VerbsException where the device() has none ({@link VerbsException#isUnsupported()})
     */
    public ProtectionDomain allocateParentDomain(ThreadDomain threads) {
        if (threads != null) {
            threads.checkOf(device());
        }
        return create(
                "ibv_alloc_parent_domain",
                out -> {
                    address(); // C makes it from the original, but a closed one makes nothing
                    long td = threads == null ? 0 : threads.address();
                    return verbscalls.vv_alloc_parent_domain(original.address(), td, out);
                },
                DestroyCall.PROTECTION_DOMAIN,
                made -> new ProtectionDomain(this, threads, made));
    }

    /** Of a queue made from this domain. */
    ThreadClaim newClaim(String what) {
        return threads == null ? new ThreadClaim(what) : threads.queues();
    }

    /** True if what is made from either may be used with the other. */
    boolean isSameProtection(ProtectionDomain other) {
        return original == other.original;
    }

    /**
     * Makes a queue pair in state RESET.
     *
     * @throws IllegalArgumentException for what contradicts itself
     * @throws VerbsException if the device() refuses; the message has what was asked for
     */
    public QueuePair createQueuePair(QueuePairContext context) {
        QueuePairContext wanted = context.copy();
        wanted.conclude();
        synchronized (lock()) {
            long at = device().memory().argument();
            wanted.fill(at, device().memory().second(), address(), device());
            int result = verbscalls.vv_create_qp(device().address(), at, device().memory().out());
            VerbsException.check(
                    "ibv_create_qp",
                    result,
                    wanted.toString(),
                    result == -1 && wanted.type == QueuePairType.RAW_PACKET
                            ? "raw packets need the capability CAP_NET_RAW"
                            : "verbena devices shows what the device() can");
            return adopt(
                    this,
                    device().memory().made(),
                    DestroyCall.QUEUE_PAIR,
                    made -> new QueuePair(this, made, wanted, at));
        }
    }

    /**
     * Makes a shared receive queue.
     *
     * @param capacity receives
     * @param segmentsMax pieces of memory in each
     * @throws VerbsException if the device() refuses
     */
    public SharedReceiveQueue createSharedReceiveQueue(int capacity, int segmentsMax) {
        return createSharedReceiveQueue(
                new SharedReceiveContext().capacity(capacity).segmentsMax(segmentsMax));
    }

    /**
     * Makes a shared receive queue, for queue pairs of this domain or for extended reliable
     * connections.
     *
     * @throws IllegalArgumentException for what contradicts itself
     * @throws VerbsException if the device() refuses; {@link VerbsException#isUnsupported()} where
     *     it has no XRC
     */
    public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveContext context) {
        SharedReceiveContext wanted = context.copy();
        wanted.conclude(device());
        if (wanted.isXrc() && threads != null) {
            wanted.completions.checkTakes(threads.queues());
        }
        synchronized (lock()) {
            long at = device().memory().argument();
            wanted.fill(at, address());
            return create(
                    wanted.isXrc() ? "ibv_create_srq_ex" : "ibv_create_srq",
                    out -> verbscalls.vv_create_srq(device().address(), at, out),
                    DestroyCall.SHARED_RECEIVE_QUEUE,
                    made -> new SharedReceiveQueue(this, made, wanted, at));
        }
    }

    /**
     * Makes a receive queue without a queue pair, in state RESET, for a {@link ReceiveTable}.
     *
     * @param capacity receives outstanding at most, from 1
     * @param segmentsMax pieces of memory in each, from 1
     * @param completions where they complete
     * @throws IllegalArgumentException for less, or a completion queue of another device
     * @throws VerbsException where the device() has none ({@link VerbsException#isUnsupported()}),
     *     or refuses
     */
    public ReceiveQueue createReceiveQueue(
            int capacity, int segmentsMax, CompletionQueue completions) {
        if (capacity < 1 || segmentsMax < 1) {
            throw new IllegalArgumentException(
                    capacity + " receives of " + segmentsMax + " pieces; at least 1 of each");
        }
        completions.checkOf(device());
        synchronized (lock()) {
            long at = device().memory().argument();
            CallMemory.putInt(at + VerbsLayout.WQ_INIT_ATTR_WQ_TYPE, VerbsLayout.IBV_WQT_RQ);
            CallMemory.putInt(at + VerbsLayout.WQ_INIT_ATTR_MAX_WR, capacity);
            CallMemory.putInt(at + VerbsLayout.WQ_INIT_ATTR_MAX_SGE, segmentsMax);
            CallMemory.putLong(at + VerbsLayout.WQ_INIT_ATTR_PD, address());
            CallMemory.putLong(at + VerbsLayout.WQ_INIT_ATTR_CQ, completions.address());
            return create(
                    "ibv_create_wq",
                    out -> verbscalls.vv_create_wq(device().address(), at, out),
                    DestroyCall.RECEIVE_QUEUE,
                    made -> new ReceiveQueue(this, made, completions, at));
        }
    }

    /**
     * Makes the address of a peer for datagrams.
     *
     * @throws VerbsException if the device() refuses, for example because there is no route
     */
    public AddressHandle createAddressHandle(PathContext path, Gid gid, int lid) {
        synchronized (lock()) {
            long at = device().memory().argument();
            path.fillAddress(at, gid, lid);
            return createAddressHandle(
                    at,
                    "a path to " + (gid == null ? "LID " + lid : gid.address()),
                    "is the address reachable from GID index " + path.gidIndex + "?");
        }
    }

    private AddressHandle createAddressHandle(long at, String about, String remedy) {
        CallMemory memory = device().memory();
        VerbsException.check(
                "ibv_create_ah",
                verbscalls.vv_create_ah(address(), at, memory.out()),
                about,
                remedy);
        return adopt(
                this,
                memory.made(),
                DestroyCall.ADDRESS_HANDLE,
                made -> new AddressHandle(this, made));
    }

    /**
     * Makes the address of the sender of a datagram, so that it can be answered ({@code
     * ibv_create_ah_from_wc}): at {@link CompletionFlyweight#sourceQueuePair}, with the queue key
     * that both have agreed upon. By the thread that polls, before it polls again.
     *
     * @param datagram what a receive of the datagram completed with
     * @param received the memory that it was received into; null without a route header
     * @param at where the receive began: the route header's 40 bytes are there
     * @param port that it came in by, from 1
     * @throws IllegalArgumentException for a completion that is not a successful receive, or one
     *     with a route header and no memory
     * @throws IndexOutOfBoundsException if the memory has not 40 bytes there
     * @throws VerbsException if the device() refuses
     */
    public AddressHandle createAddressHandle(
            CompletionFlyweight datagram, DirectBuffer received, int at, int port) {
        if (!datagram.isSuccess() || datagram.opcode() != CompletionFlyweight.RECEIVE) {
            throw new IllegalArgumentException("only a datagram that was received has a sender");
        }
        byte[] header = new byte[datagram.hasRouteHeader() ? ROUTE_HEADER : 0];
        if (header.length > 0) {
            if (received == null) {
                throw new IllegalArgumentException(
                        "the datagram has a route header: give the memory it was received into");
            }
            received.boundsCheck(at, header.length);
            received.getBytes(at, header);
        }
        synchronized (lock()) {
            CallMemory memory = device().memory();
            long completion = memory.argument();
            long route = memory.second();
            CallMemory.putBytes(completion, datagram.structure());
            CallMemory.putBytes(route, header);
            return create(
                    "ibv_create_ah_from_wc",
                    out ->
                            verbscalls.vv_create_ah_from_wc(
                                    address(),
                                    completion,
                                    header.length == 0 ? 0 : route,
                                    RdmaDevice.checkPort(port),
                                    out),
                    DestroyCall.ADDRESS_HANDLE,
                    made -> new AddressHandle(this, made));
        }
    }

    /** Makes an address handle of {@code struct ibv_ah_attr}, as somebody else has filled it in. */
    AddressHandle createAddressHandle(byte[] attributes, String about) {
        synchronized (lock()) {
            long at = device().memory().argument();
            CallMemory.putBytes(at, attributes);
            return createAddressHandle(at, about, "");
        }
    }

    /**
     * What keeps an object of this domain from being closed: a queue with a request outstanding
     * that names it, or a window that is bound to it; null if nothing does. Under the lock.
     */
    VerbsObject userOf(VerbsObject named) {
        return original.firstUser(
                child ->
                        child instanceof WorkQueue queue && queue.uses(named)
                                || child instanceof MemoryWindow window && window.bound() == named);
    }

    /** Looks through what was made from this domain and from its parent domains. */
    private VerbsObject firstUser(Predicate<VerbsObject> isUser) {
        for (VerbsObject child : children()) {
            if (isUser.test(child)) {
                return child;
            }
            if (child instanceof ProtectionDomain parent) {
                VerbsObject user = parent.firstUser(isUser);
                if (user != null) {
                    return user;
                }
            }
        }
        return null;
    }
}
