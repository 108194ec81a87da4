package dev.verbena.cli.flesnet;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.flesnet.FlesnetInput;
import dev.verbena.flesnet.InputStatistics;
import dev.verbena.flesnet.MicrosliceSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code flesnet input}. */
@Command(
        name = "input",
        description = "One input node: writes microslices to compute nodes.",
        sortOptions = false)
public final class FlesnetInputCommand extends FlesnetNodeCommand {
    @Mixin private SourceOptions sources;

    @Override
    public Integer call() throws Exception {
        begin(options.inputs);
        sources.check();
        try (Termination termination = new Termination(10_000);
                RealEnvironment environment = environment();
                InfluxLines lines = openMonitor(environment.errorHandler())) {
            MicrosliceSource source = sources.open(index, options, environment);
            try {
                return send(termination, environment, lines, source);
            } finally {
                // The engine, which takes microslices from it, has ended.
                if (source instanceof AutoCloseable opened) {
                    opened.close();
                }
            }
        }
    }

    private int send(
            Termination termination,
            RealEnvironment environment,
            InfluxLines lines,
            MicrosliceSource source)
            throws InterruptedException {
        try (FlesnetInput input = FlesnetInput.launch(context(environment), index, source)) {
            while (!termination.await(REPORT_MS) && isRunning(input)) {
                report(input.statistics());
                lines.write(index, input.statistics());
            }
            report(input.statistics());
            requireNoFailure(input);
            say(line(input.statistics()) + SourceOptions.seen(source));
            return input.isDone() ? 0 : 1;
        }
    }

    private void report(InputStatistics statistics) {
        tellParent(statistics.timeslices(), statistics.payloadBytes());
    }

    private String line(InputStatistics statistics) {
        return ("input %s: %s timeslices, %.1f MB, %s microslices dropped; waited %s ms for data,"
                        + " %s for writes, %s for tickets")
                .formatted(
                        index,
                        statistics.timeslices(),
                        statistics.payloadBytes() / 1e6,
                        statistics.droppedMicroslices(),
                        statistics.inputBlockedNs() / 1_000_000,
                        statistics.writeBlockedNs() / 1_000_000,
                        statistics.creditBlockedNs() / 1_000_000);
    }
}
