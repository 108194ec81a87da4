package dev.verbena.dart.client;

import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.config.ClientSettings;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.staging.control.ConnectionEnds;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Transport;
import java.net.URI;
import org.agrona.DirectBuffer;

/** The events of a client's transport, each handed to the part that it is about. One thread. */
final class ServerEvents implements ConnectionEnds {
    /** Contexts of control records; those below are header slots. */
    static final long CONTROL_BASE = 1L << 20;

    private static final long CONTEXT_SERVER = 2;

    private final ClientProtocol protocol;
    private final ClientSettings settings;
    private final Transport transport;
    private final ClientFlight flight;
    private final ClientInbox inbox;
    private final ClientCommands commands;
    private final ControlOutbox outbox;
    private final ClientRegistration registration;
    private final ControlFlyweight incoming = new ControlFlyweight();

    /**
     * @param inbox null: there is none
     */
    ServerEvents(
            ClientProtocol protocol,
            ClientSettings settings,
            Transport transport,
            ClientFlight flight,
            ClientInbox inbox,
            ClientCommands commands,
            ControlOutbox outbox,
            ClientRegistration registration) {
        this.protocol = protocol;
        this.settings = settings;
        this.transport = transport;
        this.flight = flight;
        this.inbox = inbox;
        this.commands = commands;
        this.outbox = outbox;
        this.registration = registration;
    }

    @Override
    public void onCompletion(long connection, int operation, long slot, int status, long value) {
        if (operation != Operation.SEND) {
            return;
        }
        if (slot >= CONTROL_BASE) {
            outbox.onCompletion(slot);
        } else {
            flight.onSent((int) slot);
        }
    }

    @Override
    public void onNotify(
            long connection,
            long connectionContext,
            int tag,
            long regionId,
            long offset,
            long length) {
        if (inbox != null) {
            inbox.onNotify(tag, regionId);
        }
    }

    @Override
    public void onMessage(
            long connection,
            long connectionContext,
            DirectBuffer buffer,
            int offset,
            int length,
            long token) {
        try {
            incoming.wrap(buffer, offset, length);
            boolean isServer = protocol.heard(connection);
            if (incoming.type() == ControlFlyweight.WELCOME) {
                protocol.onWelcome(connection, incoming);
            } else if (isServer && incoming.clientId() == protocol.clientId()) {
                onServerRecord(buffer, offset + ControlFlyweight.LENGTH);
            }
        } catch (DartException e) {
            settings.environment().errorHandler().onError(e);
        }
    }

    private void onServerRecord(DirectBuffer buffer, int payload) {
        switch (incoming.type()) {
            case ControlFlyweight.DONE ->
                    flight.onDone(
                            incoming.sequence(),
                            incoming.state(),
                            incoming.result(),
                            incoming.credits());
            case ControlFlyweight.CREDIT -> flight.onSeen(incoming.sequence(), incoming.credits());
            case ControlFlyweight.GOODBYE -> protocol.serverStopping();
            case ControlFlyweight.HEARTBEAT -> protocol.troubled(incoming.text());
            case ControlFlyweight.REPLY -> commands.onReply(incoming, buffer, payload);
            default ->
                    throw Code.MALFORMED.because(
                            "record type " + incoming.type() + " is not for a client");
        }
    }

    @Override
    public void onConnectRequest(
            long connection, URI peer, DirectBuffer privateData, int offset, int length) {
        boolean isExpected = protocol.isExpected(privateData, offset, length);
        if (!isExpected || transport.accept(connection, CONTEXT_SERVER) != Transport.ACCEPTED) {
            transport.reject(connection);
        }
    }

    @Override
    public void onConnected(long connection, long connectionContext) {
        if (connectionContext == ClientRegistration.CONTEXT_MASTER) {
            registration.onConnected(connection);
        }
    }

    @Override
    public void onConnectFailed(
            long connection, long connectionContext, int status, String reason) {
        if (connectionContext == ClientRegistration.CONTEXT_MASTER) {
            registration.onConnectFailed(connection, status, reason);
        }
    }

    @Override
    public void onGone(long connection, long connectionContext, String reason) {
        protocol.gone(connection, connectionContext, reason);
    }
}
