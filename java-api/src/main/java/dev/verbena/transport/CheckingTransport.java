package dev.verbena.transport;

import java.net.URI;
import org.agrona.DirectBuffer;
import org.agrona.ErrorHandler;
import org.agrona.collections.Long2LongCounterMap;
import org.agrona.collections.LongHashSet;

/**
 * Watches that another transport keeps its contract, while a program runs: exactly one completion
 * for each accepted operation, on the owner's thread, none after the end of its connection; each
 * connection connected once and ended once; messages only on connections that are open; no more
 * outstanding than promised; nothing but {@code CLOSED} after close.
 *
 * <p>What it finds goes to an error handler as {@link ContractViolationException}; the events are
 * handed on unchanged. Once its tables have grown it allocates nothing. Thread rules as for the
 * transport within.
 */
public final class CheckingTransport extends ForwardingTransport {
    private static final int STATUS_MAX = Status.NOT_LISTENING;

    private final ErrorHandler violations;
    private final Checker checker = new Checker();

    // How often an operation (hashed: connection, kind, context) was accepted and not completed.
    private final Long2LongCounterMap pending = new Long2LongCounterMap(0);
    private final Long2LongCounterMap pendingOfConnection = new Long2LongCounterMap(0);
    private final LongHashSet connecting = new LongHashSet();
    private final LongHashSet offered = new LongHashSet();
    private final LongHashSet accepted = new LongHashSet();
    private final LongHashSet open = new LongHashSet();
    private final LongHashSet ending = new LongHashSet();
    private Thread owner;
    private long outstanding;
    private volatile boolean isClosed;

    /**
     * Checks {@code delegate}, which is closed with this.
     *
     * @param violations gets a {@link ContractViolationException} for each violation, on the thread
     *     on which it happened
     */
    public CheckingTransport(Transport delegate, ErrorHandler violations) {
        super(delegate);
        this.violations = violations;
    }

    private void violated(String what) {
        violations.onError(new ContractViolationException(delegate.uri() + ": " + what));
    }

