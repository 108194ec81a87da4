package dev.verbena.nessie.nnti;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Capability;
import dev.verbena.transport.Transport;
import java.util.Objects;
import org.agrona.DirectBuffer;

/** Numbers of 8 bytes on which peers do atomic operations; none if the transport has no atomics. */
final class Variables {
    private final RegisteredRegion region;
    private final DirectBuffer values;

    Variables(Transport transport, int wanted) {
        boolean hasAtomics = (transport.capabilities() & Capability.ATOMICS) != 0;
        int length = hasAtomics ? wanted * Long.BYTES : 0;
        // No region is empty.
        int rights = hasAtomics ? RemoteDescriptor.REMOTE_ALL : 0;
        region = transport.allocate(Math.max(1, length), rights);
        values = region.buffer(0, length);
    }

    void describe(RemoteDescriptor descriptor) {
        region.describe(0, values.capacity(), region.rights(), descriptor);
    }

    int count() {
        return values.capacity() / Long.BYTES;
    }

    long get(int index) {
        return values.getLong(Objects.checkIndex(index, count()) * Long.BYTES);
    }

    void close() {
        region.close();
    }
}
