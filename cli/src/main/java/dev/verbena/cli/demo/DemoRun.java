package dev.verbena.cli.demo;

import dev.verbena.cli.demo.transit.Timeline;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.ProgressLine;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.examples.pic.PicDeck;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.agrona.IoUtil;

/** Starts the demo's processes, watches them, kills the receiver halfway, ends them all. */
final class DemoRun {
    private static final long LOOK_AGAIN_MS = 10;
    private static final long SHOW_AGAIN_MS = 50;
    private static final long END_MS = 4_000;

    /** How long the dead receiver stays dead before it is started again. */
    private static final long DEAD_MS = 1_000;

    private final DemoPlan plan;
    private final PrintWriter out;
    private final ProgressLine line;
    private final List<ChildProcess> children = new CopyOnWriteArrayList<>();
    private final List<ChildProcess> servers = new ArrayList<>();
    private final List<ChildProcess> compute = new ArrayList<>();
    private final DemoProgress progress;
    private final String job =
            "demo-" + ProcessHandle.current().pid() + "-" + Long.toString(System.nanoTime(), 36);
    private SharedFolder shared;
    private ChildProcess receiver;
    private volatile boolean isEnding;
    private long nextShowMs;

    DemoRun(DemoPlan plan, PrintWriter out) {
        this.plan = plan;
        this.out = out;
        this.line = new ProgressLine(out);
        this.progress = new DemoProgress(plan);
    }

    /** Runs to the end; true if everything is as it should be. */
    boolean run() throws IOException, InterruptedException {
        for (String folder : List.of("log", "restart", "compare", "spill", "job")) {
            Files.createDirectories(plan.output().resolve(folder));
        }
        Files.writeString(plan.output().resolve("job/deck.conf"), plan.deck().text());
        shared =
                SharedFolder.choose(
                        plan.memory().length(plan.deck(), plan.serverCount()),
                        List.of(Path.of(System.getProperty("java.io.tmpdir")), plan.output()),
                        out);
        Thread hook = new Thread(this::endAll, "end-children");
        Runtime.getRuntime().addShutdownHook(hook);
        long begin = System.nanoTime();
        try {
            introduce();
            startAll();
            if (plan.isCompared()) {
                say("1. The same steps with each way of output (the figures of page one)");
                watchUntil(() -> progress.isRunBegun() || computeIsDone());
            }
            say("2. The run, its files staged by Verbena, analysed while they arrive");
            watchUntil(() -> isTimeToKill() || computeIsDone());
            if (plan.isKilling()) {
                killReceiver();
            }
            watchUntil(this::computeIsDone);
            say("3. Taking in the last files, comparing every file with what was sent");
            progress.timeline().write(plan.output().resolve("job/timeline.csv"));
            joinHashes();
            servers.forEach(ChildProcess::finish);
            watchUntil(
                    () -> !receiver.isAlive() && servers.stream().noneMatch(ChildProcess::isAlive));
            line.end();
            if (isEnding) {
                return false;
            }
            conclude((System.nanoTime() - begin) / 1e9);
            return "passed".equals(progress.told("verdict"));
        } finally {
            endAll();
            line.end();
            Termination.forget(hook);
        }
    }

    private void say(String text) {
        line.end();
        out.println(text);
        out.flush();
    }

    private void introduce() {
        PicDeck deck = plan.deck();
        out.printf(
                "Two-stream instability: %,d particles in %d compute processes, %d steps%s,%n"
                        + "a restart file of %.1f MB from each every %d steps (%s), over %s.%n",
                deck.parameters().particleCount(),
                deck.processCount(),
                deck.stepCount(),
                plan.restart() == null ? "" : ", continued from step " + plan.firstStep(),
                deck.restartLength() / 1e6,
                deck.restartEvery(),
                deck.buffered() ? "buffered" : "unbuffered",
                plan.scheme());
        out.printf("Output: %s%n", plan.output());
        out.flush();
    }

    private ChildProcess start(String name, List<String> jvm, List<String> arguments, int rank) {
        ChildProcess child =
                ChildProcess.start(
                        name,
                        plan.output().resolve("log").resolve(name.replace(' ', '-') + ".log"),
                        Map.of("VERBENA_JOB", job, "VERBENA_SHM_DIR", shared.path().toString()),
                        jvm,
                        arguments,
                        message -> progress.onMessage(rank, message));
        children.add(child);
        return child;
    }

