package dev.verbena.shm;

import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.core.ConnectionTable;
import dev.verbena.transport.core.Ranges;

/**
 * What a transport keeps about messages that it hands out: their tokens, which of them its user
 * retained, and what notifications refer to. Owned by the transport's thread.
 *
 * <p>A token is the message's serial number, the place of its connection and its slot in the ring:
 * a stale token finds another serial number there and is refused.
 */
final class ShmInbox {
    private static final int SLOT_BITS = 12;
    private static final int INDEX_BITS = ConnectionTable.INDEX_BITS;
    private static final int SERIAL_SHIFT = SLOT_BITS + INDEX_BITS;
    private static final long SERIAL_MAX = -1L >>> SERIAL_SHIFT;

    private final ShmConnections connections;
    private final ShmRegions regions;
    private long serial;
    private long currentToken;
    private boolean isCurrentRetained;

    ShmInbox(ShmConnections connections, ShmRegions regions) {
        this.connections = connections;
        this.regions = regions;
    }

    /** Never 0, by which a connection knows slots that are not out. */
    long nextSerial() {
        serial = serial == SERIAL_MAX ? 1 : serial + 1;
        return serial;
    }

    /** Remembers the message that is about to be handled; answers its token. */
    long currentToken(ShmConnection connection, int slot, long messageSerial) {
        isCurrentRetained = false;
        currentToken = messageSerial << SERIAL_SHIFT | (long) connection.index << SLOT_BITS | slot;
        return currentToken;
    }

    /** Whether the message that was just handled is kept; forgets the token. */
    boolean isCurrentRetained() {
        currentToken = 0;
        return isCurrentRetained;
    }

    /** How many of the messages of a connection are kept, with the one being handled. */
    int retainedCount(ShmConnection connection) {
        boolean isCurrent = connection.isDelivering && isCurrentRetained;
        return connection.retainedCount() + (isCurrent ? 1 : 0);
    }

    void retain(long messageToken) {
        if (messageToken == 0 || messageToken != currentToken || isCurrentRetained) {
            throw new IllegalStateException(
                    "message token %s is not the one being handled, or is retained already"
                            .formatted(messageToken));
        }
        if (connectionOf(messageToken).isDisconnectWanted) {
            throw new IllegalStateException("disconnect was called: the message cannot be kept");
        }
        isCurrentRetained = true;
    }

    private ShmConnection connectionOf(long messageToken) {
        return connections.at((int) (messageToken >>> SLOT_BITS) & (1 << INDEX_BITS) - 1);
    }

    void release(long messageToken) {
        int slot = (int) messageToken & (1 << SLOT_BITS) - 1;
        ShmConnection connection = connectionOf(messageToken);
        if (messageToken == currentToken && isCurrentRetained) {
            isCurrentRetained = false;
            return;
        }
        if (messageToken == currentToken
                || connection == null
                || !connection.giveBack(slot, messageToken >>> SERIAL_SHIFT)) {
            throw new IllegalArgumentException(
                    "message token " + messageToken + " is not retained");
        }
        connections.released(connection);
    }

    /** Delivers a notification; false if it names bytes that no region has. */
    boolean notified(
            ShmConnection connection,
            TransportHandler handler,
            int tag,
            int keySlot,
            int generation,
            long offset,
            long length) {
        ShmRegion region = regions.byKey(keySlot, generation);
        if (region == null) {
            return true; // closed since
        }
        if (!Ranges.isInside(offset, length, region.length())) {
            return false;
        }
        handler.onNotify(connection.handle, connection.context, tag, region.id(), offset, length);
        return true;
    }
}
