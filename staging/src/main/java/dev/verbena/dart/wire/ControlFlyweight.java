package dev.verbena.dart.wire;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.dart.AckMode;
import dev.verbena.dart.DartException;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.staging.Checksum;
import dev.verbena.staging.Names;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Control record between clients and servers: 128 bytes, little-endian. Movable view, no memory of
 * its own, one thread. A HEADER is followed by the message's metadata block, COMMAND and REPLY by
 * their payload, HEARTBEAT by a text.
 *
 * <pre>
 * all       0:4 magic 0x44415254   4:2 type   6:2 version (1)   8:16 job
 *           124:4 CRC-32C of bytes 0 to 123; what no field names is zero
 * REGISTER  24:1 role (1 client, 2 slave, 3 client that has lost its server, 4, FORWARD only: pull
 *           for the master, which keeps the client)   25:1 URI length
 * FORWARD   26:2 credits wanted   28:4 rank   32:4 application id   36:4 client id (FORWARD only)
 *           40:80 URI of the sender's transport   120:4 registrations of this client before this
 *           one (FORWARD only)
 * WELCOME   24:4 client id (a slave: its server id)   28:4 server id   32:4 result   36:4 credits
 *           40:8 longest message   48:8 next sequence   56:4 heartbeat ms (0: none)   60:4 ack mode
 * HEADER    24:4 client id   28:4 tag   32:8 sequence   40:8 payload length   48:4 flags
 *           52:4 CRC-32C of the payload   56:4 metadata length   60:4 sequences given up before
 *           this one   64:48 remote descriptor of the payload (zero if the length is 0)
 * DONE      24:4 client id   28:4 result   32:8 sequence   40:4 state (1 transferred, 2 streamed:
 *           this one and every earlier one that did not fail)   44:4 credits returned
 * CREDIT    24:4 client id   32:8 highest sequence whose header is known   44:4 credits returned
 * INBOX     24:4 client id   28:4 slots   32:8 number of the last piece taken out (-1: just begun)
 *           40:4 length of a slot   64:48 remote descriptor of the slots
 * GOODBYE   24:4 client id   28:4 result   32:8 last sequence
 * HEARTBEAT 24:4 client id   56:4 length of the text behind it; the server answers with the same,
 *           and says in the text what holds it up (UTF-8, no text: nothing)
 * RESUME    24:4 client id   32:8 sequence that the client sends next, again if need be
 *           40:8 epoch of the master that gave the id, ms
 * SUSPEND   24:4 client id   28:4 1: pull nothing from this client for now, 0: go on
 * COMMAND   24:4 client id   28:4 type of the command   32:8 its number   56:4 payload length
 * REPLY     24:4 client id   28:4 result   32:8 number of the command   56:4 payload length
 * STOP      slave to master: stop all servers; master to slave: stop; 28:4 1: at once
 * BARRIER   32:8 number; slave to master: entered; master to slave: released
 * </pre>
 */
public final class ControlFlyweight {
    public static final int LENGTH = 128;
    public static final int MAGIC = 0x44415254;
    public static final int VERSION = 1;

    public static final int REGISTER = 1;
    public static final int FORWARD = 2;
    public static final int WELCOME = 3;
    public static final int HEADER = 4;
    public static final int DONE = 5;
    public static final int GOODBYE = 6;
    public static final int CREDIT = 7;
    public static final int INBOX = 8;
    public static final int HEARTBEAT = 9;
    public static final int RESUME = 10;
    public static final int SUSPEND = 11;
    public static final int COMMAND = 12;
    public static final int REPLY = 13;
    public static final int STOP = 14;
    public static final int BARRIER = 15;

    public static final int ROLE_CLIENT = 1;
    public static final int ROLE_SLAVE = 2;
    public static final int ROLE_MOVING_CLIENT = 3;

    /** FORWARD only: the receiver pulls for the sender, who keeps the client. */
    public static final int ROLE_DELEGATED = 4;

    public static final int STATE_TRANSFERRED = 1;
    public static final int STATE_STREAMED = 2;
    public static final int STATE_SPILLED = 3;

    /** DONE only: the server had the message, and cannot deliver it; the result says why. */
    public static final int STATE_LOST = 4;

