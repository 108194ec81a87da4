package dev.verbena.transport.core;

import dev.verbena.transport.TransportHandler;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/**
 * What happened to connections and waits for {@code poll}, for transports that keep completions
 * elsewhere: an event comes after the completions that were there before it. Owned by the
 * transport's thread.
 *
 * @param <C> the provider's connection
 */
public final class ConnectionEvents<C> {
    private record Entry<C>(C connection, long after, Consumer<TransportHandler> event) {}

    private final ArrayDeque<Entry<C>> entries = new ArrayDeque<>();

    /** None wait. */
    public ConnectionEvents() {}

    /** Appends one that waits until the completion with the number {@code after} was delivered. */
    public void add(C connection, long after, Consumer<TransportHandler> event) {
        entries.add(new Entry<>(connection, after, event));
    }

    /** Nothing that waits for this connection is delivered. */
    public void forget(C connection) {
        entries.removeIf(entry -> entry.connection == connection);
    }

    /** Whether something waits for this connection. */
    public boolean isAwaitedBy(C connection) {
        return entries.stream().anyMatch(entry -> entry.connection == connection);
    }

    /** Nothing waits. */
    public boolean isEmpty() {
        return entries.isEmpty();
    }

    /**
     * Delivers up to {@code limit}; answers how many.
     *
     * @param delivered number of the last completion that was delivered
     */
    public int deliver(TransportHandler handler, int limit, long delivered) {
        int count = 0;
        while (count < limit && !entries.isEmpty() && entries.peek().after <= delivered) {
            count++;
            entries.poll().event.accept(handler);
        }
        return count;
    }

    /** The transport is closed. */
    public void clear() {
        entries.clear();
    }
}
