package dev.verbena.cli.sim;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OwnedFolder;
import dev.verbena.cli.terminal.Termination;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Starts the processes of a measurement and collects what they tell. One thread. */
final class SimPeers {
    private static final long SECONDS_MAX = 300;
    private static final long GRACE_MS = 2_000;

    private final List<ChildProcess> children = new ArrayList<>();
    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();

    /** By the scenario's place: begin and end of each run of each process, host's clock, ns. */
    private final Map<Integer, long[][]> times = new LinkedHashMap<>();

    private SimPeers() {}

    /**
     * Runs scenarios with a number of processes.
     *
     * @param arguments of {@link SimPeer} besides folder, rank and size
     */
    static Map<Integer, long[][]> run(int size, List<String> arguments) throws Exception {
        Path folder = Files.createTempDirectory("verbena-compare");
        SimPeers peers = new SimPeers();
        Thread hook = new Thread(() -> peers.end(folder), "end-peers");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            peers.start(size, folder, arguments);
            peers.collect(size);
            Files.writeString(folder.resolve(SimPeer.END), "end");
            for (ChildProcess child : peers.children) {
                child.waitFor(10_000);
            }
            return peers.times;
        } finally {
            peers.end(folder);
            Termination.forget(hook);
        }
    }

    private void start(int size, Path folder, List<String> arguments) {
        for (int rank = 0; rank < size; rank++) {
            List<String> all = new ArrayList<>(List.of("sim-peer", "--folder=" + folder));
            all.add("--rank=" + rank);
            all.add("--size=" + size);
            all.addAll(arguments);
            int number = rank;
            children.add(
                    ChildProcess.start(
                            "rank " + rank,
                            null,
                            Map.of(),
                            List.of("-Xmx128m"),
                            all,
                            line -> told.add(number + " " + line)));
        }
    }

    private void collect(int size) throws InterruptedException {
        int done = 0;
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS_MAX);
        while (done < size) {
            String line = told.poll(200, TimeUnit.MILLISECONDS);
            if (line != null) {
                done += take(line, size);
                continue;
            }
            for (ChildProcess child : children) {
                if (!child.isAlive() && child.waitFor(0) && told.isEmpty()) {
                    throw new Messages.Failure(exitSummaries());
                }
            }
            if (System.nanoTime() - deadlineNs > 0) {
                throw new Messages.Failure(
                        "the measurement with " + size + " processes does not end");
            }
        }
    }

    /** Of all that ended: who ended first may have waited for another that gives the cause. */
    private String exitSummaries() throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(GRACE_MS);
        List<String> texts = new ArrayList<>();
        for (ChildProcess child : children) {
            if (!child.isAlive() && child.waitFor(0)) {
                texts.add(child.exitSummary());
            }
        }
        return String.join("\n", texts);
    }

    /** A line of a process: its rank, then what it told. */
    private int take(String line, int size) {
        String[] words = line.split(" ");
        if (words[1].equals("done")) {
            return 1;
        }
        long[] own = new long[words.length - 3];
        for (int i = 0; i < own.length; i++) {
            own[i] = Long.parseLong(words[i + 3]);
        }
        int scenario = Integer.parseInt(words[2]);
        times.computeIfAbsent(scenario, s -> new long[size][])[Integer.parseInt(words[0])] = own;
        return 0;
    }

    private void end(Path folder) {
        children.forEach(child -> child.end(0));
        try {
            OwnedFolder.delete(folder);
        } catch (NoSuchFileException e) {
            return; // It is gone already.
        } catch (IOException e) {
            // Also in the hook, where nobody would catch it.
            System.err.println("verbena: " + Messages.of(e) + "; " + folder + " is left");
        }
    }
}
