package dev.verbena.nessie.nnti;

/**
 * Kinds of operation in a {@link NntiStatus}: first those of an initiator, then what the first
 * three of them are at their target, in the same order. Notices and the tags of puts carry the
 * ordinals of {@code SEND}, {@code PUT} and {@code GET}: their places are part of the protocol.
 */
public enum NntiOperation {
    SEND(BufferFlags.SEND_SRC, BufferFlags.RECV_DST),
    PUT(BufferFlags.PUT_SRC, BufferFlags.PUT_DST),
    GET(BufferFlags.GET_DST, BufferFlags.GET_SRC),
    FETCH_ADD(0, BufferFlags.ATOMICS),
    COMPARE_SWAP(0, BufferFlags.ATOMICS),
    RECEIVE(BufferFlags.RECV_DST, 0),
    TARGET_PUT(BufferFlags.PUT_DST, 0),
    TARGET_GET(BufferFlags.GET_SRC, 0);

    private static final NntiOperation[] ALL = values();

    /** Flags that the buffers here and at the other end must have; 0: there is none. */
    final int localFlag;

    final int remoteFlag;

    NntiOperation(int localFlag, int remoteFlag) {
        this.localFlag = localFlag;
        this.remoteFlag = remoteFlag;
    }

    /** What a peer's operation with this ordinal is at its target; null: nothing. */
    static NntiOperation atTarget(int ordinal) {
        return ordinal < 0 || ordinal > GET.ordinal() ? null : ALL[ordinal + RECEIVE.ordinal()];
    }

    boolean isAtomic() {
        return this == FETCH_ADD || this == COMPARE_SWAP;
    }
}
