package dev.verbena.nessie.xdr;

import java.util.ArrayList;
import java.util.Objects;
import java.util.function.Supplier;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * An array of structs, unions or named arrays. The elements are objects of the list: made when they
 * are first needed, kept when the list gets shorter.
 */
public class XdrList<T extends XdrObject> extends XdrArray {
    private final Supplier<? extends T> factory;
    private final int elementMin;
    private final boolean isElementFixed;
    private final ArrayList<T> elements = new ArrayList<>();

    /**
     * A list of new elements, or an empty one.
     *
     * @param made makes an element
     * @param least bytes that an encoded element takes at least
     * @param isSame every element takes exactly so many
     * @param countMax most elements; of a fixed array, their number
     */
    public XdrList(
            Supplier<? extends T> made, int least, boolean isSame, boolean isFixed, int countMax) {
        super(isFixed, countMax);
        factory = Objects.requireNonNull(made, "made");
        elementMin = least;
        isElementFixed = isSame;
        reset();
    }

    /** An element, an object of this list. */
    public final T get(int index) {
        return element(check(index));
    }

    /** Appends an element with the value of a new one, which the caller changes. */
    public T add() {
        T element = element(grow());
        element.reset();
        return element;
    }

    @Override
    final T element(int index) {
        return elements.get(index);
    }

    @Override
    final void ensureCapacity(int capacity) {
        while (elements.size() < capacity) {
            elements.add(factory.get());
        }
    }

    @Override
    final void resetElements(int begin, int end) {
        for (int i = begin; i < end; i++) {
            element(i).reset();
        }
    }

    @Override
    protected final long xdrLength(int depth) {
        if (isElementFixed) {
            return headerLength() + (long) count() * elementMin;
        }
        long length = headerLength();
        for (int i = 0; i < count(); i++) {
            length += element(i).xdrLength(below(depth));
        }
        return length;
    }

    @Override
    protected final int xdrEncode(MutableDirectBuffer buffer, int index, int depth) {
        int at = putCount(buffer, index);
        for (int i = 0; i < count(); i++) {
            at = element(i).xdrEncode(buffer, at, below(depth));
        }
        return at;
    }

    @Override
    protected final int xdrDecode(DirectBuffer buffer, int index, int limit, int depth) {
        int at = takeCount(buffer, index, limit, elementMin);
        for (int i = 0; i < count(); i++) {
            at = element(i).xdrDecode(buffer, at, limit, below(depth));
        }
        return at;
    }
}
