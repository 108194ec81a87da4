package dev.verbena.ofi;

import dev.verbena.ofi.bindings.fabric;
import org.agrona.UnsafeApi;

/** A table of peers: {@code struct fid_av}. */
public final class AddressVector extends OfiObject {
    private volatile long count;

    AddressVector(Domain domain, int count) {
        super("fi_av_open", "address vector", domain, fabric.vfi_av(domain.handle(), count));
    }

    /**
     * Takes a peer in: {@code fi_av_insert}.
     *
     * @param name of its endpoint, as {@link Endpoint#name()} says
     * @return the number by which operations name it
     * @throws OfiException if the name is none of this provider's
     */
    public long insert(byte[] name) {
        if (name.length > Endpoint.NAME_MAX) {
            throw new IllegalArgumentException("a name of " + name.length + " bytes");
        }
        // Providers read as much as their names have, whatever was given.
        long copy = UnsafeApi.allocateMemory(Endpoint.NAME_MAX);
        try {
            UnsafeApi.setMemory(copy, Endpoint.NAME_MAX, (byte) 0);
            for (int i = 0; i < name.length; i++) {
                UnsafeApi.putByte(null, copy + i, name[i]);
            }
            long peer = check("fi_av_insert", fabric.vfi_av_insert(handle(), copy), "");
            count = Math.max(count, peer + 1);
            return peer;
        } finally {
            UnsafeApi.freeMemory(copy);
        }
    }

    /**
     * Refuses numbers that no peer has: providers take them for indices.
     *
     * @throws IllegalArgumentException if so
     */
    void require(long peer) {
        if (peer < 0 || peer >= count) {
            throw new IllegalArgumentException("peer " + peer + " is outside 0 to " + (count - 1));
        }
    }
}
