package dev.verbena.nsim.world;

import static dev.verbena.nsim.world.SimulatedEvent.COMPLETION;
import static dev.verbena.nsim.world.SimulatedEvent.CONNECTED;
import static dev.verbena.nsim.world.SimulatedEvent.DISCONNECTED;
import static dev.verbena.nsim.world.SimulatedEvent.FAILED;
import static dev.verbena.nsim.world.SimulatedEvent.MESSAGE;
import static dev.verbena.nsim.world.SimulatedEvent.NOTIFY;
import static dev.verbena.nsim.world.SimulatedEvent.REQUEST;

import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.util.ArrayList;
import java.util.List;

/** The network interface of a process, as the contract has it. */
final class SimulatedTransport extends TransportOperations {
    private SimulatedEvent handled;
    private boolean isPolling;
    private boolean isWoken;

    SimulatedTransport(SimulatedProcess process, String name, TransportContext context) {
        super(process, name, context);
    }

    @Override
    SimulatedTransport self() {
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
        handled.retain(true);
        synchronized (world) {
            retained.put(messageToken, handled);
        }
    }

    @Override
    public void release(long messageToken) {
        own();
        synchronized (world) {
            SimulatedEvent message = retained.remove(messageToken);
            if (message == null) {
                throw new IllegalStateException("message " + messageToken + " is not retained");
            }
            if (message == handled) {
                message.retain(false);
            } else {
                giveBack(message);
            }
        }
    }

    private void giveBack(SimulatedEvent message) {
        Connection sender = message.connection.peer;
        if (!sender.isGone) {
            Work credit = world.work(0, this, sender.owner);
            credit.about(sender, "");
            world.deliveries.creditAfter(credit);
        }
        freeEvents.add(message);
    }

    @Override
    public int poll(TransportHandler handler, int limit) {
        own();
        if (isPolling) {
            throw new IllegalStateException("poll within a handler");
        }
        requireHandler(handler);
        int count = 0;
        isPolling = true;
        try {
            synchronized (world) {
                if (events.isEmpty() && !isClosed && limit > 0 && !world.isRunning) {
                    boolean wasAlive = !process.isDead;
                    world.timeAdvance.pass(this);
                    unwindIfKilled(wasAlive);
                }
            }
            while (count < limit || limit == 0) {
                synchronized (world) {
                    if (isClosed) {
                        return CLOSED;
                    }
                    handled = limit == 0 ? null : events.poll();
                    if (handled == null) {
                        break;
                    }
                    settle(handled);
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

    private void settle(SimulatedEvent event) {
        if (event.kind == COMPLETION) {
            settled();
            event.settleRegions();
        } else if (event.kind == MESSAGE) {
            event.token(world.number());
        }
    }

    private void finish(SimulatedEvent event) {
        synchronized (world) {
            if (event.kind != MESSAGE) {
                freeEvents.add(event);
            } else if (!event.isRetained) {
                giveBack(event);
            }
        }
    }

    private static void dispatch(TransportHandler handler, SimulatedEvent e) {
        switch (e.kind) {
            case COMPLETION ->
                    handler.onCompletion(e.handle, e.operation, e.context, e.status, e.value);
            case MESSAGE ->
                    handler.onMessage(e.handle, e.context, e.payload, 0, (int) e.length, e.token);
            case NOTIFY ->
                    handler.onNotify(e.handle, e.context, e.operation, e.value, e.offset, e.length);
            case REQUEST ->
                    handler.onConnectRequest(e.handle, e.peer, e.payload, 0, (int) e.length);
            case CONNECTED -> handler.onConnected(e.handle, e.context);
            case FAILED -> handler.onConnectFailed(e.handle, e.context, e.status, e.text);
            case DISCONNECTED -> handler.onDisconnected(e.handle, e.context);
            default -> handler.onPeerLost(e.handle, e.context, e.text);
        }
    }

    /** Within a run nobody waits: the answer is at once whether there is something. */
    @Override
    public boolean await(long deadlineNs) {
        own();
        synchronized (world) {
            while (!hasNews()) {
                long left = deadlineNs - nanoTime();
                if (isWoken || left <= 0 || world.isRunning) {
                    isWoken = false;
                    return false;
                }
                boolean wasAlive = !process.isDead;
                world.timeAdvance.await(this, left);
                unwindIfKilled(wasAlive);
            }
            return true;
        }
    }

    /** Who was killed while it waited does not come back from there. */
    private void unwindIfKilled(boolean wasAlive) {
        if (wasAlive && process.isDead) {
            throw new KilledException(process + " was killed while it waited");
        }
    }

    @Override
    public void wakeup() {
        synchronized (world) {
            isWoken = true;
            if (!process.isDead) {
                world.wake(process);
            }
            world.notifyAll();
        }
    }

    @Override
    public long nanoTime() {
        return process.host.nanoTime();
    }

    @Override
    public void close() {
        if (isPolling && isOwnersThread()) {
            throw new IllegalStateException("close within a handler");
        }
        synchronized (world) {
            if (isClosed) {
                return;
            }
            List<SimulatedRegion> open = new ArrayList<>(regions.values());
            open.removeIf(SimulatedRegion::isCloseRefused);
            if (!open.isEmpty()) {
                throw new IllegalStateException("regions of " + uri + " are open: " + open);
            }
            end("the peer " + uri + " closed");
            regions.values().forEach(SimulatedRegion::free);
            regions.clear();
            world.transports.remove(name);
            process.transports.remove(this);
            world.notifyAll();
        }
    }

    private void end(String why) {
        closed();
        for (Connection connection : new ArrayList<>(connections)) {
            int kind = connection.isOffered ? Work.REJECT : Work.CLOSE;
            world.deliveries.flush(connection);
            forget(connection);
            if (connection.peer != null) {
                control(kind, connection, why, false);
            }
        }
    }

    /** The process is gone. If the host is, too, nobody is told. */
    void kill(boolean isHostDown) {
        if (isClosed) {
            return;
        }
        closed();
        for (Connection connection : new ArrayList<>(connections)) {
            world.deliveries.flush(connection);
            forget(connection);
            if (connection.peer != null && !connection.peer.isGone) {
                world.deliveries.loseLater(connection.peer, "the process " + uri + " died");
            }
        }
        regions.values().forEach(SimulatedRegion::free);
        regions.clear();
        if (!isHostDown) {
            world.transports.remove(name);
        }
    }

    @Override
    public String toString() {
        return uri.toString();
    }
}
