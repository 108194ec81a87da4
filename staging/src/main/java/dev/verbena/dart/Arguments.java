package dev.verbena.dart;

/** Checks of configuration values. */
final class Arguments {
    private Arguments() {}

    static void notNull(String what, Object value) {
        if (value == null) {
            throw new IllegalArgumentException(what + " is not set");
        }
    }

    static void notEmpty(String what, String value) {
        if (value == null || value.isEmpty()) {
            throw new IllegalArgumentException(what + " is not set");
        }
    }

    static void range(String what, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(
                    what + " " + value + " is outside " + min + " to " + max);
        }
    }

    static void powerOfTwo(String what, long value, long min, long max) {
        range(what, value, min, max);
        if (Long.bitCount(value) != 1) {
            throw new IllegalArgumentException(what + " " + value + " is not a power of two");
        }
    }
}
