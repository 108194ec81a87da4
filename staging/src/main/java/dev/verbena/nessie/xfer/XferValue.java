package dev.verbena.nessie.xfer;

import dev.verbena.nessie.xdr.XdrInts;
import dev.verbena.nessie.xdr.XdrValue;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Numbers, and an array behind them if the operation has one. A result has one number, a checksum.
 * One thread.
 */
class XferValue implements XdrValue {
    final XdrInts numbers;
    final DataArray array;

    /**
     * Of an operation.
     *
     * @param array null: it has none
     */
    XferValue(int count, DataArray array) {
        this.numbers = new XdrInts(true, count);
        this.array = array;
    }

    @Override
    public int encodedLength() {
        return numbers.encodedLength() + (array == null ? 0 : array.encodedLength());
    }

    @Override
    public int encode(MutableDirectBuffer buffer, int index) {
        buffer.boundsCheck(index, encodedLength());
        int length = numbers.encode(buffer, index);
        return array == null ? length : length + array.encode(buffer, index + length);
    }

    @Override
    public int decode(DirectBuffer buffer, int index, int limit) {
        int length = numbers.decode(buffer, index, limit);
        return array == null ? length : length + array.decode(buffer, index + length, limit);
    }
}
