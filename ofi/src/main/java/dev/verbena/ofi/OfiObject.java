package dev.verbena.ofi;

import dev.verbena.ofi.bindings.fabric;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What all objects of libfabric have in common: a parent, children, and one end. Thread-safe, but
 * closing while another thread uses the object is a mistake of the caller's.
 */
public abstract class OfiObject implements AutoCloseable {
    private final String name;
    private final OfiObject parent;
    private final AtomicInteger children = new AtomicInteger();
    private volatile long handle;

    /** One that was made by a call that answered this. */
    OfiObject(String call, String name, OfiObject parent, long answer) {
        this.name = name;
        this.parent = parent;
        this.handle = check(call, answer, ": " + name);
        if (parent != null) {
            parent.children.incrementAndGet();
        }
    }

    /** The answer of a call that must succeed. */
    static long check(String call, long answer, String about) {
        if (answer < 0) {
            throw new OfiException(call, (int) -answer, about);
        }
        return answer;
    }

    /**
     * Address of the C object, for native code.
     *
     * @throws IllegalStateException after close
     */
    public final long handle() {
        long open = handle;
        if (open == 0) {
            throw new IllegalStateException("closed: " + name);
        }
        return open;
    }

    /** Whether it was closed. */
    public final boolean isClosed() {
        return handle == 0;
    }

    /**
     * {@code fi_close}. Idempotent.
     *
     * @throws IllegalStateException while objects made from it are open
     * @throws OfiException if libfabric refuses; it stays open then
     */
    @Override
    public void close() {
        synchronized (this) {
            if (handle == 0) {
                return;
            }
            if (children.get() != 0) {
                throw new IllegalStateException(
                        name + " has " + children.get() + " open objects; close them first");
            }
            check("fi_close", fabric.vfi_close(handle), ": " + name);
            handle = 0;
        }
        if (parent != null) {
            parent.children.decrementAndGet();
        }
    }

    @Override
    public final String toString() {
        return name;
    }
}
