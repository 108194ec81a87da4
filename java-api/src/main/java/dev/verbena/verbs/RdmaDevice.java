package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * An open device: {@code struct ibv_context}. Protection domains and completion queues are made
 * from it. Thread-safe.
 */
public final class RdmaDevice extends VerbsObject {
    private static final long NS_PER_MS = 1_000_000L;
    private static final int O_CREAT = 64;

    private final DeviceInfo info;
    private final CallMemory memory = new CallMemory();
    private final Long2ObjectHashMap<VerbsObject> queues = new Long2ObjectHashMap<>();
    private int lastLog;
    private int waiting;

    private RdmaDevice(DeviceInfo info, long address) {
        super("RDMA device " + info.name(), address, List.of());
        this.info = info;
    }

    static RdmaDevice open(long device, DeviceInfo info) {
        long out = UnsafeApi.allocateMemory(8);
        try {
            int result = verbscalls.vv_open_device(device, out);
            if (result < 0) {
                throw new VerbsException(
                        "ibv_open_device",
                        -result,
                        "RDMA device " + info.name(),
                        "may this user open /dev/infiniband/" + info.uverbsName() + "?");
            }
            long context = UnsafeApi.getLong(null, out);
            verbscalls.vv_set_nonblocking(
                    CallMemory.getInt(context + VerbsLayout.CONTEXT_ASYNC_FD));
            return adopt(
                    null, context, made -> new RdmaDevice(info, made), verbscalls::vv_close_device);
        } finally {
            UnsafeApi.freeMemory(out);
        }
    }

    /** What the list of devices said of it. */
    public DeviceInfo info() {
        return info;
    }

    /**
     * Asks the device for its limits.
     *
     * @throws VerbsException if it does not answer
     */
    public DeviceAttributes attributes() {
        synchronized (lock()) {
            long at = memory.argument();
            check("ibv_query_device_ex", verbscalls.vv_query_device(address(), at));
            return new DeviceAttributes(at);
        }
    }

    /**
     * Asks for the state of a port, counted from 1.
     *
     * @throws VerbsException if there is no such port
     */
    public PortAttributes port(int port) {
        synchronized (lock()) {
            long at = memory.argument();
            int result = verbscalls.vv_query_port(address(), checkPort(port), at);
            check("ibv_query_port", result);
            return PortAttributes.at(at);
        }
    }

