package dev.verbena.dart.client;

import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.DartTicket;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.staging.Checksum;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * For finding programs that change memory while it is still the library's: takes a checksum when a
 * message is sent and compares when its ticket gives the memory back. Owned by the client's thread.
 */
final class SourceGuard {
    private static final int PIECE = 1 << 30;

    private final RegisteredRegion[] regions;
    private final long[] offsets;
    private final long[] lengths;
    private final int[] checksums;
    private final UnsafeBuffer view = new UnsafeBuffer(new byte[0]);
    private final Checksum crc = new Checksum();
    private DartException changed;

    SourceGuard(int slotCount) {
        regions = new RegisteredRegion[slotCount];
        offsets = new long[slotCount];
        lengths = new long[slotCount];
        checksums = new int[slotCount];
    }

    void keep(int slot, RegisteredRegion region, long offset, long length) {
        regions[slot] = region;
        offsets[slot] = offset;
        lengths[slot] = length;
        checksums[slot] = checksum(slot);
    }

    void compare(int slot, DartTicket ticket) {
        RegisteredRegion region = regions[slot];
        regions[slot] = null;
        if (region == null || changed != null) {
            return;
        }
        if (region.isClosed()) {
            changed = failure(ticket, "closed");
            return;
        }
        regions[slot] = region;
        boolean isSame = checksum(slot) == checksums[slot];
        regions[slot] = null;
        if (!isSame) {
            changed = failure(ticket, "changed");
        }
    }

    private static DartException failure(DartTicket ticket, String what) {
        return Code.BUFFER_CHANGED.because(
                "the memory of message %s ('%s', tag %s, %s bytes) was %s before its "
                        + "ticket gave it back: wait for TRANSFERRED, or use sendCopy",
                ticket.sequence(), ticket.name(), ticket.tag(), ticket.length(), what);
    }

    private int checksum(int slot) {
        crc.reset();
        long at = regions[slot].address() + offsets[slot];
        for (long done = 0; done < lengths[slot]; done += PIECE) {
            int piece = (int) Math.min(lengths[slot] - done, PIECE);
            view.wrap(at + done, piece);
            crc.update(view, 0, piece);
        }
        return crc.value();
    }

    void throwIfChanged() {
        DartException thrown = changed;
        if (thrown != null) {
            changed = null;
            throw thrown;
        }
    }
}
