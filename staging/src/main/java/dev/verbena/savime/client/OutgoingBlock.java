package dev.verbena.savime.client;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import org.agrona.DirectBuffer;

/** A block to be written. Its owner fills the same one in for each block: nothing is allocated. */
final class OutgoingBlock {
    private final int slot;
    private final RemoteDescriptor target = new RemoteDescriptor();
    private long session;
    private long dataset;
    private long offset;
    private int number;
    private int length;
    private RegisteredRegion source;
    private long sourceOffset;
    private DirectBuffer window;
    private int windowOffset;

    /**
     * @param slot told when it is written
     */
    OutgoingBlock(int slot) {
        this.slot = slot;
    }

    /** Where in which dataset it is. */
    void to(long ofSession, long ofDataset, long at, int blockNo, int count) {
        session = ofSession;
        dataset = ofDataset;
        offset = at;
        number = blockNo;
        length = count;
    }

    /**
     * Its bytes, in two forms.
     *
     * @param region null where {@link ServerLink#register} gave null
     */
    void from(RegisteredRegion region, long regionOffset, DirectBuffer bytes, int bytesOffset) {
        source = region;
        sourceOffset = regionOffset;
        window = bytes;
        windowOffset = bytesOffset;
    }

    int slot() {
        return slot;
    }

    long session() {
        return session;
    }

    long dataset() {
        return dataset;
    }

    long offset() {
        return offset;
    }

    int number() {
        return number;
    }

    int length() {
        return length;
    }

    RegisteredRegion source() {
        return source;
    }

    long sourceOffset() {
        return sourceOffset;
    }

    DirectBuffer window() {
        return window;
    }

    int windowOffset() {
        return windowOffset;
    }

    /** The server's memory, as its grant says. */
    RemoteDescriptor target() {
        return target;
    }
}
