package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/** {@code struct ibv_sge} of prepared requests. */
final class Segments {
    private Segments() {}

    static void set(
            Requests owner,
            int index,
            int number,
            MemoryRegion[] regions,
            MemoryRegion region,
            long from,
            int bytes) {
        if (number < 0 || number >= regions.length) {
            throw new IndexOutOfBoundsException(
                    "segment " + number + "; the queue was made for " + regions.length);
        }
        if (!region.domain().isSameProtection(owner.domain)) {
            throw new IllegalArgumentException(region + " is not of " + owner.domain);
        }
        owner.check();
        region.address();
        long address = region.checkedAddress(from, bytes);
        int at = owner.segmentOffset(index, number);
        owner.buffer.putLong(at + VerbsLayout.SGE_ADDR, address);
        owner.buffer.putInt(at + VerbsLayout.SGE_LENGTH, bytes);
        owner.buffer.putInt(at + VerbsLayout.SGE_LKEY, region.localKey());
        regions[number] = region;
    }

    static void checkCount(Requests owner, MemoryRegion[] regions, int count) {
        if (count < 0 || count > regions.length) {
            throw new IndexOutOfBoundsException(
                    count + " segments; the queue was made for " + regions.length);
        }
        for (int i = 0; i < count; i++) {
            if (regions[i] == null) {
                throw new IllegalStateException("segment " + i + " of " + count + " was not set");
            }
        }
    }

    static long length(Requests owner, int index, int count) {
        long length = 0;
        for (int i = 0; i < count; i++) {
            length +=
                    owner.buffer.getInt(owner.segmentOffset(index, i) + VerbsLayout.SGE_LENGTH)
                            & 0xffff_ffffL;
        }
        return length;
    }
}
