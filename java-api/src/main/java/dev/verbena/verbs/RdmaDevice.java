package dev.verbena.verbs;

import dev.verbena.agent.internal.Deadlines;
import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.IntHashSet;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * An open device: {@code struct ibv_context}. Protection domains and completion queues are made
 * from it. Thread-safe.
 */
public final class RdmaDevice extends VerbsObject {
    private static final int O_CREAT = 64;

    private final DeviceInfo info;
    private final CallMemory memory = new CallMemory();
    private final Long2ObjectHashMap<VerbsObject> queues = new Long2ObjectHashMap<>();
    private final IntHashSet openLogs = new IntHashSet();
    private int lastLog;

    /** How often the numbers of logs began anew. */
    private int logTurns;

    private int logsMax = WorkLog.LOGS_MAX;

    private RdmaDevice(DeviceInfo info, long address) {
        super("RDMA device " + info.name(), address, DestroyCall.DEVICE, List.of());
        this.info = info;
    }

    static RdmaDevice open(long device, DeviceInfo info) {
        long context =
                CallMemory.made(
                        "ibv_open_device",
                        "RDMA device " + info.name(),
                        "may this user open /dev/infiniband/" + info.uverbsName() + "?",
                        out -> verbscalls.vv_open_device(device, out));
        return opened(context, info);
    }

    static RdmaDevice opened(long context, DeviceInfo info) {
        verbscalls.vv_set_nonblocking(CallMemory.getInt(context + VerbsLayout.CONTEXT_ASYNC_FD));
        return adopt(null, context, DestroyCall.DEVICE, made -> new RdmaDevice(info, made));
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
        return field(VerbsLayout.CONTEXT_NUM_COMP_VECTORS);
    }

    /**
     * Number of this process' file of the device. Another process that has got a duplicate of it,
     * by {@code SCM_RIGHTS}, makes the same context of that ({@link RdmaDevices#importDevice}).
     *
     * @throws IllegalStateException after close
     */
    public int commandFile() {
        return field(VerbsLayout.CONTEXT_CMD_FD);
    }

    /** Arguments and results of calls; under the lock. */
    CallMemory memory() {
        return memory;
    }

