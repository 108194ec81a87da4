package dev.verbena.cli.flesnet;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.Messages;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

/**
 * The processes of {@code flesnet run}: which of them were lost, and whether the others can go on
 * (section 8). One thread.
 */
final class RunNodes {
    private static final long END_NS = 5_000_000_000L;

    private final NanoClock clock = SystemNanoClock.INSTANCE;
    private final List<ChildProcess> inputs = new ArrayList<>();
    private final List<ChildProcess> computes = new ArrayList<>();
    private final List<ChildProcess> lost = new ArrayList<>();
    private final boolean isShrinking;

    /** None yet; {@code isShrinking}: the others go on without a lost input, too. */
    RunNodes(boolean isShrinking) {
        this.isShrinking = isShrinking;
    }

    void addInput(ChildProcess input) {
        inputs.add(input);
    }

    void addCompute(ChildProcess compute) {
        computes.add(compute);
    }

    private List<ChildProcess> all() {
        List<ChildProcess> all = new ArrayList<>(inputs);
        all.addAll(computes);
        return all;
    }

    boolean isAnyAlive() {
        return all().stream().anyMatch(ChildProcess::isAlive);
    }

    /**
     * Nodes that have failed since the last call, for people; the others go on without them.
     *
     * @param hasBegun whether all nodes have found one another
     * @throws Messages.Failure if they cannot
     */
    List<String> takeLost(boolean hasBegun) {
        List<String> news = new ArrayList<>();
        // Inputs first: when one is lost, compute nodes end because of it.
        for (ChildProcess child : all()) {
            if (!child.isAlive() && child.exitCode() != 0 && !lost.contains(child)) {
                lost.add(child);
                boolean isInput = inputs.contains(child);
                List<ChildProcess> alike = isInput ? inputs : computes;
                if (!hasBegun || isInput && !isShrinking || lost.containsAll(alike)) {
                    throw new Messages.Failure(child.exitSummary());
                }
                news.add("%s\nthe others go on without it".formatted(child.exitSummary()));
            }
        }
        return news;
    }

    /** How many were lost. */
    int lostCount() {
        return lost.size();
    }

    /** Asks all to end, at once; those that do not are killed after a few seconds. */
    void end() {
        // No signal: in a terminal they have got one from Ctrl-C already, and a second one ends
        // them before they have closed what they opened.
        all().forEach(ChildProcess::finish);
        long deadlineNs = clock.nanoTime() + END_NS;
        for (ChildProcess child : all()) {
            long leftNs = Math.max(0, deadlineNs - clock.nanoTime());
            child.end(TimeUnit.NANOSECONDS.toMillis(leftNs));
        }
    }
}
