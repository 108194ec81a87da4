package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Json;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.verbs.ConnectionChannel;
import dev.verbena.verbs.GidEntry;
import dev.verbena.verbs.PortAttributes;
import dev.verbena.verbs.RdmaDevice;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * {@code lat write} and its seven sisters: measures over an RDMA device, with another Verbena or
 * with the program of perftest of the same kind at the other end.
 */
@Command(
        sortOptions = false,
        usageHelpAutoWidth = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:measured", "1:it failed", "2:wrong arguments"})
public final class PerftestCommand extends CliCommand {
    private static final int CYCLE = 4096;
    private static final int CACHE_LINE = 64;
    private static final int CYCLE_MAX = 1 << 20;
    private static final int CACHE_LINE_MAX = 4096;
    private static final long CONNECT_MS = 10_000;

    @Mixin private PerftestOptions options;

    private final PerftestTool tool;
    private final List<Map<String, Object>> results = new ArrayList<>();

    private PerftestCommand(PerftestTool tool) {
        this.tool = tool;
    }

    /** Adds its measurements below {@code lat}, and below {@code bw}; others have none. */
    public static void addTo(String name, CommandLine command) {
        for (PerftestTool tool : PerftestTool.values()) {
            if (name.equals(tool.isLatency() ? "lat" : "bw")) {
                CommandLine below = new CommandLine(new PerftestCommand(tool));
                below.getCommandSpec().usageMessage().description(tool.description);
                command.addSubcommand(tool.word(), below);
            }
        }
    }

    @Override
    public Integer call() throws IOException {
        options.conclude(spec, tool);
        PrintWriter out = out();
        if (options.isManaged) {
            measureManaged(out);
            return 0;
        }
        try (RdmaDevice device = options.openDevice()) {
            PortAttributes port = device.port(options.devicePort);
            if (port.state() != PortAttributes.ACTIVE) {
                throw new Messages.Failure(
                        "port %s of %s is %s",
                        options.devicePort, device.info().name(), port.stateName());
            }
            GidEntry gid = options.gid(device, "-x", options.gidIndex, reason -> say(out, reason));
            int mtu = mtu(options.mtu, port.mtu(), options.devicePort);
            IntConsumer listening = at -> say(out, "waiting for a client on port " + at);
            try (BootstrapSocket link = options.meet(options.host, CONNECT_MS, listening)) {
                measure(device, mtu, gid, link, out);
            }
        }
        out.flush();
        return 0;
    }

    /** The device is the one that leads to the other side. */
    private void measureManaged(PrintWriter out) throws IOException {
        try (BootstrapQueue link = link(out)) {
            RdmaDevice device = link.device();
            if (options.device != null && !options.device.equals(device.info().name())) {
                throw new Messages.Failure(
                        "-d " + options.device + ": rdma_cm came by " + device.info().name());
            }
            options.useDevicePort(link.devicePort());
            int mtu = mtu(options.mtu, device.port(options.devicePort).mtu(), options.devicePort);
            measure(device, mtu, null, link, out);
        }
        out.flush();
    }

    private BootstrapQueue link(PrintWriter out) throws IOException {
        String cause = ConnectionChannel.unavailabilityCause();
        if (cause != null) {
            throw new Messages.Failure(cause + "; verbena devices says what to do");
        }
        if (options.host != null) {
            InetAddress host = InetAddress.getByName(options.host);
            return BootstrapQueue.connect(new InetSocketAddress(host, options.port), CONNECT_MS);
        }
        InetAddress address =
                InetAddress.getByName(options.bind == null ? "0.0.0.0" : options.bind);
        return BootstrapQueue.accept(
                new InetSocketAddress(address, options.port),
                port -> say(out, "waiting for a client on port " + port));
    }

    /** Length of a packet that this side wants. */
    static int mtu(Integer asked, int portsMtu, int port) {
        if (asked != null && asked > portsMtu) {
            throw new Messages.Failure(
                    "-m %s: packets of port %s have %s bytes at most now", asked, port, portsMtu);
        }
        return asked == null ? portsMtu : asked;
    }

    private void measure(
            RdmaDevice device, int ownMtu, GidEntry gid, BootstrapLink link, PrintWriter out)
            throws IOException {
        PerftestWire wire = new PerftestWire(link);
        boolean isVerbena = wire.exchangeVersions();
        int cycle = agreed("cycle buffer", wire.exchangeInt(CYCLE), CYCLE, CYCLE_MAX);
        int line = agreed("cache line", wire.exchangeInt(CACHE_LINE), CACHE_LINE, CACHE_LINE_MAX);
        int mtu = wire.exchangeMtu(ownMtu);
        List<Integer> sizes = options.sizes(mtu);
        say(
                out,
                "%s over %s, the other side is %s; packets of %s bytes"
                        .formatted(
                                tool.program(),
                                device.info().name(),
                                isVerbena ? "a Verbena" : "perftest",
                                mtu));
        try (PerftestEndpoint endpoint =
                new PerftestEndpoint(
                        device,
                        options,
                        gid,
                        new PerftestEndpoint.Agreement(cycle, line, mtu),
                        sizes.get(sizes.size() - 1))) {
            PerftestSession session =
                    new PerftestSession(wire, endpoint, options, isVerbena, sizes);
            boolean hasTable = !(tool.isLatency() && !tool.isPingPong() && !link.isClient());
            if (hasTable && !options.isJson) {
                out.println(PerftestReport.RULE);
                out.println(
                        tool.isLatency() && options.hasDuration()
                                ? PerftestReport.durationHeader()
                                : PerftestReport.header(tool.isLatency(), options.isGigabits));
            }
            session.run(report -> print(out, report));
            if (hasTable && !options.isJson) {
                out.println(PerftestReport.RULE);
            }
        }
        printJson(device, gid, mtu, out);
    }

    /** The larger one of both sides'. */
    private static int agreed(String what, int theirs, int mine, int most) {
        if (theirs < 1 || theirs > most || Integer.bitCount(theirs) != 1) {
            throw new Messages.Failure(
                    "the other side does not speak as perftest does: a " + what + " of " + theirs);
        }
        return Math.max(mine, theirs);
    }

    private void print(PrintWriter out, PerftestReport report) {
        results.add(report.fields());
        if (!options.isJson) {
            out.println(report.line());
            out.flush();
        }
    }

    private void printJson(RdmaDevice device, GidEntry gid, int mtu, PrintWriter out) {
        if (!options.isJson) {
            return;
        }
        Map<String, Object> info = new LinkedHashMap<>();
        info.put("test", tool.name());
        info.put("Device", device.info().name());
        info.put("Number_of_qps", options.queues);
        info.put("Connection_type", options.connection.name());
        info.put("TX_depth", options.sendDepth());
        info.put("CQ_Moderation", tool.isLatency() ? 1 : options.moderation());
        info.put("Mtu", mtu);
        info.put("GID_index", gid == null ? null : gid.index());
        info.put("Max_inline_data", options.inline);
        info.put("unit", tool.isLatency() ? "usec" : options.isGigabits ? "Gb/sec" : "MiB/sec");
        info.put("java", System.getProperty("java.version"));
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("test_info", info);
        all.put("results", results);
        out.println(Json.of(all));
    }

    /** What people want to know, and programs that read JSON do not. */
    private void say(PrintWriter out, String text) {
        if (!options.isJson) {
            out.println("# " + text);
            out.flush();
        }
    }
}
