package dev.verbena.ugni.transport;

import dev.verbena.transport.internal.HandleTable;
import java.util.stream.IntStream;

/** Connections by handle. */
final class ConnectionTable extends HandleTable<GniConnection> {
    ConnectionTable(int connectionsMax) {
        super(
                IntStream.range(0, connectionsMax)
                        .mapToObj(GniConnection::new)
                        .toArray(GniConnection[]::new));
    }
}
