package dev.verbena.dart.server;

import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.transport.Transport;
import org.agrona.collections.IntArrayList;

/**
 * Clients for which one server pulls while another keeps them: the master hands headers on, a slave
 * pulls and streams. Both sides. Owned by t1.
 */
final class DelegatedClients {
    private final ServerRegistry registry;
    private final ServerShared shared;
    private final Transport transport;
    private final ControlOutbox outbox;

    /** Slave: clients whose memory cannot be reached; the master has to know. */
    private final IntArrayList unreached = new IntArrayList();

    DelegatedClients(
            ServerRegistry registry,
            ServerShared shared,
            Transport transport,
            ControlOutbox outbox) {
        this.registry = registry;
        this.shared = shared;
        this.transport = transport;
        this.outbox = outbox;
    }

    /** Master: the slave that pulls for this client cannot go on; it looks for another server. */
    void drop(ServedClient client, ServerPeer slave) {
        if (client.delegate == slave && client.state != ServedClient.GONE) {
            transport.disconnect(client.peer.connection);
            registry.onGone(
                    client.peer, "server " + slave.slaveId + ", which pulled for it, is gone");
        }
    }

    /** Master: how far a slave is with the messages that it pulls. */
    void onNews(ServerPeer peer, ControlFlyweight record) {
        ServedClient client = registry.clients.byId(record.clientId());
        if (client == null || client.delegate != peer) {
            return;
        }
        if (record.type() == ControlFlyweight.CREDIT) {
            client.oweCredits(record.credits());
            client.oweSeen();
        } else if (record.sequence() > client.lastSequence) {
            throw Code.MALFORMED.because(
                    "DONE of message " + record.sequence() + " of " + client + ", never handed on");
        } else if (record.state() == ControlFlyweight.STATE_STREAMED) {
            client.streamed(record.sequence());
        } else if (record.state() == ControlFlyweight.STATE_LOST) {
            client.addLost(record.sequence(), record.result());
        } else if (record.state() == ControlFlyweight.STATE_SPILLED) {
            client.spilled(record.sequence());
        } else {
            client.addDone(record.sequence(), record.result(), record.credits());
            if (record.result() == ControlFlyweight.RESULT_OK) {
                client.transferred(record.sequence());
            }
        }
        registry.clients.hasNews(client);
    }

    /** Slave: pulls for the master from a client that the master keeps. */
    void serve(ControlFlyweight forward, ServerPeer master) {
        ServedClient client = registry.clients.add(forward);
        if (client == null) {
            registry.report("no room to pull from client " + forward.registration().assignedId());
            unreached.addInt(forward.registration().assignedId());
            return;
        }
        client.serveFor(master);
        registry.connect(client);
    }

    /** Slave: the master that kept this client is gone: there is nobody to be told of anything. */
    void letGo(ServedClient client, ServerPeer master) {
        if (client.control == master && client.state != ServedClient.GONE) {
            client.letGo();
            transport.disconnect(client.peer.connection);
            registry.onGone(client.peer, "");
        }
    }

    /** Slave: this client is gone, which its master may not know. */
    void unreached(ServedClient client) {
        if (client.control != null && client.state != ServedClient.GONE) {
            unreached.addInt(client.id);
        }
    }

    /** Slave: tells the master whose memory could not be reached; work done. */
    int report(ServerPeer master) {
        int work = 0;
        while (!unreached.isEmpty()) {
            ControlFlyweight record = outbox.begin(ControlFlyweight.GOODBYE, shared.job);
            if (record == null) {
                break;
            }
            int last = unreached.size() - 1;
            record.goodbye(unreached.getInt(last), 0, ControlFlyweight.RESULT_TRANSFER_FAILED);
            if (outbox.send(record, master.connection) == Transport.BACK_PRESSURED) {
                break;
            }
            unreached.removeAt(last);
            work++;
        }
        return work;
    }
}
