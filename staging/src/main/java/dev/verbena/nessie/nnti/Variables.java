package dev.verbena.nessie.nnti;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Capability;
import dev.verbena.transport.Transport;
import org.agrona.MutableDirectBuffer;

/** Numbers of 8 bytes on which peers do atomic operations; none if the transport has no atomics. */
final class Variables {
    private final RegisteredRegion region;
    private final MutableDirectBuffer values;

    Variables(Transport transport, int wanted) {
        boolean hasAtomics = (transport.capabilities() & Capability.ATOMICS) != 0;
        int length = hasAtomics ? wanted * Long.BYTES : 0;
        region = length == 0 ? null : transport.allocate(length, RemoteDescriptor.REMOTE_ALL);
        values = length == 0 ? null : region.buffer(0, length);
    }

    int count() {
        return region == null ? 0 : (int) (region.length() / Long.BYTES);
    }

    void describe(RemoteDescriptor descriptor) {
        if (region != null) {
            region.describe(0, region.length(), region.rights(), descriptor);
        }
    }

    long get(int index) {
        if (region == null) {
            throw new IndexOutOfBoundsException("variable " + index + ": there are none");
        }
        return values.getLong(index * Long.BYTES);
    }

    void close() {
        if (region != null) {
            region.close();
        }
    }
}
