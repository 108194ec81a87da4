package dev.verbena.cli.status;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Columns;
import dev.verbena.cli.terminal.Termination;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code verbena top}. */
@Command(
        name = "top",
        description = {
            "Watch the running processes of staging jobs: rates, queues, stalls, errors.",
            "msg/s: sent by a client, pulled by a server, stored by the receiver. ebq, pbq, fbq, t3:"
                    + " a server's buffers that are empty, being pulled, full, streamed. parked: headers"
                    + " that wait for a buffer. stalls: sends that had to wait, since the start.",
            "Reads shared memory only; the processes do not notice. Ends at Ctrl-C."
        })
public final class TopCommand extends CliCommand {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

    @Mixin private JobOption of;

    @Option(
            names = "--interval",
            paramLabel = "SECONDS",
            description = "Time between two looks, 0.1 to 3600. Default: 1.")
    private double interval = 1;

    @Option(
            names = "--count",
            paramLabel = "N",
            description = "End after this many tables. Default: go on.")
    private Integer count;

    @Option(names = "--once", description = "One table of one interval, as --count 1.")
    private boolean isOnce;

    @Override
    public Integer call() throws IOException, InterruptedException {
        inRange("--interval", interval, 0.1, 3600);
        if (count != null && count < 1) {
            throw wrong("--count " + count + " is below 1");
        }
        int tables = isOnce ? 1 : count == null ? Integer.MAX_VALUE : count;
        boolean isScreen = Columns.isScreen() && !isOnce;
        PrintWriter out = out();
        try (Termination termination = new Termination(1_000)) {
            TopSample before = TopSample.take(of.job());
            for (int i = 0; i < tables; i++) {
                if (termination.await((long) (interval * 1e3))) {
                    break;
                }
                TopSample now = TopSample.take(of.job());
                print(out, isScreen, before, now);
                if (out.checkError()) {
                    break; // Nobody reads any more.
                }
                before = now;
            }
        }
        return 0;
    }

    private void print(PrintWriter out, boolean isScreen, TopSample before, TopSample now) {
        StringBuilder text = new StringBuilder(isScreen ? Columns.CLEAR : "");
        int number = now.processes().size();
        text.append(
                String.format(
                        "verbena top  %s  %d process%s%s%n",
                        LocalTime.now().format(TIME),
                        number,
                        number == 1 ? "" : "es",
                        Jobs.named(of.job())));
        List<String> lines = TopTable.lines(before, now, Columns.width());
        lines.forEach(line -> text.append(line).append(System.lineSeparator()));
        if (!isScreen) {
            text.append(System.lineSeparator());
        }
        // At once, so that a screen does not flicker.
        out.print(text);
        out.flush();
    }
}
