package dev.verbena.nessie.xdr;

import java.util.function.Supplier;

/**
 * An optional value, {@code type *name}: absent at first. It is encoded as a list of at most one
 * element (RFC 4506, section 4.19). The value is an object of this one: made when it is first
 * needed, kept when it becomes absent.
 */
public class XdrOptional<T extends XdrObject> extends XdrList<T> {
    /**
     * An absent value.
     *
     * @param factory makes a value
     */
    public XdrOptional(Supplier<? extends T> factory) {
        super(factory, 0, false, false, 1);
    }

    /** Is there a value? */
    public final boolean isPresent() {
        return count() == 1;
    }

    /**
     * The value, an object of this one.
     *
     * @throws IllegalStateException if it is absent
     */
    public final T get() {
        if (!isPresent()) {
            throw new IllegalStateException("the value is absent");
        }
        return element(0);
    }

    /** Makes the value present, with the value of a new one, which the caller changes. */
    @Override
    public final T add() {
        reset();
        return super.add();
    }

    final T orNull() {
        return isPresent() ? element(0) : null;
    }

    @Override
    protected final void xdrDescribe(StringBuilder text) {
        if (isPresent()) {
            element(0).xdrDescribe(text);
        } else {
            text.append("absent");
        }
    }
}