    public static final int RESULT_OK = 0;
    public static final int RESULT_WRONG_JOB = 1;
    public static final int RESULT_RECEIVER_UNREACHABLE = 2;
    public static final int RESULT_FULL = 3;
    public static final int RESULT_TRANSFER_FAILED = 4;
    public static final int RESULT_STOPPING = 5;
    public static final int RESULT_MALFORMED = 6;
    public static final int RESULT_COMMAND_FAILED = 7;
    public static final int RESULT_TOO_LONG = 8;
    public static final int RESULT_BEGINNING_LOST = 9;

    public static final int FLAG_FILE_BEGIN = 2;
    public static final int FLAG_FILE_END = 4;
    public static final int FLAG_CHECKSUM = 8;

    /** Most registrations of one client that a run of the service tells apart. */
    public static final int GENERATION_MAX = (1 << 22) - 1;

    /** Longest URI of a transport in a record. */
    public static final int URI_LENGTH_MAX = 80;

    public static final int CREDITS_MAX = 4096;

    /** Shortest metadata block behind a HEADER. */
    public static final int METADATA_LENGTH_MIN = 40;

    /** Longest metadata block behind a HEADER, and longest payload of a command. */
    public static final int BLOCK_LENGTH_MAX = 1024;

    /** Longest record: with a block behind it. */
    public static final int MESSAGE_LENGTH_MAX = LENGTH + BLOCK_LENGTH_MAX;

    /** Commands of the library; users have 0 and above. */
    public static final int COMMAND_STOP_SERVERS = -1;

    public static final int COMMAND_TIMINGS = -2;

    /** Longest text behind a HEARTBEAT, bytes. */
    public static final int TEXT_LENGTH_MAX = 384;

    /** Longest interval that a server may ask for. */
    public static final int HEARTBEAT_MS_MAX = 3_600_000;

    private static final int TYPE_OFFSET = 4;
    private static final int VERSION_OFFSET = 6;
    private static final int JOB_OFFSET = 8;
    private static final int CRC_OFFSET = 124;

    private static final int CLIENT_OFFSET = 24;
    private static final int SERVER_OFFSET = 28;
    private static final int WELCOME_RESULT_OFFSET = 32;
    private static final int WELCOME_CREDITS_OFFSET = 36;
    private static final int LENGTH_MAX_OFFSET = 40;
    private static final int NEXT_SEQUENCE_OFFSET = 48;
    private static final int HEARTBEAT_OFFSET = 56;
    private static final int ACK_OFFSET = 60;

    private static final int TAG_OFFSET = 28;
    private static final int RESULT_OFFSET = 28;
    private static final int SEQUENCE_OFFSET = 32;
    private static final int LENGTH_OFFSET = 40;
    private static final int STATE_OFFSET = 40;
    private static final int CREDITS_OFFSET = 44;
    private static final int FLAGS_OFFSET = 48;
    private static final int DATA_CRC_OFFSET = 52;
    private static final int METADATA_OFFSET = 56;
    private static final int SKIPPED_OFFSET = 60;
    private static final int DESCRIPTOR_OFFSET = 64;
    private static final int EPOCH_OFFSET = 40;

    private final RegisterFlyweight registration = new RegisterFlyweight(this);
    private final Checksum crc = new Checksum();
    private MutableDirectBuffer buffer;
    private DirectBuffer source;
    private int offset;

    /** Starts a record of this type, all zero, for writing. */
    public ControlFlyweight begin(MutableDirectBuffer target, int at, int type, UUID job) {
        target.boundsCheck(at, LENGTH);
        buffer = target;
        source = target;
        offset = at;
        target.setMemory(at, LENGTH, (byte) 0);
        target.putInt(at, MAGIC, LITTLE_ENDIAN);
        target.putShort(at + TYPE_OFFSET, (short) type, LITTLE_ENDIAN);
        target.putShort(at + VERSION_OFFSET, (short) VERSION, LITTLE_ENDIAN);
        target.putLong(at + JOB_OFFSET, job.getMostSignificantBits(), LITTLE_ENDIAN);
        target.putLong(at + JOB_OFFSET + 8, job.getLeastSignificantBits(), LITTLE_ENDIAN);
        return this;
    }

    /** Moves back to a record of our own, to change it; {@link #end} follows. */
    public ControlFlyweight rewrap(MutableDirectBuffer target, int at) {
        buffer = target;
        source = target;
        offset = at;
        return this;
    }

    public ControlFlyweight skipped(int skipped) {
        buffer.putInt(offset + SKIPPED_OFFSET, skipped, LITTLE_ENDIAN);
        return this;
    }

