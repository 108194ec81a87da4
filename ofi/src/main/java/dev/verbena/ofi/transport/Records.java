package dev.verbena.ofi.transport;

import static dev.verbena.ofi.transport.OfiConnection.CONNECTED;
import static dev.verbena.ofi.transport.OfiConnection.CONNECTING;
import static dev.verbena.ofi.transport.OfiConnection.ENDING;

import dev.verbena.ofi.OfiException;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.core.ConnectionLife;
import dev.verbena.transport.core.ReadyList;
import java.util.ArrayDeque;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What arrives, by its type: control records, messages and notifications for the lists of their
 * connections, credits, keys, signs of life. All of it may come from anywhere, so every field is
 * checked. One thread.
 */
final class Records implements Engine.Arrivals {
    private final OfiResources resources;
    private final Peers peers;
    private final Outbox outbox;
    private final Slots slots;
    private final Controls controls;
    private final Engine engine;
    private final Regions regions;
    private final ReadyList ready;
    private final Connections connections;
    private final TransportContext context;
    private final String provider;
    private final ControlRecord control = new ControlRecord();
    private final ArrayDeque<OfiConnection> broken = new ArrayDeque<>();
    private int brokenCode;

    Records(Parts parts, Connections connections, TransportContext context) {
        this.resources = parts.resources;
        this.peers = parts.peers;
        this.outbox = parts.outbox;
        this.slots = parts.slots;
        this.controls = parts.controls;
        this.engine = parts.engine;
        this.regions = parts.regions;
        this.ready = parts.ready;
        this.connections = connections;
        this.context = context;
        this.provider = OfiResources.shortName(resources.info.provider());
    }

    @Override
    public void onBroken(OfiConnection c, int code) {
        broken.add(c);
        brokenCode = code;
    }

    @Override
    public void afterRound() {
        while (!broken.isEmpty()) {
            connections.onBroken(broken.poll(), brokenCode);
        }
    }

    @Override
    public void onArrived(int slot, long length) {
        UnsafeBuffer view = slots.slot(slot);
        if (length >= Wire.HEADER && Wire.version(view, 0) == Wire.VERSION) {
            int type = Wire.type(view, 0);
            if (type <= ControlRecord.TYPE_MAX) {
                if (length >= ControlRecord.LENGTH) {
                    onControl(control.wrap(view, 0));
                }
            } else if (isKept(type, view, slot, (int) length)) {
                return;
            }
        } else if (length >= ControlRecord.LENGTH && Wire.type(view, 0) == ConnectionLife.CONNECT) {
            onOtherVersion(control.wrap(view, 0), Wire.version(view, 0));
        }
        slots.post(slot);
    }

    /** Who asks hears why in records of its own version; this much is the same in every one. */
    private void onOtherVersion(ControlRecord request, int version) {
        if (!request.hasName()) {
            return;
        }
        try {
            controls.refuseVersion(peers.of(request.name()), version, request.from());
        } catch (OfiException e) {
            return; // no name of an endpoint
        }
        context.errorHandler()
                .onError(
                        new IllegalStateException(
                                ("a peer's request to connect has version %s, here is version %s:"
                                                + " both ends need the same release of Verbena")
                                        .formatted(version, Wire.VERSION)));
    }

    /** Whether the slot is in the list of a connection now. */
    private boolean isKept(int type, UnsafeBuffer view, int slot, int length) {
        long incarnation = Wire.incarnation(view, 0);
        OfiConnection c = type == Wire.PING ? null : connections.find(Wire.to(view, 0));
        if (c == null || !c.isWith(incarnation)) {
            peers.heard(incarnation);
            return false;
        }
        c.peer.heard(incarnation);
        connections.onTaken(c, Wire.taken(view, 0));
        if (type == Wire.MESSAGE || type == Wire.NOTIFY) {
            return isDeliverable(c, type, view, slot, length);
        }
        if (length >= Wire.SHORT) {
            onKeyRecord(c, type, view);
        }
        return false;
    }

    private boolean isDeliverable(
            OfiConnection c, int type, UnsafeBuffer view, int slot, int length) {
        if (c.state != CONNECTED && c.state != ENDING) {
            return false;
        }
        boolean isSound =
                type == Wire.MESSAGE
                        ? Wire.length(view, 0) == length - Wire.HEADER
                                && length - Wire.HEADER <= context.messageLengthMax()
                                && Wire.number(view, 0) == c.receivedCount
                        : length == Wire.SHORT;
        if (!isSound) {
            connections.corrupt(c, "sent a message that makes no sense, or one was lost");
            return false;
        }
        if (type == Wire.MESSAGE) {
            c.onMessageReceived();
        }
        slots.append(c, slot);
        ready.add(c.index);
        return true;
    }

    // ---- keys ----

    private void onKeyRecord(OfiConnection c, int type, UnsafeBuffer view) {
        long key = Wire.key(view, 0);
        c.silent(false);
        switch (type) {
            case Wire.ASK_KEY -> answerKey(c, key);
            case Wire.KEY -> onKey(c, key, view);
            case Wire.REVOKE -> onRevoke(c, key);
            case Wire.REVOKED -> regions.onRevoked(c.handle, key);
            default -> {
                // credits, or of a later version
            }
        }
    }

