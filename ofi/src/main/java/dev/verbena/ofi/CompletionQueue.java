package dev.verbena.ofi;

import dev.verbena.ofi.bindings.fabric;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A queue of completions: {@code struct fid_cq}, format {@code FI_CQ_FORMAT_MSG}. One thread at a
 * time. Allocates nothing in {@link #poll}.
 */
public final class CompletionQueue extends OfiObject {
    private static final int BATCH = 32;
    private static final int LINE = 64;

    private final UnsafeBuffer entries =
            new UnsafeBuffer(BufferUtil.allocateDirectAligned(BATCH * fabric.VFI_CQ_BYTES, LINE));
    private final UnsafeBuffer error =
            new UnsafeBuffer(BufferUtil.allocateDirectAligned(fabric.VFI_ERROR_BYTES, LINE));

    CompletionQueue(Domain domain, int size, boolean hasDescriptor) {
        super(
                "fi_cq_open",
                "completion queue of " + size,
                domain,
                fabric.vfi_cq(domain.handle(), size, hasDescriptor ? 1 : 0));
    }

    private Endpoint endpoint;

    /** Completions are of this endpoint from now on. */
    void bind(Endpoint of) {
        endpoint = of;
    }

    /** Refuses a second endpoint. */
    void requireFree() {
        if (endpoint != null && !endpoint.isClosed()) {
            throw new IllegalStateException(this + " has an endpoint already: " + endpoint);
        }
    }

    private void hand(Handler handler, long address, long length, int code) {
        long context = Endpoint.contextOf(address);
        endpoint.ended(context);
        handler.onCompletion(context, length, code);
    }

    /** Gets completions. */
    public interface Handler {
        /**
         * An operation has ended.
         *
         * @param context that it was given
         * @param length bytes of a received message
         * @param code 0, or of {@code rdma/fi_errno.h}
         */
        void onCompletion(long context, long length, int code);
    }

    /**
     * Hands on what has ended: {@code fi_cq_read}, {@code fi_cq_readerr}.
     *
     * @return how many
     */
    public int poll(Handler handler) {
        int count = fabric.vfi_cq_read(handle(), entries.addressOffset(), BATCH);
        if (count == -fabric.VFI_EAVAIL) {
            return pollError(handler);
        }
        check("fi_cq_read", count, "");
        for (int i = 0; i < count; i++) {
            int at = i * fabric.VFI_CQ_BYTES;
            hand(
                    handler,
                    entries.getLong(at + fabric.VFI_CQ_CONTEXT),
                    entries.getLong(at + fabric.VFI_CQ_LENGTH),
                    0);
        }
        return count;
    }

    private int pollError(Handler handler) {
        int count = fabric.vfi_cq_error(handle(), error.addressOffset());
        check("fi_cq_readerr", count, "");
        if (count > 0) {
            hand(
                    handler,
                    error.getLong(fabric.VFI_CQ_CONTEXT),
                    error.getLong(fabric.VFI_CQ_LENGTH),
                    (int) error.getLong(fabric.VFI_ERROR_CODE));
        }
        return count;
    }
}
