package dev.verbena.cli.demo;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.demo.transit.Check;
import dev.verbena.cli.demo.transit.Report;
import dev.verbena.cli.demo.transit.RunAnalysis;
import dev.verbena.cli.demo.transit.RunInfo;
import dev.verbena.cli.demo.transit.Timeline;
import dev.verbena.cli.demo.transit.TransitReceiver;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.Version;
import dev.verbena.dart.DartException;
import dev.verbena.examples.pic.PicDeck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The receiver with its analysis; started by {@code demo}. */
@Command(
        name = "demo-receive",
        hidden = true,
        description = "The receiver of the demo.",
        mixinStandardHelpOptions = true)
public final class DemoReceive implements Callable<Integer> {
    /** A run may last as long as its parent, which ends this process. */
    private static final long FOREVER_NS = TimeUnit.DAYS.toNanos(3650);

    @Option(names = "--output", required = true)
    private Path output;

    @Option(names = "--transport", required = true)
    private String scheme;

    @Option(names = "--servers", required = true)
    private int servers;

    @Option(names = "--files", required = true)
    private int files;

    @Option(names = "--port", defaultValue = "0")
    private int port;

    @Override
    public Integer call() throws Exception {
        ChildProcess.endWithParent(() -> Runtime.getRuntime().halt(1));
        PicDeck deck = PicDeck.read(output.resolve("job/deck.conf"));
        RunAnalysis analysis = new RunAnalysis(deck.growthTolerance(), deck.energyTolerance());
        try (RealEnvironment environment =
                        RealEnvironment.builder()
                                .application("demo receiver")
                                .errorHandler(this::onError)
                                .build();
                TransitReceiver receiver = start(environment, analysis)) {
            ChildProcess.sendToParent("listening " + receiver.port());
            List<Check> found = new ArrayList<>(receiver.finish(servers, files, FOREVER_NS));
            found.addAll(analysis.checks());
            Map<String, String> environmentText = RunInfo.thisMachine();
            environmentText.put("Verbena", Version.text());
            RunInfo info =
                    new RunInfo(
                            scheme,
                            servers,
                            deck.processCount(),
                            deck.buffered(),
                            deck.stepCount(),
                            environmentText);
            Timeline timeline = Timeline.read(output.resolve("job/timeline.csv"));
            Report report = new Report(info, analysis, receiver.staging(), timeline, found);
            report.write(output);
            ChildProcess.sendToParent("sentence " + report.sentence());
            for (Check check : report.checks()) {
                String outcome = check.outcome().name().toLowerCase(Locale.ROOT).replace('_', ' ');
                ChildProcess.sendToParent(
                        String.format(
                                "check   %-10s  %s: %s", outcome, check.name(), check.detail()));
            }
            ChildProcess.sendToParent("verdict " + (report.isGood() ? "passed" : "failed"));
            return report.isGood() ? 0 : 1;
        }
    }

    private TransitReceiver start(RealEnvironment environment, RunAnalysis analysis) {
        analysis.showTo((step, png) -> show(environment, step, png));
        try {
            return new TransitReceiver(
                    environment, output, port, analysis, DemoReceive::onProgress);
        } catch (UncheckedIOException e) {
            if (e.getCause() instanceof BindException) {
                ChildProcess.sendToParent(
                        String.format(
                                "broken port %d of 127.0.0.1 cannot be used for the receiver: %s;"
                                        + " choose another one with --port, or leave it out",
                                port, e.getCause().getMessage()));
            }
            throw e;
        }
    }

    /** A picture that cannot be shown holds up nothing. */
    private static void show(RealEnvironment environment, long step, byte[] png) {
        try {
            environment.pictures().show("phase space", step, png);
        } catch (IOException | IllegalArgumentException e) {
            environment.errorHandler().onError(e);
        }
    }

    /**
     * A file that cannot be stored is sent again until there is room: the user must know. After an
     * error the receiver takes nothing more.
     */
    private void onError(Throwable error) {
        System.out.println(error);
        if (error instanceof Error) {
            ChildProcess.sendToParent("broken the receiver ended: " + error);
        }
        String text = String.valueOf(error.getMessage());
        String folder = output.resolve("restart").toString();
        if (error instanceof DartException && text.contains(folder)) {
            ChildProcess.sendToParent("stuck the receiver cannot store a file: " + text);
        }
    }

    private static void onProgress(String line) {
        System.out.println(line);
        ChildProcess.sendToParent(line);
    }
}
