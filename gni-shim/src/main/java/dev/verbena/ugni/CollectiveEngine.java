package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;
import java.lang.ref.Reference;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A channel of the collective engine: a place in a tree that folds the operands of up to 32
 * children and hands the fold to its parent, or, as the root, back down. Aries only. C: {@code
 * gni_ce_handle_t} (specification, section 5.13).
 *
 * <p>Endpoints become children and parents by {@link Endpoint#collective}. A leaf joins a reduction
 * by {@link Endpoint#postFma} of type {@link PostDescriptorFlyweight#CE}, with {@link
 * PostDescriptorFlyweight#GLOBAL_EVENT} and 24 bytes for the result at a multiple of 32. Threads:
 * the domain's.
 */
public final class CollectiveEngine extends UgniObject {
    /** Kind of child or parent: a process that gives an operand. */
    public static final int PROCESS = ugni.GNI_CE_CHILD_PE;

    /** Kind of child or parent: a channel. */
    public static final int CHANNEL = ugni.GNI_CE_CHILD_VCE;

    /** Modes that are always right: round to nearest, an event at completion, adaptive routing. */
    public static final int MODES =
            ugni.GNI_CE_MODE_ROUND_NEAR | ugni.GNI_CE_MODE_CQE_ONCOMP | ugni.GNI_CE_MODE_RC_ADAPT;

    /** Bytes of a result: control, then two values of 8 bytes. */
    public static final int RESULT_LENGTH = ugni.VGN_CE_RESULT_BYTES;

    private final long handle;
    private CompletionQueue results;
    private Endpoint[] users = {};

    CollectiveEngine(Nic owner, long handle) {
        super(owner);
        this.handle = handle;
    }

    /** Number that endpoints name it by. C: {@code GNI_CeGetId}. */
    public int id() {
        checkOpen();
        return (int) UgniNative.check("GNI_CeGetId", ugni.vgn_ce_id(handle), this);
    }

    /**
     * Puts it into the tree; the endpoints cannot be closed before it. C: {@code GNI_CeConfigure}.
     *
     * @param children in the order of their numbers
     * @param parent null: the root
     * @param results gets an event for each result; or null
     * @param modes one rounding, one event mode and one routing, such as {@link #MODES}
     */
    public void configure(
            Endpoint[] children, Endpoint parent, CompletionQueue results, int modes) {
        checkOpen();
        if (users.length > 0) {
            throw new IllegalStateException("configured already: " + this);
        }
        UnsafeBuffer handles = Nic.aligned(Math.max(1, children.length) * Long.BYTES);
        Endpoint[] all = new Endpoint[children.length + (parent == null ? 0 : 1)];
        for (int i = 0; i < children.length; i++) {
            all[i] = own(children[i]);
            handles.putLong(i * Long.BYTES, children[i].handle());
        }
        if (parent != null) {
            all[children.length] = own(parent);
        }
        UgniNative.check(
                "GNI_CeConfigure",
                ugni.vgn_ce_configure(
                        handle,
                        handles.addressOffset(),
                        children.length,
                        parent == null ? 0 : parent.handle(),
                        owner.handleOf(results),
                        modes),
                this);
        Reference.reachabilityFence(handles);
        users = all;
        this.results = results;
        useAll(1);
    }

    private Endpoint own(Endpoint endpoint) {
        endpoint.checkOpen();
        if (endpoint.owner != owner) {
            throw new IllegalArgumentException(endpoint + " belongs to another NIC handle");
        }
        return endpoint;
    }

    private void useAll(int by) {
        for (Endpoint endpoint : users) {
            endpoint.use(by);
        }
        if (results != null) {
            results.use(by);
        }
    }

    /**
     * Whether a result is there, without its event. C: {@code GNI_CeCheckResult}.
     *
     * @param offset of the result in the memory
     * @return 0; negated NOT_DONE; negated TRANSACTION_ERROR if the reduction failed, or a floating
     *     point exception is reported in the result
     */
    public static int check(UgniMemory memory, long offset) {
        if (memory.range(offset) % Long.BYTES != 0 || offset > memory.length() - RESULT_LENGTH) {
            throw new IndexOutOfBoundsException(
                    "no result of 24 bytes at offset " + offset + " of " + memory);
        }
        return ugni.vgn_ce_check(memory.range(offset));
    }

    /** C: {@code GNI_CeDestroy}. */
    @Override
    void destroy() {
        UgniNative.check("GNI_CeDestroy", ugni.vgn_ce_destroy(handle), this);
        useAll(-1);
    }

    @Override
    public String toString() {
        return "collective engine 0x" + Long.toHexString(handle);
    }
}
