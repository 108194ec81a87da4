package dev.verbena.cli.chaos;

import java.util.SplittableRandom;

/**
 * Which bytes a message has: known from its name and the seed alone, so that all can be compared.
 */
final class Payload {
    /** Longest message; several buffers of a server. */
    static final int LENGTH_MAX = 3 << 20;

    private static final String PREFIX = "chaos-";

    private Payload() {}

    /** Name of a message: client, life of that client, number in that life. */
    record Name(int client, int life, int index) {
        static Name parse(String text) {
            String[] parts = text.startsWith(PREFIX) ? text.substring(6).split("-") : new String[0];
            if (parts.length != 3) {
                throw new IllegalArgumentException("'" + text + "' is no name of this run");
            }
            return new Name(
                    Integer.parseInt(parts[0]),
                    Integer.parseInt(parts[1]),
                    Integer.parseInt(parts[2]));
        }

        @Override
        public String toString() {
            return PREFIX + client + "-" + life + "-" + index;
        }

        private SplittableRandom random(long seed) {
            return new SplittableRandom(seed * 31 + client * 1_000_003L + life * 7919L + index);
        }
    }

    /** Mostly small; some longer than a server's buffer, some empty. */
    static int length(long seed, Name name) {
        SplittableRandom random = name.random(seed);
        int kind = random.nextInt(100);
        if (kind < 5) {
            return random.nextInt(3);
        }
        if (kind < 85) {
            return random.nextInt(200_000);
        }
        return kind < 97 ? random.nextInt(1_400_000) : random.nextInt(LENGTH_MAX);
    }

    static byte[] bytes(long seed, Name name) {
        byte[] bytes = new byte[length(seed, name)];
        SplittableRandom random = name.random(~seed);
        random.nextBytes(bytes);
        return bytes;
    }
}
