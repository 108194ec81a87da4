package dev.verbena.auto;

import dev.verbena.transport.TransportHandler;
import java.net.URI;
import org.agrona.DirectBuffer;

/** Hands on the events of one part, with the transport's handles, tokens and region ids. */
final class PartEvents implements TransportHandler {
    private final AutoTransport transport;
    private final int part;
    private final AutoTokens tokens;

    /** Gets them; during a poll only. */
    private TransportHandler handler;

    private int hidden;

    PartEvents(AutoTransport transport, int part, AutoTokens tokens) {
        this.transport = transport;
        this.part = part;
        this.tokens = tokens;
    }

    /** Polls the part; answers how many events the handler got. */
    int poll(TransportHandler handler, int limit) {
        this.handler = handler;
        hidden = 0;
        return transport.parts[part].poll(this, limit) - hidden;
    }

    private long handle(long inner) {
        return AutoOperations.handle(part, inner);
    }

    @Override
    public void onCompletion(long inner, int operation, long context, int status, long value) {
        transport.polled();
        handler.onCompletion(handle(inner), operation, context, status, value);
    }

    @Override
    public void onMessage(
            long inner, long context, DirectBuffer buffer, int offset, int length, long partToken) {
        long token = tokens.take(part, partToken);
        try {
            handler.onMessage(handle(inner), context, buffer, offset, length, token);
        } finally {
            if (tokens.isToBeReleased(token)) {
                tokens.free(token);
            }
        }
    }

    @Override
    public void onNotify(
            long inner, long context, int tag, long regionId, long offset, long length) {
        AutoRegion region = transport.regions.find(part, regionId);
        if (region == null) {
            hidden++;
        } else {
            handler.onNotify(handle(inner), context, tag, region.id(), offset, length);
        }
    }

    @Override
    public void onConnectRequest(
            long inner, URI peer, DirectBuffer privateData, int offset, int length) {
        URI address = Greeting.address(privateData, offset, length);
        if (address == null || !transport.isRoomForOffer()) {
            hidden++;
            transport.parts[part].reject(inner);
            return;
        }
        int begin = Greeting.length(address);
        transport.offered(handle(inner), address);
        handler.onConnectRequest(
                handle(inner), address, privateData, offset + begin, length - begin);
    }

    @Override
    public void onConnected(long inner, long context) {
        handler.onConnected(handle(inner), context);
    }

    @Override
    public void onConnectFailed(long inner, long context, int status, String reason) {
        transport.ended(handle(inner));
        handler.onConnectFailed(handle(inner), context, status, reason);
    }

    @Override
    public void onDisconnected(long inner, long context) {
        transport.ended(handle(inner));
        handler.onDisconnected(handle(inner), context);
    }

    @Override
    public void onPeerLost(long inner, long context, String reason) {
        transport.ended(handle(inner));
        handler.onPeerLost(handle(inner), context, reason);
    }
}
