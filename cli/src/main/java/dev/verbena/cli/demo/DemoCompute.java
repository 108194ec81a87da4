package dev.verbena.cli.demo;

import dev.verbena.agent.JobIdentity;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.examples.pic.OutputMode;
import dev.verbena.examples.pic.PicDeck;
import dev.verbena.examples.pic.PicProgram;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** One compute process; started by {@code demo}. */
@Command(
        name = "demo-compute",
        hidden = true,
        description = "One compute process of the demo.",
        mixinStandardHelpOptions = true)
public final class DemoCompute implements Callable<Integer> {
    @Option(names = "--deck", required = true)
    private Path deck;

    @Option(names = "--config", required = true)
    private Path configuration;

    @Option(names = "--rendezvous", required = true)
    private Path folder;

    @Option(names = "--rank", required = true)
    private int rank;

    @Option(names = "--transport", required = true)
    private String scheme;

    @Option(names = "--restart")
    private Path restart;

    @Option(names = "--restart-step")
    private long restartStep;

    @Option(names = "--compare")
    private Path compared;

    @Option(names = "--slots", defaultValue = "2")
    private int slots;

    @Option(names = "--timeout", defaultValue = "60")
    private int timeout;

    @Override
    public Integer call() {
        ChildProcess.endWithParent(() -> Runtime.getRuntime().halt(1));
        PicDeck read = PicDeck.read(deck);
        try (RealEnvironment environment =
                RealEnvironment.builder().application("compute " + rank).build()) {
            System.out.println("rank " + rank + " of " + read.processCount());
            PicProgram.Settings settings =
                    new PicProgram.Settings(
                            read,
                            identity(read.processCount()),
                            scheme,
                            configuration,
                            restart,
                            restartStep,
                            compared,
                            folder,
                            slots,
                            TimeUnit.SECONDS.toNanos(timeout));
            PicProgram.run(settings, environment, new ProgressReporter());
            System.out.println("done");
        }
        return 0;
    }

    private JobIdentity identity(int processCount) {
        Map<String, String> told =
                Map.of(
                        "verbena.job",
                        "demo",
                        "verbena.app",
                        "compute",
                        "verbena.rank",
                        Integer.toString(rank),
                        "verbena.size",
                        Integer.toString(processCount));
        return JobIdentity.discover(Map.of(), told);
    }

    /** Reports progress to the parent. */
    private static final class ProgressReporter implements PicProgram.Listener {
        @Override
        public void onCompared(long done, long total, OutputMode mode) {
            ChildProcess.sendToParent("compared " + done + " " + total + " " + mode.word());
        }

        @Override
        public void onRun() {
            ChildProcess.sendToParent("run");
        }

        @Override
        public void onStep(long step) {
            ChildProcess.sendToParent("step " + step);
        }
    }
}
