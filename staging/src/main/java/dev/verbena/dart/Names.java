package dev.verbena.dart;

import dev.verbena.agent.Environment;
import java.util.UUID;
import java.util.random.RandomGenerator;

/** Identities that nobody else has, and text from elsewhere made fit to be shown. */
final class Names {
    private Names() {}

    /** A job: from the environment's randomness and its clock, as one environment may run many. */
    static UUID job(Environment environment) {
        RandomGenerator random = environment.random("dart-job");
        long high = random.nextLong() ^ environment.nanoClock().nanoTime() << 16;
        long low = random.nextLong();
        return new UUID(high & ~0xF000L | 0x4000L, low & 0x3FFFFFFFFFFFFFFFL | 0x8000000000000000L);
    }

    /** Text of a peer for a message to people: what could move a terminal's cursor is a '?'. */
    static String readable(String text) {
        StringBuilder out = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean isHarmless =
                    !Character.isISOControl(c) && Character.getType(c) != Character.FORMAT;
            out.append(isHarmless ? c : '?');
        }
        return out.toString();
    }
}
