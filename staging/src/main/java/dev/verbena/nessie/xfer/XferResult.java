package dev.verbena.nessie.xfer;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.nessie.xdr.XdrValue;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** Result of all operations: a checksum, and the array of {@code read_encode}. */
final class XferResult implements XdrValue {
    private final DataArray array;
    private int checksum;

    /**
     * Of an operation.
     *
     * @param array null: it has none
     */
    XferResult(DataArray array) {
        this.array = array;
    }

    XferResult checksum(int newChecksum) {
        checksum = newChecksum;
        return this;
    }

    int checksum() {
        return checksum;
    }

    @Override
    public int encodedLength() {
        return Integer.BYTES + (array == null ? 0 : array.encodedLength());
    }

    @Override
    public int encode(MutableDirectBuffer buffer, int index) {
        buffer.putInt(index, checksum, BIG_ENDIAN);
        if (array != null) {
            array.encode(buffer, index + Integer.BYTES);
        }
        return encodedLength();
    }

    @Override
    public int decode(DirectBuffer buffer, int index, int limit) {
        if (limit - index < Integer.BYTES) {
            throw new XdrException("a result of " + (limit - index) + " bytes");
        }
        checksum = buffer.getInt(index, BIG_ENDIAN);
        if (array != null) {
            array.decode(buffer, index + Integer.BYTES, limit);
        }
        return encodedLength();
    }
}
