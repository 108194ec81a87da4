package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Tells of the errors of a NIC handle, beside the failed events that its queues have. A full
 * subscription loses what comes; {@link #serial} shows it by a gap. C: {@code gni_err_handle_t}
 * (specification, section 5.11).
 *
 * <p>No allocation in {@link #next}. Threads: the domain's.
 */
public final class ErrorSubscription extends UgniObject {
    /** Category: a transaction failed. */
    public static final int TRANSACTION = ugni.GNI_ERRMASK_TRANSACTION;

    /** All categories. */
    public static final int ALL = 0xff;

    private final long handle;
    private final UnsafeBuffer event = Nic.aligned(ugni.VGN_ERROR_BYTES);

    ErrorSubscription(Nic owner, long handle) {
        super(owner);
        this.handle = handle;
    }

    /**
     * Takes the oldest error; the accessors then tell of it. C: {@code GNI_GetErrorEvent}.
     *
     * @return false if there is none
     */
    public boolean next() {
        checkOpen();
        int result = ugni.vgn_errors_get(handle, event.addressOffset());
        if (result == -UgniCode.NOT_DONE) {
            return false;
        }
        UgniNative.check("GNI_GetErrorEvent", result, this);
        return true;
    }

    /** The NIC's code: of a transaction its {@link CompletionEvent#status}. */
    public int code() {
        return event.getShort(ugni.VGN_ERROR_CODE) & 0xffff;
    }

    /** {@link #TRANSACTION}, or another one of {@code GNI_ERRMASK_...}. */
    public int category() {
        return event.getByte(ugni.VGN_ERROR_CATEGORY) & 0xff;
    }

    /** Protection tag of the domain that it happened in. */
    public int ptag() {
        return event.getByte(ugni.VGN_ERROR_PTAG) & 0xff;
    }

    /** Counts errors, from 1. */
    public int serial() {
        return event.getInt(ugni.VGN_ERROR_SERIAL);
    }

    /** When it happened, nanoseconds of the host's monotonic clock. */
    public long timestampNs() {
        return event.getLong(ugni.VGN_ERROR_TIME);
    }

    /**
     * Which categories are reported from now on. C: {@code GNI_SetErrorMask}.
     *
     * @return the mask from before
     */
    public int mask(int mask) {
        checkOpen();
        return (int) UgniNative.check("GNI_SetErrorMask", ugni.vgn_errors_mask(handle, mask), this);
    }

    /** C: {@code GNI_ReleaseErrors}. */
    @Override
    void destroy() {
        UgniNative.check("GNI_ReleaseErrors", ugni.vgn_errors_release(handle), this);
    }

    @Override
    public String toString() {
        return "error subscription 0x" + Long.toHexString(handle);
    }
}
