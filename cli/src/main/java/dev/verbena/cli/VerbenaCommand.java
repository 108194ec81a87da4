package dev.verbena.cli;

import dev.verbena.agent.CpuSet;
import dev.verbena.nsim.internal.Spelling;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
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
        usageHelpAutoWidth = true,
        subcommands = {
            DemoCommand.class,
            DartCommand.class,
            SimCommand.class,
            LatencyCommand.class,
            BandwidthCommand.class,
            StatusCommand.class,
            TopCommand.class,
            ErrorsCommand.class,
            DoctorCommand.class,
            DevicesCommand.class,
            RpingCommand.class,
            PingPongCommand.class,
            VersionCommand.class,
            VerbenaCommand.Completion.class,
            DemoCompute.class,
            DemoReceive.class,
            PerfPeer.class,
            SimPeer.class,
            ExperimentCompute.class,
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:it failed",
            "2:wrong arguments",
            "3:something is missing on this machine (from ./verbena)",
        },
        footer = {
            "",
            "From the ./verbena script: test (all tests; test --help says more), couple (two"
                    + " simulations coupled through a receiver), compare (every promised ratio, beside"
                    + " C and others), gni (install PREFIX=DIR: the C libraries for programs written"
                    + " for uGNI), gni-run (starts them), jmh (what one operation costs), portals"
                    + " (install PREFIX=DIR: the C library for programs written for Portals 3.3),"
                    + " rdma-vm (a command in a virtual machine with a software RDMA card).",
        })
public final class VerbenaCommand implements Runnable {
    private static final List<String> SCRIPT_COMMANDS =
            List.of("test", "couple", "compare", "gni", "gni-run", "jmh", "portals", "rdma-vm");

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

    /** For picocli. */
    public VerbenaCommand() {}

    /** Runs the command and exits. */
    public static void main(String[] arguments) {
        PrintWriter out = new PrintWriter(System.out, true);
        System.exit(run(out, new PrintWriter(System.err, true), arguments));
    }

    /**
     * Runs the command in this process and does not end it.
     *
     * @param out what a shell would show
     * @param err what it would show as errors
     * @return the exit code
     */
    public static int run(PrintWriter out, PrintWriter err, String... arguments) {
        VerbenaCommand command = new VerbenaCommand();
        CommandLine line = new CommandLine(command).setOut(out).setErr(err);
        line.setExecutionExceptionHandler(
                (exception, failed, parsed) -> command.report(exception, failed));
        line.setParameterExceptionHandler(
                (exception, wrong) -> {
                    CommandLine at = exception.getCommandLine();
                    PrintWriter text = at.getErr();
                    tellWrong(exception, text);
                    text.println("Try '" + at.getCommandSpec().qualifiedName() + " --help'.");
                    return CommandLine.ExitCode.USAGE;
                });
        line.registerConverter(CpuSet.class, VerbenaCommand::cpus);
        line.setExecutionStrategy(
                parsed -> {
                    command.bind(line);
                    return new CommandLine.RunLast().execute(parsed);
                });
        line.setCaseInsensitiveEnumValuesAllowed(true);
        // "lat --op send": send is a command below lat, too.
        line.setAllowSubcommandsAsOptionParameters(true);
        try {
            return line.execute(arguments);
        } catch (OutOfMemoryError | LinkageError e) {
            return command.report(e, innermost(line));
        }
    }

    /** The command that was given, which picocli does not say of an Error. */
    private static CommandLine innermost(CommandLine line) {
        CommandLine at = line;
        while (at.getParseResult() != null && at.getParseResult().hasSubcommand()) {
            at = at.getParseResult().subcommand().commandSpec().commandLine();
        }
        return at;
    }

    private static void tellWrong(ParameterException exception, PrintWriter text) {
        CommandLine at = exception.getCommandLine();
        boolean isRoot = at.getParent() == null;
        if (isRoot && exception instanceof CommandLine.UnmatchedArgumentException unmatched) {
            String word = unmatched.getUnmatched().get(0);
            if (!word.startsWith("-")) {
                List<String> words = new ArrayList<>(SCRIPT_COMMANDS);
                at.getSubcommands().forEach((name, sub) -> addIfShown(words, name, sub));
                text.println(
                        "verbena: there is no command '" + word + "'" + Spelling.hint(word, words));
                return;
            }
        }
        text.println("verbena: " + exception.getMessage());
        CommandLine.UnmatchedArgumentException.printSuggestions(exception, text);
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

    private int report(Throwable exception, CommandLine failed) {
        PrintWriter err = failed.getErr();
        if (isVerbose) {
            exception.printStackTrace(err);
        }
        String name = failed.getCommandSpec().qualifiedName();
        err.println(name + ": " + Messages.of(exception));
        if (!isVerbose && Messages.isUnexpected(exception)) {
            err.println("This may be a fault of Verbena; --verbose shows where.");
        }
        return CommandLine.ExitCode.SOFTWARE;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "which command?");
    }

    /** Prints a completion script. */
    @Command(
            name = "completion",
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
