package dev.verbena.nessie.xdr;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A struct whose last field points to the next one: a list, which is walked in a loop. The methods
 * are for generated classes.
 */
public abstract class XdrNode<T extends XdrNode<T>> extends XdrObject {
    /** For classes that the compiler generates. */
    protected XdrNode() {}

    /** The last field. */
    protected abstract XdrOptional<T> xdrNext();

    /** Most nodes of a list. */
    protected abstract int xdrNodesMax();

    /** As {@link #xdrLength}, without the last field. */
    protected abstract long xdrNodeLength(int depth);

    /** As {@link #xdrEncode}, without the last field. */
    protected abstract int xdrEncodeNode(MutableDirectBuffer buffer, int index, int depth);

    /** As {@link #xdrDecode}, without the last field. */
    protected abstract int xdrDecodeNode(DirectBuffer buffer, int index, int limit, int depth);

    private void requireCount(int count) {
        if (count > xdrNodesMax()) {
            throw new XdrException("a linked list has more than " + xdrNodesMax() + " nodes");
        }
    }

    @Override
    protected final long xdrLength(int depth) {
        long length = 0;
        int count = 0;
        for (XdrNode<?> node = this; node != null; node = node.xdrNext().orNull()) {
            requireCount(++count);
            length += UNIT + node.xdrNodeLength(depth);
        }
        return length;
    }

    @Override
    protected final int xdrEncode(MutableDirectBuffer buffer, int index, int depth) {
        int at = index;
        for (XdrNode<?> node = this; node != null; node = node.xdrNext().orNull()) {
            at = node.xdrNext().putCount(buffer, node.xdrEncodeNode(buffer, at, depth));
        }
        return at;
    }

    @Override
    protected final int xdrDecode(DirectBuffer buffer, int index, int limit, int depth) {
        int at = index;
        int count = 0;
        for (XdrNode<?> node = this; node != null; node = node.xdrNext().orNull()) {
            requireCount(++count);
            at = node.xdrDecodeNode(buffer, at, limit, depth);
            // Whether there is a next one; that stays as it was left.
            at = node.xdrNext().takeCount(buffer, at, limit, 0);
        }
        return at;
    }
}
