package dev.verbena.flesnet.wire;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.staging.Arguments;
import dev.verbena.transport.Transport;
import org.agrona.CloseHelper;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Where a node writes its messages: two places for each connection, a short one for the messages of
 * a run, and one as long as a message may be for those about lost nodes. The short ones lie close
 * together: a page is touched for several connections, and those of the long ones only when a node
 * is lost. One thread.
 */
public final class ControlMemory implements AutoCloseable {
    /** Bytes of a short place; the longest message that it is for has 16 + 20 + 10 * 36. */
    private static final int SHORT_LENGTH = 512;

    private final RegisteredRegion shortRegion;
    private final RegisteredRegion longRegion;
    private final UnsafeBuffer shortPlaces;
    private final UnsafeBuffer longPlaces;
    private final int longLength;

    /** Places for so many connections, in registered memory that it owns. */
    public ControlMemory(Transport transport, int connections) {
        longLength = transport.limits().messageLengthMax();
        long length = (long) connections * longLength;
        Arguments.range("bytes of messages to all peers", length, 1, Integer.MAX_VALUE);
        shortRegion = transport.allocate((long) connections * SHORT_LENGTH, 0);
        longRegion = allocate(transport, length, shortRegion);
        shortPlaces = shortRegion.buffer(0, connections * SHORT_LENGTH);
        longPlaces = longRegion.buffer(0, connections * longLength);
    }

    /** What was allocated before does not stay behind if there is no room for this. */
    private static RegisteredRegion allocate(
            Transport transport, long length, RegisteredRegion before) {
        try {
            return transport.allocate(length, 0);
        } catch (RuntimeException | Error e) {
            before.close();
            throw e;
        }
    }

    /**
     * The places of a connection.
     *
     * @param index of the connection, from 0
     * @param sender number of this node
     * @param context of its sends
     */
    public ControlSlot slot(int index, int sender, long context) {
        return new ControlSlot(this, index, sender, context);
    }

    RegisteredRegion region(boolean isLong) {
        return isLong ? longRegion : shortRegion;
    }

    UnsafeBuffer memory(boolean isLong) {
        return isLong ? longPlaces : shortPlaces;
    }

    int offset(boolean isLong, int index) {
        return index * (isLong ? longLength : SHORT_LENGTH);
    }

    @Override
    public void close() {
        CloseHelper.closeAll(shortRegion, longRegion);
    }
}