    static int checkPort(int port) {
        if (port < 1 || port > 255) {
            throw new IllegalArgumentException("port " + port + "; ports are counted from 1");
        }
        return port;
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
        beginWaiting();
        try {
            int file = CallMemory.getInt(address() + VerbsLayout.CONTEXT_ASYNC_FD);
            check("poll", verbscalls.vv_wait(file, Deadlines.toMs(timeoutNs)));
        } finally {
            endWaiting();
        }
        return takeEvent();
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
            return AsyncEvent.isAboutAPort(type)
                    ? new AsyncEvent(type, null, port)
                    : new AsyncEvent(type, queues.get(element), 0);
        }
    }

    /**
     * Makes a protection domain.
     *
     * @throws VerbsException if the device has no more
     */
    public ProtectionDomain allocateProtectionDomain() {
        return create(
                "ibv_alloc_pd",
                out -> verbscalls.vv_alloc_pd(address(), out),
                DestroyCall.PROTECTION_DOMAIN,
                made -> new ProtectionDomain(this, made, false));
    }

    /**
     * Takes part in a protection domain of another context of this device, in another process as a
     * rule ({@code ibv_import_pd}). Closing gives it back; the domain itself is closed by the
     * process that made it, after all others.
     *
     * @param handle {@link ProtectionDomain#handle} there
     * @throws VerbsException if there is no such domain; {@link VerbsException#isUnsupported()}
     *     where the driver cannot
     */
    public ProtectionDomain importProtectionDomain(int handle) {
        return create(
                "ibv_import_pd",
                out -> verbscalls.vv_import_pd(address(), handle, out),
                DestroyCall.IMPORTED_PROTECTION_DOMAIN,
                made -> new ProtectionDomain(this, made, true));
    }

    /**
     * Takes some of the NIC's own memory; {@code max_dm_size} of {@link #attributes} says how much
     * there is.
     *
     * @param length bytes
     * @param alignmentLog2 its offset on the NIC is a multiple of 2 to this, 0 to 31
     * @throws IllegalArgumentException for a length or an alignment out of range
     * @throws VerbsException where the device has none ({@link VerbsException#isUnsupported()}), or
     *     no more
     */
    public DeviceMemory allocateDeviceMemory(long length, int alignmentLog2) {
        if (length < 1 || alignmentLog2 < 0 || alignmentLog2 > 31) {
            throw new IllegalArgumentException(
                    "length " + length + ", alignment 2 to " + alignmentLog2);
        }
        return create(
                "ibv_alloc_dm",
                out -> verbscalls.vv_alloc_dm(address(), length, alignmentLog2, out),
                DestroyCall.DEVICE_MEMORY,
                made -> new DeviceMemory(this, made, length, false));
    }

    /**
     * Takes part in device memory of another context of this device, in another process as a rule
     * ({@code ibv_import_dm}). Closing gives it back; the process that took it from the NIC frees
     * it.
     *
     * @param handle {@link DeviceMemory#handle} there
     * @param length its bytes, which the library does not tell
     * @throws IllegalArgumentException for less than one byte
     * @throws VerbsException if there is none; {@link VerbsException#isUnsupported()} where the
     *     driver cannot
     */
    public DeviceMemory importDeviceMemory(int handle, long length) {
        if (length < 1) {
            throw new IllegalArgumentException("length " + length);
        }
        return create(
                "ibv_import_dm",
                out -> verbscalls.vv_import_dm(address(), handle, out),
                DestroyCall.IMPORTED_DEVICE_MEMORY,
                made -> new DeviceMemory(this, made, length, true));
    }

    /**
     * Makes a table of receive queues that a queue pair spreads what it receives over ({@link
     * QueuePairContext#spread}).
     *
     * @param queues 2 to the n of them, of this device; one may be there several times
     * @throws IllegalArgumentException for another number, or queues of another device
     * @throws VerbsException where the device has none ({@link VerbsException#isUnsupported()}), or
     *     none of that size
     */
    public ReceiveTable createReceiveTable(ReceiveQueue... queues) {
        return ReceiveTable.make(this, List.of(queues));
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
            return create(
                    "ibv_open_xrcd",
                    out -> verbscalls.vv_open_xrcd(address(), at, out),
                    DestroyCall.XRC_DOMAIN,
                    made -> new XrcDomain(this, made));
        }
    }

    /**
     * Makes a thread domain.
     *
     * @throws VerbsException where the device has none ({@link VerbsException#isUnsupported()})
     */
    public ThreadDomain allocateThreadDomain() {
        return create(
                "ibv_alloc_td",
                out -> verbscalls.vv_alloc_td(address(), out),
                DestroyCall.THREAD_DOMAIN,
                made -> new ThreadDomain(this, made));
    }

    /**
     * Makes a channel on which completion queues announce completions.
     *
     * @throws VerbsException if the process has too many open files
     */
    public CompletionChannel createCompletionChannel() {
        return create(
                "ibv_create_comp_channel",
                out -> verbscalls.vv_create_comp_channel(address(), out),
                DestroyCall.COMPLETION_CHANNEL,
                made -> new CompletionChannel(this, made));
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
        CompletionQueueContext wanted = context.copy();
        wanted.conclude();
        synchronized (lock()) {
            long at = memory.argument();
            wanted.fill(at, this);
            check(
                    wanted.detailsToRead() == 0 ? "ibv_create_cq" : "ibv_create_cq_ex",
                    verbscalls.vv_create_cq(address(), at, memory.out()),
                    wanted + " was asked for");
            return adopt(
                    this,
                    memory.made(),
                    DestroyCall.COMPLETION_QUEUE,
                    made -> new CompletionQueue(this, wanted, made));
        }
    }

    /**
     * A log for one more queue, as {@link WorkLog}. Its number, from 1, may have been that of a
     * queue that was closed. Under the lock.
     */
    WorkLog newLog(VerbsObject queue, int capacity, int segmentsMax, boolean isInOrder) {
        if (openLogs.size() + 1 >= logsMax) {
            throw new IllegalStateException(
                    openLogs.size() + " logs of queues are open on " + this + "; close some first");
        }
        do {
            lastLog++;
            if (lastLog >= logsMax) {
                lastLog = 1;
                logTurns++;
            }
        } while (!openLogs.add(lastLog));
        return new WorkLog(queue, lastLog, logTurns, capacity, segmentsMax, isInOrder);
    }

    /** Its queue was closed. Under the lock. */
    void giveBack(WorkLog log) {
        openLogs.remove(log.number);
    }

    /** For tests: as if there were only the numbers below this one. */
    void logsMax(int max) {
        logsMax = max;
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

    @Override
    void onClosed(long formerAddress) {
        memory.free();
    }
}
