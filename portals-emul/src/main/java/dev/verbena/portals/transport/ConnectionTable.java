package dev.verbena.portals.transport;

import dev.verbena.transport.internal.HandleTable;
import java.util.stream.IntStream;

/** Connections by handle. */
final class ConnectionTable extends HandleTable<PortalsConnection> {
    ConnectionTable(int connectionsMax) {
        super(
                IntStream.range(0, connectionsMax)
                        .mapToObj(PortalsConnection::new)
                        .toArray(PortalsConnection[]::new));
    }

    /** Whether a connection goes to this process. */
    boolean isUsed(long target) {
        for (int i = 0; i < size(); i++) {
            PortalsConnection c = at(i);
            if (c.state != PortalsConnection.FREE && c.target == target) {
                return true;
            }
        }
        return false;
    }
}
