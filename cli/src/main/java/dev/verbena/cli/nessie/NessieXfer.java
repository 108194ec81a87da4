package dev.verbena.cli.nessie;

import dev.verbena.agent.JobGroup;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.nessie.nnti.NntiException;
import dev.verbena.nessie.xfer.DataArray;
import dev.verbena.nessie.xfer.Distribution;
import dev.verbena.nessie.xfer.Validation;
import dev.verbena.nessie.xfer.XferClient;
import dev.verbena.nessie.xfer.XferException;
import dev.verbena.nessie.xfer.XferMethod;
import dev.verbena.nessie.xfer.XferPlan;
import dev.verbena.nessie.xfer.XferReport;
import dev.verbena.nessie.xfer.XferRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.agrona.CloseHelper;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code nessie xfer}. */
@Command(
        name = "xfer",
        description = {
            "Transfer arrays to or from servers, and measure that.",
            "Starts the servers, in a process of their own, unless --server-url-file names some"
                    + " that run."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class NessieXfer extends CliCommand {
    private static final long LOOK_MS = 20;
    private static final long SERVERS_MS = 60_000;
    private static final long END_MS = 5_000;
    private static final long TRANSFER_MS = 60_000;

    /** Two ways of posting for each way of moving. */
    static final class Methods implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            List<String> names = new ArrayList<>();
            for (XferMethod method : XferMethod.values()) {
                names.add(method + "-sync");
                names.add(method + "-async");
            }
            return names.iterator();
        }
    }

    @Option(
            names = "--io-method",
            paramLabel = "METHOD",
            defaultValue = "write-rdma-sync",
            completionCandidates = Methods.class,
            description = "${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    private String ioMethod;

    @Option(
            names = "--len",
            paramLabel = "N",
            defaultValue = "1",
            description = "Structures of 16 bytes in a request; default ${DEFAULT-VALUE}.")
    private int count;

    @Option(
            names = "--num-reqs",
            paramLabel = "N",
            defaultValue = "1",
            description = "Requests of a client in a trial; default ${DEFAULT-VALUE}.")
    private int requests;

    @Option(
            names = "--num-trials",
            paramLabel = "N",
            defaultValue = "1",
            description = "Trials; default ${DEFAULT-VALUE}.")
    private int trials;

    @Option(
            names = "--clients",
            paramLabel = "N",
            defaultValue = "1",
            description = "Clients, which one thread runs in turn; default ${DEFAULT-VALUE}.")
    private int clientCount;

    @Option(names = "--rr-distribution", description = "Clients take the servers in turn.")
    private boolean isRoundRobin;

    @Option(
            names = "--validate",
            paramLabel = "HOW",
            defaultValue = "full",
            description =
                    "full: compare each element; crc: compare checksums; none. Default:"
                            + " ${DEFAULT-VALUE}.")
    private String validate;

    @Option(
            names = "--server-url-file",
            paramLabel = "FILE",
            description = "Use these servers, of the same --transport and --job.")
    private Path urlFile;

    @Option(names = "--keep-servers", description = "Do not end those servers.")
    private boolean isKeeping;

    @Option(
            names = "--timeout",
            paramLabel = "MS",
            defaultValue = "500",
            description =
                    "How long a server may take to answer at first, before it is asked again;"
                            + " default ${DEFAULT-VALUE}.")
    private int connectMs;

    @Option(
            names = "--result-file",
            paramLabel = "FILE",
            description = "Write the table there, too.")
    private Path resultFile;

    @Option(
            names = "--result-file-mode",
            paramLabel = "a|w",
            defaultValue = "w",
            description = "Append, or begin anew; default ${DEFAULT-VALUE}.")
    private String resultMode;

    @Mixin private XferOptions options;

    private ChildProcess child;

    @Override
    public Integer call() throws Exception {
        XferPlan plan = plan();
        try (Termination termination = new Termination(10_000)) {
            if (urlFile != null) {
                measure(termination, plan, urlFile, options.job());
                return 0;
            }
            Path folder = Files.createTempDirectory("verbena-xfer");
            Path urls = folder.resolve("servers");
            try {
                String job = "xfer" + ProcessHandle.current().pid();
                start(urls, job);
                measure(termination, plan, urls, job);
                return 0;
            } finally {
                end();
                Files.deleteIfExists(urls);
                Files.deleteIfExists(folder);
            }
        }
    }

    private XferPlan plan() {
        options.check(spec);
        inRange("--len", count, 1, DataArray.COUNT_MAX);
        inRange("--num-reqs", requests, 1, 1 << 20);
        inRange("--num-trials", trials, 1, 1 << 20);
        inRange("--clients", clientCount, 1, 128);
        inRange("--timeout", connectMs, 1, Integer.MAX_VALUE);
        if (!resultMode.equals("a") && !resultMode.equals("w")) {
            throw wrong("--result-file-mode %s is neither a nor w", resultMode);
        }
        boolean isAsync = ioMethod.endsWith("-async");
        for (XferMethod method : XferMethod.values()) {
            if (ioMethod.equals(method + (isAsync ? "-async" : "-sync"))) {
                return new XferPlan(method, isAsync, count, requests, trials, validation());
            }
        }
        throw wrong("--io-method %s: there is no such method", ioMethod);
    }

    private Validation validation() {
        for (Validation each : Validation.values()) {
            if (each.name().equalsIgnoreCase(validate)) {
                return each;
            }
        }
        throw wrong("--validate %s is none of full, crc, none", validate);
    }

    private void start(Path urls, String job) {
        List<String> words = new ArrayList<>(List.of("nessie", "xfer-server"));
        words.add("--server-url-file");
        words.add(urls.toString());
        words.addAll(options.words(job));
        child =
                ChildProcess.start(
                        "xfer-server", null, Map.of(), List.of("-Xmx512m"), words, line -> {});
    }

    private void end() {
        if (child != null) {
            child.end(END_MS);
        }
    }

    private void measure(Termination termination, XferPlan plan, Path urls, String job)
            throws IOException, InterruptedException {
        List<String> servers = await(termination, urls);
        Distribution distribution = isRoundRobin ? Distribution.ROUND_ROBIN : Distribution.BLOCK;
        List<XferClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < clientCount; i++) {
                int server = distribution.serverOf(i, clientCount, servers.size());
                clients.add(client(servers.get(server), job));
            }
            report(new XferRun(clients, plan, SystemNanoClock.INSTANCE).run());
            if (!isKeeping) {
                kill(servers, job);
            }
        } catch (XferException | NntiException e) {
            throw new Messages.Failure(e.getMessage());
        } finally {
            CloseHelper.quietCloseAll(clients);
        }
    }

    private XferClient client(String url, String job) {
        return XferClient.connect(
                options.open(job), url, connectMs, TRANSFER_MS, Messages.to(err()));
    }

    private void kill(List<String> servers, String job) {
        for (String server : servers) {
            try (XferClient client = client(server, job)) {
                client.kill();
            }
        }
    }

    private List<String> await(Termination termination, Path urls)
            throws IOException, InterruptedException {
        long begin = System.nanoTime();
        List<String> found;
        while ((found = JobGroup.readUrls(urls)) == null) {
            if (child != null && !child.isAlive()) {
                throw new Messages.Failure(child.exitSummary());
            }
            if (termination.await(LOOK_MS) || System.nanoTime() - begin > SERVERS_MS * 1_000_000) {
                throw new Messages.Failure("no servers are named in %s".formatted(urls));
            }
        }
        return found;
    }

    private void report(XferReport report) {
        say(XferReport.HEADER);
        say(report.row());
        if (resultFile != null) {
            List<String> lines = List.of(XferReport.HEADER, report.row());
            OutputFolder.write(
                    "--result-file",
                    resultFile,
                    () ->
                            Files.write(
                                    resultFile,
                                    lines,
                                    StandardOpenOption.CREATE,
                                    StandardOpenOption.WRITE,
                                    resultMode.equals("a")
                                            ? StandardOpenOption.APPEND
                                            : StandardOpenOption.TRUNCATE_EXISTING));
        }
    }
}
