package dev.verbena.cli.perftest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.cli.VerbenaCommand;
import dev.verbena.verbs.GidEntry;
import dev.verbena.verbs.PortAttributes;
import dev.verbena.verbs.RdmaDevice;
import dev.verbena.verbs.RdmaDevices;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Our commands and C programs, in pairs over this machine's RDMA device. */
final class VerbsPrograms {
    private static final long LIMIT_SECONDS = 100;
    private static final Pattern PORT = Pattern.compile("waiting for a client on port (\\d+)");

    /** What a program ended with and printed. */
    record Ended(int code, String text) {
        Ended assertWell() {
            assertThat(code).as("%s", text).isZero();
            return this;
        }
    }

    /** Both sides of a pair. */
    record Both(Ended server, Ended client) {
        Both assertWell() {
            assertThat(server.code() | client.code())
                    .as(
                            "server %d: %s%nclient %d: %s",
                            server.code, server.text, client.code, client.text)
                    .isZero();
            return this;
        }
    }

    final String device;
    final int gidIndex;

    private final String address;

    private VerbsPrograms(String device, GidEntry gid) {
        this.device = device;
        this.gidIndex = gid.index();
        this.address = gid.gid().address();
    }

    /** Where a server is found: rdma_cm knows the device's own address only. */
    private String host(List<String> options) {
        return options.contains("-R") ? address : "127.0.0.1";
    }

    /** On this machine's first active device; skips, or fails where one is required, without. */
    static VerbsPrograms here() {
        String cause = RdmaDevices.unavailabilityCause();
        if (cause == null) {
            for (var info : RdmaDevices.list()) {
                try (RdmaDevice device = RdmaDevices.open(info.name())) {
                    if (device.port(1).state() == PortAttributes.ACTIVE) {
                        return new VerbsPrograms(info.name(), device.chooseGid(1).entry());
                    }
                } catch (dev.verbena.verbs.VerbsException e) {
                    cause = e.getMessage();
                }
            }
        }
        assertThat(Boolean.getBoolean("verbena.verbs.required"))
                .as("a device is required: %s", cause)
                .isFalse();
        assumeTrue(
                false,
                "no RDMA device here; ./verbena test --tier vm runs this in a virtual machine");
        return null;
    }

    /** A C server, our command as its client. */
    Both ourClient(List<String> theirs, List<String> ours) throws Exception {
        int port = freePort();
        Process server = start(plus(theirs, "-p", Integer.toString(port)));
        FutureTask<String> printed = collect(server);
        Ended client =
                run(plus(ours, "-p", Integer.toString(port), host(ours)), new StringWriter());
        return new Both(end(server, printed), client);
    }

    /** Our command as the server, a C client. */
    Both ourServer(List<String> ours, List<String> theirs) throws Exception {
        StringWriter out = new StringWriter();
        FutureTask<Ended> server = new FutureTask<>(() -> run(plus(ours, "-p", "0"), out));
        new Thread(server, "server").start();
        String port = awaitPort(out, server);
        Process client = start(plus(theirs, "-p", port, host(theirs)));
        Ended ended = end(client, collect(client));
        return new Both(server.get(LIMIT_SECONDS, TimeUnit.SECONDS), ended);
    }

    /** Our command on both sides. */
    Both ours(List<String> server, List<String> client) throws Exception {
        StringWriter out = new StringWriter();
        FutureTask<Ended> serving = new FutureTask<>(() -> run(plus(server, "-p", "0"), out));
        new Thread(serving, "server").start();
        String port = awaitPort(out, serving);
        Ended ended = run(plus(client, "-p", port, host(client)), new StringWriter());
        return new Both(serving.get(LIMIT_SECONDS, TimeUnit.SECONDS), ended);
    }

    private static Ended run(List<String> arguments, StringWriter out) {
        PrintWriter writer = new PrintWriter(out, true);
        int code = VerbenaCommand.run(writer, writer, arguments.toArray(new String[0]));
        return new Ended(code, out.toString());
    }

    private static String awaitPort(StringWriter out, FutureTask<Ended> server) throws Exception {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (true) {
            Matcher matcher = PORT.matcher(out.toString());
            if (matcher.find()) {
                return matcher.group(1);
            }
            assertThat(server.isDone()).as("the server ended: %s", out).isFalse();
            assertThat(deadlineNs - System.nanoTime()).as("no server: %s", out).isPositive();
            Thread.onSpinWait();
            Thread.yield();
        }
    }

    private static Process start(List<String> command) throws IOException {
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static FutureTask<String> collect(Process process) {
        FutureTask<String> printed =
                new FutureTask<>(
                        () ->
                                new String(
                                        process.getInputStream().readAllBytes(),
                                        StandardCharsets.UTF_8));
        new Thread(printed, "output").start();
        return printed;
    }

    private static Ended end(Process process, FutureTask<String> printed) throws Exception {
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            return new Ended(-1, "did not end: " + printed.get());
        }
        return new Ended(process.exitValue(), printed.get());
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    static List<String> plus(List<String> list, String... more) {
        List<String> all = new ArrayList<>(list);
        all.addAll(Arrays.asList(more));
        return all;
    }
}
