package dev.verbena.cli;

import dev.verbena.agent.CpuSet;
import dev.verbena.cli.demo.DemoCommand;
import dev.verbena.cli.demo.DemoCompute;
import dev.verbena.cli.demo.DemoReceive;
import dev.verbena.cli.doctor.DoctorCommand;
import dev.verbena.cli.experiment.ExperimentCompute;
import dev.verbena.cli.perf.BandwidthCommand;
import dev.verbena.cli.perf.LatencyCommand;
import dev.verbena.cli.perftest.DevicesCommand;
import dev.verbena.cli.perftest.PerftestCommand;
import dev.verbena.cli.perftest.PingPongCommand;
import dev.verbena.cli.perftest.RpingCommand;
import dev.verbena.cli.sim.SimCommand;
import dev.verbena.cli.sim.SimPeer;
import dev.verbena.cli.stage.StageCommand;
import dev.verbena.cli.status.ErrorsCommand;
import dev.verbena.cli.status.PrometheusCommand;
import dev.verbena.cli.status.PrometheusEndpoint;
import dev.verbena.cli.status.StatusCommand;
import dev.verbena.cli.status.TopCommand;
import dev.verbena.cli.status.WatchCommand;
import dev.verbena.cli.terminal.Columns;
import dev.verbena.cli.terminal.HostPort;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.Version;
import dev.verbena.cli.transfer.PerfPeer;
import dev.verbena.nsim.internal.Suggestions;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntSupplier;
import org.agrona.CloseHelper;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The {@code verbena} command; main class of the distribution. */
@Command(
        name = "verbena",
        description = "A native transport toolkit for Java, and its demonstration.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:it failed",
            "2:wrong arguments",
            "3:something is missing on this machine (from ./verbena)",
        },
        footer = {
            "",
            "From the ./verbena script: test (all tests; test --help says more), bench (every transport"
                    + " beside C, this machine and others, as a page), couple (two"
                    + " simulations coupled through a receiver), compare (every promised ratio, beside"
                    + " C and others), commsplit (the library that gives each program of an MPI job its"
                    + " own world), docs (the Javadoc as one site), gni (install PREFIX=DIR: the C libraries for programs written"
                    + " for uGNI), gni-run (starts them), jmh (what one operation costs), mpi-hold"
                    + " (a command without MPI beside programs with it), portals"
                    + " (install PREFIX=DIR: the C library for programs written for Portals 3.3),"
                    + " rdma-vm (a command in a virtual machine with a software RDMA NIC).",
        })
public final class VerbenaCommand implements Runnable {
    /** As of a program that SIGPIPE ended. */
    private static final int NOBODY_READS = 141;

    private static final int REQUEST_SECONDS = 10;

    static final List<String> SCRIPT_COMMANDS =
            List.of(
                    "test",
                    "bench",
                    "couple",
                    "compare",
                    "commsplit",
                    "gni",
                    "docs",
                    "gni-run",
                    "jmh",
                    "mpi-hold",
                    "portals",
                    "rdma-vm");

    private static final String COMPLETION = "completion";
    private static final String HELP = "help";

    /** As help lists them; what begins with a process of its own is hidden. */
    private static final List<String> COMMANDS =
            List.of(
                    ("demo dart nessie stage flesnet rendezvous sim lat bw status top watch errors"
                                    + " prometheus doctor devices rping pingpong version completion"
                                    + " help demo-compute demo-receive perf-peer sim-peer"
                                    + " experiment-compute")
                            .split(" "));

    @Spec private CommandSpec spec;

    @Option(
            names = "--verbose",
            scope = ScopeType.INHERIT,
            description = "Print the stack trace of an error.")
    private boolean isVerbose;

    @Option(
            names = "--cpus",
            paramLabel = "LIST",
            scope = ScopeType.INHERIT,
            description =
                    "Run on these processors only, for example 0-3,8: the command, its agents and"
                            + " the processes that it starts; not the JVM's own threads.")
    private CpuSet cpus;

