package dev.verbena.verbs.transport;

import dev.verbena.transport.TransportException;
import dev.verbena.verbs.DeviceInfo;
import dev.verbena.verbs.PortAttributes;
import dev.verbena.verbs.RdmaDevice;
import dev.verbena.verbs.RdmaDevices;
import dev.verbena.verbs.VerbsException;
import java.util.List;

/** Finds the device that a transport uses. */
final class DeviceSearch {
    private static final String REMEDY =
            "; ./verbena devices says more, and ./verbena rdma-vm -- COMMAND runs a command in a"
                    + " virtual machine that has one";

    private DeviceSearch() {}

    /** Why no device can be used; null if one can. */
    static String unavailabilityCause() {
        try {
            open("", 1).close();
            return null;
        } catch (TransportException e) {
            return e.getMessage();
        }
    }

    /**
     * Opens a device.
     *
     * @param name empty: the first whose port is active
     * @throws TransportException if there is none that works, with the reason of each
     */
    static RdmaDevice open(String name, int port) {
        List<DeviceInfo> found = RdmaDevices.list();
        if (found.isEmpty()) {
            throw new TransportException("no RDMA device here" + REMEDY);
        }
        StringBuilder reasons = new StringBuilder();
        for (DeviceInfo info : found) {
            if (!name.isEmpty() && !name.equals(info.name())) {
                reasons.append("; ").append(info.name()).append(" was not asked for");
                continue;
            }
            RdmaDevice device = tryOpen(info, port, reasons);
            if (device != null) {
                return device;
            }
        }
        throw new TransportException("no RDMA device can be used" + reasons + REMEDY);
    }

    private static RdmaDevice tryOpen(DeviceInfo info, int port, StringBuilder reasons) {
        RdmaDevice device = null;
        try {
            device = RdmaDevices.open(info.name());
            PortAttributes attributes = device.port(port);
            if (attributes.state() == PortAttributes.ACTIVE) {
                return device;
            }
            reasons.append("; ").append(info.name()).append(" port ").append(port);
            reasons.append(" is ").append(attributes.stateName());
        } catch (VerbsException e) {
            reasons.append("; ").append(e.getMessage());
        }
        if (device != null) {
            device.close();
        }
        return null;
    }
}
