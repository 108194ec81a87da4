package dev.verbena.auto;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.core.TransportPart;

/**
 * The parts' descriptors of those that were used last: an unchanged descriptor gives the same
 * object again, by which a part knows that it has checked it. Allocated once. One thread.
 */
final class Translations {
    private static final int ENTRIES = 64;
    private static final int CONNECTION_SHIFT = 2;

    private final RemoteDescriptor[] shared = new RemoteDescriptor[ENTRIES];
    private final long[] versions = new long[ENTRIES];
    private final long[] connections = new long[ENTRIES];
    private final RemoteDescriptor[] own = new RemoteDescriptor[ENTRIES];

    Translations() {
        for (int i = 0; i < ENTRIES; i++) {
            own[i] = new RemoteDescriptor();
        }
    }

    /**
     * The part's descriptor of a shared one.
     *
     * @param connection the transport's handle
     * @param inner the part's
     */
    RemoteDescriptor of(
            TransportPart part, long connection, long inner, RemoteDescriptor descriptor) {
        int at = (int) (connection >>> CONNECTION_SHIFT) & ENTRIES - 1;
        if (shared[at] != descriptor
                || versions[at] != descriptor.version()
                || connections[at] != connection) {
            part.translate(inner, descriptor, own[at]);
            shared[at] = descriptor;
            versions[at] = descriptor.version();
            connections[at] = connection;
        }
        return own[at];
    }
}