    private void startAll() throws InterruptedException {
        startReceiver("receiver", plan.port());
        watchUntil(() -> progress.port() != 0);
        startServers();
        startCompute();
        out.printf(
                "Processes: receiver %d, servers %s, compute %s%n",
                receiver.pid(), pids(servers), pids(compute));
        out.flush();
    }

    private void startReceiver(String name, int port) {
        long size = plan.deck().restartLength();
        receiver =
                start(
                        name,
                        List.of("-Xmx" + megabytes(192, size * plan.deck().processCount() * 12)),
                        List.of(
                                "demo-receive",
                                "--output=" + plan.output(),
                                "--transport=" + plan.scheme(),
                                "--servers=" + plan.serverCount(),
                                "--files=" + plan.fileCount(),
                                "--port=" + port),
                        -1);
    }

    private void startServers() {
        for (int i = 0; i < plan.serverCount(); i++) {
            List<String> arguments = new ArrayList<>(List.of("dart", i == 0 ? "master" : "slave"));
            arguments.add("--config=" + plan.output().resolve("job/dart.conf"));
            arguments.add("--transport=" + plan.scheme());
            arguments.add("--receiver=127.0.0.1:" + progress.port());
            arguments.add("--clients=" + plan.deck().processCount());
            arguments.add("--buffers=" + plan.memory().bufferCount());
            arguments.add("--buffer-size=" + plan.memory().bufferMebibytes());
            arguments.add("--spill=" + plan.spillFolder() + "," + plan.spillMax());
            arguments.add("--timeout=" + plan.timeoutSeconds());
            if (i == 0) {
                arguments.add("--servers=" + plan.serverCount());
            }
            String name = i == 0 ? "master" : "slave " + i;
            servers.add(start(name, List.of("-Xmx128m"), arguments, -1));
        }
    }

    private void startCompute() {
        long size = plan.deck().restartLength();
        Path jobFolder = plan.output().resolve("job");
        for (int rank = 0; rank < plan.deck().processCount(); rank++) {
            List<String> arguments = new ArrayList<>(List.of("demo-compute"));
            arguments.add("--deck=" + jobFolder.resolve("deck.conf"));
            arguments.add("--config=" + jobFolder.resolve("dart.conf"));
            arguments.add("--rendezvous=" + jobFolder);
            arguments.add("--rank=" + rank);
            arguments.add("--transport=" + plan.scheme());
            arguments.add("--slots=" + plan.memory().slotCount());
            arguments.add("--timeout=" + plan.timeoutSeconds());
            if (plan.isCompared()) {
                arguments.add("--compare=" + plan.output().resolve("compare"));
            }
            if (plan.restart() != null) {
                arguments.add("--restart=" + plan.restart());
                arguments.add("--restart-step=" + plan.firstStep());
            }
            List<String> jvm = List.of("-Xmx" + megabytes(64, size * 8));
            compute.add(start("compute " + rank, jvm, arguments, rank));
        }
    }

    private static String megabytes(long least, long bytes) {
        return least + (bytes >> 20) + "m";
    }

    private static String pids(List<ChildProcess> processes) {
        return processes.stream()
                .map(child -> Long.toString(child.pid()))
                .collect(java.util.stream.Collectors.joining(" "));
    }

    // ---- the receiver that is killed

    private boolean isTimeToKill() {
        return plan.isKilling() && progress.slowestStep() >= plan.killStep();
    }

    private void killReceiver() throws InterruptedException {
        if (!isTimeToKill()) {
            say("   (the run was too short to kill the receiver in it)");
            return;
        }
        ChildProcess dead = receiver;
        int port = progress.port();
        long step = progress.slowestStep();
        children.remove(dead);
        long killedNs = System.nanoTime();
        dead.kill();
        progress.timeline().add(Timeline.KILLED, killedNs, dead.pid());
        say(
                ("   receiver (process %s) killed with kill -9 after step %s; the "
                                + "simulation goes on")
                        .formatted(dead.pid(), step));
        long startNs = killedNs + DEAD_MS * 1_000_000;
        watchUntil(() -> System.nanoTime() - startNs >= 0);
        progress.forgetPort();
        startReceiver("receiver again", port);
        watchUntil(() -> progress.port() != 0);
        long backNs = System.nanoTime();
        progress.timeline().add(Timeline.BACK, backNs, receiver.pid());
        say(
                String.format(
                        "   receiver back as process %d after %.1f s; meanwhile %d steps were done",
                        receiver.pid(),
                        (backNs - killedNs) / 1e9,
                        progress.timeline().outageSteps()));
    }

