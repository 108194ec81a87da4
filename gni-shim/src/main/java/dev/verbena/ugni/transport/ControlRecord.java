package dev.verbena.ugni.transport;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.transport.core.ControlHeader;
import java.util.zip.CRC32C;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A record that goes through a {@link ControlMailbox}, little-endian.
 *
 * <pre>
 * offset size field
 *   0    20   {@link ControlHeader}
 *  20     4   the sender's NIC address
 *  24     4   its instance
 *  28     4   zero
 *  32     8   its incarnation
 *  40     8   address of its control mailbox
 *  48    16   the control mailbox's memory handle
 *  64     8   address of the sender's mailbox for this connection
 *  72    16   the mailbox's memory handle
 *  88    64   the sender's name, padded with zeros
 * 152   256   private data
 * 408     4   CRC-32C of all before
 * </pre>
 */
final class ControlRecord extends ControlHeader {
    static final int LENGTH = 412;

    /** As REJECT: the receiver does not listen. */
    static final int DEAF = 6;

    private static final int ADDRESS = 20;
    private static final int INSTANCE = 24;
    private static final int ZERO = 28;
    private static final int INCARNATION = 32;
    private static final int CONTROL = 40;
    private static final int CONTROL_LOW = 48;
    private static final int CONTROL_HIGH = 56;
    private static final int MAILBOX = 64;
    private static final int MAILBOX_LOW = 72;
    private static final int MAILBOX_HIGH = 80;
    private static final int NAME = 88;
    private static final int PRIVATE = 152;
    private static final int CRC = 408;
    private static final int ADDRESS_BITS = 18;
    private static final int MESSAGE_LENGTH_MAX = 1 << 20;

    private final UnsafeBuffer buffer;
    private final CRC32C crc = new CRC32C();
    private final byte[] scratch = new byte[CRC];

    /** A record of its own, zeroed. */
    static ControlRecord allocate() {
        return new ControlRecord(
                new UnsafeBuffer(BufferUtil.allocateDirectAligned(LENGTH, Long.BYTES)));
    }

    /** A view of bytes that stay where they are. */
    ControlRecord(UnsafeBuffer buffer) {
        super(PRIVATE);
        this.buffer = buffer;
        wrapRecord(buffer, 0);
    }

    UnsafeBuffer buffer() {
        return buffer;
    }

    /** Who sends; written once. */
    void sender(GniResources resources) {
        buffer.setMemory(0, LENGTH, (byte) 0);
        buffer.putInt(ADDRESS, resources.address, LITTLE_ENDIAN);
        buffer.putInt(INSTANCE, resources.instance, LITTLE_ENDIAN);
        buffer.putInt(ZERO, 0, LITTLE_ENDIAN);
        buffer.putLong(INCARNATION, resources.incarnation, LITTLE_ENDIAN);
        Memory control = resources.control.memory;
        buffer.putLong(CONTROL, control.address(), LITTLE_ENDIAN);
        buffer.putLong(CONTROL_LOW, control.low(), LITTLE_ENDIAN);
        buffer.putLong(CONTROL_HIGH, control.high(), LITTLE_ENDIAN);
        Announcement.putName(buffer, NAME, resources.name);
    }

    /** What is sent, without a mailbox. */
    @Override
    public void write(int type, int to, int from, int credits, int messageLengthMax, byte[] data) {
        super.write(type, to, from, credits, messageLengthMax, data);
        mailbox(0, 0, 0);
    }

    void mailbox(long address, long low, long high) {
        buffer.putLong(MAILBOX, address, LITTLE_ENDIAN);
        buffer.putLong(MAILBOX_LOW, low, LITTLE_ENDIAN);
        buffer.putLong(MAILBOX_HIGH, high, LITTLE_ENDIAN);
    }

    void seal() {
        buffer.putInt(CRC, checksum(), LITTLE_ENDIAN);
    }

    private int checksum() {
        buffer.getBytes(0, scratch);
        crc.reset();
        crc.update(scratch, 0, CRC);
        return (int) crc.getValue();
    }

    /** Empty if every field makes sense, else what does not. */
    String fault() {
        if (buffer.getInt(CRC, LITTLE_ENDIAN) != checksum()) {
            return "the CRC does not match";
        }
        return isSomebody()
                ? headerFault(DEAF, MESSAGE_LENGTH_MAX)
                : "instance " + instance() + " of address 0x" + Integer.toHexString(address());
    }

    /** Whether a transport can be what sent it: otherwise there is nobody to answer. */
    private boolean isSomebody() {
        return incarnation() != 0
                && address() >>> ADDRESS_BITS == 0
                && instance() > 0
                && instance() <= GniAddress.PORT_MAX;
    }

    int address() {
        return buffer.getInt(ADDRESS, LITTLE_ENDIAN);
    }

    int instance() {
        return buffer.getInt(INSTANCE, LITTLE_ENDIAN);
    }

    long incarnation() {
        return buffer.getLong(INCARNATION, LITTLE_ENDIAN);
    }

    String name() {
        return Announcement.name(buffer, NAME);
    }

    /** Tells the peer where the sender's control mailbox is. */
    void introduce(GniPeer peer) {
        peer.know(
                name(),
                buffer.getLong(CONTROL, LITTLE_ENDIAN),
                buffer.getLong(CONTROL_LOW, LITTLE_ENDIAN),
                buffer.getLong(CONTROL_HIGH, LITTLE_ENDIAN));
    }

    /** Tells the connection where the sender's mailbox is. */
    void readMailbox(GniConnection c) {
        c.peerMailbox(
                buffer.getLong(MAILBOX, LITTLE_ENDIAN),
                buffer.getLong(MAILBOX_LOW, LITTLE_ENDIAN),
                buffer.getLong(MAILBOX_HIGH, LITTLE_ENDIAN));
    }
}
