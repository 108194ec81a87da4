package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.Text;
import dev.verbena.verbs.Gid;
import dev.verbena.verbs.QueuePairAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * How perftest's programs describe a queue pair to each other: one line of hexadecimal fields, each
 * followed by a colon, with a NUL at its end. With a GID it has 108 bytes, without one 59.
 *
 * @param lid of the port, 16 bits
 * @param reads that this side serves at a time
 * @param number of the queue pair, 24 bits
 * @param packetNumber its first packet's number, 24 bits
 * @param remoteKey of the memory
 * @param address of the memory that the peer may use
 * @param gid of the port; null without
 * @param shared number of the shared receive queue; 0 without
 */
record PerftestKeys(
        int lid,
        int reads,
        int number,
        int packetNumber,
        int remoteKey,
        long address,
        Gid gid,
        int shared) {
    static final int LENGTH_WITH_GID = 108;
    static final int LENGTH_WITHOUT_GID = 59;

    /** Of the form for queue pairs. */
    static final int STRUCTURE_LENGTH = 56;

    private static final int[] DIGITS = {4, 4, 6, 6, 8, 16};
    private static final int SHARED_DIGITS = 8;

    int length() {
        return gid == null ? LENGTH_WITHOUT_GID : LENGTH_WITH_GID;
    }

    QueuePairAddress target() {
        return new QueuePairAddress(number, packetNumber, lid, gid);
    }

    byte[] bytes() {
        StringBuilder line = new StringBuilder();
        line.append(
                Text.format(
                        "%04x:%04x:%06x:%06x:%08x:%016x:",
                        lid, reads, number, packetNumber, remoteKey, address));
        if (gid != null) {
            for (byte b : gid.bytes()) {
                line.append(Text.format("%02x:", b));
            }
        }
        line.append(Text.format("%08x", shared)).append(gid == null ? "" : ":");
        return Arrays.copyOf(line.toString().getBytes(StandardCharsets.US_ASCII), length());
    }

    /**
     * From a peer's bytes, which may be anything.
     *
     * @param hasGid the form with a GID
     * @throws Messages.Failure if they are no such line
     */
    static PerftestKeys parse(byte[] bytes, boolean hasGid) {
        String line = text(bytes);
        String[] fields = line.split(":", -1);
        int gidFields = hasGid ? Gid.LENGTH : 0;
        int trailing = hasGid ? 1 : 0;
        if (fields.length != DIGITS.length + gidFields + 1 + trailing
                || hasGid && !fields[fields.length - 1].isEmpty()) {
            throw wrong(line, "it has " + fields.length + " fields");
        }
        long[] values = new long[DIGITS.length];
        for (int i = 0; i < DIGITS.length; i++) {
            values[i] = hex(line, fields[i], DIGITS[i]);
        }
        Gid gid = null;
        if (hasGid) {
            byte[] raw = new byte[Gid.LENGTH];
            for (int i = 0; i < raw.length; i++) {
                raw[i] = (byte) hex(line, fields[DIGITS.length + i], 2);
            }
            gid = Gid.of(raw);
        }
        return new PerftestKeys(
                (int) values[0],
                (int) values[1],
                (int) values[2],
                (int) values[3],
                (int) values[4],
                values[5],
                gid,
                (int) hex(line, fields[DIGITS.length + gidFields], SHARED_DIGITS));
    }

    /**
     * The form that goes over a queue pair of rdma_cm, big-endian: 0:4 lid, 4:4 reads, 8:4 number,
     * 12:4 packetNumber, 16:4 remoteKey, 20:4 nothing, 24:8 address, 32:16 gid, 48:4 shared, 52:4
     * entry of the address table, which is not used.
     */
    byte[] structure() {
        ByteBuffer bytes = ByteBuffer.allocate(STRUCTURE_LENGTH);
        bytes.putInt(lid).putInt(reads).putInt(number).putInt(packetNumber).putInt(remoteKey);
        bytes.putInt(0).putLong(address);
        bytes.put(gid == null ? new byte[Gid.LENGTH] : gid.bytes()).putInt(shared);
        return bytes.array();
    }

    /**
     * From a peer's structure, which may have anything in it.
     *
     * @throws Messages.Failure if a field has more than it may
     */
    static PerftestKeys parseStructure(byte[] structure) {
        ByteBuffer bytes = ByteBuffer.wrap(structure);
        int lid = bytes.getInt();
        int reads = bytes.getInt();
        int number = bytes.getInt();
        int packetNumber = bytes.getInt();
        int key = bytes.getInt();
        bytes.getInt();
        long address = bytes.getLong();
        byte[] gid = new byte[Gid.LENGTH];
        bytes.get(gid);
        boolean isTooLarge =
                lid >>> 16 != 0 || reads >>> 16 != 0 || (number | packetNumber) >>> 24 != 0;
        if (isTooLarge) {
            throw wrong(
                    lid + ", " + reads + ", " + number + ", " + packetNumber, "a number too large");
        }
        return new PerftestKeys(
                lid, reads, number, packetNumber, key, address, Gid.of(gid), bytes.getInt());
    }

    /** Up to the NUL; anything that is no printable ASCII becomes a question mark. */
    private static String text(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < bytes.length && bytes[i] != 0; i++) {
            text.append(bytes[i] >= ' ' && bytes[i] < 127 ? (char) bytes[i] : '?');
        }
        return text.toString();
    }

    private static long hex(String line, String field, int digits) {
        if (field.isEmpty() || field.length() > digits || !field.matches("[0-9a-fA-F]+")) {
            throw wrong(line, "'" + field + "' is not a number of " + digits + " digits at most");
        }
        return Long.parseUnsignedLong(field, 16);
    }

    private static Messages.Failure wrong(String line, String why) {
        return new Messages.Failure(
                "the other side does not speak as perftest does: no keys in '%s': %s; "
                        + "do both have a GID (-x), or neither?",
                line, why);
    }
}
