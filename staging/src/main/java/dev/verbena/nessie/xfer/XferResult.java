package dev.verbena.nessie.xfer;

/** Result of all operations: a checksum, and the array of {@code read_encode}. */
final class XferResult extends XferValue {
    XferResult(DataArray array) {
        super(1, array);
    }

    XferResult checksum(int newChecksum) {
        numbers().set(0, newChecksum);
        return this;
    }

    int checksum() {
        return numbers().get(0);
    }

    @Override
    void check() {}
}
