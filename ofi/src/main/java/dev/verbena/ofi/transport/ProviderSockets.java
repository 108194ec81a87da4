package dev.verbena.ofi.transport;

import dev.verbena.ofi.bindings.fabric;
import org.agrona.ExpandableDirectByteBuffer;

/**
 * The TCP sockets of the provider {@code tcp}, to sleep at. A completion queue that has a
 * descriptor costs a tenth more at each message (libfabric 1.17), and libfabric does not tell its
 * sockets: they are found by their addresses. One that is not found yet wakes nobody, so sleeps
 * have to be short at first. For the thread that has the transport. Allocates nothing once every
 * peer was added.
 */
final class ProviderSockets implements AutoCloseable {
    private static final int NAME = fabric.VFI_SOCKET_NAME_BYTES;

    /** A socket is made when something is sent to a new peer; later another may take its place. */
    private static final long FIND_MIN_NS = 1_000_000L;

    private static final long FIND_MAX_NS = 1_000_000_000L;

    private final ExpandableDirectByteBuffer names = new ExpandableDirectByteBuffer();
    private final int set;
    private int nameCount;
    private int found;
    private long pauseNs;
    private long nextNs;

    /**
     * A set of the endpoint's own sockets.
     *
     * @param own the endpoint's name, a socket address
     */
    ProviderSockets(byte[] own, long nowNs) {
        set = fabric.vfi_sockets();
        if (set < 0) {
            throw new OfiFailure("epoll_create1: errno " + -set, null);
        }
        add(own, nowNs);
    }

    /** Sockets that are connected to this name are the provider's from now on. */
    void add(byte[] name, long nowNs) {
        names.setMemory(nameCount * NAME, NAME, (byte) 0);
        names.putBytes(nameCount * NAME, name);
        nameCount++;
        pauseNs = FIND_MIN_NS;
        nextNs = nowNs;
    }

    /** Whether nothing has happened at them since the last call. */
    boolean isQuiet(long nowNs) {
        if (nowNs - nextNs >= 0) {
            found = fabric.vfi_sockets_find(set, names.addressOffset(), nameCount);
            pauseNs = Math.min(2 * pauseNs, FIND_MAX_NS);
            nextNs = nowNs + pauseNs;
        }
        return fabric.vfi_sockets_rest(set) != 0;
    }

    /** How many there were when they were looked for; negative if that is not possible here. */
    int found() {
        return found;
    }

    /** Readable once something has happened at one of them. */
    int descriptor() {
        return set;
    }

    @Override
    public void close() {
        fabric.vfi_close_descriptor(set);
    }
}
