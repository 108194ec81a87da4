package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Reads the 64 bits of an event (specification, section 4.1):
 *
 * <pre>
 * 63       overrun: events before this one were lost
 * 59..62   status, 0: good
 * 56..58   source: 1 request answered (global), 4 BTE (local), 5 written by a peer
 * 54..55   type: 0 post, 1 short message
 * 32..53   number of the transaction at its queue
 * 0..31    instance or event data; for a message its number
 * 0..55    data, as one field
 * </pre>
 *
 * <p>With another library than the built-in one each field is asked for there, which costs a call.
 * No allocation but for texts.
 */
public final class CompletionEvent {
    /** Source: the target has answered. */
    public static final int SOURCE_REQUEST = 1;

    /** Source: the block transfer engine has read the bytes. */
    public static final int SOURCE_BTE = 4;

    /** Source: a peer wrote the event. */
    public static final int SOURCE_REMOTE = 5;

    /** Type: a post. */
    public static final int TYPE_POST = 0;

    /** Type: a short message. */
    public static final int TYPE_SMSG = 1;

    private static final long DATA_MASK = 0x00ff_ffff_ffff_ffffL;
    private static final int SOURCE_SHIFT = 56;
    private static final int SOURCE_MASK = 7;
    private static final int STATUS_SHIFT = 59;
    private static final int STATUS_MASK = 15;
    private static final int TYPE_SHIFT = 54;
    private static final int TYPE_MASK = 3;
    private static final int TEXT_LENGTH = 256;

    private static final long INSTANCE_MASK = 0xffff_ffffL;
    private static final int OVERRUN_SHIFT = 63;

    private CompletionEvent() {}

    private static long field(long event, int shift, long mask, int field) {
        return UgniNative.IS_BUILT_IN ? event >>> shift & mask : ugni.vgn_cq_field(event, field);
    }

    /** The lower 56 bits: what a peer's {@code CQWRITE} or remote event says. */
    public static long data(long event) {
        return field(event, 0, DATA_MASK, ugni.VGN_FIELD_DATA);
    }

    /** One of {@code SOURCE_...}. */
    public static int source(long event) {
        return (int) field(event, SOURCE_SHIFT, SOURCE_MASK, ugni.VGN_FIELD_SOURCE);
    }

    /** 0: good. */
    public static int status(long event) {
        return (int) field(event, STATUS_SHIFT, STATUS_MASK, ugni.VGN_FIELD_STATUS);
    }

    /** One of {@code TYPE_...}. */
    public static int type(long event) {
        return (int) field(event, TYPE_SHIFT, TYPE_MASK, ugni.VGN_FIELD_TYPE);
    }

    /** Instance of the peer, or what {@link Endpoint#eventData} set in its place. */
    public static int instance(long event) {
        return (int) field(event, 0, INSTANCE_MASK, ugni.VGN_FIELD_INST_ID);
    }

    /** Number of a short message that was sent. */
    public static int messageId(long event) {
        return (int) field(event, 0, INSTANCE_MASK, ugni.VGN_FIELD_MSG_ID);
    }

    /** Whether events before this one were lost. */
    public static boolean isOverrun(long event) {
        return field(event, OVERRUN_SHIFT, 1, ugni.VGN_FIELD_OVERRUN) != 0;
    }

    /** Source and status by name. C: {@code GNI_CqErrorStr}. Allocates. */
    public static String errorText(long event) {
        UgniNative.open();
        UnsafeBuffer text = Nic.aligned(TEXT_LENGTH);
        UgniNative.check(
                "GNI_CqErrorStr",
                ugni.vgn_cq_error(event, text.addressOffset(), TEXT_LENGTH),
                "event 0x" + Long.toHexString(event));
        int length = 0;
        while (length < TEXT_LENGTH && text.getByte(length) != 0) {
            length++;
        }
        return text.getStringWithoutLengthAscii(0, length);
    }

    /**
     * Whether a failed transaction may succeed when it is posted again. C: {@code
     * GNI_CqErrorRecoverable}.
     *
     * @throws UgniException INVALID_STATE for an event that is not of a failure
     */
    public static boolean isRecoverable(long event) {
        return UgniNative.check(
                        "GNI_CqErrorRecoverable",
                        ugni.vgn_cq_recoverable(event),
                        "event 0x" + Long.toHexString(event))
                != 0;
    }
}