    @Option(
            names = "--prometheus",
            paramLabel = "[HOST:]PORT",
            scope = ScopeType.INHERIT,
            converter = HostPort.LoopbackConverter.class,
            description =
                    "Serve the counters of this command, and of the processes that it starts, to"
                            + " Prometheus; without a host on the loopback address.")
    private HostPort prometheus;

    /** For picocli. */
    public VerbenaCommand() {}

    /** Runs the command and exits. */
    public static void main(String[] arguments) {
        // A request that does not end would keep a thread of an HTTP server of the JDK for good.
        System.setProperty("sun.net.httpserver.maxReqTime", Integer.toString(REQUEST_SECONDS));
        // Decimals have a point for everybody: other programs read them.
        Locale.setDefault(Locale.ROOT);
        PrintWriter out = new PrintWriter(System.out, true);
        PrintWriter err =
                Columns.folding(new PrintWriter(System.err, true), Columns::widthOfErrors);
        int code = run(out, err, arguments);
        out.flush();
        System.exit(System.out.checkError() && code == 0 ? tellLost(err) : code);
    }

    /**
     * Something that was printed could not be written; answers the exit code. Streams do not keep
     * the reason, so a line end is written once more: it fails for the same one.
     */
    private static int tellLost(PrintWriter err) {
        String why = "it could not be written";
        try (FileOutputStream again = new FileOutputStream(FileDescriptor.out)) {
            again.write('\n');
        } catch (IOException e) {
            why = e.getMessage();
        }
        if (why.equals("Broken pipe")) {
            return NOBODY_READS;
        }
        err.println("verbena: standard output is incomplete: " + why);
        return CommandLine.ExitCode.SOFTWARE;
    }

    /**
     * Runs the command in this process and does not end it.
     *
     * @param out what a shell would show
     * @param err what it would show as errors
     * @return the exit code
     */
    public static int run(PrintWriter out, PrintWriter err, String... arguments) {
        return run(Columns::width, out, err, arguments);
    }

    /** As {@link #run(PrintWriter, PrintWriter, String...)}, on a terminal of this width. */
    public static int run(
            IntSupplier width, PrintWriter out, PrintWriter err, String... arguments) {
        Messages.forget();
        VerbenaCommand command = new VerbenaCommand();
        CommandLine line = command.line(width, out, err, needed(arguments));
        try {
            return line.execute(arguments);
        } catch (OutOfMemoryError | LinkageError e) {
            return command.report(e, innermost(line));
        }
    }

    /** Commands that these arguments can reach: to make the model of all takes most of a start. */
    private static List<String> needed(String... arguments) {
        boolean isHelp = arguments.length > 1 && arguments[0].equals(HELP);
        String first = arguments.length == 0 ? "" : arguments[isHelp ? 1 : 0];
        // These two print what they know of the others.
        if (!COMMANDS.contains(first) || first.equals(HELP) || first.equals(COMPLETION)) {
            return COMMANDS;
        }
        return isHelp ? List.of(HELP, first) : List.of(first);
    }

    /** A switch and no table of classes: those of other commands are not loaded. */
    private static Class<?> type(String command) {
        return switch (command) {
            case "demo" -> DemoCommand.class;
            case "dart" -> DartCommand.class;
            case "nessie" -> NessieCommand.class;
            case "stage" -> StageCommand.class;
            case "flesnet" -> FlesnetCommand.class;
            case "rendezvous" -> RendezvousCommand.class;
            case "sim" -> SimCommand.class;
            case "lat" -> LatencyCommand.class;
            case "bw" -> BandwidthCommand.class;
            case "status" -> StatusCommand.class;
            case "top" -> TopCommand.class;
            case "watch" -> WatchCommand.class;
            case "errors" -> ErrorsCommand.class;
            case "prometheus" -> PrometheusCommand.class;
            case "doctor" -> DoctorCommand.class;
            case "devices" -> DevicesCommand.class;
            case "rping" -> RpingCommand.class;
            case "pingpong" -> PingPongCommand.class;
            case "version" -> VersionCommand.class;
            case COMPLETION -> Completion.class;
            case HELP -> HelpCommand.class;
            case "demo-compute" -> DemoCompute.class;
            case "demo-receive" -> DemoReceive.class;
            case "perf-peer" -> PerfPeer.class;
            case "sim-peer" -> SimPeer.class;
            case "experiment-compute" -> ExperimentCompute.class;
            default -> throw new IllegalArgumentException(command);
        };
    }

