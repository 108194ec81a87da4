package dev.verbena.dart.wire;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.dart.DartException.Code;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.agrona.MutableDirectBuffer;

/**
 * The fields of a {@link ControlFlyweight} of type REGISTER or FORWARD, which has their layout.
 * Moves with it.
 */
public final class RegisterFlyweight {
    /** Ids of an application: its number in the high bits, from 1 in these low ones. */
    public static final int APPLICATION_BITS = 20;

    /** Highest application id: ids stay positive. */
    public static final int APPLICATION_MAX = (1 << (31 - APPLICATION_BITS)) - 1;

    private static final int ROLE_OFFSET = 24;
    private static final int URI_LENGTH_OFFSET = 25;
    private static final int WANTED_OFFSET = 26;
    private static final int RANK_OFFSET = 28;
    private static final int APPLICATION_OFFSET = 32;
    private static final int ASSIGNED_OFFSET = 36;
    private static final int URI_OFFSET = 40;
    private static final int GENERATION_OFFSET = 120;

    private final ControlFlyweight record;

    public RegisterFlyweight(ControlFlyweight record) {
        this.record = record;
    }

    public int uriLength() {
        return record.source().getByte(record.offset() + URI_LENGTH_OFFSET) & 0xFF;
    }

    public int uriByte(int index) {
        return record.source().getByte(record.offset() + URI_OFFSET + index);
    }

    /** Turns a REGISTER into a FORWARD that assigns an id; its end follows. */
    public ControlFlyweight asForward(
            MutableDirectBuffer target, int at, int assignedId, int generation) {
        record.copyTo(target, at, ControlFlyweight.FORWARD);
        return assigned(assignedId, generation);
    }

    /** Says who registers; the record is then complete but for its end. */
    public ControlFlyweight write(int role, int credits, int rank, int applicationId, URI uri) {
        byte[] bytes = uri.toString().getBytes(StandardCharsets.US_ASCII);
        if (bytes.length > ControlFlyweight.URI_LENGTH_MAX) {
            throw Code.INCOMPATIBLE.because(
                    "address %s has %s characters, a control record holds %s: choose a "
                            + "shorter name for the transport's job",
                    uri, bytes.length, ControlFlyweight.URI_LENGTH_MAX);
        }
        record.buffer().putByte(record.offset() + ROLE_OFFSET, (byte) role);
        record.buffer().putByte(record.offset() + URI_LENGTH_OFFSET, (byte) bytes.length);
        record.buffer().putShort(record.offset() + WANTED_OFFSET, (short) credits, LITTLE_ENDIAN);
        record.buffer().putInt(record.offset() + RANK_OFFSET, rank, LITTLE_ENDIAN);
        record.buffer().putInt(record.offset() + APPLICATION_OFFSET, applicationId, LITTLE_ENDIAN);
        record.buffer().putBytes(record.offset() + URI_OFFSET, bytes);
        return record;
    }

    public int role() {
        return record.source().getByte(record.offset() + ROLE_OFFSET);
    }

    public int creditsWanted() {
        return record.source().getShort(record.offset() + WANTED_OFFSET, LITTLE_ENDIAN) & 0xFFFF;
    }

    public int rank() {
        return record.source().getInt(record.offset() + RANK_OFFSET, LITTLE_ENDIAN);
    }

    public int applicationId() {
        return record.source().getInt(record.offset() + APPLICATION_OFFSET, LITTLE_ENDIAN);
    }

    public int assignedId() {
        return record.source().getInt(record.offset() + ASSIGNED_OFFSET, LITTLE_ENDIAN);
    }

    /** FORWARD only. */
    public ControlFlyweight assigned(int clientId, int generation) {
        record.buffer().putInt(record.offset() + ASSIGNED_OFFSET, clientId, LITTLE_ENDIAN);
        record.buffer().putInt(record.offset() + GENERATION_OFFSET, generation, LITTLE_ENDIAN);
        return record;
    }

    /** How often this client registered before, with whatever server. */
    public int generation() {
        return record.source().getInt(record.offset() + GENERATION_OFFSET, LITTLE_ENDIAN);
    }

    /** URI of the sender's transport; MALFORMED if it is none. */
    public URI uri() {
        byte[] bytes =
                new byte[record.source().getByte(record.offset() + URI_LENGTH_OFFSET) & 0xFF];
        record.source().getBytes(record.offset() + URI_OFFSET, bytes);
        try {
            return URI.create(new String(bytes, StandardCharsets.US_ASCII));
        } catch (IllegalArgumentException e) {
            throw ControlCheck.malformed("URI: " + e.getMessage());
        }
    }
}
