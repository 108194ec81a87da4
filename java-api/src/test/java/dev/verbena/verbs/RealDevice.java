package dev.verbena.verbs;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;

/**
 * The real device of this machine, if it has one: a NIC, or Soft-RoCE in the virtual machine. With
 * {@code -Dverbena.verbs.required=true} a missing one is a failure instead of a skip.
 */
final class RealDevice {
    private static final String SKIP =
            "no RDMA device here; ./verbena test --tier vm runs this in a virtual machine";

    private RealDevice() {}

    /** Opens the first device with an active port 1; the caller closes it. */
    static RdmaDevice open() {
        boolean isRequired = Boolean.getBoolean("verbena.verbs.required");
        String cause = RdmaDevices.unavailabilityCause();
        List<DeviceInfo> devices = cause == null ? RdmaDevices.list() : List.of();
        for (DeviceInfo info : devices) {
            RdmaDevice device = opened(info, isRequired);
            if (device != null && device.port(1).state() == PortAttributes.ACTIVE) {
                return device;
            }
            if (device != null) {
                device.close();
            }
        }
        if (isRequired) {
            throw new AssertionError(
                    "a device is required: " + (cause != null ? cause : "found " + devices));
        }
        assumeTrue(false, SKIP);
        return null;
    }

    /** Null where it is listed and may not be opened, as in a container. */
    private static RdmaDevice opened(DeviceInfo info, boolean isRequired) {
        try {
            return RdmaDevices.open(info.name());
        } catch (VerbsException e) {
            if (isRequired) {
                throw e;
            }
            return null;
        }
    }
}
