package dev.verbena.nessie.xfer;

import dev.verbena.nessie.xdr.XdrException;
import org.agrona.DirectBuffer;

/** Arguments of all operations: length, seed, validation, and the array of {@code write_encode}. */
final class XferArgs extends XferValue {
    private static final Validation[] VALIDATIONS = Validation.values();

    XferArgs(DataArray array) {
        super(3, array);
    }

    void set(int count, int seed, Validation how) {
        numbers.set(0, count);
        numbers.set(1, seed);
        numbers.set(2, how.ordinal());
    }

    /** Elements of the array. */
    int count() {
        return numbers.get(0);
    }

    int seed() {
        return numbers.get(1);
    }

    Validation validation() {
        return VALIDATIONS[numbers.get(2)];
    }

    @Override
    public int decode(DirectBuffer buffer, int index, int limit) {
        int length = super.decode(buffer, index, limit);
        int count = array == null ? count() : array.count();
        int how = numbers.get(2);
        boolean isCount = count == count() && count > 0 && count <= DataArray.COUNT_MAX;
        if (!isCount || how < 0 || how >= VALIDATIONS.length) {
            if (array != null) {
                array.release();
            }
            String what = "%s elements, announced %s, validation %s";
            throw new XdrException(what.formatted(count, count(), how));
        }
        return length;
    }
}