    /** What parses the arguments of every command and runs them. */
    CommandLine line(IntSupplier width, PrintWriter out, PrintWriter err) {
        return line(width, out, err, COMMANDS);
    }

    private CommandLine line(
            IntSupplier width, PrintWriter out, PrintWriter err, List<String> commands) {
        CommandLine line = new CommandLine(this);
        for (String command : commands) {
            line.addSubcommand(command, type(command));
        }
        // Of another room than the command that they are below.
        line.getSubcommands().forEach(PerftestCommand::addTo);
        line.setOut(out).setErr(err);
        line.setExecutionExceptionHandler((exception, failed, parsed) -> report(exception, failed));
        line.setParameterExceptionHandler(
                (exception, wrong) -> {
                    CommandLine at = exception.getCommandLine();
                    PrintWriter text = at.getErr();
                    tellWrong(exception, List.of(wrong), text);
                    text.println("Try '" + at.getCommandSpec().qualifiedName() + " --help'.");
                    return CommandLine.ExitCode.USAGE;
                });
        line.registerConverter(CpuSet.class, VerbenaCommand::cpus);
        line.registerConverter(Path.class, VerbenaCommand::path);
        line.registerConverter(URI.class, VerbenaCommand::uri);
        line.setExecutionStrategy(
                parsed -> {
                    bind(line);
                    PrometheusEndpoint served = serve(line);
                    try {
                        return new CommandLine.RunLast().execute(parsed);
                    } finally {
                        CloseHelper.close(served);
                    }
                });
        line.setCaseInsensitiveEnumValuesAllowed(true);
        // "lat --op send": send is a command below lat, too.
        line.setAllowSubcommandsAsOptionParameters(true);
        Columns.applyTo(line, width);
        return line;
    }

    /** The command that was given, which picocli does not say of an Error. */
    private static CommandLine innermost(CommandLine line) {
        CommandLine at = line;
        while (at.getParseResult() != null && at.getParseResult().hasSubcommand()) {
            at = at.getParseResult().subcommand().commandSpec().commandLine();
        }
        return at;
    }

    private static void tellWrong(
            ParameterException exception, List<String> typed, PrintWriter text) {
        CommandLine at = exception.getCommandLine();
        List<String> unmatched = List.of();
        if (exception instanceof CommandLine.UnmatchedArgumentException
                || exception instanceof CommandLine.MissingParameterException) {
            // What is missing may have been mistyped.
            unmatched = at.getUnmatchedArguments();
        }
        text.println(
                "verbena: "
                        + (unmatched.isEmpty()
                                ? TypedNames.in(plain(exception.getMessage()), at, typed)
                                : unknown(at, unmatched.get(0))));
    }

    /** That this command takes no such word, and which may be meant. */
    static String unknown(CommandLine at, String word) {
        CommandSpec spec = at.getCommandSpec();
        if (word.startsWith("-")) {
            String option = word.replaceFirst("=.*", "");
            return "%s has no option '%s'%s"
                    .formatted(
                            spec.qualifiedName(),
                            option,
                            Suggestions.hint(option, spec.optionsMap().keySet()));
        }
        boolean isRoot = at.getParent() == null;
        if (isRoot && SCRIPT_COMMANDS.contains(word)) {
            return "'" + word + "' is a command of the script: ./verbena " + word;
        }
        List<String> words = new ArrayList<>(isRoot ? SCRIPT_COMMANDS : List.of());
        at.getSubcommands().forEach((name, sub) -> addIfShown(words, name, sub));
        if (words.isEmpty()) {
            return "'" + word + "' is nothing that " + spec.qualifiedName() + " takes";
        }
        String command = spec.qualifiedName() + " " + word;
        return "there is no command '%s'%s"
                .formatted(
                        command.substring(command.indexOf(' ') + 1), Suggestions.hint(word, words));
    }

