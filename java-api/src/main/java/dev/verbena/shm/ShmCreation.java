package dev.verbena.shm;

import dev.verbena.softnic.bindings.Layout;
import dev.verbena.softnic.bindings.softnic;
import dev.verbena.transport.TransportContext;
import org.agrona.UnsafeApi;

/** Makes softnic's side of a transport: its options are {@code shm_options_t}. */
final class ShmCreation {
    private static final long RINGS_MAX = 1 << 30;

    private ShmCreation() {}

    /**
     * Creates the NIC and its connection table.
     *
     * @return the {@code shm_t}
     * @throws IllegalArgumentException if the rings of a connection would be too large
     */
    static long create(TransportContext context, NativeScratch scratch, boolean isBounce) {
        checkRings(context);
        long options = UnsafeApi.allocateMemory(Layout.OPTIONS_SIZE);
        try {
            fill(options, context, scratch, isBounce);
            scratch.check(
                    "shm_create",
                    softnic.shm_create(
                            options, scratch.result, scratch.why(), Layout.SNIC_WHY_MAX));
            return UnsafeApi.getLong(null, scratch.result);
        } finally {
            UnsafeApi.freeMemory(options);
        }
    }

    private static void checkRings(TransportContext context) {
        long slot = context.messageLengthMax() + 2L * Layout.SHM_SLOT_HEADER + 64;
        if (slot * context.creditsPerConnection() > RINGS_MAX) {
            throw new IllegalArgumentException(
                    ("creditsPerConnection %s times messageLengthMax %s is above 1 GiB for "
                                    + "each connection")
                            .formatted(context.creditsPerConnection(), context.messageLengthMax()));
        }
    }

    private static void fill(
            long options, TransportContext context, NativeScratch scratch, boolean isBounce) {
        UnsafeApi.setMemory(options, Layout.OPTIONS_SIZE, (byte) 0);
        String directory = context.options().get(ShmTransportProvider.DIRECTORY_OPTION);
        String name = context.name().isEmpty() ? null : context.name();
        putString(options + Layout.OPTIONS_DIRECTORY, scratch, directory);
        putString(options + Layout.OPTIONS_JOB, scratch, context.job());
        putString(options + Layout.OPTIONS_NAME, scratch, name);
        putInt(options + Layout.OPTIONS_MESSAGE_MAX, context.messageLengthMax());
        putInt(options + Layout.OPTIONS_CREDITS, context.creditsPerConnection());
        putInt(options + Layout.OPTIONS_CONNECTIONS_MAX, context.connectionsMax());
        putInt(options + Layout.OPTIONS_RECEIVE_SLOTS, context.receiveSlotCount());
        putInt(options + Layout.OPTIONS_FOREIGN, isBounce ? 1 : 0);
        UnsafeApi.putLong(null, options + Layout.OPTIONS_PEER_TIMEOUT_NS, context.peerTimeoutNs());
    }

    private static void putString(long at, NativeScratch scratch, String text) {
        UnsafeApi.putLong(null, at, scratch.string(text));
    }

    private static void putInt(long at, int value) {
        UnsafeApi.putInt(null, at, value);
    }
}
