package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Columns;
import dev.verbena.ofi.FabricInfo;
import dev.verbena.ofi.OfiLibrary;
import dev.verbena.verbs.DeviceAttributes;
import dev.verbena.verbs.DeviceInfo;
import dev.verbena.verbs.GidEntry;
import dev.verbena.verbs.NumaAdvice;
import dev.verbena.verbs.PortAttributes;
import dev.verbena.verbs.RdmaDevice;
import dev.verbena.verbs.RdmaDevices;
import dev.verbena.verbs.VerbsException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Most of what {@code ibv_devinfo -v} shows, and what to do without a device. */
@Command(
        name = "devices",
        description = {
            "Show the RDMA devices of this machine: limits, ports, addresses, and which address"
                    + " Verbena would use and why.",
            "The names are those of ibv_devinfo -v."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:there is a device", "1:a device cannot be asked", "3:there is none"})
public final class DevicesCommand extends CliCommand {
    private static final int NONE = 3;

    /** Numbers that are bits or identifiers. */
    private static final List<String> IN_HEXADECIMAL =
            List.of(
                    ("max_mr_size page_size_cap vendor_id hw_ver device_cap_flags "
                                    + "device_cap_flags_ex general_odp_caps rc_odp_caps uc_odp_caps "
                                    + "ud_odp_caps xrc_odp_caps raw_packet_caps tso_supported_qpts "
                                    + "rss_supported_qpts rx_hash_function rx_hash_fields_mask "
                                    + "packet_pacing_supported_qpts tm_flags pci_fetch_add pci_swap "
                                    + "pci_compare_swap completion_timestamp_mask")
                            .split(" "));

    @Parameters(paramLabel = "NAME", arity = "0..1", description = "This device only.")
    private String name;

    @Option(
            names = "--ofi",
            description = "What libfabric offers to ofi:// instead, its preference first.")
    private boolean isOfi;

    @Override
    public Integer call() {
        PrintWriter out = out();
        if (isOfi) {
            return printOfi(out);
        }
        String cause = RdmaDevices.unavailabilityCause();
        List<DeviceInfo> devices = cause == null ? RdmaDevices.list() : List.of();
        if (devices.isEmpty()) {
            printNone(out, cause, Columns.width());
            return NONE;
        }
        StringWriter text = new StringWriter();
        boolean isShown = false;
        boolean isWell = true;
        for (DeviceInfo info : devices) {
            if (name == null || name.equals(info.name())) {
                isShown = true;
                isWell &= print(new PrintWriter(text), info);
            }
        }
        if (!isShown) {
            throw new IllegalArgumentException(
                    "no RDMA device '%s'; there are %s"
                            .formatted(name, devices.stream().map(DeviceInfo::name).toList()));
        }
        out.print(Columns.fold(text.toString(), Columns.width()));
        out.println("fork: " + RdmaDevices.forkStatus());
        out.flush();
        return isWell ? 0 : 1;
    }

    /** What {@code fi_info -t FI_EP_RDM} lists, of what the transport can use. */
    private static int printOfi(PrintWriter out) {
        String cause = OfiLibrary.unavailabilityCause();
        if (cause != null) {
            out.print(Columns.fold(cause + "\n", Columns.width()));
            return NONE;
        }
        List<FabricInfo> all = FabricInfo.list("", "", "", FabricInfo.MESSAGES | FabricInfo.RMA);
        out.println("libfabric " + OfiLibrary.version());
        out.printf(
                "%-16s %-12s %-20s %-8s %s%n",
                "provider", "domain", "fabric", "atomics", "progress");
        Set<String> lines = new LinkedHashSet<>();
        for (FabricInfo info : all) {
            boolean hasAtomics = hasAtomics(info.provider());
            lines.add(
                    String.format(
                            "%-16s %-12s %-20s %-8s %s",
                            info.provider(),
                            info.domainName(),
                            info.fabricName(),
                            hasAtomics ? "yes" : "no",
                            info.isProgressAutomatic() ? "by itself" : "in calls"));
        }
        all.forEach(FabricInfo::close);
        lines.forEach(out::println);
        out.flush();
        return all.isEmpty() ? NONE : 0;
    }

    private static boolean hasAtomics(String provider) {
        List<FabricInfo> found = FabricInfo.list(provider, "", "", FabricInfo.ATOMICS);
        boolean hasAtomics = found.stream().anyMatch(i -> i.provider().equals(provider));
        found.forEach(FabricInfo::close);
        return hasAtomics;
    }

    static void printNone(PrintWriter out, String cause, int width) {
        String text =
                (cause != null ? cause : "There is no RDMA device here.")
                        + """

                        What to do:
                          with a card: its driver must be loaded (lspci -k), and this user must be
                            allowed to open /dev/infiniband/uverbs*; verbena doctor looks at both
                          in a container: give it the device (docker run --device=/dev/infiniband)
                          without a card, as root, where the kernel has Soft-RoCE:
                            modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0
                          without a card and without root: ./verbena rdma-vm -- ./verbena devices
                            (a virtual machine that has Soft-RoCE)
                        shm://, portals:// and gni:// need no device.
                        """;
        out.print(Columns.fold(text, width));
        out.flush();
    }

    private static boolean print(PrintWriter out, DeviceInfo info) {
        out.println(info.name());
        line(out, "  ", "node_type", info.nodeType());
        line(out, "  ", "transport", info.transport());
        line(out, "  ", "file", "/dev/infiniband/" + info.uverbsName());
        String numaNode = fromSysfs(info, "device/numa_node", "not told (no PCI device)");
        line(out, "  ", "numa_node", numaNode);
        String advice = NumaAdvice.of(info.name());
        if (!advice.isEmpty()) {
            out.println("  " + advice);
        }
        try (RdmaDevice device = RdmaDevices.open(info.name())) {
            DeviceAttributes attributes = device.attributes();
            line(out, "  ", "fw_ver", attributes.firmware());
            line(out, "  ", "board_id", fromSysfs(info, "board_id", "not told"));
            printLimits(out, attributes.limits());
            line(out, "  ", "atomic_cap", attributes.atomicity());
            line(out, "  ", "num_comp_vectors", device.completionVectorCount());
            for (int port = 1; port <= attributes.portCount(); port++) {
                printPort(out, device, port);
            }
            return true;
        } catch (VerbsException e) {
            out.println("  " + e.getMessage());
            return false;
        }
    }

    private static void printLimits(PrintWriter out, Map<String, Long> limits) {
        limits.forEach(
                (limit, value) -> {
                    if (limit.endsWith("_guid")) {
                        line(out, "  ", limit, guid(value));
                    } else {
                        boolean isHex = IN_HEXADECIMAL.contains(limit);
                        line(out, "  ", limit, isHex ? "0x" + Long.toHexString(value) : value);
                    }
                });
    }

    private static void printPort(PrintWriter out, RdmaDevice device, int number) {
        PortAttributes port = device.port(number);
        out.println("  port " + number);
        line(out, "    ", "state", port.stateName());
        line(out, "    ", "max_mtu", port.mtuMax());
        line(out, "    ", "active_mtu", port.mtu());
        line(out, "    ", "sm_lid", port.subnetManagerLid());
        line(out, "    ", "port_lid", port.lid());
        line(out, "    ", "port_lmc", port.lidMask());
        line(out, "    ", "link_layer", port.linkLayer());
        line(out, "    ", "max_msg_sz", port.messageMax());
        line(out, "    ", "port_cap_flags", "0x" + Integer.toHexString(port.capabilities()));
        line(out, "    ", "max_vl_num", port.lanesCode());
        line(out, "    ", "bad_pkey_cntr", port.badPkeyCount());
        line(out, "    ", "qkey_viol_cntr", port.queueKeyCount());
        line(out, "    ", "sm_sl", port.subnetManagerLevel());
        line(out, "    ", "subnet_timeout", port.subnetTimeoutCode());
        line(out, "    ", "init_type_reply", port.initTypeReply());
        line(out, "    ", "pkey_tbl_len", port.pkeyCount());
        line(out, "    ", "gid_tbl_len", port.gidCount());
        line(out, "    ", "active_width", port.activeWidth());
        line(out, "    ", "active_speed", port.activeSpeed());
        line(out, "    ", "phys_state", port.physicalState());
        for (GidEntry entry : device.gids(number)) {
            line(
                    out,
                    "    ",
                    "GID[" + entry.index() + "]",
                    entry.gid() + ", " + entry.typeName() + ", " + entry.gid().address());
        }
        try {
            line(out, "    ", "chosen", device.chooseGid(number).reason());
        } catch (IllegalStateException e) {
            line(out, "    ", "chosen", "none: " + e.getMessage());
        }
    }

    private static void line(PrintWriter out, String indent, String what, Object value) {
        out.printf("%s%-27s %s%n", indent, what + ":", value);
    }

    private static String guid(long value) {
        return String.format(
                "%04x:%04x:%04x:%04x",
                value >>> 48, value >>> 32 & 0xffff, value >>> 16 & 0xffff, value & 0xffff);
    }

    private static String fromSysfs(DeviceInfo info, String file, String otherwise) {
        try {
            return Files.readString(Path.of(info.sysfsPath(), file)).strip();
        } catch (IOException e) {
            return otherwise;
        }
    }
}
