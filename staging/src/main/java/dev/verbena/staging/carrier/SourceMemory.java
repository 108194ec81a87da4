package dev.verbena.staging.carrier;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;

/**
 * Memory of others that bytes are put from without a copy: registered once more, for this
 * transport. Owned by the transport's thread.
 */
final class SourceMemory implements AutoCloseable {
    private final Transport transport;
    private final List<RegisteredRegion> regions = new ArrayList<>();

    SourceMemory(Transport transport) {
        this.transport = transport;
    }

    void add(OffHeapMemory memory) {
        regions.add(transport.register(memory, 0));
    }

    /** The region that has these bytes; null: none. */
    RegisteredRegion find(DirectBuffer buffer, int offset, int length) {
        if (buffer.byteArray() != null) {
            return null;
        }
        long from = buffer.addressOffset() + offset;
        for (int i = 0; i < regions.size(); i++) {
            RegisteredRegion region = regions.get(i);
            long at = from - region.address();
            if (at >= 0 && at + length <= region.length()) {
                return region;
            }
        }
        return null;
    }

    @Override
    public void close() {
        regions.forEach(RegisteredRegion::close);
        regions.clear();
    }
}
