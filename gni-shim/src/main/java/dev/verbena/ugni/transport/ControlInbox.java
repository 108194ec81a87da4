package dev.verbena.ugni.transport;

import static dev.verbena.ugni.transport.GniConnection.CONNECTED;
import static dev.verbena.ugni.transport.GniConnection.CONNECTING;

import dev.verbena.transport.Status;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.core.ConnectionLife;
import dev.verbena.transport.core.EventRing;

/**
 * Takes the records that peers left at the control mailbox, checks them, and tells {@link
 * Connections} what they ask for or answer. One thread.
 */
final class ControlInbox {
    private final GniResources resources;
    private final EventRing ring;
    private final TransportContext context;
    private final Connections connections;
    private final Mailboxes mailboxes;
    private final Peers peers;
    private final AddressResolver resolver;
    private final ControlRecord in = ControlRecord.allocate();
    private final ControlMailbox.Consumer onRecord = this::onRecord;
    private boolean isTaking;

    ControlInbox(
            GniResources resources,
            EventRing ring,
            TransportContext context,
            Connections connections,
            Mailboxes mailboxes,
            Peers peers,
            AddressResolver resolver) {
        this.resources = resources;
        this.ring = ring;
        this.context = context;
        this.connections = connections;
        this.mailboxes = mailboxes;
        this.peers = peers;
        this.resolver = resolver;
    }

    /** Takes what lies at the control mailbox. Does nothing inside itself. */
    void take() {
        if (isTaking || ring.isBacklogged()) {
            return;
        }
        isTaking = true;
        try {
            resources.control.take(in, onRecord);
        } finally {
            isTaking = false;
        }
    }

    private void onRecord(ControlRecord record) {
        String fault = record.fault();
        if (fault.isEmpty() && !isFromWhoIsThere(record)) {
            return; // gone meanwhile; what it asked for is not wanted any more
        }
        if (!fault.isEmpty()) {
            context.errorHandler()
                    .onError(
                            new IllegalStateException(
                                    "record of instance %s refused: %s"
                                            .formatted(record.instance(), fault)));
        } else if (record.type() == ConnectionLife.CONNECT) {
            offer(record);
        } else {
            onAnswer(record);
        }
    }

    private boolean isFromWhoIsThere(ControlRecord record) {
        return record.type() != ConnectionLife.CONNECT || isThere(record);
    }

    private boolean isThere(ControlRecord record) {
        return peers.incarnationAt(record.address(), record.instance()) == record.incarnation();
    }

    /** A peer asks to connect. */
    private void offer(ControlRecord record) {
        if (!connections.isListening()) {
            connections.answer(record, ControlRecord.DEAF);
            return;
        }
        GniConnection c =
                connections.offer(resolver.uri(record), process(record), record.incarnation());
        if (c == null) {
            connections.answer(record, ConnectionLife.FULL);
            return;
        }
        record.introduce(c.peer);
        if (join(c, record)) {
            connections.tellOffer(c, record.privateData());
        } else {
            connections.answer(record, ConnectionLife.REJECT);
            connections.free(c);
        }
    }

    private static long process(ControlRecord record) {
        return Peers.key(record.address(), record.instance());
    }

    private boolean join(GniConnection c, ControlRecord record) {
        record.readMailbox(c);
        try {
            if (!c.isRegistered) {
                mailboxes.open(c);
            }
            mailboxes.join(c, record);
            return true;
        } catch (GniFailure e) {
            context.errorHandler().onError(e);
            return false;
        }
    }

    /** A peer answered a connect, or disconnects. */
    private void onAnswer(ControlRecord record) {
        GniConnection c = connections.find(record.to(), process(record), record.incarnation());
        switch (record.type()) {
            case ConnectionLife.ACCEPT -> onAccept(c, record);
            case ConnectionLife.DISCONNECT -> connections.onDisconnect(c);
            default -> {
                boolean isDeaf = record.type() == ControlRecord.DEAF;
                int status = isDeaf ? Status.NOT_LISTENING : Status.REFUSED;
                connections.onRefused(c, status, reason(record.type()));
            }
        }
    }

    private static String reason(int type) {
        return switch (type) {
            case ConnectionLife.FULL -> " has no room for another connection";
            case ControlRecord.DEAF -> " does not listen";
            default -> " rejected the connection";
        };
    }

    private void onAccept(GniConnection c, ControlRecord record) {
        if (c != null && c.state == CONNECTING) {
            if (join(c, record)) {
                connections.connected(c);
            } else {
                connections.answer(record, ConnectionLife.DISCONNECT);
                connections.fail(c, Status.INTERNAL, c.uri + ": the mailbox cannot be used");
            }
        } else if ((c == null || c.state != CONNECTED) && isThere(record)) {
            // We gave up meanwhile: the peer must not believe in the connection. What a dead one
            // left must not take the place of its successor.
            connections.answer(record, ConnectionLife.DISCONNECT);
        }
    }
}
