package dev.verbena.cli.nessie;

import dev.verbena.agent.JobGroup;
import dev.verbena.agent.JobGroupException;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.nessie.nnti.NntiException;
import dev.verbena.nessie.rpc.RpcClient;
import dev.verbena.nessie.rpc.RpcException;
import dev.verbena.nessie.rpc.RpcServerOptions;
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
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.agrona.IoUtil;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine.ArgGroup;
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
        sortOptions = false)
public final class NessieXfer extends CliCommand {
    private static final long LOOK_MS = 20;
    private static final long SERVERS_MS = 60_000;
    private static final long END_MS = 5_000;
    private static final long TRANSFER_MS = 60_000;
    private static final long TRANSFER_NS = TRANSFER_MS * 1_000_000;

    /** Not for each of several processes. */
    private static final Set<String> OF_ALL =
            Set.of(
                    "--server-url-file",
                    "--job",
                    "--processes",
                    "--result-file",
                    "--result-file-mode");

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
            names = "--warm-up",
            paramLabel = "SECONDS",
            defaultValue = "0",
            description = "Trials before those that count; default ${DEFAULT-VALUE}.")
    private int warmUpSeconds;

    @Option(
            names = "--clients",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Clients of a process, which one thread runs in turn; default"
                            + " ${DEFAULT-VALUE}.")
    private int clientCount;

    @Option(
            names = "--processes",
            paramLabel = "N",
            defaultValue = "1",
            description = {
                "Processes with clients, with a barrier before and after each trial.",
                "A launcher such as mpirun may start them instead, with --server-url-file and"
                        + " VERBENA_RENDEZVOUS. Default: ${DEFAULT-VALUE}."
            })
    private int processes;

    @ArgGroup private Distributions distributions = new Distributions();

    /** At most one of them. */
    static final class Distributions {
        @Option(
                names = "--block-distribution",
                description = "Consecutive clients share a server. So it is by default.")
        private boolean isBlock;

        @Option(names = "--rr-distribution", description = "Clients take the servers in turn.")
        private boolean isRoundRobin;

        Distribution chosen() {
            return isRoundRobin && !isBlock ? Distribution.ROUND_ROBIN : Distribution.BLOCK;
        }
    }

    @Option(
            names = "--delay",
            paramLabel = "SECONDS",
            defaultValue = "0",
            description = "Wait before the servers are called; default ${DEFAULT-VALUE}.")
    private int delay;

    @Option(
            names = "--logfile",
            paramLabel = "FILE",
            description = "Append there what is done when; %%r stands for the rank.")
    private String logfile;

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
            defaultValue = "${env:NNTI_CONTACT_FILENAME}",
            description =
                    "Use these servers, of the same --transport and --job. Default:"
                            + " $NNTI_CONTACT_FILENAME, if that is set.")
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
            names = "--trace",
            paramLabel = "NAME",
            description =
                    "Have the servers trace their requests to a new file NAME in their folder of"
                            + " --traces.")
    private String trace;

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
            if (urlFile != null && processes == 1) {
                measure(termination, plan, urlFile, options.job);
                return 0;
            }
            Path folder = Files.createTempDirectory("verbena-xfer");
            try {
                String job = urlFile == null ? "xfer" + ProcessHandle.current().pid() : options.job;
                Path urls = urlFile == null ? folder.resolve("servers") : urlFile;
                if (urlFile == null) {
                    start(urls, job);
                }
                if (processes == 1) {
                    measure(termination, plan, urls, job);
                } else {
                    await(termination, urls);
                    List<String> words = words("xfer", urls, job, OF_ALL);
                    print(XferProcesses.run(termination, processes, folder, words));
                }
                return 0;
            } finally {
                end();
                IoUtil.delete(folder.toFile(), true);
            }
        }
    }

    /** A command for a child: the options that were given here, but for these. */
    private List<String> words(String command, Path urls, String job, Set<String> without) {
        List<String> words = new ArrayList<>(List.of("nessie", command));
        words.addAll(List.of("--server-url-file", urls.toString(), "--job", job));
        words.addAll(given(each -> !without.contains(each.longestName())));
        return words;
    }

    private XferPlan plan() {
        options.check(spec);
        inRange("--len", count, 1, DataArray.COUNT_MAX);
        inRange("--num-reqs", requests, 1, 1 << 20);
        inRange("--num-trials", trials, 1, 1 << 20);
        inRange("--clients", clientCount, 1, 128);
        inRange("--timeout", connectMs, 1, Integer.MAX_VALUE);
        inRange("--processes", processes, 1, 64);
        inRange("--warm-up", warmUpSeconds, 0, 3600);
        inRange("--delay", delay, 0, 3600);
        if (trace != null && urlFile == null && options.traces == null) {
            throw wrong("--trace needs --traces DIR, or servers of --server-url-file with it");
        }
        if (!resultMode.equals("a") && !resultMode.equals("w")) {
            throw wrong("--result-file-mode %s is neither a nor w", resultMode);
        }
        for (XferMethod method : XferMethod.values()) {
            boolean isAsync = ioMethod.equals(method + "-async");
            if (isAsync || ioMethod.equals(method + "-sync")) {
                requireShort(method);
                return new XferPlan(method, isAsync, count, requests, trials, validation());
            }
        }
        String known = String.join(", ", new Methods());
        throw wrong("--io-method %s is none of %s", ioMethod, known);
    }

    /** What is encoded is a message's arguments or result, and has something before the array. */
    private void requireShort(XferMethod method) {
        int bytesMax =
                method.isWrite()
                        ? RpcServerOptions.DEFAULT.argsLengthMax()
                        : RpcClient.RESULT_LENGTH_MAX;
        if (!method.isBulk() && count >= bytesMax / DataArray.ELEMENT_LENGTH) {
            throw wrong(
                    "--len %s: with %s at most %s structures travel (%s MiB)",
                    count, ioMethod, bytesMax / DataArray.ELEMENT_LENGTH - 1, bytesMax >> 20);
        }
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
        Set<String> ofClients = new HashSet<>(spec.optionsMap().keySet());
        ofClients.removeAll(spec.mixins().get("options").optionsMap().keySet());
        ofClients.add("--job");
        List<String> words = words("xfer-server", urls, job, ofClients);
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
        try (JobGroup group = JobGroup.discover("", TRANSFER_NS);
                XferLog log = XferLog.open(logfile, group.identity().rank())) {
            List<String> servers = await(termination, urls);
            if (delay > 0 && termination.await(1000L * delay)) {
                throw new Messages.Failure("ended before the servers were called");
            }
            transfer(plan, servers, job, group, log);
        } catch (NntiException e) {
            String stale = "; %s names it: if it has ended, start it again, which writes that file";
            String hint = urlFile == null ? "" : stale.formatted(urlFile);
            throw new Messages.Failure(e.getMessage() + hint);
        } catch (XferException | RpcException | JobGroupException e) {
            throw new Messages.Failure(e.getMessage());
        }
    }

    private void transfer(
            XferPlan plan, List<String> servers, String job, JobGroup group, XferLog log)
            throws IOException {
        int rank = group.identity().rank();
        int all = clientCount * group.identity().size();
        List<XferClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < clientCount; i++) {
                int number = rank * clientCount + i;
                int server = distributions.chosen().serverOf(number, all, servers.size());
                clients.add(client(servers.get(server), job));
                log.say("client %s of %s calls server %s".formatted(number, all, server));
            }
            if (rank == 0 && trace != null) {
                forEach(servers, job, client -> client.trace(trace));
            }
            XferRun run = new XferRun(clients, plan, SystemNanoClock.INSTANCE);
            run.warmUp(TimeUnit.SECONDS.toNanos(warmUpSeconds));
            XferReport own = run.run(() -> log.barrier(group, TRANSFER_NS));
            log.say("%s operations in %s s".formatted(own.operations(), own.seconds()));
            XferReport sum = XferTable.sum(group.exchange(XferTable.words(own), TRANSFER_NS));
            if (rank == 0) {
                print(List.of(XferTable.HEADER, XferTable.row(sum)));
            }
            if (rank == 0 && !isKeeping) {
                forEach(servers, job, XferClient::kill);
                log.say("the servers are asked to end");
            } else if (rank == 0 && trace != null) {
                forEach(servers, job, client -> client.trace(""));
            }
        } finally {
            CloseHelper.quietCloseAll(clients);
        }
    }

    private XferClient client(String url, String job) {
        return XferClient.connect(
                options.open(job), url, connectMs, TRANSFER_MS, Messages.to(err()));
    }

    private void forEach(List<String> servers, String job, Consumer<XferClient> action) {
        for (String server : servers) {
            try (XferClient client = client(server, job)) {
                action.accept(client);
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

    private void print(List<String> lines) {
        lines.forEach(this::say);
        if (resultFile != null) {
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
