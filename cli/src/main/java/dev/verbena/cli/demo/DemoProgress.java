package dev.verbena.cli.demo;

import dev.verbena.cli.demo.transit.Timeline;
import dev.verbena.cli.terminal.ProgressLine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the demo's processes have reported to the command. Thread-safe. */
final class DemoProgress {
    private final DemoPlan plan;
    private final Timeline timeline = new Timeline();
    private final long[] steps;
    private final long[] compared;
    private final Map<String, Long> files = new HashMap<>();
    private final Set<String> analysed = new HashSet<>();
    private final List<String> checks = new ArrayList<>();
    private long comparedTotal;
    private String comparedMode = "";
    private int runsBegun;
    private long slowest;
    private int port;

    /** By the first word of a message the rest of the last one. */
    private final Map<String, String> told = new HashMap<>();

    private boolean isStuckSaid;

    DemoProgress(DemoPlan plan) {
        this.plan = plan;
        this.steps = new long[plan.deck().processCount()];
        this.compared = new long[plan.deck().processCount()];
        Arrays.fill(steps, plan.firstStep());
        this.slowest = plan.firstStep();
    }

    /** A message of a compute process, or of another process with rank -1. */
    synchronized void onMessage(int rank, String message) {
        String[] words = message.split(" ");
        switch (words[0]) {
            case "step" -> onStep(rank, Long.parseLong(words[1]));
            case "compared" -> {
                compared[rank] = Long.parseLong(words[1]);
                comparedTotal = Long.parseLong(words[2]);
                comparedMode = words[3];
            }
            case "run" -> runsBegun++;
            case "listening" -> port = Integer.parseInt(words[1]);
            case "file" -> {
                files.put(words[1], Long.parseLong(words[2]));
                told.remove("stuck");
            }
            case "analysed" -> analysed.add(words[1]);
            case "check" -> checks.add(message.substring("check ".length()));
            case "verdict", "sentence", "broken", "stuck" ->
                    told.put(words[0], message.substring(words[0].length() + 1));
            default -> {
                // a message of a program that runs elsewhere too, and means nothing here
            }
        }
    }

    private void onStep(int rank, long step) {
        steps[rank] = step;
        long now = Arrays.stream(steps).min().orElse(0);
        if (now > slowest) {
            slowest = now;
            timeline.add(Timeline.STEP, System.nanoTime(), now);
        }
    }

    synchronized void show(ProgressLine line) {
        if (plan.isCompared() && runsBegun < steps.length) {
            long done = Arrays.stream(compared).min().orElse(0);
            line.progress(done, Math.max(1, comparedTotal), way(comparedMode));
            return;
        }
        line.progress(
                slowest,
                plan.deck().stepCount(),
                String.format(
                        "files %d/%d, %.0f MB, analysed %d",
                        files.size(),
                        plan.fileCount(),
                        files.values().stream().mapToLong(Long::longValue).sum() / 1e6,
                        analysed.size()));
    }

    private static String way(String mode) {
        return switch (mode) {
            case "none" -> "no output at all";
            case "cached" -> "each process writes its files";
            case "files" -> "each process writes and forces its files";
            case "writer" -> "a background thread writes and forces them";
            case "items" -> "Verbena, item by item";
            case "whole" -> "Verbena, whole files at once";
            default -> "starting";
        };
    }

    Timeline timeline() {
        return timeline;
    }

    /** Steps that all compute processes have done. */
    synchronized long slowestStep() {
        return slowest;
    }

    /** All compute processes are through with comparing. */
    synchronized boolean isRunBegun() {
        return runsBegun == steps.length;
    }

    /** Port of the receiver; 0: it does not listen yet. */
    synchronized int port() {
        return port;
    }

    synchronized void forgetPort() {
        port = 0;
    }

    /**
     * What a process has told last, or null: the verdict; the report's first sentence; what is
     * broken, so that the run cannot succeed any more; where the receiver is stuck, until it has
     * stored something again.
     */
    synchronized String told(String what) {
        return told.get(what);
    }

    /** Where the receiver is stuck, once; for telling it while the run waits. */
    synchronized String newlyStuck() {
        String stuck = told.get("stuck");
        if (stuck == null || isStuckSaid) {
            isStuckSaid &= stuck != null;
            return null;
        }
        isStuckSaid = true;
        return stuck;
    }

    synchronized List<String> checks() {
        return List.copyOf(checks);
    }
}
