package dev.verbena.cli;

import dev.verbena.nsim.dart.DartOutcome;
import dev.verbena.nsim.dart.DartSweep;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code verbena sim sweep}: looks for a seed that breaks one of DART's promises. */
@Command(
        name = "sweep",
        description = {
            "Run DART's own agents under random schedules and faults, each seed a small service of"
                    + " its own, and check its promises after each step.",
            "Exit code 1 if a promise is broken; the seed replays it."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class SimSweepCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Option(names = "--seeds", paramLabel = "N", description = "How many. Default: 2000.")
    private long seeds = 2000;

    @Option(names = "--first", paramLabel = "S", description = "The first seed. Default: 1.")
    private long first = 1;

    @Option(names = "--seed", paramLabel = "S", description = "Replay one seed, with its trace.")
    private Long replayed;

    @Override
    public Integer call() {
        if (seeds < 1) {
            throw new ParameterException(
                    spec.commandLine(), "--seeds " + seeds + ": at least 1 is needed");
        }
        PrintWriter out = spec.commandLine().getOut();
        int code = replayed == null ? sweep(out) : replay(out);
        out.flush();
        return code;
    }

    private int sweep(PrintWriter out) {
        ProgressLine line = new ProgressLine(spec.commandLine().getErr());
        long began = System.nanoTime();
        long[] sums = new long[2];
        DartSweep.Finding found =
                DartSweep.sweep(
                        first,
                        seeds,
                        (done, last) -> {
                            sums[0] += last.delivered();
                            sums[1] += last.failed();
                            line.percent(done, seeds, done + " of " + seeds + " seeds");
                            return true;
                        });
        line.end();
        if (found != null) {
            out.println("seed " + found.seed() + ": " + found.failure());
            out.println("  smallest: " + found.shape());
            found.faults().forEach(fault -> out.println("  fault: " + fault));
            out.println("  replay: verbena sim sweep --seed " + found.seed());
            return 1;
        }
        out.println(
                String.format(
                        Locale.ROOT,
                        "%d seeds, no promise broken; %d messages delivered, %d reported as failed,"
                                + " %.1f s",
                        seeds,
                        sums[0],
                        sums[1],
                        (System.nanoTime() - began) / 1e9));
        return 0;
    }

    private int replay(PrintWriter out) {
        out.println(DartSweep.describe(replayed));
        DartOutcome outcome =
                DartSweep.run(
                        replayed,
                        (timePs, what, about) ->
                                out.println(
                                        String.format(
                                                Locale.ROOT,
                                                "%14.6f ms  %s: %s",
                                                timePs / 1e9,
                                                about,
                                                what)));
        out.println(
                outcome.failure().isEmpty() ? "no promise broken" : "BROKEN: " + outcome.failure());
        out.println(String.format(Locale.ROOT, "trace %016x", outcome.traceHash()));
        return outcome.failure().isEmpty() ? 0 : 1;
    }
}
