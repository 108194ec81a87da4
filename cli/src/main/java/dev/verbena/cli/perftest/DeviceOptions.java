package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.verbs.DeviceInfo;
import dev.verbena.verbs.GidChoice;
import dev.verbena.verbs.GidEntry;
import dev.verbena.verbs.PortAttributes;
import dev.verbena.verbs.RdmaDevice;
import dev.verbena.verbs.RdmaDevices;
import java.io.IOException;
import java.net.InetAddress;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import picocli.CommandLine.Option;

/**
 * Options of commands over a device: the device, its port, and the address of the bootstrap.
 * Letters and meanings are those of perftest and of rdma-core's programs.
 */
abstract class DeviceOptions {
    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            description = "TCP port on which both sides meet. Default: ${DEFAULT-VALUE}.")
    int port = 18515;

    @Option(
            names = "--bind",
            paramLabel = "ADDRESS",
            description = "A server listens on this address only. Default: on all.")
    String bind;

    @Option(
            names = {"-d", "--ib-dev"},
            paramLabel = "DEVICE",
            description = "RDMA device. Default: the first with an active port.")
    String device;

    @Option(
            names = {"-i", "--ib-port"},
            paramLabel = "N",
            description = "Port of the device. Default: ${DEFAULT-VALUE}.")
    int devicePort = 1;

    /** Replaces the port that was asked for by the one that leads to the other side. */
    final void useDevicePort(int number) {
        devicePort = number;
    }

    /** Opens the device that was asked for, or the first whose port is active. */
    final RdmaDevice openDevice() {
        String cause = RdmaDevices.unavailabilityCause();
        if (cause != null) {
            throw new Messages.Failure(cause + "; verbena devices says what to do");
        }
        if (device != null) {
            return RdmaDevices.open(device);
        }
        for (DeviceInfo info : RdmaDevices.list()) {
            RdmaDevice opened = RdmaDevices.open(info.name());
            if (opened.attributes().portCount() >= devicePort
                    && opened.port(devicePort).state() == PortAttributes.ACTIVE) {
                return opened;
            }
            opened.close();
        }
        throw new Messages.Failure(
                ("no RDMA device here has an active port %s; verbena devices says what " + "to do")
                        .formatted(devicePort));
    }

    /**
     * The address of the port that packets come from; null for none, on InfiniBand.
     *
     * @param option that asks for one
     * @param index asked for; -1: chosen
     * @param reason gets why it was chosen
     */
    final GidEntry gid(RdmaDevice opened, String option, int index, Consumer<String> reason) {
        if (index >= 0) {
            return present(opened.gid(devicePort, index), option + ": entry " + index, devicePort);
        }
        if (!opened.port(devicePort).isEthernet()) {
            return null;
        }
        GidChoice choice = opened.chooseGid(devicePort);
        reason.accept(choice.reason());
        return choice.entry();
    }

    /** An entry that is there. */
    static GidEntry present(GidEntry entry, String what, int port) {
        if (entry == null) {
            throw new Messages.Failure(
                    what + " of port " + port + " is empty; verbena devices shows the table");
        }
        return entry;
    }

    /**
     * Connects to the other side.
     *
     * @param host of the server; null to be it
     * @param patienceMs of a client
     * @param listening gets the port that a server listens on
     */
    final BootstrapSocket meet(String host, long patienceMs, IntConsumer listening)
            throws IOException {
        return host != null
                ? BootstrapSocket.connect(host, port, patienceMs)
                : BootstrapSocket.accept(
                        bind == null ? null : InetAddress.getByName(bind), port, listening);
    }
}