    /** Writes the checksum; the record is complete. */
    public void end() {
        buffer.putInt(offset + CRC_OFFSET, crc.of(buffer, offset, CRC_OFFSET), LITTLE_ENDIAN);
    }

    /**
     * Moves to a record that may come from anywhere and checks all of it.
     *
     * @param available bytes that there are
     * @return this, for reading
     * @throws DartException {@link DartException.Code#MALFORMED} naming the field
     */
    public ControlFlyweight wrap(DirectBuffer from, int at, int available) {
        buffer = null;
        source = from;
        offset = at;
        if (available < LENGTH) {
            throw ControlCheck.malformed("only " + available + " bytes");
        }
        if (from.getInt(at, LITTLE_ENDIAN) != MAGIC) {
            throw ControlCheck.malformed(
                    "magic 0x" + Integer.toHexString(from.getInt(at, LITTLE_ENDIAN)));
        }
        int version = from.getShort(at + VERSION_OFFSET, LITTLE_ENDIAN);
        if (version != VERSION) {
            throw ControlCheck.malformed("version " + version + ", this program knows " + VERSION);
        }
        if (from.getInt(at + CRC_OFFSET, LITTLE_ENDIAN) != crc.of(from, at, CRC_OFFSET)) {
            throw ControlCheck.malformed("CRC does not match its bytes");
        }
        ControlCheck.check(this, available);
        return this;
    }

    /** The fields of a REGISTER or FORWARD; a view that moves with this one. */
    public RegisterFlyweight registration() {
        return registration;
    }

    /** Memory of a record that is written, else null. */
    public MutableDirectBuffer buffer() {
        return buffer;
    }

    /** Memory of the record, as {@link #offset()} says. */
    public DirectBuffer source() {
        return source;
    }

    public int offset() {
        return offset;
    }

    /** Becomes a copy of itself, for writing, of another type. */
    public ControlFlyweight copyTo(MutableDirectBuffer target, int at, int type) {
        target.putBytes(at, source, offset, LENGTH);
        target.putShort(at + TYPE_OFFSET, (short) type, LITTLE_ENDIAN);
        return rewrap(target, at);
    }

    public int type() {
        return source.getShort(offset + TYPE_OFFSET, LITTLE_ENDIAN) & 0xFFFF;
    }

    public boolean isOfJob(UUID job) {
        return source.getLong(offset + JOB_OFFSET, LITTLE_ENDIAN) == job.getMostSignificantBits()
                && source.getLong(offset + JOB_OFFSET + 8, LITTLE_ENDIAN)
                        == job.getLeastSignificantBits();
    }

    public UUID job() {
        return new UUID(
                source.getLong(offset + JOB_OFFSET, LITTLE_ENDIAN),
                source.getLong(offset + JOB_OFFSET + 8, LITTLE_ENDIAN));
    }

    /** A copy of the record's bytes. */
    public UnsafeBuffer copy() {
        UnsafeBuffer copy = new UnsafeBuffer(new byte[LENGTH]);
        copy.putBytes(0, source, offset, LENGTH);
        return copy;
    }

    public ControlFlyweight welcome(int clientId, int serverId, int result, int credits) {
        buffer.putInt(offset + CLIENT_OFFSET, clientId, LITTLE_ENDIAN);
        buffer.putInt(offset + SERVER_OFFSET, serverId, LITTLE_ENDIAN);
        buffer.putInt(offset + WELCOME_RESULT_OFFSET, result, LITTLE_ENDIAN);
        buffer.putInt(offset + WELCOME_CREDITS_OFFSET, credits, LITTLE_ENDIAN);
        return this;
    }

    public ControlFlyweight welcomeLimits(long lengthMax, long nextSequence, AckMode ack) {
        buffer.putLong(offset + LENGTH_MAX_OFFSET, lengthMax, LITTLE_ENDIAN);
        buffer.putLong(offset + NEXT_SEQUENCE_OFFSET, nextSequence, LITTLE_ENDIAN);
        buffer.putInt(offset + ACK_OFFSET, ack.ordinal(), LITTLE_ENDIAN);
        return this;
    }

    public int clientId() {
        return source.getInt(offset + CLIENT_OFFSET, LITTLE_ENDIAN);
    }

    public int serverId() {
        return source.getInt(offset + SERVER_OFFSET, LITTLE_ENDIAN);
    }

