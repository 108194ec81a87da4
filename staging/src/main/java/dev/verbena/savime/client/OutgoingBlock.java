package dev.verbena.savime.client;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import org.agrona.DirectBuffer;

/**
 * A block, or a piece of one, to be written. Its owner fills the same one in for each block:
 * nothing is allocated.
 */
final class OutgoingBlock {
    final int tag;

    /** The server's memory, as its grant says. */
    final RemoteDescriptor target = new RemoteDescriptor();

    long session;
    long dataset;
    long offset;
    int number;

    /** Within the granted block. */
    int targetOffset;

    int length;
    RegisteredRegion source;
    long sourceOffset;
    DirectBuffer window;
    int windowOffset;

    /**
     * @param tag told when it is written
     */
    OutgoingBlock(int tag) {
        this.tag = tag;
    }

    /**
     * Where in which dataset it is.
     *
     * @param at of the block in the dataset
     * @param within of the piece in the block
     * @param count bytes of the piece
     */
    void to(long ofSession, long ofDataset, long at, int blockNo, int within, int count) {
        session = ofSession;
        dataset = ofDataset;
        offset = at;
        number = blockNo;
        targetOffset = within;
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
}
