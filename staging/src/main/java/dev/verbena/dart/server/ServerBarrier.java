package dev.verbena.dart.server;

import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.transport.Transport;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * The barrier over all servers. A server enters by telling the master; the master releases all once
 * every server that lives has entered. The caller waits in {@link ServerEngine}; everything else is
 * t1's.
 */
final class ServerBarrier {
    /** Number of the barrier that this server's user wants to enter; the first is 1. */
    final AtomicLong wanted = new AtomicLong();

    /** Number of the last barrier that was released. */
    final AtomicLong released = new AtomicLong();

    /** Why no barrier can be released any more; empty while it can. */
    volatile String failure = "";

    private volatile int missingServer = -1;
    private final ServerShared shared;
    private final ControlOutbox outbox;
    private final Int2ObjectHashMap<ServerPeer> slaves;
    private final ServerPeer master;
    private long entered;

    /**
     * A barrier.
     *
     * @param slaves those who live, if this is the master, else null
     * @param master connection to the master, if this is a slave, else null
     */
    ServerBarrier(
            ServerShared shared,
            ControlOutbox outbox,
            Int2ObjectHashMap<ServerPeer> slaves,
            ServerPeer master) {
        this.shared = shared;
        this.outbox = outbox;
        this.slaves = slaves;
        this.master = master;
    }

    int doWork(boolean isComplete) {
        int work = 0;
        if (master != null && wanted.get() > entered && master.isConnected) {
            if (tell(master, wanted.get())) {
                entered = wanted.get();
                work++;
            }
        }
        if (slaves != null && isComplete && wanted.get() > released.get()) {
            work += release(wanted.get());
        }
        return work;
    }

    private int release(long number) {
        for (ServerPeer slave : slaves.values()) {
            if (slave.barrierEntered < number) {
                missingServer = slave.slaveId;
                return 0;
            }
        }
        int work = 0;
        Iterator<ServerPeer> all = slaves.values().iterator();
        while (all.hasNext()) {
            ServerPeer slave = all.next();
            if (slave.barrierTold < number) {
                if (!tell(slave, slave.ownBarrier(number))) {
                    return work;
                }
                slave.toldOfBarrier(number);
                work++;
            }
        }
        missingServer = -1;
        released.set(number);
        return work + 1;
    }

    private boolean tell(ServerPeer peer, long number) {
        ControlFlyweight record = outbox.begin(ControlFlyweight.BARRIER, shared.job);
        if (record == null) {
            return false;
        }
        record.goodbye(shared.serverId, number, ControlFlyweight.RESULT_OK);
        return outbox.send(record, peer.connection) != Transport.BACK_PRESSURED;
    }

    void onRecord(ServerPeer peer, ControlFlyweight record) {
        if (peer == master) {
            released.set(Math.max(released.get(), Math.min(record.sequence(), entered)));
        } else if (peer.kind == ServerPeer.SLAVE) {
            peer.enteredBarrier(record.sequence(), released.get());
        }
    }

    /** No barrier can be released any more. */
    void fail(String why) {
        failure = why;
    }

    /** Who has not entered yet, as far as this server knows. */
    String missing() {
        return missingServer < 0
                ? "the master knows who is not there"
                : "server " + missingServer + " is not there";
    }
}
