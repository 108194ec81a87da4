package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.agrona.DirectBuffer;

/**
 * What belongs together: memory, queue pairs and address handles of one domain may be used with
 * each other. {@code struct ibv_pd}. Thread-safe.
 */
public final class ProtectionDomain extends MemoryDomain {
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
