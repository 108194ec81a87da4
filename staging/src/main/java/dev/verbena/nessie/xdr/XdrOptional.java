package dev.verbena.nessie.xdr;

import java.nio.ByteOrder;
import java.util.Objects;
import java.util.function.Supplier;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * An optional value, {@code type *name}: absent at first. The value is an object of this one: made
 * when it is first needed, kept when it becomes absent.
 */
public class XdrOptional<T extends XdrObject> extends XdrObject {
    private final Supplier<? extends T> factory;
    private T value;
    private boolean isPresent;

    /**
     * An absent value.
     *
     * @param factory makes a value
     */
    public XdrOptional(Supplier<? extends T> factory) {
        this.factory = Objects.requireNonNull(factory, "factory");
    }

    /** Is there a value? */
    public final boolean isPresent() {
        return isPresent;
    }

    /**
     * The value, an object of this one.
     *
     * @throws IllegalStateException if it is absent
     */
    public final T get() {
        if (!isPresent) {
            throw new IllegalStateException("the value is absent");
        }
        return value;
    }

    /** Makes the value present, with the value of a new one, which the caller changes. */
    public final T add() {
        makeValue().reset();
        isPresent = true;
        return value;
    }

    @Override
    public final void reset() {
        isPresent = false;
    }

    final T orNull() {
        return isPresent ? value : null;
    }

    /** Decodes whether there is a value; one that there is stays as it was left. */
    final int takePresence(DirectBuffer buffer, int index, int limit) {
        need(UNIT, index, limit);
        isPresent = takeBoolean(buffer, index) && makeValue() != null;
        return index + UNIT;
    }

    private T makeValue() {
        if (value == null) {
            value = factory.get();
        }
        return value;
    }

    @Override
    protected final long xdrLength(int depth) {
        return UNIT + (isPresent ? value.xdrLength(below(depth)) : 0);
    }

    @Override
    protected final int xdrEncode(MutableDirectBuffer buffer, int index, int depth) {
        buffer.putInt(index, isPresent ? 1 : 0, ByteOrder.BIG_ENDIAN);
        return isPresent ? value.xdrEncode(buffer, index + UNIT, below(depth)) : index + UNIT;
    }

    @Override
    protected final int xdrDecode(DirectBuffer buffer, int index, int limit, int depth) {
        int at = takePresence(buffer, index, limit);
        return isPresent ? value.xdrDecode(buffer, at, limit, below(depth)) : at;
    }

    @Override
    protected final void xdrDescribe(StringBuilder text) {
        if (isPresent) {
            value.xdrDescribe(text);
        } else {
            text.append("absent");
        }
    }
}
