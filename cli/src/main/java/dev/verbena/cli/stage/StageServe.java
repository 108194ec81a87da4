package dev.verbena.cli.stage;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.report.PicturedSink;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.HostPort;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.SinkOption;
import dev.verbena.cli.terminal.SizedFolder;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.cli.terminal.ThisMachine;
import dev.verbena.cli.terminal.TransportOption;
import dev.verbena.savime.StagingService;
import dev.verbena.savime.StagingStatistics;
import dev.verbena.staging.sink.SealedSteps;
import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.StagedArrays;
import dev.verbena.transport.TransportContext;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code verbena stage server}. */
@Command(
        name = "server",
        description =
                "Run a staging server: takes datasets into memory, or onto disk when that is full,"
                        + " and hands them to a sink. Ends at Ctrl-C or a TERM signal; what the sink"
                        + " does not have then stays for the next start.",
        sortOptions = false)
final class StageServe extends CliCommand {
    private static final long WAIT_MS = 200;
    private static final Set<String> IN_MEMORY =
            Set.of("tmpfs", "ramfs", "hugetlbfs", ThisMachine.UNKNOWN);

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            converter = HostPort.Converter.class,
            description = "Listen on TCP; port 0: any. This, or --config, or both.")
    private HostPort listen;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Listen on a transport, too, whose address is written to FILE.")
    private Path configuration;

    @Option(
            names = "--transport",
            paramLabel = "SCHEME",
            defaultValue = "shm",
            description = "Transport: ${COMPLETION-CANDIDATES}. Default: shm.",
            completionCandidates = TransportOption.Schemes.class)
    private String transport;

    @Option(
            names = "--memory",
            paramLabel = "DIR:SIZE",
            converter = SizedFolder.OfMemory.class,
            description = "Folder of a memory file system, and how much of it (20g, 500m) to use.")
    private SizedFolder memory;

    @Option(
            names = "--disk",
            paramLabel = "DIR",
            description = "Folder for datasets for which there is no memory.")
    private Path disk;

    @Mixin private SinkOption sink;

    @Option(
            names = "--senders",
            paramLabel = "N",
            defaultValue = "4",
            description = "Threads that send to the sink, 1 to 64. Default: 4.")
    private int senders;

    @Option(
            names = "--token",
            paramLabel = "HEX",
            description = "32 hexadecimal digits that clients must know.")
    private String token;

    @Option(
            names = "--http",
            paramLabel = "HOST:PORT",
            converter = HostPort.Converter.class,
            description = {
                "Show the datasets that wait here as a store of Zarr, and steps that the sink has"
                        + " whole as events, over HTTP; port 0: any. The address, with a token, is"
                        + " printed."
            })
    private HostPort http;

    @Option(
            names = "--webhook",
            paramLabel = "URL",
            description = "Tell this address, by POST, of each step that the sink has whole.")
    private List<URI> webhooks = List.of();

    @Override
    @SuppressWarnings("try") // closed before it reports
    public Integer call() throws Exception {
        inRange("--senders", senders, 1, 64);
        checkWebhooks();
        StagingService.Context context = configured();
        try (Termination termination = new Termination(90_000);
                RealEnvironment environment =
                        RealEnvironment.builder()
                                .application("stage server")
                                .errorHandler(Messages.to(err()))
                                .build();
                StepEvents events = new StepEvents(webhooks, Messages.to(err()))) {
            StagedArrays arrays = new StagedArrays();
            context.environment(environment).arrays(arrays);
            try (StageHttp view = http == null ? null : http(arrays, events);
                    StagingService service = launch(context, environment, events)) {
                service.awaitReady(Duration.ofSeconds(30));
                warnOfDisk();
                if (view != null) {
                    say("Zarr store: " + view.address() + ", events: " + view.address() + "events");
                }
                say("staging server ready: " + addresses(service));
                while (!termination.await(WAIT_MS)) {
                    // Until the end is asked for.
                }
                service.close();
                report(service.statistics());
            }
        }
        return 0;
    }

    /** The sink is opened last, and closed if no server comes to own it. */
    private StagingService launch(
            StagingService.Context context, RealEnvironment environment, StepEvents events) {
        Sink target = sink.open();
        try {
            Sink drawn = sink.isPictured() ? new PicturedSink(target, environment) : target;
            context.sink(new SealedSteps(drawn, events))
                    .watch(new SinkReports(sink.uri(), Messages.to(err()), events));
            return StagingService.launch(context);
        } catch (RuntimeException | Error e) {
            target.close();
            throw e;
        }
    }

    /** What is confirmed there is not forced to a device. */
    private void warnOfDisk() {
        String type = memory == null ? "tmpfs" : ThisMachine.fileSystem(memory.directory());
        if (!IN_MEMORY.contains(type)) {
            err().println(
                            "verbena: --memory %s is on %s, which is not in memory: datasets there do not"
                                            .formatted(memory.directory(), type)
                                    + " survive a power failure; give it as --disk");
            err().flush();
        }
    }

    /** What the options say, checked, but for the sink. */
    private StagingService.Context configured() {
        if (memory == null && disk == null) {
            throw wrong("where do datasets wait? Give --memory DIR:SIZE, --disk DIR or both");
        }
        if (listen == null && configuration == null) {
            throw wrong("where do clients connect? Give --listen HOST:PORT, --config FILE or both");
        }
        StagingService.Context context = new StagingService.Context().senders(senders);
        if (memory != null) {
            context.memory(memory.directory().toAbsolutePath(), memory.size());
        }
        if (disk != null) {
            context.disk(disk.toAbsolutePath(), Long.MAX_VALUE);
        }
        if (listen != null) {
            context.listen(listen.host(), listen.port());
        }
        if (configuration != null) {
            context.transport(
                    TransportOption.require(spec, transport),
                    new TransportContext(),
                    configuration.toAbsolutePath().toString());
        }
        if (token != null) {
            if (!token.matches("[0-9a-fA-F]{32}")) {
                throw wrong("--token is not 32 hexadecimal digits");
            }
            context.token(HexFormat.of().parseHex(token.toLowerCase()));
        }
        return context;
    }

    private StageHttp http(StagedArrays arrays, StepEvents events) throws IOException {
        try {
            return new StageHttp(http, StageHttp.newToken(), arrays, events);
        } catch (IOException e) {
            throw new IOException("--http %s: %s".formatted(http, Messages.of(e)), e);
        }
    }

    /** What else would be noticed when the first step is whole. */
    private void checkWebhooks() {
        for (URI webhook : webhooks) {
            String scheme = String.valueOf(webhook.getScheme()).toLowerCase(Locale.ROOT);
            if (!scheme.matches("https?") || webhook.getHost() == null) {
                throw wrong("--webhook %s is not http://HOST... or https://HOST...", webhook);
            }
        }
    }

    private String addresses(StagingService service) {
        String tcp = listen == null ? "" : new HostPort(listen.host(), service.port()).toString();
        String other = service.uri() == null ? "" : service.uri().toString();
        return tcp.isEmpty() || other.isEmpty() ? tcp + other : tcp + " and " + other;
    }

    private void report(StagingStatistics statistics) {
        say(
                String.format(
                        "staging server stopped: %d datasets in (%.1f MB), %d in the sink (%.1f"
                                + " MB), %d refused by it, %d wait for the next start",
                        statistics.datasetsIn(),
                        statistics.bytesIn() / 1e6,
                        statistics.datasetsOut(),
                        statistics.bytesOut() / 1e6,
                        statistics.refused(),
                        statistics.queued()));
    }
}
