package dev.verbena.transport.core;

import dev.verbena.transport.TransportHandler;

/**
 * A {@link RecordInbox} of a provider with a queue of messages for each connection, and a list of
 * the connections whose queue may hold some.
 *
 * @param <C> the provider's connection
 * @param <N> its connections
 * @param <S> its messages
 */
public abstract class ReadyInbox<
                C extends TableConnection, N extends RecordConnections<C>, S extends MessageTokens>
        extends RecordInbox<N, S> {
    /** Connections that may have messages. */
    protected final ReadyList ready;

    /** For providers. */
    protected ReadyInbox(EventRing ring, ReadyList ready, N connections, S slots) {
        super(ring, connections, slots);
        this.ready = ready;
    }

    /** Delivers messages of one connection; puts it into the list again if some may be left. */
    protected abstract int serve(C c, TransportHandler handler, int limit);

    @Override
    protected final int serve(TransportHandler handler, int limit) {
        int count = 0;
        int waiting = ready.count();
        for (int i = 0; i < waiting && count < limit; i++) {
            C c = connections.at(ready.next());
            boolean hasReturned = false;
            try {
                count += serve(c, handler, limit - count);
                hasReturned = true;
            } finally {
                if (!hasReturned) {
                    ready.add(c.index); // the handler threw: the rest is still there
                }
            }
        }
        return count;
    }

    @Override
    protected final boolean hasArrived() {
        return !ready.isEmpty();
    }

    /** Whether messages of the connection that had this handle are still to be delivered. */
    protected static boolean isOpen(TableConnection c, int handle) {
        return c.handle == handle
                && (c.state == TableConnection.CONNECTED || c.state == TableConnection.ENDING);
    }
}
