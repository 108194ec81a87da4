package dev.verbena.cli.demo.transit;

import dev.verbena.cli.terminal.Text;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What happened when, on the machine's monotonic clock, in nanoseconds: steps done by all processes
 * of the simulation, the end and the return of the receiver. Thread-safe.
 */
public final class Timeline {
    /** All processes have done a step; the value is its number. */
    public static final String STEP = "step";

    /** The receiver was killed; the value is its process id. */
    public static final String KILLED = "killed";

    /** A receiver listens again; the value is its process id. */
    public static final String BACK = "back";

    /** Standing still for less is not put down to the receiver. */
    private static final long GAP_MIN_NS = 1_500_000_000L;

    /** Nor is standing still for less than so many steps take. */
    private static final int GAP_STEPS_MIN = 10;

    /** Without a receiver the simulation does at least this part of the steps it did before. */
    private static final double PACE_PART_MIN = 0.25;

    private final List<Event> events = new ArrayList<>();

    /** Empty. */
    public Timeline() {}

    /**
     * Something happened.
     *
     * @param what {@link #STEP} and the others
     * @param timeNs monotonic
     * @param value what that says
     */
    public record Event(String what, long timeNs, long value) {}

    /**
     * A time without a completed step.
     *
     * @param lengthNs between two completed steps; 0 if there are less than two
     * @param step that was completed at its end
     */
    public record Gap(long lengthNs, long step) {}

    /** Notes an event. */
    public synchronized void add(String what, long timeNs, long value) {
        events.add(new Event(what, timeNs, value));
    }

    /** All of a kind, in order. */
    public synchronized List<Event> all(String what) {
        return events.stream().filter(event -> event.what().equals(what)).toList();
    }

    /** The first of a kind; null if there is none. */
    public Event first(String what) {
        List<Event> found = all(what);
        return found.isEmpty() ? null : found.get(0);
    }

    /** True if a receiver was killed and came back. */
    public boolean hasOutage() {
        return first(KILLED) != null && first(BACK) != null;
    }

    /** How long there was no receiver; 0 if there always was one. */
    public long outageNs() {
        return hasOutage() ? first(BACK).timeNs() - first(KILLED).timeNs() : 0;
    }

    /** Steps that the simulation completed while there was no receiver. */
    public long outageSteps() {
        if (!hasOutage()) {
            return 0;
        }
        long from = first(KILLED).timeNs();
        long to = first(BACK).timeNs();
        return all(STEP).stream().filter(e -> e.timeNs() >= from && e.timeNs() <= to).count();
    }

    /** The longest time without a completed step. */
    public Gap longestGap() {
        return longestGap(Long.MIN_VALUE);
    }

    /** Of those that ended after a time. */
    private Gap longestGap(long afterNs) {
        List<Event> steps = all(STEP);
        Gap longest = new Gap(0, 0);
        for (int i = 1; i < steps.size(); i++) {
            long length = steps.get(i).timeNs() - steps.get(i - 1).timeNs();
            if (length > longest.lengthNs() && steps.get(i).timeNs() > afterNs) {
                longest = new Gap(length, steps.get(i).value());
            }
        }
        return longest;
    }

    /** The mean time of a step before the receiver was killed, or in the whole run; 0: unknown. */
    public long stepNs() {
        long until = hasOutage() ? first(KILLED).timeNs() : Long.MAX_VALUE;
        List<Event> steps = all(STEP).stream().filter(e -> e.timeNs() <= until).toList();
        return steps.size() < 2
                ? 0
                : (steps.get(steps.size() - 1).timeNs() - steps.get(0).timeNs())
                        / (steps.size() - 1);
    }

    /** Steps that it would have done without a receiver at its pace before; 0: unknown. */
    long expectedOutageSteps() {
        List<Event> steps = all(STEP);
        if (!hasOutage() || stepNs() == 0) {
            return 0;
        }
        long end = steps.get(steps.size() - 1).timeNs();
        return (Math.min(end, first(BACK).timeNs()) - first(KILLED).timeNs()) / stepNs();
    }

    /** Steps after the kill, of the whole run. */
    private long laterSteps() {
        return all(STEP).stream().filter(e -> e.timeNs() >= first(KILLED).timeNs()).count();
    }

    /** Writes it; the file appears whole. */
    public synchronized void write(Path path) {
        String lines =
                events.stream()
                        .map(e -> "%s,%s,%s\n".formatted(e.what(), e.timeNs(), e.value()))
                        .collect(Collectors.joining());
        Report.write(path, lines);
    }

    /** Reads what {@link #write} wrote; empty if there is no such file. */
    public static Timeline read(Path path) {
        Timeline timeline = new Timeline();
        if (!Files.exists(path)) {
            return timeline;
        }
        try {
            for (String line : Files.readAllLines(path)) {
                String[] parts = line.split(",", -1);
                if (parts.length != 3) {
                    throw new IOException("no event: '" + line + "'");
                }
                timeline.add(parts[0], Long.parseLong(parts[1]), Long.parseLong(parts[2]));
            }
            return timeline;
        } catch (IOException | NumberFormatException e) {
            throw new UncheckedIOException(new IOException(path + ": cannot be read: " + e, e));
        }
    }

    /**
     * Whether the simulation went on: at a quarter of its pace while there was no receiver, and
     * without standing still for long from then on, for a receiver that is back must not hold it up
     * either.
     */
    Check check() {
        String name = "the simulation went on without a receiver";
        long steps = outageSteps();
        long expected = expectedOutageSteps();
        String detail =
                Text.format(
                        "killed with signal 9 and back after %.1f s; meanwhile %d steps were"
                                + " computed",
                        outageNs() / 1e9, steps);
        List<Event> all = all(STEP);
        boolean isOver =
                !all.isEmpty() && all.get(all.size() - 1).timeNs() <= first(KILLED).timeNs();
        if (!hasOutage() || isOver) {
            return Check.notJudged(name, detail + "; the simulation was at its end already");
        }
        Gap gap = longestGap(first(KILLED).timeNs());
        long allowed = Math.max(GAP_MIN_NS, GAP_STEPS_MIN * stepNs());
        detail +=
                Text.format(
                        ", %d at its pace before; the longest time without a step from then on was"
                                + " %s, allowed %s",
                        expected, Times.text(gap.lengthNs()), Times.text(allowed));
        boolean isShort = Math.min(expected, laterSteps()) < 1 / PACE_PART_MIN;
        boolean isGood = isShort || steps >= PACE_PART_MIN * expected;
        return isShort && gap.lengthNs() <= allowed
                ? Check.notJudged(name, detail + "; there were too few steps to tell")
                : Check.of(name, isGood && gap.lengthNs() <= allowed, detail);
    }
}
