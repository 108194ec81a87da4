package dev.verbena.examples.transit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What happened when, on the machine's monotonic clock, in nanoseconds: steps done by all processes
 * of the simulation, the end and the return of the receiver. Thread-safe.
 */
public final class Timeline {
    /** All processes have done a step; the value is its number. */
    public static final String STEP = "step";

    /** The receiver was killed; the value is its process id. */
    public static final String KILLED = "killed";

    /**
     * At the time of the kill; the value is the number of files that the service processes still
     * had room for.
     */
    public static final String ROOM = "room";

    /** A receiver listens again; the value is its process id. */
    public static final String BACK = "back";

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

    /** The mean time of a step; 0 if there are too few. */
    public long stepNs() {
        List<Event> steps = all(STEP);
        return steps.size() < 2
                ? 0
                : (steps.get(steps.size() - 1).timeNs() - steps.get(0).timeNs())
                        / (steps.size() - 1);
    }

    /** Writes it; the file appears whole. */
    public synchronized void write(Path path) {
        StringBuilder lines = new StringBuilder();
        for (Event event : events) {
            lines.append(event.what()).append(',').append(event.timeNs());
            lines.append(',').append(event.value()).append('\n');
        }
        Report.write(path, lines.toString());
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

    /** Whether the simulation went on while there was no receiver. */
    Check check() {
        String name = "the simulation went on without a receiver";
        long steps = outageSteps();
        String detail =
                String.format(
                        "killed with signal 9 and back after %.1f s; meanwhile %d steps were"
                                + " computed",
                        outageNs() / 1e9, steps);
        List<Event> all = all(STEP);
        boolean isOver =
                !all.isEmpty() && all.get(all.size() - 1).timeNs() <= first(KILLED).timeNs();
        if (steps == 0 && (isOver || !hasOutage())) {
            return Check.notJudged(name, detail + "; the simulation was at its end already");
        }
        if (steps == 0 && stepNs() * 4 > outageNs()) {
            return Check.notJudged(name, detail + "; a step takes about as long as the outage");
        }
        if (steps == 0 && first(ROOM) != null && first(ROOM).value() <= 0) {
            return Check.notJudged(
                    name,
                    detail + "; the receiver was behind already, and the service processes full");
        }
        return Check.of(name, steps > 0, detail);
    }
}