    // ---- watching

    private boolean computeIsDone() {
        return !compute.isEmpty() && compute.stream().noneMatch(ChildProcess::isAlive);
    }

    /** Waits for a condition, showing progress; throws if a process ended that should not have. */
    private void watchUntil(BooleanSupplier condition) throws InterruptedException {
        while (true) {
            boolean isDone = condition.getAsBoolean();
            for (ChildProcess child : children) {
                requireHealthy(child);
            }
            if (isDone) {
                return;
            }
            String stuck = progress.newlyStuck();
            if (stuck != null) {
                say("   " + stuck + "; it tries again until there is room (Ctrl-C ends the demo)");
            }
            long nowMs = System.nanoTime() / 1_000_000;
            if (!compute.isEmpty() && nowMs - nextShowMs >= 0) {
                progress.show(line);
                nextShowMs = nowMs + SHOW_AGAIN_MS;
            }
            Thread.sleep(LOOK_AGAIN_MS);
        }
    }

    private void requireHealthy(ChildProcess child) throws InterruptedException {
        boolean isAlive = child.isAlive();
        if (!isAlive) {
            child.waitFor(0);
        }
        if (progress.told("broken") != null && !isEnding) {
            throw new Messages.Failure(progress.told("broken"));
        }
        if (isEnding || isAlive) {
            return;
        }
        String verdict = progress.told("verdict");
        boolean isTooEarly =
                child == receiver ? verdict == null : servers.contains(child) && !computeIsDone();
        boolean isFailed = child.exitCode() != 0 && !(child == receiver && verdict != null);
        if (isFailed || isTooEarly) {
            String stuck = progress.told("stuck");
            String why = stuck == null ? "" : stuck + "; then ";
            throw new Messages.Failure(why + firstToFail(child).exitSummary());
        }
    }

    /** When one process dies the others fail because of it; name the one that died first. */
    private ChildProcess firstToFail(ChildProcess found) throws InterruptedException {
        for (ChildProcess child : children) {
            if (!child.isAlive() && child.exitCode() > 128) {
                child.waitFor(0);
                return child;
            }
        }
        return found;
    }

    /** One list of fingerprints, for {@code sha256sum --check} in the output folder. */
    private void joinHashes() throws IOException {
        StringBuilder all = new StringBuilder();
        for (int rank = 0; rank < plan.deck().processCount(); rank++) {
            Path list = plan.output().resolve("job/sent-" + rank + ".sha256");
            for (String entry : Files.readAllLines(list)) {
                all.append(entry.replaceFirst("  ", "  restart/")).append('\n');
            }
        }
        Files.writeString(plan.output().resolve("sent.sha256"), all);
    }

    private void conclude(double seconds) {
        progress.checks().forEach(out::println);
        boolean isGood = "passed".equals(progress.told("verdict"));
        if (isGood) {
            // They are of no further use when everything has arrived and was compared.
            IoUtil.delete(plan.output().resolve("compare").toFile(), false);
            IoUtil.delete(plan.spillFolder().toFile(), false);
        }
        if (progress.told("sentence") != null) {
            out.println(progress.told("sentence"));
        }
        out.printf(
                "%s in %.1f s. Report: %s%n",
                isGood ? "All checks passed" : "CHECKS FAILED",
                seconds,
                plan.output().resolve("report.html"));
        out.flush();
    }

    /** Ends what still runs: asks, waits, forces. Idempotent. */
    private synchronized void endAll() {
        isEnding = true;
        children.forEach(ChildProcess::stop);
        children.forEach(child -> child.end(END_MS));
        if (children.stream().noneMatch(ChildProcess::isAlive)) {
            removeSharedMemory();
        }
    }

    /** What killed processes of this run, which nobody else joins, left in shared memory. */
    private void removeSharedMemory() {
        try {
            shared.remove(job);
        } catch (IOException e) {
            line.end();
            out.println("left in shared memory: " + shared.path() + " (" + Messages.of(e) + ")");
            out.flush();
        }
    }
}
