package dev.verbena.cli.sim;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.nsim.program.Script;
import dev.verbena.nsim.scenario.Scenario;
import dev.verbena.nsim.scenario.ScenarioOptions;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** One process of {@code sim compare}: performs its rank of each scenario, and reports times. */
@Command(name = "sim-peer", hidden = true, description = "One process of a comparison.")
public final class SimPeer implements Callable<Integer> {
    /** A file of the folder with which all processes end. */
    static final String END = "end";

    /** Runs that are not counted: until the compiler has settled, for short ones. */
    private static final int WARM_UP = 1_000;

    private static final long SHORT_BYTES = 4_096;
    private static final int PER_LONG_RUN = 5;
    private static final int WARM_UP_LONG = 3;

    @Option(names = "--transport", required = true)
    private String scheme;

    @Option(names = "--folder", required = true)
    private Path folder;

    @Option(names = "--rank", required = true)
    private int rank;

    @Option(names = "--size", required = true)
    private int size;

    @Option(names = "--repeat", required = true)
    private int repeat;

    @Option(names = "--warm-up", defaultValue = "" + WARM_UP)
    private int warmUp;

    @Option(names = "--seed", required = true)
    private long seed;

    @Option(names = "--bytes", defaultValue = "-1")
    private long bytes;

    @Option(names = "--scenarios", required = true, split = ",")
    private List<String> scenarios;

    @Override
    public Integer call() throws Exception {
        ChildProcess.endWithParent(() -> Runtime.getRuntime().halt(1));
        List<Script> scripts = new ArrayList<>();
        long longest = 0;
        for (String name : scenarios) {
            Script script = script(SimCommand.scenario(name), size, seed, bytes);
            scripts.add(script);
            longest = Math.max(longest, script.bytesMax());
        }
        try (SimNetwork network = new SimNetwork(scheme, rank, size, longest)) {
            network.connect(meet(network.uri()));
            for (int i = 0; i < scripts.size(); i++) {
                measure(network, i, scripts.get(i));
            }
            network.synchronize();
            network.ending();
            ChildProcess.sendToParent("done");
            // The parent must have all results first: a process that has gone is an error for
            // others.
            await(folder.resolve(END), "the end");
        }
        return 0;
    }

    static Script script(Scenario scenario, int size, long seed, long bytes) {
        ScenarioOptions options = new ScenarioOptions(seed, bytes);
        return Script.record(size, true, Long.MAX_VALUE, scenario.program(size, options));
    }

    private void measure(SimNetwork network, int number, Script script) {
        boolean isShort = script.bytesMax() <= SHORT_BYTES;
        int counted = isShort ? repeat : Math.max(1, repeat / PER_LONG_RUN);
        int before = isShort ? warmUp : Math.min(warmUp, WARM_UP_LONG);
        StringBuilder times = new StringBuilder("times ").append(number);
        for (int i = -before; i < counted; i++) {
            network.synchronize();
            long begin = System.nanoTime();
            script.perform(rank, network);
            long end = System.nanoTime();
            network.reset();
            if (i >= 0) {
                times.append(' ').append(begin).append(' ').append(end);
            }
        }
        ChildProcess.sendToParent(times.toString());
    }

    /** Leaves its address in the folder and waits for those of the others. */
    private URI[] meet(URI own) throws IOException, InterruptedException {
        Path part = folder.resolve("part-" + rank);
        Files.writeString(part, own.toString());
        Files.move(part, folder.resolve("uri-" + rank), StandardCopyOption.ATOMIC_MOVE);
        URI[] uris = new URI[size];
        for (int i = 0; i < size; i++) {
            Path file = folder.resolve("uri-" + i);
            await(file, "rank " + i);
            uris[i] = URI.create(Files.readString(file));
        }
        return uris;
    }

    private static void await(Path file, String what) throws InterruptedException {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!ChildProcess.isThere(file)) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new Messages.Failure(what + " does not come");
            }
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }
}
