package dev.verbena.jmh;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.cli.terminal.TransportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code verbena bench}: every transport beside C, the machine and what else is installed. */
@Command(
        name = "./verbena bench",
        description = {
            "Measure every transport of this machine beside the same in C, beside what the machine"
                    + " can do, and beside UCX, jucx, libfabric, Aeron and gRPC where they are"
                    + " installed.",
            "All programs take turns; as many rounds as fit into the time, at least one. The page"
                    + " shows spread and noise."
        },
        sortOptions = false)
final class BenchCommand extends CliCommand {
    private static final int LENGTH_MAX = 64 << 20;
    private static final int LENGTH_MIN = 8;
    private static final int QUICK_SECONDS = 40;

    /** A program that is being measured ends first; some take two minutes. */
    private static final long CLOSE_MS = 300_000;

    @Option(
            names = "--quick",
            description = "About a minute: puts and sends of three lengths, one round or two.")
    private boolean isQuick;

    @Option(
            names = "--transport",
            paramLabel = "NAME",
            split = ",",
            description =
                    "Only these: schemes of transports, machine (its limits), rpc (calls). Default:"
                            + " all that work here. verbs is measured beside perftest, without a"
                            + " device in the virtual machine, which takes minutes.")
    private List<String> wanted = List.of();

    @Option(
            names = "--sizes",
            paramLabel = "BYTES",
            split = ",",
            description =
                    "Lengths of transfers, 8 to 64m. Default: 8,64,512,4k,64k,1m,4m,64m; with"
                            + " --quick 8,4k,1m.")
    private List<String> sizes;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            defaultValue = "12",
            description =
                    "No round begins after so long; the first is always finished. Default:"
                            + " ${DEFAULT-VALUE}.")
    private int minutes;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "10",
            description = "At most so many. Default: ${DEFAULT-VALUE}.")
    private int rounds;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "DIR",
            description =
                    "New folder for report.html, results.json, points.csv. Default: the next free"
                            + " bench/run-N.")
    private Path output;

    @Option(
            names = "--page",
            paramLabel = "FILE",
            description =
                    "Also put all rows into this page, docs/benchmarks.md of a checkout; its other"
                            + " parts stay, and all of it if the run is ended early.")
    private Path page;

    @Option(names = "--trial", hidden = true, description = "The figures mean nothing.")
    private boolean isTrial;

    @Option(names = "--programs", hidden = true, required = true, description = "softnic-bench.")
    private Path programs;

    /** Runs. */
    public static void main(String[] arguments) {
        System.exit(
                new CommandLine(new BenchCommand())
                        .setExecutionExceptionHandler(
                                (error, line, result) -> {
                                    line.getErr().println("verbena bench: " + Messages.of(error));
                                    return 1;
                                })
                        .execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        inRange("--minutes", minutes, 1, 600);
        inRange("--rounds", rounds, 1, 1000);
        List<Integer> lengths = lengths();
        requireKnown();
        if (page != null && !Files.isWritable(page)) {
            throw wrong("--page %s: no file that can be written; name an existing page", page);
        }
        long beganNs = System.nanoTime();
        BenchPlan plan = new BenchPlan(programs, wanted, lengths, effort());
        plan.leftOut().forEach((name, why) -> say(name + " is left out: " + why));
        if (plan.groups().isEmpty()) {
            throw new Messages.Failure("nothing of what was asked for can be measured here");
        }
        Path folder = OutputFolder.prepareOrNext(output, "bench");
        Map<String, Object> conditions = new LinkedHashMap<>();
        conditions.put("date", LocalDate.now(ZoneOffset.UTC).toString());
        conditions.put("load before", BenchReport.load());
        try (Termination termination = new Termination(CLOSE_MS)) {
            int done = 0;
            boolean isFailed = false;
            try {
                while (hasTime(done, beganNs) && round(plan, done, termination)) {
                    done++;
                }
            } catch (IOException e) {
                if (done == 0) {
                    throw e;
                }
                say("round " + (done + 1) + " failed: " + Messages.of(e));
                isFailed = true;
            }
            boolean isEnded = isFailed || termination.isAsked();
            double seconds = (System.nanoTime() - beganNs) / 1e9;
            conditions.put("seconds", Math.round(seconds));
            report(plan, done, isEnded, conditions, folder);
            return isEnded ? 1 : 0;
        }
    }

    private void report(
            BenchPlan plan,
            int rounds,
            boolean isEnded,
            Map<String, Object> conditions,
            Path folder)
            throws IOException {
        BenchReport report = new BenchReport(plan.groups(), plan.leftOut(), rounds);
        for (BenchGroup group : plan.groups()) {
            report.lines(group).forEach(this::say);
            group.failures()
                    .forEach((name, why) -> say(group.id() + ", " + name + " is left out: " + why));
        }
        say(report.trust());
        if (isEnded) {
            say("ended early: the figures are of fewer rounds, and some may be missing");
        }
        report.write(folder, conditions);
        if (page != null) {
            String cause = whyPageStays(rounds, isEnded, isTrial);
            if (cause == null) {
                putBench(page, report, programs.toString());
            }
            say(cause == null ? "written: " + page : page + " stays as it is: " + cause);
        }
        say("written: " + folder.resolve("report.html"));
    }

    /** Why a run's table does not replace the page's, which has more figures; null: it does. */
    static String whyPageStays(int rounds, boolean isEnded, boolean isTrial) {
        if (isTrial) {
            return "the figures of a trial mean nothing";
        }
        if (rounds == 0) {
            return "no round was finished";
        }
        return isEnded ? "the run was ended early; let one go on to its end" : null;
    }

    /** Puts all rows into a page, in place of what an earlier run put there. */
    static void putBench(Path page, BenchReport report, String programs) throws IOException {
        List<String> names = Comparisons.of(programs).stream().map(each -> each.id).toList();
        ComparePage measured = ComparePage.read(page);
        measured.putBench(Surroundings.line(), report.trust(), report.table());
        Files.writeString(page, measured.text(names));
    }

    private BenchPlan.Effort effort() {
        return isTrial
                ? BenchPlan.Effort.TRIAL
                : isQuick ? BenchPlan.Effort.QUICK : BenchPlan.Effort.FULL;
    }

    /** Whether another round is to begin: rather one too few than one that takes long. */
    private boolean hasTime(int done, long beganNs) {
        long limitNs =
                isQuick
                        ? TimeUnit.SECONDS.toNanos(QUICK_SECONDS)
                        : TimeUnit.MINUTES.toNanos(minutes);
        long usedNs = System.nanoTime() - beganNs;
        return done == 0 || done < rounds && usedNs + usedNs / done / 2 < limitNs;
    }

    /** False: the user has ended it. */
    private boolean round(BenchPlan plan, int number, Termination termination)
            throws IOException, InterruptedException {
        LongPredicate isEnding = ms -> isEnding(termination, ms);
        for (BenchGroup group : plan.groups()) {
            err().printf("round %d, %s%n", number + 1, group.id());
            err().flush();
            try {
                group.turn(plan.probe(), number, isEnding);
            } catch (IOException e) {
                if (!isEnding.test(BenchGroup.SIGNAL_MS)) {
                    throw e;
                }
            }
            if (termination.isAsked()) {
                return false;
            }
        }
        return true;
    }

    private static boolean isEnding(Termination termination, long ms) {
        try {
            return termination.await(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    private void requireKnown() {
        List<String> known = new ArrayList<>(BenchPlan.OTHERS);
        known.addAll(TransportOption.schemes());
        for (String name : wanted) {
            if (!known.contains(name)) {
                throw wrong("--transport %s is none of %s", name, String.join(", ", known));
            }
        }
    }

    private List<Integer> lengths() {
        List<String> texts =
                sizes != null
                        ? sizes
                        : List.of((isQuick ? "8,4k,1m" : "8,64,512,4k,64k,1m,4m,64m").split(","));
        TreeSet<Integer> lengths = new TreeSet<>();
        for (String text : texts) {
            String lower = text.toLowerCase(Locale.ROOT);
            if (!lower.matches("[0-9]{1,8}[km]?")) {
                throw wrong("--sizes %s: allowed are bytes, or a number with k or m", text);
            }
            int unit = " km".indexOf(lower.charAt(lower.length() - 1));
            String digits = unit < 0 ? lower : lower.substring(0, lower.length() - 1);
            long length = Long.parseLong(digits) << 10 * Math.max(0, unit);
            if (length < LENGTH_MIN || length > LENGTH_MAX) {
                throw wrong("--sizes %s is outside %d to %d bytes", text, LENGTH_MIN, LENGTH_MAX);
            }
            lengths.add((int) length);
        }
        return List.copyOf(lengths);
    }
}
