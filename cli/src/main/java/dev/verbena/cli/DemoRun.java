package dev.verbena.cli;

import dev.verbena.examples.pic.PicDeck;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;

/** Starts the demo's processes, watches them, ends them. */
final class DemoRun {
    private static final long LOOK_AGAIN_MS = 50;
    private static final long END_MS = 4_000;

    private final Plan plan;
    private final PrintWriter out;
    private final ProgressLine line;
    private final List<ChildProcess> children = new ArrayList<>();
    private final List<ChildProcess> servers = new ArrayList<>();
    private final List<ChildProcess> compute = new ArrayList<>();
    private final AtomicLongArray steps;
    private final AtomicInteger fileCount = new AtomicInteger();
    private final AtomicLong byteCount = new AtomicLong();
    private final AtomicInteger analysedCount = new AtomicInteger();
    private final AtomicInteger port = new AtomicInteger();
    private final AtomicReference<String> verdict = new AtomicReference<>();
    private final String job =
            "demo-" + ProcessHandle.current().pid() + "-" + Long.toString(System.nanoTime(), 36);
    private SharedFolder shared;
    private ChildProcess receiver;
    private volatile boolean isEnding;

    /**
     * What to run.
     *
     * @param deck with the command line's changes
     * @param scheme of the transport
     * @param serverCount service processes
     * @param restart folder to continue from, or null
     * @param firstStep step to continue from
     * @param output folder, exists
     * @param timeoutSeconds longest wait of one process for another
     */
    record Plan(
            PicDeck deck,
            String scheme,
            int serverCount,
            Path restart,
            long firstStep,
            Path output,
            int timeoutSeconds) {

        /** Restart files that the run will write. */
        int fileCount() {
            long last = deck.stepCount() / deck.restartEvery();
            return Math.toIntExact((last - firstStep / deck.restartEvery()) * deck.processCount());
        }

        /** Shared memory that all processes together may need, bytes; rather too much. */
        long sharedLength() {
            long ranks = deck.processCount();
            long compute = 2 * deck.restartLength() + (6L << 20);
            long buffers = Math.max(3, (3 * ranks + 1) / 2) * (4L << 20);
            return ranks * compute + serverCount * (buffers + (20L << 20)) + (16L << 20);
        }
    }

    DemoRun(Plan plan, PrintWriter out) {
        this.plan = plan;
        this.out = out;
        this.line = new ProgressLine(out);
        this.steps = new AtomicLongArray(plan.deck().processCount());
    }