    private static long key(long connection, int operation, long context) {
        long z = (connection * 0x9e3779b97f4a7c15L + operation) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 31) ^ context) * 0x94d049bb133111ebL;
        return z ^ (z >>> 29);
    }

    @Override
    int posted(int answer, long connection, int operation, long context) {
        if (owner == null) {
            owner = Thread.currentThread();
        }
        if (answer == ACCEPTED) {
            pending.incrementAndGet(key(connection, operation, context));
            pendingOfConnection.incrementAndGet(connection);
            outstanding++;
            if (outstanding > limits().outstandingMax()) {
                violated(
                        "%s operations outstanding, promised were at most %s"
                                .formatted(outstanding, limits().outstandingMax()));
            }
            if (!open.contains(connection)) {
                violated(Operation.name(operation) + " accepted on " + connection + ", not open");
            }
        } else if (answer > 0 || answer < NOT_SUPPORTED) {
            violated(Operation.name(operation) + " answered " + answer);
        }
        return answered(Operation.name(operation), answer);
    }

    private int answered(String call, int answer) {
        if (isClosed && answer != CLOSED && answer != NOT_SUPPORTED) {
            violated(call + " answered " + TracingTransport.answerName(answer) + " after close");
        }
        return answer;
    }

    @Override
    public String explain() {
        return "checked: " + delegate.explain();
    }

    @Override
    public long connect(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs) {
        long handle = delegate.connect(peer, privateData, offset, length, context, timeoutNs);
        if (handle > 0) {
            if (!connecting.add(handle)
                    || open.contains(handle)
                    || offered.contains(handle)
                    || accepted.contains(handle)) {
                violated("connect answered handle " + handle + ", which is in use");
            }
        } else if (handle != CLOSED && handle != BACK_PRESSURED) {
            violated("connect answered " + handle);
        }
        return handle;
    }

    @Override
    public int accept(long connection, long context) {
        int answer = delegate.accept(connection, context);
        if (answer == ACCEPTED) {
            if (!offered.remove(connection)) {
                violated("accept of " + connection + " succeeded, which was not offered");
            }
            accepted.add(connection);
        }
        return answered("accept", answer);
    }

    @Override
    public int reject(long connection) {
        int answer = delegate.reject(connection);
        if (answer == ACCEPTED && !offered.remove(connection)) {
            violated("reject of " + connection + " succeeded, which was not offered");
        }
        return answered("reject", answer);
    }

    @Override
    public int disconnect(long connection) {
        int answer = delegate.disconnect(connection);
        boolean isGivenUp = connecting.contains(connection) || offered.contains(connection);
        if (answer == ACCEPTED && isGivenUp) {
            offered.remove(connection);
        } else if (answer == ACCEPTED) {
            if (!open.remove(connection)) {
                violated("disconnect of " + connection + " succeeded, which was not open");
            }
            ending.add(connection);
        }
        return answered("disconnect", answer);
    }

    @Override
    public int poll(TransportHandler handler, int limit) {
        requireHandler(handler);
        boolean wasClosed = isClosed;
        TransportHandler outer = checker.handler;
        int delivered = checker.delivered;
        checker.handler = handler;
        checker.delivered = 0;
        try {
            int count = delegate.poll(checker, limit);
            if (owner == null) {
                owner = Thread.currentThread();
            }
            if (count != CLOSED && count != checker.delivered || count > Math.max(limit, 0)) {
                violated("poll of " + limit + " answered " + count + " for " + checker.delivered);
            }
            if (wasClosed && count != CLOSED) {
                violated("poll answered " + count + " after close");
            }
            return count;
        } finally {
            checker.handler = outer;
            checker.delivered = delivered;
        }
    }

    /** As the transport within; afterwards its answers must be {@code CLOSED}. */
    @Override
    public void close() {
        delegate.close();
        isClosed = true;
    }

    private final class Checker implements TransportHandler {
        private TransportHandler handler;
        private int delivered;

        private void event(String name) {
            delivered++;
            if (handler == null) {
                violated(name + " outside poll");
            }
            if (owner != null && Thread.currentThread() != owner) {
                violated(name + " on thread '" + Thread.currentThread().getName() + "'");
            }
        }

        private void onlyWhenOpen(String name, long connection) {
            event(name);
            if (!open.contains(connection) && !ending.contains(connection)) {
                violated(name + " on connection " + connection + ", which is not open");
            }
        }

        private void end(String name, long connection) {
            event(name);
            if (!open.remove(connection)
                    && !ending.remove(connection)
                    && !accepted.remove(connection)) {
                violated(name + " for connection " + connection + ", which is not open");
            }
            long left = pendingOfConnection.get(connection);
            if (left > 0) {
                violated(name + " while " + left + " operations of " + connection + " are pending");
            }
        }

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            event("completion");
            long key = key(connection, operation, context);
            if (pending.get(key) <= 0) {
                violated(
                        ("completion of %s with context %s on %s that was not accepted"
                                        + " or has completed")
                                .formatted(Operation.name(operation), context, connection));
            } else {
                pending.decrementAndGet(key);
                pendingOfConnection.decrementAndGet(connection);
                outstanding--;
            }
            if (status < 0 || status > STATUS_MAX) {
                violated("completion with status " + status);
            }
            handler.onCompletion(connection, operation, context, status, value);
        }

        @Override
        public void onMessage(
                long connection,
                long context,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            onlyWhenOpen("message", connection);
            if (length < 0 || length > limits().messageLengthMax()) {
                violated("message of " + length + " bytes");
            }
            handler.onMessage(connection, context, buffer, offset, length, token);
        }

        @Override
        public void onNotify(
                long connection, long context, int tag, long regionId, long offset, long length) {
            onlyWhenOpen("notify", connection);
            handler.onNotify(connection, context, tag, regionId, offset, length);
        }

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer privateData, int offset, int length) {
            event("connect request");
            if (!offered.add(connection)) {
                violated("connection " + connection + " offered twice");
            }
            handler.onConnectRequest(connection, peer, privateData, offset, length);
        }

        @Override
        public void onConnected(long connection, long context) {
            event("connected");
            if (!connecting.remove(connection) && !accepted.remove(connection)) {
                violated("connected " + connection + ", which nobody asked for");
            }
            open.add(connection);
            handler.onConnected(connection, context);
        }

        @Override
        public void onConnectFailed(long connection, long context, int status, String reason) {
            event("connect failed");
            if (!connecting.remove(connection) && !accepted.remove(connection)) {
                violated("connect failed for " + connection + ", which was not connecting");
            }
            if (status <= Status.OK || status > STATUS_MAX) {
                violated("connect failed with status " + status);
            }
            handler.onConnectFailed(connection, context, status, reason);
        }

        @Override
        public void onDisconnected(long connection, long context) {
            end("disconnected", connection);
            handler.onDisconnected(connection, context);
        }

        @Override
        public void onPeerLost(long connection, long context, String reason) {
            end("peer lost", connection);
            handler.onPeerLost(connection, context, reason);
        }
    }
}
