package dev.verbena.verbs;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.List;
import java.util.function.Predicate;
import org.agrona.DirectBuffer;

/**
 * What belongs together: memory, queue pairs and address handles of one domain may be used with
 * each other. {@code struct ibv_pd}. Thread-safe.
 */
public final class ProtectionDomain extends VerbsObject {
    private static final long OWN_ADDRESS = -1;
    private static final long PAGE_MASK = 4095;

    /** {@code struct ibv_grh}; over IPv4 its last 20 bytes are the IP header. */
    private static final int ROUTE_HEADER = 40;

    private final RdmaDevice device;
    private final ProtectionDomain original;
    private final ThreadDomain threads;

    ProtectionDomain(RdmaDevice device, long address) {
        super(
                "protection domain "
                        + CallMemory.getInt(address + VerbsLayout.PD_HANDLE)
                        + " of "
                        + device.info().name(),
                address,
                List.of(device));
        this.device = device;
        this.original = this;
        this.threads = null;
    }

    /** A parent domain. */
    private ProtectionDomain(ProtectionDomain original, ThreadDomain threads, long address) {
        super(
                "parent domain of " + original,
                address,
                threads == null ? List.of(original) : List.of(original, threads));
        this.device = original.device;
        this.original = original.original;
        this.threads = threads;
    }

    /** The device. */
    public RdmaDevice device() {
        return device;
    }

