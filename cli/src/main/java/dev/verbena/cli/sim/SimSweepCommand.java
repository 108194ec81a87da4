package dev.verbena.cli.sim;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.ProgressLine;
import dev.verbena.cli.terminal.Text;
import dev.verbena.cli.terminal.Version;
import dev.verbena.nsim.dart.DartOutcome;
import dev.verbena.nsim.dart.DartSweep;
import dev.verbena.nsim.world.TraceHandler;
import java.io.PrintWriter;
import java.util.ArrayDeque;
import java.util.Collection;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code verbena sim sweep}: looks for a seed that breaks one of DART's promises. */
@Command(
        name = "sweep",
        description = {
            "Run DART's own agents under random schedules and faults, each seed a small service of"
                    + " its own, and check its promises after each step.",
            "Exit code 1 if a promise is broken; the seed replays it."
        },
        sortOptions = false)
final class SimSweepCommand extends CliCommand {
    private static final int LAST_EVENTS = 100;

    @Option(names = "--seeds", paramLabel = "N", description = "How many. Default: 2000.")
    private long seeds = 2000;

    @Option(names = "--first", paramLabel = "S", description = "The first seed. Default: 1.")
    private long first = 1;

    @Option(names = "--seed", paramLabel = "S", description = "Replay one seed, with its trace.")
    private Long replayed;

    @Override
    public Integer call() {
        if (seeds < 1) {
            throw wrong("--seeds " + seeds + ": at least 1 is needed");
        }
        PrintWriter out = out();
        int code = replayed == null ? sweep(out) : replay(out);
        out.flush();
        return code;
    }

    private int sweep(PrintWriter out) {
        ProgressLine line = new ProgressLine(err());
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
            ArrayDeque<String> last = new ArrayDeque<>();
            DartOutcome replay = DartSweep.run(found.seed(), into(last));
            tell(out, found, replay, last);
            return 1;
        }
        say(
                "%d seeds, no promise broken; %d messages delivered, %d reported as failed,"
                        + " %.1f s",
                seeds, sums[0], sums[1], (System.nanoTime() - began) / 1e9);
        return 0;
    }

    /** The last lines of a trace. */
    private static TraceHandler into(ArrayDeque<String> last) {
        return (timePs, what, about) -> {
            if (last.size() == LAST_EVENTS) {
                last.removeFirst();
            }
            last.addLast(line(timePs, what, about));
        };
    }

    private static String line(long timePs, String what, Object about) {
        return Text.format("%14.6f ms  %s: %s", timePs / 1e9, about, what);
    }

    /** Everything that is needed to replay a finding elsewhere. */
    static void tell(
            PrintWriter out,
            DartSweep.Finding found,
            DartOutcome replay,
            Collection<String> lastEvents) {
        out.println("seed " + found.seed() + ": " + found.failure());
        out.println("  smallest: " + found.shape());
        found.faults().forEach(fault -> out.println("  fault: " + fault));
        out.println(Text.format("  its trace: %016x", found.traceHash()));
        out.println("  whole: " + DartSweep.describe(found.seed()));
        out.println(
                Text.format(
                        "  its trace: %016x, %.3f ms of virtual time; its last events:",
                        replay.traceHash(), replay.virtualNs() / 1e6));
        lastEvents.forEach(out::println);
        out.println("  verbena " + Version.text() + ", Java " + Runtime.version());
        out.println("  replay: verbena sim sweep --seed " + found.seed());
    }

    private int replay(PrintWriter out) {
        out.println(DartSweep.describe(replayed));
        DartOutcome outcome =
                DartSweep.run(
                        replayed, (timePs, what, about) -> out.println(line(timePs, what, about)));
        out.println(
                outcome.failure().isEmpty() ? "no promise broken" : "BROKEN: " + outcome.failure());
        out.println(Text.format("trace %016x", outcome.traceHash()));
        return outcome.failure().isEmpty() ? 0 : 1;
    }
}
