package dev.verbena.cli.sim;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Text;
import dev.verbena.nsim.scenario.LevelComparison;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code verbena sim levels}: how far the message level is from the packet level. */
@Command(
        name = "levels",
        description = {
            "Run random small cases at message level and at packet level, and print how the times"
                    + " differ, as docs/nsim.md has it."
        },
        sortOptions = false)
final class SimLevelsCommand extends CliCommand {
    private static final int CASES_MAX = 1_000_000;
    private static final int BAR = 50;
    private static final double[] PARTS = {0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1};
    private static final double[] BOUNDS = {
        -1,
        -0.5,
        -0.2,
        -0.1,
        -0.05,
        -0.02,
        -0.01,
        -0.001,
        0.001,
        0.01,
        0.02,
        0.05,
        0.1,
        0.2,
        0.5,
        1,
        Double.MAX_VALUE
    };

    @Option(names = "--cases", paramLabel = "N", description = "How many. Default: 1000.")
    private int cases = 1_000;

    @Override
    public Integer call() {
        inRange("--cases", cases, 1, CASES_MAX);
        PrintWriter out = out();
        LevelComparison comparison = LevelComparison.run(cases);
        out.println("# Message level beside packet level");
        out.println();
        out.println("Written by `verbena sim levels --cases " + cases + "`. " + cases + " random");
        out.println("machines of up to 16 routers, each with up to 40 puts and gets of 1 byte to");
        out.println(
                "1 MiB that start within 200 us or less. Error: (message level - packet level) /");
        out.println("packet level.");
        print("The time of a whole case", comparison.caseErrors());
        print(
                "The time of a single message, until its data are in memory",
                comparison.messageErrors());
        out.flush();
        return 0;
    }

    private void print(String title, double[] errors) {
        PrintWriter out = out();
        out.printf("%n## %s%n%n", title);
        out.println("| part of " + errors.length + " | error at most, signs ignored | signed |");
        out.println("|---|---|---|");
        for (double part : PARTS) {
            int at = Math.max(0, (int) Math.ceil(part * errors.length) - 1);
            say(
                    "| %.0f %% | %.2f %% | %.2f %% |",
                    100 * part, 100 * LevelComparison.absolute(errors, part), 100 * errors[at]);
        }
        out.printf("%n```%n");
        for (int i = 1; i < BOUNDS.length; i++) {
            double low = BOUNDS[i - 1];
            double high = BOUNDS[i];
            long count = Arrays.stream(errors).filter(e -> e >= low && e < high).count();
            int length = (int) Math.ceil((double) BAR * count / errors.length);
            String label =
                    high == Double.MAX_VALUE
                            ? Text.format("%6.1f %% and more  ", 100 * low)
                            : Text.format("%6.1f to %6.1f %%", 100 * low, 100 * high);
            out.printf(Locale.ROOT, "%s %6d %s%n", label, count, "#".repeat(length));
        }
        out.println("```");
    }
}