    /** Silence after which the client asks whether the server lives; 0 (the default): never. */
    public ControlFlyweight heartbeatMs(int intervalMs) {
        buffer.putInt(offset + HEARTBEAT_OFFSET, intervalMs, LITTLE_ENDIAN);
        return this;
    }

    public int heartbeatMs() {
        return source.getInt(offset + HEARTBEAT_OFFSET, LITTLE_ENDIAN);
    }

    public ControlFlyweight heartbeat(int clientId) {
        buffer.putInt(offset + CLIENT_OFFSET, clientId, LITTLE_ENDIAN);
        return this;
    }

    /** Text of a HEARTBEAT, behind the record; at most {@link #TEXT_LENGTH_MAX} bytes. */
    public ControlFlyweight text(byte[] text) {
        buffer.putInt(offset + METADATA_OFFSET, text.length, LITTLE_ENDIAN);
        buffer.putBytes(offset + LENGTH, text);
        return this;
    }

    /** Text of a HEARTBEAT, fit to be shown. */
    public String text() {
        byte[] text = new byte[metadataLength()];
        source.getBytes(offset + LENGTH, text);
        return Names.readable(new String(text, StandardCharsets.UTF_8));
    }

    public ControlFlyweight resume(int clientId, long sequence, long epochMs) {
        buffer.putInt(offset + CLIENT_OFFSET, clientId, LITTLE_ENDIAN);
        buffer.putLong(offset + SEQUENCE_OFFSET, sequence, LITTLE_ENDIAN);
        buffer.putLong(offset + EPOCH_OFFSET, epochMs, LITTLE_ENDIAN);
        return this;
    }

    public ControlFlyweight suspend(int clientId, boolean isSuspended) {
        buffer.putInt(offset + CLIENT_OFFSET, clientId, LITTLE_ENDIAN);
        buffer.putInt(offset + RESULT_OFFSET, isSuspended ? 1 : 0, LITTLE_ENDIAN);
        return this;
    }

    public ControlFlyweight stop(boolean isAtOnce) {
        buffer.putInt(offset + RESULT_OFFSET, isAtOnce ? 1 : 0, LITTLE_ENDIAN);
        return this;
    }

    public ControlFlyweight command(int clientId, long number, int type, int payloadLength) {
        buffer.putInt(offset + CLIENT_OFFSET, clientId, LITTLE_ENDIAN);
        buffer.putInt(offset + TAG_OFFSET, type, LITTLE_ENDIAN);
        buffer.putLong(offset + SEQUENCE_OFFSET, number, LITTLE_ENDIAN);
        buffer.putInt(offset + METADATA_OFFSET, payloadLength, LITTLE_ENDIAN);
        return this;
    }

    public ControlFlyweight reply(int clientId, long number, int result, int payloadLength) {
        return command(clientId, number, result, payloadLength);
    }

    public long epochMs() {
        return source.getLong(offset + EPOCH_OFFSET, LITTLE_ENDIAN);
    }

    public int welcomeResult() {
        return source.getInt(offset + WELCOME_RESULT_OFFSET, LITTLE_ENDIAN);
    }

    public int welcomeCredits() {
        return source.getInt(offset + WELCOME_CREDITS_OFFSET, LITTLE_ENDIAN);
    }

    public long messageLengthMax() {
        return source.getLong(offset + LENGTH_MAX_OFFSET, LITTLE_ENDIAN);
    }

    public long nextSequence() {
        return source.getLong(offset + NEXT_SEQUENCE_OFFSET, LITTLE_ENDIAN);
    }

    public ControlFlyweight header(int clientId, long sequence, int tag, long length, int flags) {
        buffer.putInt(offset + CLIENT_OFFSET, clientId, LITTLE_ENDIAN);
        buffer.putInt(offset + TAG_OFFSET, tag, LITTLE_ENDIAN);
        buffer.putLong(offset + SEQUENCE_OFFSET, sequence, LITTLE_ENDIAN);
        buffer.putLong(offset + LENGTH_OFFSET, length, LITTLE_ENDIAN);
        buffer.putInt(offset + FLAGS_OFFSET, flags, LITTLE_ENDIAN);
        return this;
    }

