package dev.verbena.transport.core;

import dev.verbena.agent.internal.Deadlines;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.TransportLimits;
import java.net.URI;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;

/**
 * A transport that keeps its regions in a {@link RegionTable}, makes connections by records that
 * the two ends put into each other's memory ({@link RecordConnections}), and polls a {@link
 * RecordInbox}. A provider writes what names a peer, the operations, and how one sleeps.
 */
public abstract class RecordTransport extends GuardedTransport {
    /**
     * For providers.
     *
     * @param onMove see {@link OwnerGuard#OwnerGuard(String, Consumer)}
     */
    protected RecordTransport(URI uri, TransportLimits limits, Consumer<Thread> onMove) {
        super(uri.toString(), uri, limits, onMove);
    }

    /** Its regions. */
    protected abstract RegionTable<?> regions();

    /** Its connections. */
    protected abstract RecordConnections<?> connections();

    /** What it polls. */
    protected abstract RecordInbox<?, ?> inbox();

    /** As {@code connect}; the private data is a copy, the deadline in nanoseconds of the clock. */
    protected abstract long connectTo(URI peer, byte[] privateData, long context, long deadlineNs);

    /** Takes events of operations, so that a disconnect finds what is still under way. */
    protected void takeEvents() {}

    /**
     * Number of the last ring of the bell. Read before one looks for work, so that a ring between
     * the look and {@link #sleep} is not missed.
     */
    protected int bell() {
        return 0;
    }

    /** Sleeps until the bell has another number, or for so many nanoseconds. */
    protected abstract void sleep(int bell, long ns);

    @Override
    protected final RegisteredRegion allocateRegion(long length, int rights) {
        return regions().allocate(length, rights);
    }

    @Override
    protected final RegisteredRegion registerRegion(OffHeapMemory memory, int rights) {
        return regions().register(memory, rights);
    }

    @Override
    protected final String openRegions(boolean isOwnerOutside) {
        return regions().names();
    }

    @Override
    protected final long connectTo(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs) {
        byte[] copy = new byte[length];
        if (length > 0) {
            privateData.getBytes(offset, copy);
        }
        return connectTo(peer, copy, context, Deadlines.after(nanoTime(), timeoutNs));
    }

    @Override
    protected final int acceptPeer(long connection, long context) {
        return connections().accept(connection, context);
    }

    @Override
    protected final int rejectPeer(long connection) {
        return connections().reject(connection);
    }

    @Override
    protected final int disconnectPeer(long connection) {
        takeEvents();
        return connections().disconnect(connection);
    }

    @Override
    protected final void retainMessage(long messageToken) {
        inbox().retain(messageToken);
    }

    @Override
    protected final void releaseMessage(long messageToken) {
        inbox().release(messageToken);
    }

    @Override
    protected final int deliver(TransportHandler handler, int limit) {
        return inbox().poll(handler, limit);
    }

    @Override
    protected boolean awaitEvents(long deadlineNs) {
        connections().credits().tellAll();
        while (true) {
            int bell = bell();
            if (takeWakeup()) {
                return true;
            }
            long nowNs = nanoTime();
            connections().onTime(nowNs);
            if (inbox().hasWork() || guard.isClosed()) {
                return true;
            }
            if (deadlineNs - nowNs <= 0) {
                return false;
            }
            long leftNs = Math.min(deadlineNs - nowNs, connections().nextTimerNs() - nowNs);
            sleep(bell, Math.max(leftNs, 0));
        }
    }
}
