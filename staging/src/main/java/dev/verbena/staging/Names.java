package dev.verbena.staging;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.agent.Environment;
import java.util.UUID;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;

/** Identities that nobody else has, and text from elsewhere made fit to be shown. */
public final class Names {
    /** Controls and formats; none beyond 16 bits moves a cursor. */
    private static final Pattern UNREADABLE =
            Pattern.compile("[\\p{Cc}\\p{Cf}&&[\\x{0}-\\x{FFFF}]]");

    private Names() {}

    /** A job: from the environment's randomness and its clock, as one environment may run many. */
    public static UUID job(Environment environment) {
        RandomGenerator random = environment.random("dart-job");
        long high = random.nextLong() ^ environment.nanoClock().nanoTime() << 16;
        long low = random.nextLong();
        return new UUID(high & ~0xF000L | 0x4000L, low & 0x3FFFFFFFFFFFFFFFL | 0x8000000000000000L);
    }

    /** Text of a peer for a message to people: what could move a terminal's cursor is a '?'. */
    public static String readable(String text) {
        return UNREADABLE.matcher(text).replaceAll("?");
    }

    /** Text as one harmless element of a path, see {@code DartMetadata.safeName}. */
    public static String safe(String text) {
        byte[] bytes = text.getBytes(UTF_8);
        StringBuilder out = new StringBuilder(bytes.length + 16);
        for (int i = 0; i < bytes.length; i++) {
            int c = bytes[i] & 0xFF;
            boolean isHarmless =
                    c >= 'a' && c <= 'z'
                            || c >= 'A' && c <= 'Z'
                            || c >= '0' && c <= '9'
                            || c == '-'
                            || c == '_'
                            || c == '.' && i > 0;
            out.append(isHarmless ? String.valueOf((char) c) : String.format("%%%02X", c));
        }
        if (out.length() > 200) {
            int crc = new Checksum().update(bytes, 0, bytes.length).value();
            out.setLength(180);
            out.append(String.format("-%08x", crc));
        }
        return out.toString();
    }
}