    /** Runs to the end; true if everything is as it should be. */
    boolean run() throws IOException, InterruptedException {
        Files.createDirectories(plan.output().resolve("log"));
        Files.createDirectories(plan.output().resolve("restart"));
        Files.createDirectories(plan.output().resolve("job"));
        Files.writeString(plan.output().resolve("job/deck.conf"), plan.deck().text());
        shared =
                SharedFolder.choose(
                        plan.sharedLength(),
                        List.of(Path.of(System.getProperty("java.io.tmpdir")), plan.output()),
                        out);
        Thread hook = new Thread(this::endAll, "end-children");
        Runtime.getRuntime().addShutdownHook(hook);
        long begin = System.nanoTime();
        try {
            introduce();
            startAll();
            watchUntil(this::computeIsDone);
            line.show("simulation done; the last files are on their way");
            servers.forEach(ChildProcess::finish);
            watchUntil(
                    () -> !receiver.isAlive() && servers.stream().noneMatch(ChildProcess::isAlive));
            line.end();
            conclude((System.nanoTime() - begin) / 1e9);
            return "passed".equals(verdict.get());
        } finally {
            endAll();
            line.end();
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                // the JVM is ending: the hook runs
            }
        }
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
                        message -> onMessage(rank, message));
        children.add(child);
        return child;
    }

    private void startAll() throws InterruptedException {
        long size = plan.deck().restartLength();
        int ranks = plan.deck().processCount();
        Path jobFolder = plan.output().resolve("job");
        String configuration = jobFolder.resolve("dart.conf").toString();
        String timeout = Integer.toString(plan.timeoutSeconds());
        receiver =
                start(
                        "receiver",
                        List.of("-Xmx" + megabytes(192, size * ranks * 12)),
                        List.of(
                                "demo-receive",
                                "--output=" + plan.output(),
                                "--transport=" + plan.scheme(),
                                "--servers=" + plan.serverCount(),
                                "--files=" + plan.fileCount(),
                                "--timeout=" + timeout),
                        -1);
        watchUntil(() -> port.get() != 0);
        for (int i = 0; i < plan.serverCount(); i++) {
            List<String> arguments = new ArrayList<>(List.of("dart", i == 0 ? "master" : "slave"));
            arguments.add("--config=" + configuration);
            arguments.add("--transport=" + plan.scheme());
            arguments.add("--receiver=127.0.0.1:" + port.get());
            arguments.add("--clients=" + ranks);
            arguments.add("--timeout=" + timeout);
            if (i == 0) {
                arguments.add("--servers=" + plan.serverCount());
            }
            String name = i == 0 ? "master" : "slave " + i;
            servers.add(start(name, List.of("-Xmx128m"), arguments, -1));
        }
        for (int rank = 0; rank < ranks; rank++) {
            List<String> arguments = new ArrayList<>(List.of("demo-compute"));
            arguments.add("--deck=" + jobFolder.resolve("deck.conf"));
            arguments.add("--config=" + configuration);
            arguments.add("--rendezvous=" + jobFolder);
            arguments.add("--rank=" + rank);
            arguments.add("--transport=" + plan.scheme());
            arguments.add("--timeout=" + timeout);
            if (plan.restart() != null) {
                arguments.add("--restart=" + plan.restart());
                arguments.add("--restart-step=" + plan.firstStep());
            }
            compute.add(
                    start(
                            "compute " + rank,
                            List.of("-Xmx" + megabytes(64, size * 8)),
                            arguments,
                            rank));
        }
        out.printf(
                "Processes: receiver %d, servers %s, compute %s%n",
                receiver.pid(), pids(servers), pids(compute));
        out.flush();
    }

    private static String megabytes(long least, long bytes) {
        return least + (bytes >> 20) + "m";
    }

    private static String pids(List<ChildProcess> processes) {
        return processes.stream()
                .map(child -> Long.toString(child.pid()))
                .collect(java.util.stream.Collectors.joining(" "));
    }

    /** Any thread. */
    private void onMessage(int rank, String message) {
        String[] words = message.split(" ");
        switch (words[0]) {
            case "step" -> steps.set(rank, Long.parseLong(words[1]));
            case "listening" -> port.set(Integer.parseInt(words[1]));
            case "file" -> {
                fileCount.incrementAndGet();
                byteCount.addAndGet(Long.parseLong(words[2]));
            }
            case "analysed" -> analysedCount.incrementAndGet();
            case "verdict" -> verdict.set(words[1]);
            case "check" -> onCheck(message.substring("check ".length()));
            default -> {
                // a message of a program that runs elsewhere too, and means nothing here
            }
        }
    }

    private final List<String> checkLines = new ArrayList<>();

    private void onCheck(String text) {
        synchronized (checkLines) {
            checkLines.add(text);
        }
    }

    private boolean computeIsDone() {
        return compute.stream().noneMatch(ChildProcess::isAlive);
    }

    /** Waits for a condition, showing progress; throws if a process ended that should not have. */
    private void watchUntil(java.util.function.BooleanSupplier condition)
            throws InterruptedException {
        while (true) {
            boolean isDone = condition.getAsBoolean();
            for (ChildProcess child : children) {
                requireHealthy(child);
            }
            if (isDone) {
                return;
            }
            showProgress();
            Thread.sleep(LOOK_AGAIN_MS);
        }
    }

    private void requireHealthy(ChildProcess child) throws InterruptedException {
        if (isEnding || child.isAlive()) {
            return;
        }
        child.waitFor(0);
        boolean isTooEarly =
                child == receiver
                        ? verdict.get() == null
                        : servers.contains(child) && !computeIsDone();
        boolean isFailed = child.exitCode() != 0 && !(child == receiver && verdict.get() != null);
        if (isFailed || isTooEarly) {
            throw new Messages.Failure(firstToFail(child).obituary());
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

    private void showProgress() {
        if (compute.isEmpty()) {
            return;
        }
        long slowest = Long.MAX_VALUE;
        for (int rank = 0; rank < steps.length(); rank++) {
            slowest = Math.min(slowest, steps.get(rank));
        }
        line.progress(
                Math.max(slowest, plan.firstStep()),
                plan.deck().stepCount(),
                String.format(
                        "files %d/%d, %.0f MB, analysed %d",
                        fileCount.get(),
                        plan.fileCount(),
                        byteCount.get() / 1e6,
                        analysedCount.get()));
    }

    private void conclude(double seconds) {
        synchronized (checkLines) {
            checkLines.forEach(out::println);
        }
        out.printf(
                "%s in %.1f s. Report: %s%n",
                "passed".equals(verdict.get()) ? "All checks passed" : "CHECKS FAILED",
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
