package dev.verbena.flesnet.input;

import dev.verbena.flesnet.ComponentFlyweight;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.MicrosliceFlyweight;
import dev.verbena.flesnet.MicrosliceSink;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.Transport;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The microslices of an input: a ring of descriptors, a ring of contents, both in registered
 * memory. Components are ranges of them. One thread; allocates nothing after it was made.
 */
final class InputRing implements MicrosliceSink, AutoCloseable {
    private static final int EMPTY_FLAGS = MicrosliceFlyweight.TRUNCATED;

    private final RegisteredRegion descriptorRegion;
    private final RegisteredRegion contentRegion;
    private final UnsafeBuffer descriptors;
    private final UnsafeBuffer contents;
    private final MicrosliceFlyweight microslice = new MicrosliceFlyweight();
    private final long descriptorMask;
    private final long contentMask;
    private final int perTimeslice;
    private final int perComponent;
    private final boolean isSizeOnly;

    /** For each microslice of the ring, where its content ends; its beginning is the one before. */
    private final long[] ends;

    private final boolean[] isEmpty;
    private long written;
    private long released;
    private long contentWritten;
    private long contentReleased;
    private long owed;
    private long owedFrom;
    private long lastIndex;
    private long step;
    private int lastEquipment;
    private int lastSystem;
    private int lastFormat;
    private long droppedCount;
    private boolean isRefused;
    private String failure;

    InputRing(FlesnetContext context, Transport transport) {
        int count = 1 << context.sourceDescriptorExponent();
        int bytes = 1 << context.sourceExponent();
        descriptorRegion = transport.allocate((long) count * MicrosliceFlyweight.LENGTH, 0);
        contentRegion = transport.allocate(bytes, 0);
        descriptors = descriptorRegion.buffer(0, count * MicrosliceFlyweight.LENGTH);
        contents = contentRegion.buffer(0, bytes);
        descriptorMask = count - 1;
        contentMask = bytes - 1;
        perTimeslice = context.timesliceSize();
        perComponent = context.microslicesPerComponent();
        isSizeOnly = !context.environment().carriesPayloads();
        ends = new long[count];
        isEmpty = new boolean[count];
        contentWritten = context.startPosition();
        contentReleased = contentWritten;
        ends[count - 1] = contentWritten;
    }

