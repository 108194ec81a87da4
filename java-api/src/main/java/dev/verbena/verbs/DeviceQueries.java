package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.ArrayList;
import java.util.List;

/** The part of a device that asks it and its ports what they are and can. Thread-safe. */
abstract class DeviceQueries extends VerbsObject {
    private final DeviceInfo info;
    private final CallMemory memory = new CallMemory();

    DeviceQueries(DeviceInfo info, long address) {
        super("RDMA device " + info.name(), address, DestroyCall.DEVICE, List.of());
        this.info = info;
    }

    /** What the list of devices said of it. */
    public final DeviceInfo info() {
        return info;
    }

    /**
     * Asks the device for its limits.
     *
     * @throws VerbsException if it does not answer
     */
    public final DeviceAttributes attributes() {
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
    public final PortAttributes port(int port) {
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
    public final List<GidEntry> gids(int port) {
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
    public final GidEntry gid(int port, int index) {
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
    public final GidChoice chooseGid(int port) {
        return GidChoice.of(gids(port), port(port).isEthernet(), info.name() + " port " + port);
    }

    /**
     * A partition key, in this machine's byte order.
     *
     * @throws VerbsException for an index that the table does not have
     */
    public final int pkey(int port, int index) {
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
    public final int pkeyIndex(int port, int key) {
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
    public final long rawClockTicks() {
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
    public final int completionVectorCount() {
        return field(VerbsLayout.CONTEXT_NUM_COMP_VECTORS);
    }

    /**
     * Number of this process' file of the device. Another process that has got a duplicate of it,
     * by {@code SCM_RIGHTS}, makes the same context of that ({@link RdmaDevices#importDevice}).
     *
     * @throws IllegalStateException after close
     */
    public final int commandFile() {
        return field(VerbsLayout.CONTEXT_CMD_FD);
    }

    /** Arguments and results of calls; under the lock. */
    final CallMemory memory() {
        return memory;
    }

    static int checkPort(int port) {
        if (port < 1 || port > 255) {
            throw new IllegalArgumentException("port " + port + "; ports are counted from 1");
        }
        return port;
    }
}
