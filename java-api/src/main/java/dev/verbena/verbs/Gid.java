package dev.verbena.verbs;

import java.util.Arrays;
import java.util.HexFormat;

/** A port's address, 16 bytes in network order: {@code union ibv_gid}. Immutable. */
public final class Gid {
    /** Bytes. */
    public static final int LENGTH = 16;

    private static final byte[] IPV4_MAPPED = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1};

    private final byte[] bytes;

    Gid(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * From 16 bytes, which are copied.
     *
     * @throws IllegalArgumentException for another length
     */
    public static Gid of(byte[] bytes) {
        if (bytes.length != LENGTH) {
            throw new IllegalArgumentException("a GID has 16 bytes, not " + bytes.length);
        }
        return new Gid(bytes.clone());
    }

    /**
     * From 32 hexadecimal digits, with or without colons.
     *
     * @throws IllegalArgumentException for anything else
     */
    public static Gid parse(String text) {
        return of(HexFormat.of().parseHex(text.replace(":", "")));
    }

    /** A copy. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** True if no address stands in this place of the table. */
    public boolean isZero() {
        return Arrays.equals(bytes, new byte[LENGTH]);
    }

    /** True for {@code ::ffff:a.b.c.d}: RoCE over IPv4. */
    public boolean isIpv4() {
        return Arrays.equals(bytes, 0, 12, IPV4_MAPPED, 0, 12);
    }

    /** True for {@code fe80::/10} and, over IPv4, {@code 169.254.0.0/16}. */
    public boolean isLinkLocal() {
        if (isIpv4()) {
            return bytes[12] == (byte) 169 && bytes[13] == (byte) 254;
        }
        return bytes[0] == (byte) 0xfe && (bytes[1] & 0xc0) == 0x80;
    }

    /** {@code a.b.c.d} of an IPv4 address, else the eight groups of four digits. */
    public String address() {
        if (isIpv4()) {
            return "%s.%s.%s.%s"
                    .formatted(
                            bytes[12] & 0xff, bytes[13] & 0xff, bytes[14] & 0xff, bytes[15] & 0xff);
        }
        return toString();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Gid gid && Arrays.equals(bytes, gid.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** Eight groups of four digits, as {@code ibv_devinfo -v} prints them. */
    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes).replaceAll("(....)(?!$)", "$1:");
    }
}
