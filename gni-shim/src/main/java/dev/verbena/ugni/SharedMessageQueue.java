package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;
import java.lang.ref.Reference;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A message queue that all instances of a node share, so that connections grow with the number of
 * nodes and not of processes. Messages of up to 128 bytes; none within a node. C: {@code
 * gni_msgq_handle_t} (specification, section 5.10).
 *
 * <p>For each other node one instance asks for {@link #attributes}, sends them there, and then
 * hands what it got to {@link #connect}. Threads: the domain's. {@link #send} and {@link #next}
 * allocate nothing.
 */
public final class SharedMessageQueue extends UgniObject {
    /** Bytes of {@link #attributes} at most. */
    public static final int ATTRIBUTES_LENGTH = ugni.VGN_MSGQ_PEER_BYTES;

    /** Bytes of a message at most. */
    public static final int MESSAGE_LENGTH_MAX = ugni.GNI_MSGQ_MSG_SZ_MAX;

    private static final int NUMBERS = 7;
    private static final int SLOT_LENGTH = 256;
    private static final int TAG_MAX = 255;

    private final long handle;
    private final CompletionQueue source;
    private final int lengthMax;
    private final UnsafeBuffer slot;
    private final UnsafeBuffer message;

    private SharedMessageQueue(
            Nic owner, long handle, CompletionQueue source, int lengthMax, UnsafeBuffer slot) {
        super(owner);
        this.handle = handle;
        this.source = source;
        this.lengthMax = lengthMax;
        this.slot = slot;
        this.message = new UnsafeBuffer(slot, ugni.VGN_MESSAGE_BYTES, lengthMax);
        if (source != null) {
            source.use(1);
        }
    }

    static SharedMessageQueue of(
            Nic owner, CompletionQueue source, int lengthMax, int slots, int nodes, int instances) {
        if (lengthMax < 1 || lengthMax > MESSAGE_LENGTH_MAX) {
            throw new IllegalArgumentException(
                    "message length " + lengthMax + " is outside 1 to " + MESSAGE_LENGTH_MAX);
        }
        UnsafeBuffer numbers = Nic.aligned(NUMBERS * Integer.BYTES);
        int[] values = {
            lengthMax,
            slots,
            slots * MESSAGE_LENGTH_MAX,
            nodes,
            instances,
            ugni.GNI_MSGQ_MODE_BLOCKING,
            slots
        };
        for (int i = 0; i < NUMBERS; i++) {
            numbers.putInt(i * Integer.BYTES, values[i]);
        }
        UnsafeBuffer slot = Nic.aligned(SLOT_LENGTH);
        long made =
                ugni.vgn_msgq_init(
                        owner.handle(),
                        owner.handleOf(source),
                        numbers.addressOffset(),
                        slot.addressOffset());
        Reference.reachabilityFence(numbers);
        return new SharedMessageQueue(
                owner, UgniNative.check("GNI_MsgqInit", made, owner), source, lengthMax, slot);
    }

    /**
     * What another node needs to connect. Waits until all instances of this node have the queue. C:
     * {@code GNI_MsgqGetConnAttrs}. Allocates.
     *
     * @param address the other node
     * @return how many bytes were written, at most {@link #ATTRIBUTES_LENGTH}
     */
    public int attributes(int address, MutableDirectBuffer to, int offset) {
        checkOpen();
        UnsafeBuffer bytes = Nic.aligned(ATTRIBUTES_LENGTH);
        int length =
                (int)
                        UgniNative.check(
                                "GNI_MsgqGetConnAttrs",
                                ugni.vgn_msgq_attributes(handle, address, bytes.addressOffset()),
                                this);
        to.putBytes(offset, bytes, 0, length);
        return length;
    }

    /** Connects with what another node has sent. C: {@code GNI_MsgqConnect}. Allocates. */
    public void connect(int address, DirectBuffer attributes, int offset, int length) {
        checkOpen();
        if (length < 0 || length > ATTRIBUTES_LENGTH) {
            throw new IllegalArgumentException(
                    "attributes of " + length + " bytes are longer than " + ATTRIBUTES_LENGTH);
        }
        UnsafeBuffer bytes = Nic.aligned(ATTRIBUTES_LENGTH);
        bytes.putBytes(0, attributes, offset, length);
        UgniNative.check(
                "GNI_MsgqConnect",
                ugni.vgn_msgq_connect(handle, address, bytes.addressOffset()),
                this);
        Reference.reachabilityFence(bytes);
    }

    /** Ends a connection. C: {@code GNI_MsgqConnRelease}. */
    public void disconnect(int address) {
        checkOpen();
        UgniNative.check("GNI_MsgqConnRelease", ugni.vgn_msgq_disconnect(handle, address), this);
    }

    /**
     * Sends to the instance that an endpoint is bound to. Copies. C: {@code GNI_MsgqSend}.
     *
     * @param messageId comes with the event at the queue's or endpoint's source queue
     * @param tag 0 to 255
     * @return 0; negated INVALID_PARAM for another tag, NOT_DONE without a credit, NO_MATCH without
     *     a connection, INVALID_STATE before it is active, SIZE_ERROR if it is too long
     */
    public int send(
            Endpoint endpoint, DirectBuffer bytes, int offset, int length, int messageId, int tag) {
        checkOpen();
        endpoint.checkOpen();
        if (tag < 0 || tag > TAG_MAX) {
            return -UgniCode.INVALID_PARAM;
        }
        if (length < 0 || length > lengthMax) {
            return -UgniCode.SIZE_ERROR;
        }
        int result =
                ugni.vgn_msgq_send(
                        handle,
                        endpoint.handle(),
                        owner.readable(bytes, offset, length, 0),
                        length,
                        0,
                        0,
                        messageId,
                        tag);
        Reference.reachabilityFence(bytes);
        return result;
    }

    /**
     * Takes a message, and sleeps until there is one. C: {@code GNI_MsgqProgress}.
     *
     * @param timeoutMs milliseconds, 0: does not sleep
     * @return false if the time was over
     */
    public boolean next(int timeoutMs) {
        checkOpen();
        slot.putInt(ugni.VGN_MESSAGE_COUNT, 0);
        int result = ugni.vgn_msgq_progress(handle, timeoutMs);
        if (result != -UgniCode.NOT_DONE && result != -UgniCode.TIMEOUT) {
            UgniNative.check("GNI_MsgqProgress", result, this);
        }
        return slot.getInt(ugni.VGN_MESSAGE_COUNT) != 0;
    }

    /** The message that was taken last; overwritten by {@link #next}. The same object always. */
    public DirectBuffer message() {
        return message;
    }

    /** Its sender's instance. */
    public int fromInstance() {
        return slot.getInt(ugni.VGN_MESSAGE_FROM);
    }

    /** Its sender's node. */
    public int fromAddress() {
        return slot.getInt(ugni.VGN_MESSAGE_NODE);
    }

    /** Its tag. */
    public int tag() {
        return slot.getInt(ugni.VGN_MESSAGE_TAG);
    }

    /** C: {@code GNI_MsgqRelease}. */
    @Override
    void destroy() {
        UgniNative.check("GNI_MsgqRelease", ugni.vgn_msgq_release(handle), this);
        if (source != null) {
            source.use(-1);
        }
    }

    @Override
    public String toString() {
        return "shared message queue 0x" + Long.toHexString(handle);
    }
}