    /** Without what picocli says in terms of Java. */
    private static String plain(String message) {
        return message.replaceFirst("^Error: ", "")
                .replaceFirst(
                        "Invalid value for positional parameter at index \\d+ \\((.*?)\\): ",
                        "$1: ")
                .replaceFirst(
                        "expected one of \\[(.*)\\] \\(case-[a-z]*\\) but was ('.*')",
                        "$2 is none of $1")
                .replaceFirst("('.*') is not a boolean$", "it takes no value, and was given $1")
                .replaceFirst("('[-+]?\\d+') is not an? (int|long)$", "$1 is too large a number")
                .replaceFirst("('.*') is not an? (int|long)$", "$1 is no whole number")
                .replaceFirst("('.*') is not an? (double|float)$", "$1 is no number");
    }

    private static void addIfShown(List<String> words, String name, CommandLine command) {
        if (!command.getCommandSpec().usageMessage().hidden()) {
            words.add(name);
        }
    }

    private static CpuSet cpus(String list) {
        try {
            return CpuSet.parse(list);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }

    private static Path path(String text) {
        if (text.isEmpty()) {
            throw new TypeConversionException("'' is no name of a file or folder");
        }
        try {
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw new TypeConversionException(
                    "'%s' is no name of a file or folder in this locale: %s"
                            .formatted(text, e.getReason()));
        }
    }

    private static URI uri(String text) {
        try {
            return new URI(text);
        } catch (URISyntaxException e) {
            throw new TypeConversionException(
                    "'" + text + "' is no address such as shm://job/process");
        }
    }

    private void bind(CommandLine line) {
        if (cpus == null) {
            return;
        }
        try {
            cpus.bind();
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw new ParameterException(line, "--cpus " + cpus + ": " + e.getMessage(), e);
        }
    }

    /** Null if nobody has asked. */
    private PrometheusEndpoint serve(CommandLine line) {
        if (prometheus == null) {
            return null;
        }
        try {
            PrometheusEndpoint endpoint =
                    PrometheusEndpoint.open(prometheus, null, PrometheusEndpoint::isOwn);
            line.getErr().println("metrics: " + endpoint.address());
            line.getErr().flush();
            return endpoint;
        } catch (IOException e) {
            throw new CommandLine.ExecutionException(
                    line, "--prometheus " + prometheus + ": " + e.getMessage(), e);
        }
    }

    private int report(Throwable exception, CommandLine failed) {
        PrintWriter err = failed.getErr();
        if (isVerbose) {
            exception.printStackTrace(err);
        }
        String name = failed.getCommandSpec().qualifiedName();
        String text = Messages.of(exception);
        if (!Messages.wasReported(text)) {
            ParseResult parsed = spec.commandLine().getParseResult();
            List<String> typed = parsed == null ? List.of() : parsed.originalArgs();
            err.println(name + ": " + TypedNames.in(text, failed, typed));
        }
        if (!isVerbose && Messages.isUnexpected(exception)) {
            err.println("This may be a fault of Verbena; --verbose shows where.");
        }
        return exception instanceof Messages.WrongPath
                ? CommandLine.ExitCode.USAGE
                : CommandLine.ExitCode.SOFTWARE;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "which command?");
    }

    /** Prints a completion script. */
    @Command(
            name = COMPLETION,
            description = "Print a completion script for bash: source <(./verbena completion)",
            mixinStandardHelpOptions = true)
    static final class Completion implements Runnable {
        @Spec private CommandSpec spec;

        @Override
        public void run() {
            CommandLine root = spec.root().commandLine();
            PrintWriter out = spec.commandLine().getOut();
            out.print(AutoComplete.bash(root.getCommandName(), root));
            out.flush();
        }
    }
}
