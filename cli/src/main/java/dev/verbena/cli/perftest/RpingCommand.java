package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Columns;
import dev.verbena.cli.terminal.Json;
import dev.verbena.verbs.ConnectionChannel;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Ping over rdma_cm and RDMA, in the protocol of rdma-core's {@code rping}. */
@Command(
        name = "rping",
        description = {
            "Ping a peer by RDMA: the server reads the client's buffer and writes it back.",
            "Speaks the protocol of rdma-core's rping; either end may be that."
        },
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:all pings came back", "1:it failed", "3:no RDMA connections here"})
public final class RpingCommand extends CliCommand {
    private static final int NONE = 3;
    private static final long NS_PER_SECOND = 1_000_000_000L;
    private static final int PORT_MAX = 65535;

    /** Shorter ones have no room for the number, and C's rping refuses them. */
    private static final int SIZE_MIN = 32;

    private static final int SIZE_MAX = 1 << 30;

    @ArgGroup(multiplicity = "1")
    private Side side;

    /** One of the two. */
    static final class Side {
        @Option(
                names = {"-s", "--server"},
                description = "Wait for one client, and serve it.")
        private boolean isServer;

        @Option(
                names = {"-c", "--client"},
                description = "Ping a server.")
        private boolean isClient;
    }

    @Option(
            names = {"-a", "--address"},
            paramLabel = "ADDRESS",
            description = "Of the server, an address of its RDMA device. Default of a server: all.")
    private String address;

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            description = "Of the server. Default: ${DEFAULT-VALUE}, as rping's.")
    private int port = 7174;

    @Option(
            names = {"-C", "--count"},
            paramLabel = "N",
            description = "Pings. Default: 10 of a client; a server goes on until the client ends.")
    private Integer count;

    @Option(
            names = {"-S", "--size"},
            paramLabel = "BYTES",
            defaultValue = "64",
            description =
                    "Of a ping, from 32; the same at both ends, to 65535 with C's rping. Default:"
                            + " ${DEFAULT-VALUE}.")
    private int size;

    @Option(
            names = {"-V", "--verify"},
            description = "Client: compare every byte that comes back.")
    private boolean isVerifying;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            description =
                    "Longest wait for any answer, of a server for a client. Default:"
                            + " ${DEFAULT-VALUE}.")
    private int timeoutSeconds = 30;

    @Option(names = "--json", description = "Print JSON.")
    private boolean isJson;

    // Not the standard options: their -V is --verify here.
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help message and exit.")
    private boolean isHelp;

    @Override
    public Integer call() {
        check();
        PrintWriter out = out();
        String cause = ConnectionChannel.unavailabilityCause();
        if (cause != null) {
            DevicesCommand.printNone(out, cause, Columns.width());
            return NONE;
        }
        String host = address == null ? "0.0.0.0" : address;
        InetSocketAddress at = new InetSocketAddress(host, port);
        long timeoutNs = timeoutSeconds * NS_PER_SECOND;
        RpingResult result;
        if (side.isServer) {
            result = RpingServer.serve(at, size, count == null ? Long.MAX_VALUE : count, timeoutNs);
        } else {
            result = RpingClient.ping(at, size, count == null ? 10 : count, isVerifying, timeoutNs);
        }
        print(out, result);
        return 0;
    }

    private void check() {
        if (side.isClient && address == null) {
            throw wrong("a client needs --address of the server");
        }
        if (port < 1 || port > PORT_MAX) {
            throw wrong("--port " + port + "; 1 to 65535");
        }
        if (size < SIZE_MIN || size > SIZE_MAX) {
            throw wrong("--size " + size + "; " + SIZE_MIN + " to " + SIZE_MAX);
        }
        if (count != null && count < 1) {
            throw wrong("--count " + count + "; at least 1");
        }
        if (timeoutSeconds < 1) {
            throw wrong("--timeout " + timeoutSeconds + "; at least 1");
        }
        if (isVerifying && side.isServer) {
            throw wrong("--verify is for the client: only it knows what it sent");
        }
    }

    private void print(PrintWriter out, RpingResult result) {
        if (isJson) {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("side", side.isServer ? "server" : "client");
            json.put("peer", result.peer());
            json.put("device", result.device());
            json.put("count", result.count());
            json.put("size", result.size());
            json.put("verified", isVerifying);
            json.put("median_us", result.medianNs() / 1e3);
            out.println(Json.of(json));
        } else {
            out.printf(
                    "%d pings of %d bytes %s %s over %s, %s; median %.1f us%n",
                    result.count(),
                    result.size(),
                    side.isServer ? "from" : "to",
                    result.peer(),
                    result.device(),
                    isVerifying ? "every byte compared" : "not compared",
                    result.medianNs() / 1e3);
        }
        out.flush();
    }
}
