package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;
import java.lang.ref.Reference;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A channel for short messages with one peer: each side writes into the other's mailbox and is held
 * back by credits. Messages arrive in order, whole, and once. C: {@code GNI_Smsg...}
 * (specification, section on short messages).
 *
 * <p>A sender copies, so that its bytes are its own again when {@link #send} returns; an event at
 * its source queue tells how it went. A receiver looks with {@link #next}, reads {@link #message}
 * in place, and says {@link #release}, which gives the credit back. uGNI does not tell a message's
 * length: put it into the header.
 *
 * <p>No allocation. Made by {@link Endpoint#mailbox}, and ends with its endpoint's binding.
 * Threads: the domain's.
 */
public final class ShortMessageMailbox {
    /** Tag that {@link #next(int)} takes for any. */
    public static final int ANY_TAG = ugni.GNI_SMSG_ANY_TAG;

    /** Answer of {@link #next}: none is there. */
    public static final int NONE = 0;

    /** Answer of {@link #next}: {@link #message} is one. */
    public static final int MESSAGE = 1;

    private final Endpoint endpoint;
    private final MemoryRegistration registration;
    private final int lengthMax;
    private final UnsafeBuffer words = Nic.aligned(Long.BYTES);
    private final long wordsAddress = words.addressOffset();
    private final UnsafeBuffer message = new UnsafeBuffer(0L, 0);
    private int tag;
    private boolean isEnded;

    ShortMessageMailbox(Endpoint endpoint, MemoryRegistration registration, int lengthMax) {
        this.endpoint = endpoint;
        this.registration = registration;
        this.lengthMax = lengthMax;
        registration.use(1);
    }

    /** As below, without data and with tag 0. */
    public int send(DirectBuffer header, int offset, int length, int messageId) {
        return send(header, offset, length, header, offset, 0, messageId, 0);
    }

    /**
     * Sends header and data one behind the other. C: {@code GNI_SmsgSendWTag}.
     *
     * @param messageId comes with the event at the source queue
     * @param tag 0 to 254
     * @return 0; negated NOT_DONE without a credit, or room in the source queue: try again later;
     *     ERROR_RESOURCE if it is too long; INVALID_STATE if the mailbox holds nonsense;
     *     TRANSACTION_ERROR, of an endpoint without source queue, if the peer cannot be reached
     */
    public int send(
            DirectBuffer header,
            int headerOffset,
            int headerLength,
            DirectBuffer data,
            int dataOffset,
            int dataLength,
            int messageId,
            int tag) {
        checkOpen();
        if (headerLength < 0 || dataLength < 0 || tag < 0 || tag >= ANY_TAG) {
            return -UgniCode.INVALID_PARAM;
        }
        if (headerLength > lengthMax || dataLength > lengthMax - headerLength) {
            return -UgniCode.ERROR_RESOURCE;
        }
        Nic nic = endpoint.owner;
        int result =
                ugni.vgn_smsg_send(
                        endpoint.handle(),
                        nic.readable(header, headerOffset, headerLength, 0),
                        headerLength,
                        nic.readable(data, dataOffset, dataLength, headerLength),
                        dataLength,
                        messageId,
                        tag);
        Reference.reachabilityFence(header);
        Reference.reachabilityFence(data);
        return result;
    }

    /**
     * Looks for the next message, whatever its tag.
     *
     * @return {@link #MESSAGE}, {@link #NONE}, or negated INVALID_STATE if the mailbox holds
     *     nonsense
     */
    public int next() {
        return next(ANY_TAG);
    }

    /**
     * Looks for the next message; the same one again until {@link #release}. C: {@code
     * GNI_SmsgGetNextWTag}.
     *
     * @param wanted a tag, or {@link #ANY_TAG}
     * @return {@link #MESSAGE}, {@link #NONE}, negated NO_MATCH if the next one has another tag, or
     *     negated INVALID_STATE if the mailbox holds nonsense
     */
    public int next(int wanted) {
        checkOpen();
        int result = ugni.vgn_smsg_next(endpoint.handle(), wanted, wordsAddress);
        if (result == -UgniCode.NOT_DONE) {
            return NONE;
        }
        if (result < 0) {
            return result;
        }
        tag = result;
        message.wrap(words.getLong(0), lengthMax);
        return MESSAGE;
    }

    /**
     * The message in place, as long as the longest one, of which the sender wrote the first bytes;
     * empty before {@link #next} and after {@link #release}. The same object always.
     */
    public DirectBuffer message() {
        return message;
    }

    /** Tag of the message. */
    public int tag() {
        return tag;
    }

    /**
     * Gives the message's place back to the sender. C: {@code GNI_SmsgRelease}.
     *
     * @return 0, or negated NOT_DONE if {@link #next} has shown none
     */
    public int release() {
        checkOpen();
        message.wrap(0L, 0);
        return ugni.vgn_smsg_release(endpoint.handle());
    }

    /** True after the endpoint was unbound or closed. */
    public boolean isEnded() {
        return isEnded;
    }

    private void checkOpen() {
        endpoint.checkOpen();
        if (isEnded) {
            throw new IllegalStateException("ended: " + this);
        }
    }

    void end() {
        isEnded = true;
        message.wrap(0L, 0);
        registration.use(-1);
    }

    @Override
    public String toString() {
        return "mailbox of " + endpoint;
    }
}
