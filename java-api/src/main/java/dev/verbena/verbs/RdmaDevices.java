package dev.verbena.verbs;

import dev.verbena.rdma.VerbsAccess;
import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;

/**
 * The RDMA devices of this machine. Thread-safe.
 *
 * <p>Without libibverbs {@link #unavailabilityCause()} says so; without a device {@link #list()} is
 * empty.
 */
public final class RdmaDevices {
    private RdmaDevices() {}

    /** Why no device can be asked for, and what to do about it; null if libibverbs works. */
    public static String unavailabilityCause() {
        return VerbsAccess.unavailabilityCause();
    }

    /**
     * What {@code ibv_get_device_list} finds. Empty if there is no device, or no RDMA in the
     * kernel.
     *
     * @throws IllegalStateException without libibverbs, with the remedy
     */
    public static synchronized List<DeviceInfo> list() {
        List<DeviceInfo> found = new ArrayList<>();
        visit(
                (device, info) -> {
                    found.add(info);
                    return null;
                });
        return found;
    }

    /**
     * Opens a device by its name.
     *
     * @throws IllegalArgumentException if there is none of this name, with the names there are
     * @throws VerbsException if it cannot be opened
     */
    public static synchronized RdmaDevice open(String name) {
        List<String> names = new ArrayList<>();
        RdmaDevice opened =
                visit(
                        (device, info) -> {
                            names.add(info.name());
                            return info.name().equals(name) ? RdmaDevice.open(device, info) : null;
                        });
        if (opened == null) {
            throw new IllegalArgumentException(
                    "no RDMA device '%s'; %s"
                            .formatted(
                                    name,
                                    names.isEmpty() ? "there is none here" : "there are " + names));
        }
        return opened;
    }

    /**
     * Makes a context of a device that another one has opened, in another process as a rule, from
     * its file ({@code ibv_import_device}); protection domains and regions of that one can be
     * imported into it. The file is duplicated: the given one stays the caller's.
     *
     * @param file number of an open file of this process, got from {@link RdmaDevice#commandFile()}
     *     there
     * @throws VerbsException for a file of no RDMA device; {@link VerbsException#isUnsupported()}
     *     where the driver cannot, as Soft-RoCE's
     */
    public static synchronized RdmaDevice importDevice(int file) {
        VerbsAccess.open();
        long context =
                CallMemory.made(
                        "ibv_import_device",
                        "file " + file,
                        "only a file of an open RDMA device will do, and few drivers can",
                        out -> verbscalls.vv_import_device(file, out));
        return RdmaDevice.opened(context, describe(verbscalls.vv_device_of(context)));
    }

    /**
     * Makes {@code fork} safe for memory that is registered from now on ({@code ibv_fork_init}).
     * Needed on kernels older than 5.12 only.
     *
     * @throws VerbsException if it is too late
     */
    public static void initFork() {
        VerbsAccess.open();
        VerbsException.check(
                "ibv_fork_init",
                verbscalls.vv_fork_init(),
                "this process",
                "it must come before the first registration");
    }

    /** {@code disabled}, {@code enabled} or {@code unneeded} (kernel 5.12 and newer). */
    public static String forkStatus() {
        VerbsAccess.open();
        return switch (verbscalls.vv_fork_status()) {
            case VerbsLayout.IBV_FORK_ENABLED -> "enabled";
            case VerbsLayout.IBV_FORK_UNNEEDED -> "unneeded";
            default -> "disabled";
        };
    }

    /** Takes devices until it answers one. */
    private interface Visitor {
        RdmaDevice onDevice(long device, DeviceInfo info);
    }

    private static RdmaDevice visit(Visitor visitor) {
        VerbsAccess.open();
        long out = UnsafeApi.allocateMemory(8);
        try {
            int count = verbscalls.vv_device_list(out);
            if (count == -38) {
                return null; // ENOSYS: a kernel without RDMA
            }
            VerbsException.check("ibv_get_device_list", count, "this machine", "");
            long list = UnsafeApi.getLong(null, out);
            try {
                RdmaDevice opened = null;
                for (int i = 0; i < count && opened == null; i++) {
                    long device = verbscalls.vv_device(list, i);
                    opened = visitor.onDevice(device, describe(device));
                }
                return opened;
            } finally {
                verbscalls.vv_device_list_free(list);
            }
        } finally {
            UnsafeApi.freeMemory(out);
        }
    }

    private static DeviceInfo describe(long device) {
        return new DeviceInfo(
                CallMemory.text(device + VerbsLayout.DEVICE_NAME, VerbsLayout.IBV_SYSFS_NAME_MAX),
                verbscalls.vv_device_guid(device),
                nodeType(CallMemory.getInt(device + VerbsLayout.DEVICE_NODE_TYPE)),
                transport(CallMemory.getInt(device + VerbsLayout.DEVICE_TRANSPORT_TYPE)),
                CallMemory.text(
                        device + VerbsLayout.DEVICE_DEV_NAME, VerbsLayout.IBV_SYSFS_NAME_MAX),
                CallMemory.text(
                        device + VerbsLayout.DEVICE_IBDEV_PATH, VerbsLayout.IBV_SYSFS_PATH_MAX));
    }

    private static String nodeType(int type) {
        return switch (type) {
            case VerbsLayout.IBV_NODE_CA -> "InfiniBand channel adapter";
            case VerbsLayout.IBV_NODE_SWITCH -> "InfiniBand switch";
            case VerbsLayout.IBV_NODE_ROUTER -> "InfiniBand router";
            case VerbsLayout.IBV_NODE_RNIC -> "iWARP NIC";
            case VerbsLayout.IBV_NODE_USNIC, VerbsLayout.IBV_NODE_USNIC_UDP -> "usNIC";
            case VerbsLayout.IBV_NODE_UNSPECIFIED -> "unspecified";
            default -> "unknown";
        };
    }

    private static String transport(int type) {
        return switch (type) {
            case VerbsLayout.IBV_TRANSPORT_IB -> "InfiniBand";
            case VerbsLayout.IBV_TRANSPORT_IWARP -> "iWARP";
            case VerbsLayout.IBV_TRANSPORT_USNIC, VerbsLayout.IBV_TRANSPORT_USNIC_UDP -> "usNIC";
            case VerbsLayout.IBV_TRANSPORT_UNSPECIFIED -> "unspecified";
            default -> "unknown";
        };
    }
}
