package dev.verbena.transport;

import java.util.ArrayList;
import java.util.concurrent.TimeUnit;

/** A transport of the model; everything happens under the network's lock. */
final class ModelTransport extends ModelOperations {
    ModelTransport(ModelNetwork network, String name, TransportContext context) {
        super(network, name, context);
    }

    @Override
    ModelTransport self() {
        return this;
    }

    @Override
    public void retain(long messageToken) {
        own();
        if (handled == null
                || handled.kind != MESSAGE
                || handled.token != messageToken
                || handled.isRetained) {
            throw new IllegalStateException(
                    "message " + messageToken + " is not being handled, or is retained already");
        }
        handled.isRetained = true;
        synchronized (network) {
            retained.put(messageToken, handled);
        }
    }

    @Override
    public void release(long messageToken) {
        own();
        synchronized (network) {
            Event message = retained.remove(messageToken);
            if (message == null) {
                throw new IllegalStateException("message " + messageToken + " is not retained");
            }
            if (message == handled) {
                message.isRetained = false;
            } else {
                giveBack(message);
            }
        }
    }

    private void giveBack(Event message) {
        slotsUsed--;
        Connection connection = message.connection;
        Connection other = connection.peer.connections.get(connection.peerHandle);
        if (other != null) {
            other.inFlight--;
            connection.peer.network.notifyAll();
        }
        free.add(message);
    }

    @Override
    public int poll(TransportHandler handler, int limit) {
        own();
        if (isPolling) {
            throw new IllegalStateException("poll within a handler");
        }
        requireHandler(handler);
        synchronized (network) {
            if (isClosed) {
                return CLOSED;
            }
        }
        int count = 0;
        isPolling = true;
        try {
            while (count < limit) {
                synchronized (network) {
                    if (isClosed) {
                        return CLOSED;
                    }
                    expire();
                    handled = events.poll();
                    if (handled == null) {
                        break;
                    }
                    if (handled.kind == COMPLETION) {
                        outstanding--;
                        if (handled.local != null) {
                            handled.local.outstanding--;
                        }
                        for (int i = 0; handled.more != null && i < handled.more.length; i++) {
                            handled.more[i].outstanding--;
                        }
                    }
                }
                count++;
                try {
                    dispatch(handler, handled);
                } finally {
                    finish(handled);
                }
            }
        } finally {
            handled = null;
            isPolling = false;
        }
        return count;
    }

    private void expire() {
        if (connections.isEmpty()) {
            return;
        }
        ArrayList<Connection> late = null;
        for (Connection connection : connections.values()) {
            if (!connection.isOpen
                    && !connection.isOffered
                    && connection.deadlineNs - nanoTime() <= 0) {
                late = late == null ? new ArrayList<>() : late;
                late.add(connection);
            }
        }
        if (late != null) {
            late.forEach(c -> fail(c, Status.TIMED_OUT, "no answer in time"));
        }
    }

    private void finish(Event event) {
        synchronized (network) {
            if (event.kind != MESSAGE) {
                free.add(event);
            } else if (!event.isRetained) {
                giveBack(event);
            }
        }
    }

    private void dispatch(TransportHandler handler, Event e) {
        switch (e.kind) {
            case COMPLETION ->
                    handler.onCompletion(e.handle, e.operation, e.context, e.status, e.value);
            case MESSAGE -> {
                e.token = network.numbers.getAndIncrement();
                handler.onMessage(e.handle, e.context, e.payload, 0, (int) e.length, e.token);
            }
            case NOTIFY ->
                    handler.onNotify(e.handle, e.context, e.operation, e.value, e.offset, e.length);
            case REQUEST ->
                    handler.onConnectRequest(e.handle, e.peer, e.payload, 0, e.payload.capacity());
            case CONNECTED -> handler.onConnected(e.handle, e.context);
            case FAILED -> handler.onConnectFailed(e.handle, e.context, e.status, e.text);
            case DISCONNECTED -> handler.onDisconnected(e.handle, e.context);
            default -> handler.onPeerLost(e.handle, e.context, e.text);
        }
    }

    @Override
    public boolean await(long deadlineNs) {
        own();
        synchronized (network) {
            while (true) {
                expire();
                if (!events.isEmpty() || isClosed) {
                    return true;
                }
                long left = Math.min(deadlineNs - nanoTime(), 10_000_000);
                if (isWoken || left <= 0) {
                    isWoken = false;
                    return false;
                }
                try {
                    TimeUnit.NANOSECONDS.timedWait(network, left);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return false;
                }
            }
        }
    }

    @Override
    public void wakeup() {
        synchronized (network) {
            isWoken = true;
            network.notifyAll();
        }
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public void close() {
        if (isPolling && Thread.currentThread() == owner) {
            throw new IllegalStateException("close within a handler");
        }
        synchronized (network) {
            if (isClosed) {
                return;
            }
            if (!regions.isEmpty()) {
                throw new IllegalStateException("regions are open: " + regions.values());
            }
            isClosed = true;
            network.transports.remove(name);
            new ArrayList<>(connections.values()).forEach(c -> endOrForget(c));
            connections.clear();
            network.notifyAll();
        }
    }

    private void endOrForget(Connection connection) {
        if (connection.peer != null) {
            end(connection, LOST, "the peer " + uri + " closed");
        }
    }
}
