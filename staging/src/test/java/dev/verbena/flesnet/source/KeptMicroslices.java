package dev.verbena.flesnet.source;

import dev.verbena.flesnet.MicrosliceSink;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;

/** A ring without end that remembers what was added, or only counts. */
final class KeptMicroslices implements MicrosliceSink {
    record Kept(int equipment, int flags, long index, int length) {}

    final List<Kept> kept = new ArrayList<>();
    final boolean isCounting;
    long count;
    int contentMax = 1 << 20;

    KeptMicroslices(boolean isCounting) {
        this.isCounting = isCounting;
    }

    @Override
    public boolean add(
            int equipment,
            int flags,
            int system,
            int format,
            long index,
            int checksum,
            DirectBuffer content,
            int offset,
            int length) {
        count++;
        if (!isCounting) {
            kept.add(new Kept(equipment, flags, index, length));
        }
        return true;
    }

    @Override
    public boolean hasRoom(int length) {
        return true;
    }

    @Override
    public int contentMax() {
        return contentMax;
    }
}