    /**
     * The addresses of a port, those places left out that hold none.
     *
     * @throws VerbsException if the port cannot be asked
     */
    public List<GidEntry> gids(int port) {
        int count = port(port).gidCount();
        List<GidEntry> entries = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            GidEntry entry = gid(port, index);
            if (entry != null) {
                entries.add(entry);
            }
        }
        return entries;
    }

    /** One address of a port; null if its place is empty or not in the table. */
    public GidEntry gid(int port, int index) {
        synchronized (lock()) {
            long at = memory.argument();
            int result = verbscalls.vv_query_gid(address(), checkPort(port), index, at);
            if (result < 0) {
                return null; // ENODATA: empty; EINVAL: past the end
            }
            Gid gid = new Gid(CallMemory.getBytes(at + VerbsLayout.GID_ENTRY_GID, Gid.LENGTH));
            return gid.isZero()
                    ? null
                    : new GidEntry(
                            index,
                            port,
                            gid,
                            CallMemory.getInt(at + VerbsLayout.GID_ENTRY_GID_TYPE),
                            CallMemory.getInt(at + VerbsLayout.GID_ENTRY_NDEV_IFINDEX));
        }
    }

    /**
     * The address of a port that the toolkit would use, and why.
     *
     * @throws IllegalStateException if the port has none, with the remedy
     */
    public GidChoice chooseGid(int port) {
        return GidChoice.of(gids(port), port(port).isEthernet(), info.name() + " port " + port);
    }

    /**
     * A partition key, in this machine's byte order.
     *
     * @throws VerbsException for an index that the table does not have
     */
    public int pkey(int port, int index) {
        synchronized (lock()) {
            int result = verbscalls.vv_query_pkey(address(), checkPort(port), index);
            check("ibv_query_pkey", result);
            return result;
        }
    }

    /**
     * Where a partition key is in the table of a port, for {@link PathContext#pkeyIndex}.
     *
     * @param key 16 bits, in this machine's byte order; the upper one is that of full members
     * @return -1 if the port is not in that partition
     */
    public int pkeyIndex(int port, int key) {
        int count = port(port).pkeyCount();
        for (int index = 0; index < count; index++) {
            if (pkey(port, index) == key) {
                return index;
            }
        }
        return -1;
    }

    /**
     * The device's clock, which completions are stamped with ({@link
     * CompletionFlyweight#timestamp}), in its ticks; {@code hca_core_clock} of {@link
     * DeviceAttributes} says how many kHz. What the library calls seconds and nanoseconds of it is
     * put together as if it were that: mlx5 and mlx4 have ticks there.
     *
     * @throws VerbsException where it has none ({@link VerbsException#isUnsupported()})
     */
    public long rawClockTicks() {
        synchronized (lock()) {
            long at = memory.argument();
            CallMemory.putInt(
                    at + VerbsLayout.VALUES_EX_COMP_MASK, VerbsLayout.IBV_VALUES_MASK_RAW_CLOCK);
            check("ibv_query_rt_values_ex", verbscalls.vv_query_rt_values(address(), at));
            return CallMemory.getLong(at + VerbsLayout.VALUES_EX_RAW_CLOCK_TV_SEC) * 1_000_000_000L
                    + CallMemory.getLong(at + VerbsLayout.VALUES_EX_RAW_CLOCK_TV_NSEC);
        }
    }

    /** Completion vectors: interrupts that completion queues may be spread over. */
    public int completionVectorCount() {
        synchronized (lock()) {
            return CallMemory.getInt(address() + VerbsLayout.CONTEXT_NUM_COMP_VECTORS);
        }
    }

    /**
     * The next event of the device, acknowledged. Waits without holding the device's lock.
     *
     * @param timeoutNs 0: do not wait; rounded up to whole milliseconds
     * @return null if none came
     */
    public AsyncEvent awaitEvent(long timeoutNs) {
        AsyncEvent event = takeEvent();
        if (event != null || timeoutNs <= 0) {
            return event;
        }
        int file;
        synchronized (lock()) {
            file = CallMemory.getInt(address() + VerbsLayout.CONTEXT_ASYNC_FD);
            waiting++;
        }
        long ms = Math.min(Integer.MAX_VALUE, (timeoutNs + NS_PER_MS - 1) / NS_PER_MS);
        try {
            check("poll", verbscalls.vv_wait(file, (int) ms));
        } finally {
            synchronized (lock()) {
                waiting--;
            }
        }
        return takeEvent();
    }

    /** A file that is closed under a thread that waits for it would never wake it. */
    @Override
    void checkMayClose() {
        if (waiting > 0) {
            throw new IllegalStateException(
                    "a thread waits for events of " + this + "; let it end first");
        }
    }

    private AsyncEvent takeEvent() {
        synchronized (lock()) {
            long at = memory.argument();
            int result = verbscalls.vv_get_async_event(address(), at);
            if (result == -VerbsErrno.EAGAIN) {
                return null;
            }
            check("ibv_get_async_event", result);
            int type = CallMemory.getInt(at + VerbsLayout.ASYNC_EVENT_EVENT_TYPE);
            long element = CallMemory.getLong(at + VerbsLayout.ASYNC_EVENT_ELEMENT_CQ);
            int port = CallMemory.getInt(at + VerbsLayout.ASYNC_EVENT_ELEMENT_PORT_NUM);
            verbscalls.vv_ack_async_event(at);
            return isAboutAPort(type)
                    ? new AsyncEvent(type, null, port)
                    : new AsyncEvent(type, queues.get(element), 0);
        }
    }

    private static boolean isAboutAPort(int type) {
        return switch (type) {
            case VerbsLayout.IBV_EVENT_PORT_ACTIVE,
                    VerbsLayout.IBV_EVENT_PORT_ERR,
                    VerbsLayout.IBV_EVENT_LID_CHANGE,
                    VerbsLayout.IBV_EVENT_PKEY_CHANGE,
                    VerbsLayout.IBV_EVENT_SM_CHANGE,
                    VerbsLayout.IBV_EVENT_CLIENT_REREGISTER,
                    VerbsLayout.IBV_EVENT_GID_CHANGE ->
                    true;
            default -> false;
        };
    }

    /**
     * Makes a protection domain.
     *
     * @throws VerbsException if the device has no more
     */
    public ProtectionDomain allocateProtectionDomain() {
        synchronized (lock()) {
            check("ibv_alloc_pd", verbscalls.vv_alloc_pd(address(), memory.out()));
            return adopt(
                    this,
                    memory.made(),
                    made -> new ProtectionDomain(this, made),
                    verbscalls::vv_dealloc_pd);
        }
    }

    /**
     * Takes some of the card's own memory; {@code max_dm_size} of {@link #attributes} says how much
     * there is.
     *
     * @param length bytes
     * @param alignmentLog2 its offset on the card is a multiple of 2 to this, 0 to 31
     * @throws IllegalArgumentException for a length or an alignment out of range
     * @throws VerbsException where the device has none ({@link VerbsException#isUnsupported()}), or
     *     no more
     */
    public DeviceMemory allocateDeviceMemory(long length, int alignmentLog2) {
        if (length < 1 || alignmentLog2 < 0 || alignmentLog2 > 31) {
            throw new IllegalArgumentException(
                    "length " + length + ", alignment 2 to " + alignmentLog2);
        }
        synchronized (lock()) {
            int result = verbscalls.vv_alloc_dm(address(), length, alignmentLog2, memory.out());
            check("ibv_alloc_dm", result);
            return adopt(
                    this,
                    memory.made(),
                    made -> new DeviceMemory(this, made, length),
                    verbscalls::vv_free_dm);
        }
    }

    /**
     * Opens an XRC domain of this process alone.
     *
     * @throws VerbsException where the device has none ({@link VerbsException#isUnsupported()})
     */
    public XrcDomain openXrcDomain() {
        return openXrcDomain(-1);
    }

    /**
     * Opens the XRC domain that belongs to a file, and makes it if there is none: processes that
     * open the same file share it.
     *
     * @param file number of an open file; -1: of this process alone
     * @throws VerbsException where the device has none ({@link VerbsException#isUnsupported()})
     */
    public XrcDomain openXrcDomain(int file) {
        synchronized (lock()) {
            long at = memory.argument();
            CallMemory.putInt(
                    at + VerbsLayout.XRCD_INIT_ATTR_COMP_MASK,
                    VerbsLayout.IBV_XRCD_INIT_ATTR_FD | VerbsLayout.IBV_XRCD_INIT_ATTR_OFLAGS);
            CallMemory.putInt(at + VerbsLayout.XRCD_INIT_ATTR_FD, file);
            CallMemory.putInt(at + VerbsLayout.XRCD_INIT_ATTR_OFLAGS, O_CREAT);
            check("ibv_open_xrcd", verbscalls.vv_open_xrcd(address(), at, memory.out()));
            return adopt(
                    this,
                    memory.made(),
                    made -> new XrcDomain(this, made),
                    verbscalls::vv_close_xrcd);
        }
    }

    /**
     * Makes a thread domain.
     *
     * @throws VerbsException where the device has none ({@link VerbsException#isUnsupported()})
     */
    public ThreadDomain allocateThreadDomain() {
        synchronized (lock()) {
            check("ibv_alloc_td", verbscalls.vv_alloc_td(address(), memory.out()));
            return adopt(
                    this,
                    memory.made(),
                    made -> new ThreadDomain(this, made),
                    verbscalls::vv_dealloc_td);
        }
    }

    /**
     * Makes a channel on which completion queues announce completions.
     *
     * @throws VerbsException if the process has too many open files
     */
    public CompletionChannel createCompletionChannel() {
        synchronized (lock()) {
            check(
                    "ibv_create_comp_channel",
                    verbscalls.vv_create_comp_channel(address(), memory.out()));
            return adopt(
                    this,
                    memory.made(),
                    made -> new CompletionChannel(this, made),
                    verbscalls::vv_destroy_comp_channel);
        }
    }

    /** Makes a completion queue that is only polled. */
    public CompletionQueue createCompletionQueue(int capacity) {
        return createCompletionQueue(capacity, null, 0);
    }

    /**
     * Makes a completion queue.
     *
     * @param capacity completions at least; the owner of the queue sees to it that never more are
     *     outstanding
     * @param channel where it announces completions when asked to, or null
     * @param vector below {@link #completionVectorCount()}
     * @throws VerbsException if the device refuses
     */
    public CompletionQueue createCompletionQueue(
            int capacity, CompletionChannel channel, int vector) {
        return createCompletionQueue(
                new CompletionQueueContext().capacity(capacity).channel(channel).vector(vector));
    }

    /**
     * Makes a completion queue, plain or extended.
     *
     * @throws IllegalArgumentException for what contradicts itself
     * @throws VerbsException if the device refuses; {@link VerbsException#isUnsupported()} where it
     *     lacks a detail or extended queues
     */
    public CompletionQueue createCompletionQueue(CompletionQueueContext context) {
        return createCompletionQueueOf(context.copy());
    }

    private CompletionQueue createCompletionQueueOf(CompletionQueueContext context) {
        context.conclude();
        synchronized (lock()) {
            long at = memory.argument();
            context.fill(at, this);
            int result = verbscalls.vv_create_cq(address(), at, memory.out());
            if (result < 0) {
                throw failure(
                        context.detailsToRead() == 0 ? "ibv_create_cq" : "ibv_create_cq_ex",
                        result,
                        context + " was asked for");
            }
            return adopt(
                    this,
                    memory.made(),
                    made -> new CompletionQueue(this, context, made),
                    verbscalls::vv_destroy_cq);
        }
    }

    /** Number of the next queue's log: 1 to 2^23 - 1. */
    int nextLog() {
        lastLog++;
        if (lastLog >= WorkLog.LOGS_MAX) {
            throw new IllegalStateException(
                    "more than " + WorkLog.LOGS_MAX + " queues were made; open the device anew");
        }
        return lastLog;
    }

    /** For tests: as if so many queues had been made. */
    void skipLogs(int count) {
        lastLog += count;
    }

    /** Arguments and results of calls; under the lock. */
    CallMemory memory() {
        return memory;
    }

    void remember(long address, VerbsObject queue) {
        queues.put(address, queue);
    }

    void forget(long address) {
        queues.remove(address);
    }

    VerbsObject queueAt(long address) {
        return queues.get(address);
    }

    void check(String call, int result) {
        if (result < 0) {
            throw failure(call, result, "");
        }
    }

    static int checkPort(int port) {
        if (port < 1 || port > 255) {
            throw new IllegalArgumentException("port " + port + "; ports are counted from 1");
        }
        return port;
    }

    @Override
    Object lock() {
        return this;
    }

    @Override
    String destroyCall() {
        return "ibv_close_device";
    }

    @Override
    int destroy(long address) {
        return verbscalls.vv_close_device(address);
    }

    @Override
    void onClosed() {
        memory.free();
    }
}