    /**
     * Makes a parent domain of this one: the same protection, so that memory of either may be used
     * with queue pairs of the other, with a thread domain beside.
     *
     * @param threads null for none
     * @throws IllegalArgumentException for a thread domain of another device
     * @throws IllegalStateException after close, of this or of the thread domain
     * @throws VerbsException where the device has none ({@link VerbsException#isUnsupported()})
     */
    public ProtectionDomain allocateParentDomain(ThreadDomain threads) {
        if (threads != null && threads.device() != device) {
            throw new IllegalArgumentException(threads + " is not of " + device);
        }
        synchronized (lock()) {
            address(); // C makes it from the original, but a closed one makes nothing
            int result =
                    verbscalls.vv_alloc_parent_domain(
                            original.address(),
                            threads == null ? 0 : threads.address(),
                            device.memory().out());
            device.check("ibv_alloc_parent_domain", result);
            return adopt(
                    this,
                    device.memory().made(),
                    made -> new ProtectionDomain(this, threads, made),
                    verbscalls::vv_dealloc_pd);
        }
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
     * Makes a memory window, bound to nothing yet.
     *
     * @throws VerbsException where the device has none ({@link VerbsException#isUnsupported()}), or
     *     no more
     */
    public MemoryWindow allocateMemoryWindow(MemoryWindowType type) {
        if (type == null) {
            throw new IllegalArgumentException("a memory window needs its type");
        }
        synchronized (lock()) {
            int result = verbscalls.vv_alloc_mw(address(), type.code(), device.memory().out());
            device.check("ibv_alloc_mw", result);
            return adopt(
                    this,
                    device.memory().made(),
                    made -> new MemoryWindow(this, type, made),
                    verbscalls::vv_dealloc_mw);
        }
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
        return register(memory, offset, length, OWN_ADDRESS, access);
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
        checkPart(memory, offset, length);
        String user = "a registration of " + device.info().name();
        memory.acquire(user);
        boolean isRegistered = false;
        try {
            synchronized (lock()) {
                long start = memory.address() + offset;
                long iova = base(start, base, length, access);
                long out = device.memory().out();
                int result = verbscalls.vv_reg_mr(address(), start, length, iova, access, out);
                if (result < 0) {
                    throw new VerbsException(
                            "ibv_reg_mr", -result, length + " bytes of " + memory, remedy(result));
                }
                MemoryRegion region =
                        adoptRegion(
                                device.memory().made(),
                                new MemoryRegion.Extent(
                                        memory, user, start, iova, length, access, null));
                isRegistered = true;
                return region;
            }
        } finally {
            if (!isRegistered) {
                memory.release(user);
            }
        }
    }

    static void checkPart(OffHeapMemory memory, long offset, long length) {
        if (offset < 0 || length < 1 || offset > memory.length() - length) {
            throw new IndexOutOfBoundsException(
                    "offset " + offset + " length " + length + " is outside " + memory);
        }
    }

    /** The object of a region that C has just made. Under the lock. */
    MemoryRegion adoptRegion(long address, MemoryRegion.Extent extent) {
        return adopt(
                this,
                address,
                made -> new MemoryRegion(this, made, extent),
                verbscalls::vv_dereg_mr);
    }

    /**
     * Registers all memory that this process has or will have, by on-demand paging ({@code
     * ibv_reg_mr} of address 0 and the greatest length). Requests name what they use of it by
     * {@link MemoryRegion#part}. Peers get no access: whoever had the key could change anything in
     * this process.
     *
     * @throws VerbsException where the device cannot
     */
    public MemoryRegion registerImplicit() {
        int access = Access.LOCAL_WRITE | Access.ON_DEMAND;
        synchronized (lock()) {
            long out = device.memory().out();
            device.check("ibv_reg_mr", verbscalls.vv_reg_mr(address(), 0, -1, 0, access, out));
            return adoptRegion(device.memory().made(), MemoryRegion.Extent.everything(access));
        }
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
        if (memory.device() != device) {
            throw new IllegalArgumentException(memory + " is not of " + device);
        }
        synchronized (lock()) {
            long out = device.memory().out();
            device.check(
                    "ibv_reg_dm_mr",
                    verbscalls.vv_reg_dm_mr(address(), memory.address(), offset, length, all, out));
            return adoptRegion(
                    device.memory().made(),
                    new MemoryRegion.Extent(null, "", 0, 0, length, all, memory));
        }
    }

    private AddressHandle adoptAddress() {
        return adopt(
                this,
                device.memory().made(),
                made -> new AddressHandle(this, made),
                verbscalls::vv_destroy_ah);
    }

    private static long base(long start, long base, long length, int access) {
        if ((access & Access.ZERO_BASED) != 0) {
            return 0;
        }
        if (base == OWN_ADDRESS) {
            return start;
        }
        if (base < 0 || base > Long.MAX_VALUE - length || (base - start & PAGE_MASK) != 0) {
            throw new IllegalArgumentException(
                    "base 0x"
                            + Long.toHexString(base)
                            + " lies otherwise in its page than the memory at 0x"
                            + Long.toHexString(start));
        }
        return base;
    }

    private static String remedy(int result) {
        return switch (-result) {
            case VerbsErrno.ENOMEM ->
                    "registered memory is locked: raise the limit (ulimit -l unlimited, or memlock"
                            + " in /etc/security/limits.conf); verbena doctor shows it";
            case 22 -> "the device refuses this range or access";
            case VerbsErrno.EOPNOTSUPP -> "the device has no such kind of access";
            default -> "";
        };
    }

    /**
     * A region that swallows what is written and reads as anything: for parts of a message that
     * nobody wants.
     *
     * @throws VerbsException where the device has none ({@link VerbsException#isUnsupported()})
     */
    public MemoryRegion allocateNullRegion() {
        synchronized (lock()) {
            long out = device.memory().out();
            device.check("ibv_alloc_null_mr", verbscalls.vv_alloc_null_mr(address(), out));
            return adoptRegion(
                    device.memory().made(),
                    MemoryRegion.Extent.foreign(0, 0, Long.MAX_VALUE, Access.LOCAL_WRITE));
        }
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
        synchronized (lock()) {
            int result =
                    verbscalls.vv_reg_dmabuf_mr(
                            address(),
                            offset,
                            length,
                            remoteBase,
                            file,
                            access,
                            device.memory().out());
            device.check("ibv_reg_dmabuf_mr", result);
            long base = (access & Access.ZERO_BASED) == 0 ? remoteBase : 0;
            return adoptRegion(
                    device.memory().made(),
                    MemoryRegion.Extent.foreign(remoteBase, base, length, access));
        }
    }

    /**
     * Makes a queue pair in state RESET.
     *
     * @throws IllegalArgumentException for what contradicts itself
     * @throws VerbsException if the device refuses; the message has what was asked for
     */
    public QueuePair createQueuePair(QueuePairContext context) {
        return createQueuePairOf(context.copy());
    }

    private QueuePair createQueuePairOf(QueuePairContext context) {
        context.conclude();
        synchronized (lock()) {
            long at = device.memory().argument();
            context.fill(at, address(), device);
            int result = verbscalls.vv_create_qp(device.address(), at, device.memory().out());
            if (result < 0) {
                throw new VerbsException(
                        "ibv_create_qp",
                        -result,
                        context.toString(),
                        result == -1 && context.type() == QueuePairType.RAW_PACKET
                                ? "raw packets need the capability CAP_NET_RAW"
                                : "verbena devices shows what the device can");
            }
            return adopt(
                    this,
                    device.memory().made(),
                    made -> new QueuePair(this, made, context, at),
                    verbscalls::vv_destroy_qp);
        }
    }

    /**
     * Makes a shared receive queue.
     *
     * @param capacity receives
     * @param segmentsMax pieces of memory in each
     * @throws VerbsException if the device refuses
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
     * @throws VerbsException if the device refuses; {@link VerbsException#isUnsupported()} where it
     *     has no XRC
     */
    public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveContext context) {
        return createSharedReceiveQueueOf(context.copy());
    }

    private SharedReceiveQueue createSharedReceiveQueueOf(SharedReceiveContext context) {
        context.conclude(device);
        if (context.isXrc() && threads != null) {
            context.completions().checkTakes(threads.queues());
        }
        synchronized (lock()) {
            long at = device.memory().argument();
            context.fill(at, address());
            int result = verbscalls.vv_create_srq(device.address(), at, device.memory().out());
            device.check(context.isXrc() ? "ibv_create_srq_ex" : "ibv_create_srq", result);
            int given = CallMemory.getInt(at + VerbsLayout.SRQ_INIT_ATTR_EX_ATTR_MAX_WR);
            int segments = CallMemory.getInt(at + VerbsLayout.SRQ_INIT_ATTR_EX_ATTR_MAX_SGE);
            return adopt(
                    this,
                    device.memory().made(),
                    made -> new SharedReceiveQueue(this, made, given, segments, context),
                    verbscalls::vv_destroy_srq);
        }
    }

    /**
     * Makes the address of a peer for datagrams.
     *
     * @throws VerbsException if the device refuses, for example because there is no route
     */
    public AddressHandle createAddressHandle(PathContext path, Gid gid, int lid) {
        synchronized (lock()) {
            long at = device.memory().argument();
            path.fillAddress(at, gid, lid);
            int result = verbscalls.vv_create_ah(address(), at, device.memory().out());
            if (result < 0) {
                throw new VerbsException(
                        "ibv_create_ah",
                        -result,
                        "a path to " + (gid == null ? "LID " + lid : gid.address()),
                        "is the address reachable from GID index " + path.gidIndex() + "?");
            }
            return adoptAddress();
        }
    }

    /**
     * Makes the address of whoever sent a datagram, so that it can be answered ({@code
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
     * @throws VerbsException if the device refuses
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
            CallMemory memory = device.memory();
            long completion = memory.argument();
            long route = memory.second();
            CallMemory.putBytes(completion, datagram.structure());
            CallMemory.putBytes(route, header);
            int result =
                    verbscalls.vv_create_ah_from_wc(
                            address(),
                            completion,
                            header.length == 0 ? 0 : route,
                            RdmaDevice.checkPort(port),
                            memory.out());
            device.check("ibv_create_ah_from_wc", result);
            return adoptAddress();
        }
    }

    /** Makes an address handle of {@code struct ibv_ah_attr}, as somebody else has filled it in. */
    AddressHandle createAddressHandle(byte[] attributes, String about) {
        synchronized (lock()) {
            long at = device.memory().argument();
            CallMemory.putBytes(at, attributes);
            int result = verbscalls.vv_create_ah(address(), at, device.memory().out());
            if (result < 0) {
                throw new VerbsException("ibv_create_ah", -result, about, "");
            }
            return adoptAddress();
        }
    }

    /**
     * What keeps the region from being closed: a queue with a request outstanding that uses it, or
     * a window that is bound to it; null if nothing does. Under the lock.
     */
    VerbsObject userOf(MemoryRegion region) {
        return original.firstUser(
                child ->
                        child instanceof WorkQueue queue && queue.uses(region)
                                || child instanceof MemoryWindow window
                                        && window.bound() == region);
    }

    /** A queue with a request outstanding that goes there. Under the lock. */
    VerbsObject userOf(AddressHandle target) {
        return original.firstUser(child -> child instanceof WorkQueue queue && queue.uses(target));
    }

    /** A queue with a request outstanding that binds it. Under the lock. */
    VerbsObject userOf(MemoryWindow window) {
        return original.firstUser(child -> child instanceof WorkQueue queue && queue.uses(window));
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

    @Override
    Object lock() {
        return device.lock();
    }

    @Override
    String destroyCall() {
        return "ibv_dealloc_pd";
    }

    @Override
    int destroy(long address) {
        return verbscalls.vv_dealloc_pd(address);
    }
}