    // ---- filling

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
        remember(equipment, system, format, index);
        settle();
        if (owed > 0 || !hasDescriptor()) {
            owedFrom = owed == 0 ? index : owedFrom;
            owed++;
            droppedCount++;
            return false;
        }
        if (length > contentFree()) {
            droppedCount++;
            addEmpty(index);
            return false;
        }
        if (length == 0 && (flags & EMPTY_FLAGS) != 0) {
            droppedCount++;
            append(equipment, flags, system, format, index, checksum, 0, true);
            return true;
        }
        copyIn(content, offset, length);
        append(equipment, flags, system, format, index, checksum, length, false);
        return true;
    }

    private void remember(int equipment, int system, int format, long index) {
        lastEquipment = equipment;
        lastSystem = system;
        lastFormat = format;
        step = written + owed == 0 ? 0 : index - lastIndex;
        lastIndex = index;
    }

    /** Puts empty microslices where there was no room even for their descriptors. */
    void settle() {
        while (owed > 0 && hasDescriptor()) {
            addEmpty(owedFrom);
            owedFrom += step;
            owed--;
        }
    }

    /** Whether microslices still wait for room for an empty one. */
    boolean owes() {
        return owed > 0;
    }

    private void addEmpty(long index) {
        append(lastEquipment, EMPTY_FLAGS, lastSystem, lastFormat, index, 0, 0, true);
    }

    private void append(
            int equipment,
            int flags,
            int system,
            int format,
            long index,
            int checksum,
            int length,
            boolean isDropped) {
        int slot = (int) (written & descriptorMask);
        if (!isSizeOnly) {
            microslice
                    .wrap(descriptors, slot * MicrosliceFlyweight.LENGTH)
                    .set(equipment, flags, system, format, index, checksum, length)
                    .contentOffset(contentWritten);
        }
        contentWritten += length;
        ends[slot] = contentWritten;
        isEmpty[slot] = isDropped;
        written++;
    }

    private void copyIn(DirectBuffer content, int offset, int length) {
        if (isSizeOnly) {
            return;
        }
        int at = (int) (contentWritten & contentMask);
        int first = (int) Math.min(length, contentMask + 1 - at);
        contents.putBytes(at, content, offset, first);
        contents.putBytes(0, content, offset + first, length - first);
    }

    private boolean hasDescriptor() {
        // The end of the microslice before the first one is needed too.
        return written - released < descriptorMask;
    }

    private long contentFree() {
        return contentReleased + contentMask + 1 - contentWritten;
    }

    @Override
    public boolean hasRoom(int length) {
        boolean isRoom = owed == 0 && hasDescriptor() && length <= contentFree();
        isRefused = !isRoom;
        if (!isRoom && !hasComponent(released / perTimeslice)) {
            // Nothing can be sent, so nothing will be released.
            failure =
                    ("the component of timeslice %s has at least %s bytes of contents, the input"
                                    + " ring %s; use fewer or smaller microslices, or"
                                    + " FlesnetContext.sourceRing")
                            .formatted(
                                    released / perTimeslice,
                                    contentWritten - contentReleased + length,
                                    contentMax());
        }
        return isRoom;
    }

    /** Whether the source waits for room: there was none since the last release. */
    boolean isRefused() {
        return isRefused;
    }

    /** Drops the contents of all microslices here, so that later ones have room. */
    void empty() {
        long end = written;
        written = released;
        while (written < end) {
            int slot = (int) (written & descriptorMask);
            droppedCount += isEmpty[slot] ? 0 : 1;
            MicrosliceFlyweight m = microslice.wrap(descriptors, slot * MicrosliceFlyweight.LENGTH);
            append(m.equipment(), EMPTY_FLAGS, m.system(), m.format(), m.index(), 0, 0, true);
        }
        ends[(int) (released - 1 & descriptorMask)] = contentWritten;
        contentReleased = contentWritten;
        isRefused = false;
    }

    /** Why nothing will ever have room; null if that is not so. */
    String failure() {
        return failure;
    }

    @Override
    public int contentMax() {
        return (int) contentMask + 1;
    }

    // ---- components

    /** Whether all microslices of this component are here. */
    boolean hasComponent(long timeslice) {
        return written >= timeslice * perTimeslice + perComponent;
    }

    /** Timeslices that can be made of what is here or was. */
    long timesliceCount() {
        return written < perComponent ? 0 : (written - perComponent) / perTimeslice + 1;
    }

    private long contentBegin(long microsliceIndex) {
        return ends[(int) (microsliceIndex - 1 & descriptorMask)];
    }

    /** Content bytes of a component. */
    private long contentBytes(long timeslice) {
        long first = timeslice * perTimeslice;
        return contentBegin(first + perComponent) - contentBegin(first);
    }

    /** Bytes of a component: its descriptors and contents. */
    long size(long timeslice) {
        return (long) perComponent * MicrosliceFlyweight.LENGTH + contentBytes(timeslice);
    }

    /** Flags of a component. */
    int flags(long timeslice) {
        for (int i = 0; i < perComponent; i++) {
            if (isEmpty[(int) (timeslice * perTimeslice + i & descriptorMask)]) {
                return ComponentFlyweight.MISSING_MICROSLICES;
            }
        }
        return 0;
    }

    /**
     * Adds what bytes {@code from} to {@code to} of a component are here: up to four ranges, as
     * both rings may wrap.
     *
     * @param remote where the first of them goes
     */
    void gather(TransferVector vector, long timeslice, long from, long to, long remote) {
        long first = timeslice * perTimeslice;
        long heads = (long) perComponent * MicrosliceFlyweight.LENGTH;
        long target = remote;
        if (from < heads) {
            long length = Math.min(to, heads) - from;
            long at = (first & descriptorMask) * MicrosliceFlyweight.LENGTH + from;
            addRange(vector, descriptorRegion, at, target, length);
            target += length;
        }
        if (to > heads) {
            long begin = Math.max(from, heads);
            long at = (contentBegin(first) & contentMask) + begin - heads;
            addRange(vector, contentRegion, at, target, to - begin);
        }
    }

    private static void addRange(
            TransferVector vector, RegisteredRegion region, long at, long target, long length) {
        long begin = at % region.length();
        long part = Math.min(length, region.length() - begin);
        vector.add(region, begin, target, part);
        if (part < length) {
            vector.add(region, 0, target + part, length - part);
        }
    }

    /** Every timeslice before this one is done with. */
    void release(long timeslice) {
        long next = timeslice * perTimeslice;
        if (next > released) {
            released = next;
            contentReleased = contentBegin(next);
            isRefused = false;
        }
    }

    /** Microslices whose contents were dropped. */
    long droppedCount() {
        return droppedCount;
    }

    @Override
    public void close() {
        descriptorRegion.close();
        contentRegion.close();
    }
}
