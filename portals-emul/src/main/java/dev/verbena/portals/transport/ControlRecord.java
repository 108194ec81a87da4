package dev.verbena.portals.transport;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.transport.core.ConnectionLife;
import dev.verbena.transport.core.ControlHeader;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A record of the system queue, 280 bytes, little-endian; who sent it is in the event.
 *
 * <pre>
 * offset size field
 *  0    20   {@link ControlHeader}
 * 20     4   zero
 * 24   256   private data
 * </pre>
 */
final class ControlRecord extends ControlHeader {
    static final int LENGTH = 280;

    private static final int PRIVATE_OFFSET = 24;

    private final UnsafeBuffer buffer;
    private final int offset;

    ControlRecord(UnsafeBuffer buffer, int offset) {
        super(PRIVATE_OFFSET);
        this.buffer = buffer;
        this.offset = offset;
        wrapRecord(buffer, offset);
    }

    @Override
    public void write(int type, int to, int from, int credits, int messageLengthMax, byte[] data) {
        super.write(type, to, from, credits, messageLengthMax, data);
        buffer.putInt(offset + ControlHeader.LENGTH, 0, LITTLE_ENDIAN);
    }

    /** Empty if every field makes sense, else what does not. */
    String fault() {
        return headerFault(ConnectionLife.FULL, Integer.MAX_VALUE);
    }
}
