package dev.verbena.verbs.transport;

import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * What is said over the TCP socket of a connection. Each frame: length of what follows (4 bytes,
 * little-endian), kind (1 byte), the rest by kind. Everything that is read comes from outside and
 * is checked.
 */
final class Frames {
    /** Longest frame, without its length. */
    static final int LENGTH_MAX = 2048;

    static final byte HELLO = 1;
    static final byte ACCEPT = 2;
    static final byte READY = 3;
    static final byte REFUSE = 4;
    static final byte HEARTBEAT = 5;

    /** No more requests will come; those of the other end are still carried out. */
    static final byte BYE = 6;

    /** Answer to it: the other end asks for nothing more, either. */
    static final byte BYE_DONE = 7;

    static final byte REPAIR = 8;
    static final byte REPAIRED = 9;

    /** The transport is closed, and all its queue pairs with it. */
    static final byte CLOSED = 10;

    /** Answer to a hello: the transport does not listen. */
    static final byte DEAF = 11;

    static final byte KIND_MAX = DEAF;
    static final int PRIVATE_MAX = 256;

    private static final int MAGIC = 0x7662_7256;
    private static final short VERSION = 1;
    private static final int REASON_MAX = 400;

    private Frames() {}

    /** The first frame of who connects. */
    record Hello(
            long target,
            String job,
            String name,
            URI from,
            Endpoint endpoint,
            byte[] privateData) {}

    /**
     * A new pair for requests of the sender, and what the old one was refused, or, {@code
     * isUnanswered}, for what it got no answer.
     */
    record Repair(
            int number,
            int packet,
            int key,
            long address,
            long length,
            int rights,
            int serial,
            boolean isUnanswered) {}

    /** The pair that carries them out, and how the refused one is to be reported. */
    record Repaired(int number, int packet, int status, int serial) {}

    /** A peer broke the rules. */
    static void check(boolean isRight, String what) {
        if (!isRight) {
            throw new IllegalArgumentException("makes no sense: " + what);
        }
    }

    static void need(ByteBuffer from, int bytes) {
        check(from.remaining() >= bytes, "a frame that is too short");
    }

    private static ByteBuffer begin(byte kind) {
        ByteBuffer frame =
                ByteBuffer.allocate(Integer.BYTES + LENGTH_MAX).order(ByteOrder.LITTLE_ENDIAN);
        return frame.putInt(0).put(kind);
    }

    private static ByteBuffer end(ByteBuffer frame) {
        frame.putInt(0, frame.position() - Integer.BYTES).flip();
        return ByteBuffer.allocate(frame.remaining())
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(frame)
                .flip();
    }

    /** A frame that is only its kind. */
    static ByteBuffer plain(byte kind) {
        return ByteBuffer.allocate(Integer.BYTES + 1)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(1)
                .put(kind)
                .flip();
    }

    static ByteBuffer hello(Hello hello) {
        ByteBuffer frame = begin(HELLO).putInt(MAGIC).putShort(VERSION).putLong(hello.target());
        text(frame, hello.job());
        text(frame, hello.name());
        text(frame, hello.from().toString());
        hello.endpoint().encode(frame);
        frame.putShort((short) hello.privateData().length).put(hello.privateData());
        return end(frame);
    }

    static Hello hello(ByteBuffer from) {
        need(from, Integer.BYTES + Short.BYTES + Long.BYTES);
        check(from.getInt() == MAGIC, "not a verbs transport of this toolkit");
        int version = from.getShort();
        check(version == VERSION, "version " + version + ", this program knows " + VERSION);
        long target = from.getLong();
        String job = text(from);
        String name = text(from);
        URI peer = URI.create(text(from));
        VerbsAddress.of(peer);
        Endpoint endpoint = Endpoint.decode(from);
        need(from, Short.BYTES);
        int length = from.getShort();
        check(length >= 0 && length <= PRIVATE_MAX, "private data of " + length + " bytes");
        need(from, length);
        byte[] privateData = new byte[length];
        from.get(privateData);
        return new Hello(target, job, name, peer, endpoint, privateData);
    }

    static ByteBuffer accept(Endpoint endpoint) {
        ByteBuffer frame = begin(ACCEPT);
        endpoint.encode(frame);
        return end(frame);
    }

    static ByteBuffer refuse(String reason) {
        ByteBuffer frame = begin(REFUSE);
        text(frame, reason.substring(0, Math.min(reason.length(), REASON_MAX)));
        return end(frame);
    }

    static ByteBuffer repair(Repair repair) {
        return end(
                begin(REPAIR)
                        .putInt(repair.number())
                        .putInt(repair.packet())
                        .putInt(repair.key())
                        .putLong(repair.address())
                        .putLong(repair.length())
                        .putInt(repair.rights())
                        .putInt(repair.serial())
                        .putInt(repair.isUnanswered() ? 1 : 0));
    }

    static Repair repair(ByteBuffer from) {
        need(from, 6 * Integer.BYTES + 2 * Long.BYTES);
        Repair repair =
                new Repair(
                        from.getInt(),
                        from.getInt(),
                        from.getInt(),
                        from.getLong(),
                        from.getLong(),
                        from.getInt(),
                        from.getInt(),
                        from.getInt() != 0);
        check(((repair.number | repair.packet) >>> 24) == 0, "numbers");
        return repair;
    }

    static ByteBuffer repaired(Repaired repaired) {
        return end(
                begin(REPAIRED)
                        .putInt(repaired.number())
                        .putInt(repaired.packet())
                        .putInt(repaired.status())
                        .putInt(repaired.serial()));
    }

    static Repaired repaired(ByteBuffer from) {
        need(from, 4 * Integer.BYTES);
        Repaired repaired =
                new Repaired(from.getInt(), from.getInt(), from.getInt(), from.getInt());
        check(((repaired.number | repaired.packet) >>> 24) == 0, "numbers");
        check(repaired.status > 0 && repaired.status <= 3, "status " + repaired.status);
        return repaired;
    }

    private static void text(ByteBuffer to, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        to.putShort((short) bytes.length).put(bytes);
    }

    /** A text of printable ASCII characters. */
    static String text(ByteBuffer from) {
        need(from, Short.BYTES);
        int length = from.getShort();
        check(length >= 0 && length <= VerbsAddress.LENGTH_MAX, "a text of " + length + " bytes");
        need(from, length);
        byte[] bytes = new byte[length];
        from.get(bytes);
        for (byte b : bytes) {
            check(b >= ' ' && b < 0x7f, "a text with byte " + b);
        }
        return new String(bytes, StandardCharsets.US_ASCII);
    }
}
