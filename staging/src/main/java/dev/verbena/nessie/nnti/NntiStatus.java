package dev.verbena.nessie.nnti;

/**
 * How one operation ended, at either end. A holder that calls fill; operation and result are always
 * valid, the rest if the result is {@code OK}.
 */
public final class NntiStatus {
    private NntiOperation operation;
    private NntiResult result = NntiResult.OK;
    private NntiBuffer buffer;
    private long offset;
    private long length;
    private NntiPeer peer;

    /** Holds nothing yet. */
    public NntiStatus() {}

    /** Fills it; null for what is not known. */
    NntiStatus set(
            NntiOperation kind, NntiResult how, NntiBuffer in, long at, long size, NntiPeer with) {
        operation = kind;
        result = how;
        buffer = in;
        offset = at;
        length = size;
        peer = with;
        return this;
    }

    /** Copies all of another. */
    NntiStatus set(NntiStatus from) {
        return set(from.operation, from.result, from.buffer, from.offset, from.length, from.peer);
    }

    /** The first bad result stays. */
    void fail(NntiResult why) {
        result = result == NntiResult.OK ? why : result;
    }

    void length(long newLength) {
        length = newLength;
    }

    /** What ended. */
    public NntiOperation operation() {
        return operation;
    }

    /** How it ended. */
    public NntiResult result() {
        return result;
    }

    /** The local buffer. */
    public NntiBuffer buffer() {
        return buffer;
    }

    /** Byte in the local buffer; of a receive queue the slot times its size. */
    public long offset() {
        return offset;
    }

    /** Bytes moved; of an atomic operation what was there before. */
    public long length() {
        return length;
    }

    /** The other end. */
    public NntiPeer peer() {
        return peer;
    }
}
