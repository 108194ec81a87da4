package dev.verbena.ofi.transport;

import java.util.concurrent.locks.LockSupport;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Tells connected peers that this process lives, also while the transport's owner computes: a
 * thread that sends a short record to each, a few times in the longest silence that it bears.
 */
final class Heartbeats implements Runnable, AutoCloseable {
    private static final int PARTS = 8;
    private static final long PERIOD_MIN_NS = 2_000_000L;
    private static final long PERIOD_MAX_NS = 500_000_000L;
    private static final long[] NOBODY = {};

    private final FabricCalls calls;
    private final UnsafeBuffer record =
            new UnsafeBuffer(BufferUtil.allocateDirectAligned(Wire.SHORT, Wire.SHORT));
    private final Thread thread;
    private volatile long[] peers = NOBODY;
    private volatile long periodNs;
    private volatile boolean isClosed;

    Heartbeats(OfiResources resources, String name, long silenceNs) {
        this.calls = resources.calls;
        this.periodNs = period(silenceNs);
        Wire.header(record, 0, Wire.PING, 0, 0, 0, 0, resources.incarnation);
        thread = new Thread(this, "verbena-ofi-heartbeat-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    static long period(long silenceNs) {
        return Math.max(PERIOD_MIN_NS, Math.min(PERIOD_MAX_NS, silenceNs / PARTS));
    }

    /** These are told from now on. Any thread. */
    void peers(long[] fabricAddresses) {
        peers = fabricAddresses;
        LockSupport.unpark(thread);
    }

    /** A peer bears no longer silence than this. The owner's thread. */
    void bear(long silenceNs) {
        periodNs = Math.min(periodNs, period(silenceNs));
    }

    @Override
    public void run() {
        while (!isClosed) {
            long[] now = peers;
            for (long peer : now) {
                calls.beat(record.addressOffset(), Wire.HEADER, peer);
            }
            if (now.length == 0) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, periodNs);
            }
        }
    }

    /** Ends the thread; nothing is sent any more. */
    @Override
    public void close() {
        isClosed = true;
        LockSupport.unpark(thread);
        ProgressThread.awaitEnd(thread);
    }
}
