package dev.verbena.cli.perftest;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.agrona.CloseHelper;

/** Closes every object that was opened, the last one first, whatever some throw. One thread. */
final class Opened implements AutoCloseable {
    private final Deque<AutoCloseable> objects = new ArrayDeque<>();

    <T extends AutoCloseable> T add(T object) {
        objects.push(object);
        return object;
    }

    /** Throws the first that was thrown, which has the others. Closes nothing twice. */
    @Override
    public void close() {
        List<AutoCloseable> all = List.copyOf(objects);
        objects.clear();
        CloseHelper.closeAll(all);
    }
}