    private void answerKey(OfiConnection c, long key) {
        OfiRegion region = regions.ofKey(key);
        boolean isThere = region != null && region.rights() != 0;
        outbox.begin(c, Wire.KEY, isThere ? region.rights() : -1, 0);
        Wire.place(
                resources.scratch,
                OfiResources.RECORD_AT,
                key,
                isThere ? region.begin() : 0,
                isThere ? region.length() : 0,
                isThere ? regions.providerKey(region) : 0);
        if (!outbox.answer(c, Wire.SHORT)) {
            connections.loseFull(c);
        } else if (isThere) {
            region.users.add(c.handle);
        }
    }

    private void onKey(OfiConnection c, long number, UnsafeBuffer view) {
        RemoteKey key = c.key(number);
        if (key == null || key.isKnown()) {
            return;
        }
        key.answer(
                Wire.number(view, 0),
                Wire.address(view, 0),
                Wire.range(view, 0),
                Wire.providerKey(view, 0));
        if (key.isDead()) {
            c.forgetKey(number);
        }
        engine.onKey(key);
    }

    private void onRevoke(OfiConnection c, long number) {
        RemoteKey key = c.key(number);
        if (key != null && key.isKnown()) {
            key.revoke();
            c.forgetKey(number);
            if (!key.isQuiet()) {
                key.answerLater();
                return;
            }
        }
        onQuiet(c, number);
    }

    @Override
    public void onQuiet(OfiConnection c, long number) {
        outbox.begin(c, Wire.REVOKED, 0, 0);
        Wire.place(resources.scratch, OfiResources.RECORD_AT, number, 0, 0, 0);
        if (!outbox.answer(c, Wire.SHORT)) {
            connections.loseFull(c);
        }
    }

    // ---- control records ----

    private void onControl(ControlRecord record) {
        String fault =
                record.fault(
                        resources.hasSocketAddresses()
                                ? resources.name.length
                                : ControlRecord.ANY_LENGTH);
        OfiPeer peer = null;
        if (fault.isEmpty()) {
            try {
                peer = peers.of(record.name());
            } catch (OfiException e) {
                fault = e.getMessage();
            }
        }
        if (peer == null) {
            context.errorHandler()
                    .onError(new IllegalStateException("control record refused: " + fault));
            return;
        }
        peers.heard(peer, record.incarnation());
        if (record.type() == ConnectionLife.CONNECT) {
            offer(peer, record);
        } else {
            onAnswer(peer, record);
        }
    }

    private void offer(OfiPeer peer, ControlRecord record) {
        int refusal = refusal(record);
        OfiConnection c = null;
        if (refusal == 0) {
            c =
                    connections.offer(
                            OfiAddress.of(
                                            peer.name,
                                            resources.hasSocketAddresses(),
                                            "",
                                            provider,
                                            record.incarnation())
                                    .uri(),
                            peer.number,
                            record.incarnation());
            refusal = c == null ? ConnectionLife.FULL : 0;
        }
        if (c == null) {
            connections.answer(peer, record, refusal);
            return;
        }
        connections.agree(c, record);
        connections.seen(c);
        connections.tellOffer(c, record.privateData());
    }

    /** The record that answers a request which cannot be offered; 0: it can. */
    private int refusal(ControlRecord record) {
        if (record.job() != connections.job()) {
            return ControlRecord.FOREIGN;
        }
        if (record.wanted() != 0 && record.wanted() != resources.incarnation) {
            return ControlRecord.OTHER;
        }
        if (!connections.isListening()) {
            return ControlRecord.DEAF;
        }
        return connections.ring().isBacklogged() ? ConnectionLife.FULL : 0;
    }

    private void onAnswer(OfiPeer peer, ControlRecord record) {
        OfiConnection c = connections.find(record.to());
        if (c != null && c.peer != peer) {
            return;
        }
        switch (record.type()) {
            case ConnectionLife.ACCEPT -> onAccept(c, peer, record);
            case ControlRecord.SEEN -> {
                if (c != null && c.state == CONNECTING) {
                    connections.bindTo(c, peer, record);
                }
            }
            case ConnectionLife.DISCONNECT -> {
                if (c != null && c.isWith(peer.number, record.incarnation())) {
                    c.peerDone(record.from() > 0);
                    c.peerGaveUp(record.from() < 0);
                    connections.onDisconnect(c);
                } else if (c == null) {
                    connections.onLeft(record.to(), peer, record.incarnation(), record.from() < 0);
                }
            }
            case ControlRecord.SILENT -> {
                if (c != null && c.isWith(peer.number, record.incarnation())) {
                    connections.onSilent(c);
                }
            }
            default -> {
                boolean isDeaf = record.type() == ControlRecord.DEAF;
                connections.onRefused(
                        c, isDeaf ? Status.NOT_LISTENING : Status.REFUSED, reason(record.type()));
            }
        }
    }

    private static String reason(int type) {
        return switch (type) {
            case ConnectionLife.FULL -> " has no room for another connection";
            case ControlRecord.DEAF -> " does not listen";
            case ControlRecord.OTHER -> " is gone; another incarnation is in its place";
            case ControlRecord.FOREIGN -> " is of another job";
            case ControlRecord.VERSION ->
                    " speaks another version of the records: both ends need the same release of"
                            + " Verbena";
            default -> " rejected the connection";
        };
    }

    private void onAccept(OfiConnection c, OfiPeer peer, ControlRecord record) {
        if (c != null && c.state == CONNECTING) {
            connections.bindTo(c, peer, record);
            connections.agree(c, record);
            connections.connected(c);
        } else if (c == null || c.state != CONNECTED) {
            // We gave up meanwhile: the peer must not believe in the connection.
            connections.answer(peer, record, ConnectionLife.DISCONNECT);
        }
    }
}