    public ControlFlyweight headerData(int dataCrc, int metadataLength, int skipped) {
        buffer.putInt(offset + DATA_CRC_OFFSET, dataCrc, LITTLE_ENDIAN);
        buffer.putInt(offset + METADATA_OFFSET, metadataLength, LITTLE_ENDIAN);
        buffer.putInt(offset + SKIPPED_OFFSET, skipped, LITTLE_ENDIAN);
        return this;
    }

    public ControlFlyweight descriptor(RemoteDescriptor descriptor) {
        descriptor.encode(buffer, offset + DESCRIPTOR_OFFSET);
        return this;
    }

    public ControlFlyweight inbox(int clientId, int slotCount, long taken, int slotLength) {
        buffer.putInt(offset + CLIENT_OFFSET, clientId, LITTLE_ENDIAN);
        buffer.putInt(offset + RESULT_OFFSET, slotCount, LITTLE_ENDIAN);
        buffer.putLong(offset + SEQUENCE_OFFSET, taken, LITTLE_ENDIAN);
        buffer.putInt(offset + STATE_OFFSET, slotLength, LITTLE_ENDIAN);
        return this;
    }

    /** Slots of an INBOX. */
    public int slotCount() {
        return source.getInt(offset + RESULT_OFFSET, LITTLE_ENDIAN);
    }

    /** Bytes of a slot of an INBOX. */
    public int slotLength() {
        return source.getInt(offset + STATE_OFFSET, LITTLE_ENDIAN);
    }

    /** Number of the last piece that the client has taken out of its INBOX; -1: none yet. */
    public long taken() {
        return source.getLong(offset + SEQUENCE_OFFSET, LITTLE_ENDIAN);
    }

    public int tag() {
        return source.getInt(offset + TAG_OFFSET, LITTLE_ENDIAN);
    }

    public long sequence() {
        return source.getLong(offset + SEQUENCE_OFFSET, LITTLE_ENDIAN);
    }

    public long length() {
        return source.getLong(offset + LENGTH_OFFSET, LITTLE_ENDIAN);
    }

    public int flags() {
        return source.getInt(offset + FLAGS_OFFSET, LITTLE_ENDIAN);
    }

    public int dataCrc() {
        return source.getInt(offset + DATA_CRC_OFFSET, LITTLE_ENDIAN);
    }

    public int metadataLength() {
        return source.getInt(offset + METADATA_OFFSET, LITTLE_ENDIAN);
    }

    public int skipped() {
        return source.getInt(offset + SKIPPED_OFFSET, LITTLE_ENDIAN);
    }

    /**
     * Reads the descriptor of a HEADER with payload, or of an INBOX.
     *
     * @throws DartException MALFORMED if it is none, or shorter than the payload or the slots
     */
    public void descriptorInto(RemoteDescriptor descriptor) {
        try {
            descriptor.decode(source, offset + DESCRIPTOR_OFFSET);
        } catch (IllegalArgumentException e) {
            throw ControlCheck.malformed(e.getMessage());
        }
        boolean isInbox = type() == INBOX;
        ControlCheck.range(
                isInbox ? "slots" : "payload length",
                isInbox ? (long) slotCount() * slotLength() : length(),
                0,
                descriptor.length());
    }

    public ControlFlyweight done(int clientId, long sequence, int state, int result, int credits) {
        buffer.putInt(offset + STATE_OFFSET, state, LITTLE_ENDIAN);
        return goodbye(clientId, sequence, result).credits(credits);
    }

    public ControlFlyweight credit(int clientId, long sequence, int credits) {
        return goodbye(clientId, sequence, RESULT_OK).credits(credits);
    }

    public ControlFlyweight goodbye(int clientId, long sequence, int result) {
        buffer.putInt(offset + CLIENT_OFFSET, clientId, LITTLE_ENDIAN);
        buffer.putInt(offset + RESULT_OFFSET, result, LITTLE_ENDIAN);
        buffer.putLong(offset + SEQUENCE_OFFSET, sequence, LITTLE_ENDIAN);
        return this;
    }

    private ControlFlyweight credits(int credits) {
        buffer.putInt(offset + CREDITS_OFFSET, credits, LITTLE_ENDIAN);
        return this;
    }

    public int result() {
        return source.getInt(offset + RESULT_OFFSET, LITTLE_ENDIAN);
    }

    public int state() {
        return source.getInt(offset + STATE_OFFSET, LITTLE_ENDIAN);
    }

    public int credits() {
        return source.getInt(offset + CREDITS_OFFSET, LITTLE_ENDIAN);
    }
}
