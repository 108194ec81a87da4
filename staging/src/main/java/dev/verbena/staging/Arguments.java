package dev.verbena.staging;

/** Checks of configuration values. */
public final class Arguments {
    private static final int SECRET_MIN = 16;

    private Arguments() {}

    public static void notNull(String what, Object value) {
        if (value == null) {
            throw new IllegalArgumentException(what + " is not set");
        }
    }

    public static void notEmpty(String what, String value) {
        if (value == null || value.isEmpty()) {
            throw new IllegalArgumentException(what + " is not set");
        }
    }

    public static void range(String what, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(
                    what + " " + value + " is outside " + min + " to " + max);
        }
    }

    public static void powerOfTwo(String what, long value, long min, long max) {
        range(what, value, min, max);
        if (Long.bitCount(value) != 1) {
            throw new IllegalArgumentException(what + " " + value + " is not a power of two");
        }
    }

    /** A copy of a secret that a user gave. */
    public static byte[] copyOfSecret(byte[] secret) {
        notNull("secret", secret);
        range("length of secret", secret.length, SECRET_MIN, Integer.MAX_VALUE);
        return secret.clone();
    }
}
