package dev.verbena.nessie.xfer;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.nessie.xdr.XdrValue;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** Arguments of all operations: length, seed, validation, and the array of {@code write_encode}. */
final class XferArgs implements XdrValue {
    private static final int HEADER_LENGTH = 12;
    private static final Validation[] VALIDATIONS = Validation.values();

    private final DataArray array;
    private int count;
    private int seed;
    private Validation validation = Validation.NONE;

    /**
     * For an operation.
     *
     * @param array null: it has none
     */
    XferArgs(DataArray array) {
        this.array = array;
    }

    XferArgs set(int newCount, int newSeed, Validation how) {
        count = newCount;
        seed = newSeed;
        validation = how;
        return this;
    }

    /** Elements of the array. */
    int count() {
        return count;
    }

    int seed() {
        return seed;
    }

    Validation validation() {
        return validation;
    }

    DataArray array() {
        return array;
    }

    @Override
    public int encodedLength() {
        return HEADER_LENGTH + (array == null ? 0 : array.encodedLength());
    }

    @Override
    public int encode(MutableDirectBuffer buffer, int index) {
        buffer.boundsCheck(index, encodedLength());
        buffer.putInt(index, count, BIG_ENDIAN);
        buffer.putInt(index + 4, seed, BIG_ENDIAN);
        buffer.putInt(index + 8, validation.ordinal(), BIG_ENDIAN);
        if (array != null) {
            array.encode(buffer, index + HEADER_LENGTH);
        }
        return encodedLength();
    }

    @Override
    public int decode(DirectBuffer buffer, int index, int limit) {
        if (limit - index < HEADER_LENGTH) {
            throw new XdrException("arguments of " + (limit - index) + " bytes");
        }
        int how = buffer.getInt(index + 8, BIG_ENDIAN);
        set(buffer.getInt(index, BIG_ENDIAN), buffer.getInt(index + 4, BIG_ENDIAN), null);
        if (count < 1 || count > DataArray.COUNT_MAX || how < 0 || how >= VALIDATIONS.length) {
            throw new XdrException(count + " elements, validation " + how);
        }
        validation = VALIDATIONS[how];
        if (array != null) {
            array.decode(buffer, index + HEADER_LENGTH, limit);
            if (array.count() != count) {
                throw new XdrException(array.count() + " elements, announced " + count);
            }
        }
        return encodedLength();
    }
}
