package dev.verbena.savime.query;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The header of every SAVIME message: 298 bytes, packed, little-endian (specification, section
 * 7.2). Bytes that are not used are zero when sent and ignored when received.
 *
 * <pre>
 *  0 u8 magic 0x42   1 u8 version 1   2 u32 key 0   6 u32 message number  10 u32 client id
 * 14 u32 query id   18 u32 type      22 u64 total length  30 u64 payload length
 * 38 block name, 256 bytes with its NUL            294 u32 block number
 * </pre>
 */
final class SavimeHeader {
    static final int LENGTH = 298;

    static final int CONNECTION_REQUEST = 0;
    static final int CREATE_QUERY = 1;
    static final int QUERY_TEXT = 2;
    static final int QUERY_DONE = 3;
    static final int PARAMETER_REQUEST = 4;
    static final int PARAMETER_DATA = 5;
    static final int PARAMETER_DONE = 6;
    static final int RESULT_REQUEST = 7;
    static final int CLOSE = 8;
    static final int CLIENT_ACK = 9;
    static final int CONNECTION_ACCEPT = 10;
    static final int QUERY_ACCEPT = 11;
    static final int RESPONSE_START = 13;
    static final int TEXT = 14;
    static final int FIRST_BLOCK = 16;
    static final int BLOCK = 17;
    static final int FINAL_BLOCK = 18;
    static final int RESPONSE_END = 19;
    static final int SERVER_ACK = 20;

    /** Bytes of a block's name without its NUL. */
    static final int NAME_MAX = 255;

    private static final byte MAGIC = 0x42;
    private static final int NAME_AT = 38;
    private static final int BLOCK_NUMBER_AT = 294;

    private final ByteBuffer bytes =
            ByteBuffer.allocateDirect(LENGTH).order(ByteOrder.LITTLE_ENDIAN);

    SavimeHeader() {}

    /** All of it, from 0 to its limit. */
    ByteBuffer bytes() {
        return bytes.clear();
    }

    SavimeHeader set(int number, int client, int query, int type, long payload) {
        for (int i = 0; i < LENGTH; i++) {
            bytes.put(i, (byte) 0);
        }
        bytes.put(0, MAGIC).put(1, (byte) 1);
        bytes.putInt(6, number).putInt(10, client).putInt(14, query).putInt(18, type);
        bytes.putLong(22, LENGTH + payload).putLong(30, payload);
        return this;
    }

    SavimeHeader block(String name, int number) {
        byte[] text = name.getBytes(UTF_8);
        if (text.length > NAME_MAX) {
            throw new IllegalArgumentException("block name of " + text.length + " bytes");
        }
        for (int i = 0; i < text.length; i++) {
            bytes.put(NAME_AT + i, text[i]);
        }
        bytes.putInt(BLOCK_NUMBER_AT, number);
        return this;
    }

    /**
     * Whether what was received is a header.
     *
     * @throws SavimeProtocolException if it is not
     */
    void check() throws SavimeProtocolException {
        boolean isHeader = bytes.get(0) == MAGIC && payload() >= 0;
        if (!isHeader || bytes.getLong(22) != LENGTH + payload()) {
            throw new SavimeProtocolException("not a SAVIME header");
        }
    }

    int number() {
        return bytes.getInt(6);
    }

    int client() {
        return bytes.getInt(10);
    }

    int query() {
        return bytes.getInt(14);
    }

    int type() {
        return bytes.getInt(18);
    }

    long payload() {
        return bytes.getLong(30);
    }

    String blockName() throws SavimeProtocolException {
        byte[] name = new byte[NAME_MAX + 1];
        int length = 0;
        while (length < name.length && bytes.get(NAME_AT + length) != 0) {
            name[length] = bytes.get(NAME_AT + length);
            length++;
        }
        if (length > NAME_MAX) {
            throw new SavimeProtocolException("a block name without its end");
        }
        return new String(name, 0, length, UTF_8);
    }
}
