package dev.verbena.verbs;

/**
 * A device in the list of those that are here, not opened. A snapshot.
 *
 * @param name kernel's name, {@code mlx5_0}
 * @param guid of the node; 0 if it has none
 * @param nodeType {@code InfiniBand channel adapter} and the like
 * @param transport {@code InfiniBand} (RoCE too) or {@code iWARP}
 * @param uverbsName file under {@code /dev/infiniband}
 * @param sysfsPath folder of the device in sysfs
 */
public record DeviceInfo(
        String name,
        long guid,
        String nodeType,
        String transport,
        String uverbsName,
        String sysfsPath) {}
