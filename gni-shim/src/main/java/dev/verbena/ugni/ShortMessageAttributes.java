package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Where a mailbox lies, and how large it is: each side sends its own to the other, by a datagram
 * for instance, before {@link Endpoint#mailbox}. C: {@code gni_smsg_attr_t}, 56 bytes, native
 * order.
 */
public final class ShortMessageAttributes {
    /** Bytes of {@link #getBytes}. */
    public static final int LENGTH = ugni.VGN_SMSG_BYTES;

    /** Bytes of a message at most, header and data. */
    public static final int MESSAGE_LENGTH_MAX = ugni.GNI_SMSG_MAX_SIZE;

    private static final int CREDITS_MAX = 0xffff;

    private final UnsafeBuffer bytes = Nic.aligned(LENGTH);
    private MemoryRegistration registration;

    /** Empty: of a peer, to be filled by {@link #putBytes}. */
    public ShortMessageAttributes() {
        bytes.putInt(ugni.VGN_SMSG_TYPE, ugni.GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
    }

    /**
     * Own ones, before it is known where: for {@link #sizeNeeded}.
     *
     * @param credits messages under way, 1 to 65,535
     * @param messageLengthMax bytes of header and data, 1 to {@link #MESSAGE_LENGTH_MAX}
     */
    public ShortMessageAttributes(int credits, int messageLengthMax) {
        this();
        if (credits < 1 || credits > CREDITS_MAX) {
            throw new IllegalArgumentException("credits " + credits + " is outside 1 to 65535");
        }
        if (messageLengthMax < 1 || messageLengthMax > MESSAGE_LENGTH_MAX) {
            throw new IllegalArgumentException(
                    "message length %s is outside 1 to %s"
                            .formatted(messageLengthMax, MESSAGE_LENGTH_MAX));
        }
        bytes.putShort(ugni.VGN_SMSG_CREDITS, (short) credits);
        bytes.putInt(ugni.VGN_SMSG_MAX, messageLengthMax);
    }

    /** Bytes that the mailbox takes. C: {@code GNI_SmsgBufferSizeNeeded}. */
    public int sizeNeeded() {
        return Math.toIntExact(
                UgniNative.check(
                        "GNI_SmsgBufferSizeNeeded",
                        ugni.vgn_smsg_size(bytes.addressOffset()),
                        this));
    }

    /**
     * Where the mailbox lies, {@link #sizeNeeded} bytes that are zero; the registration's
     * destination queue gets an event for each message.
     *
     * @param offset from the registration's first byte, a multiple of 8
     * @throws IndexOutOfBoundsException if it does not fit
     * @throws IllegalArgumentException for a registration of several regions, or a read-only one
     */
    public ShortMessageAttributes local(MemoryRegistration registration, int offset) {
        if (registration.isSegmented()) {
            throw new IllegalArgumentException("a mailbox lies in one piece of memory");
        }
        if (registration.isReadOnlyHere) {
            throw new IllegalArgumentException("a mailbox is written from both sides");
        }
        int size = sizeNeeded();
        registration.range(offset, size);
        bytes.putLong(ugni.VGN_SMSG_BUFFER, registration.address());
        bytes.putInt(ugni.VGN_SMSG_SIZE, size);
        bytes.putInt(ugni.VGN_SMSG_OFFSET, offset);
        registration.getHandle(bytes, ugni.VGN_SMSG_HNDL);
        this.registration = registration;
        return this;
    }

    /** Messages under way. */
    public int credits() {
        return bytes.getShort(ugni.VGN_SMSG_CREDITS) & 0xffff;
    }

    /** Bytes of a message at most. */
    public int messageLengthMax() {
        return bytes.getInt(ugni.VGN_SMSG_MAX);
    }

    /** Writes what the peer needs, {@link #LENGTH} bytes. */
    public void getBytes(MutableDirectBuffer to, int offset) {
        to.putBytes(offset, bytes, 0, LENGTH);
    }

    /** Takes over what the peer has written. */
    public ShortMessageAttributes putBytes(DirectBuffer from, int offset) {
        bytes.putBytes(0, from, offset, LENGTH);
        registration = null;
        return this;
    }

    long address() {
        return bytes.addressOffset();
    }

    /** Of local ones; open, and of this NIC handle. */
    MemoryRegistration registration(Nic nic) {
        if (registration == null || registration.isClosed() || registration.owner != nic) {
            throw new IllegalArgumentException(
                    "the local attributes name no open registration of " + nic);
        }
        return registration;
    }

    @Override
    public String toString() {
        return "mailbox of " + credits() + " messages of " + messageLengthMax() + " bytes";
    }
}
