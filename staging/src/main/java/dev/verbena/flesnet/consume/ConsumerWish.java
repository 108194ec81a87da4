package dev.verbena.flesnet.consume;

import dev.verbena.staging.Arguments;

/**
 * Which timeslices a consumer wants: the {@code n}-th of the compute node if {@code n = m * stride
 * + offset}.
 *
 * @param stride at least 1
 * @param offset 0 to {@code stride - 1}
 * @param policy when it is too slow
 * @param group of those with one name, one gets a timeslice; empty: alone
 * @param name for reports
 */
public record ConsumerWish(
        long stride, long offset, QueuePolicy policy, String group, String name) {
    /** Everything. */
    public static final ConsumerWish ALL = new ConsumerWish(1, 0, QueuePolicy.ALL, "", "");

    private static final int LINES = 5;
    private static final int NAME_MAX = 64;

    /**
     * Checks all values.
     *
     * @throws IllegalArgumentException naming the value and its range
     */
    public ConsumerWish {
        Arguments.range("stride", stride, 1, Long.MAX_VALUE);
        Arguments.range("offset", offset, 0, stride - 1);
        Arguments.notNull("policy", policy);
        requireName("group", group);
        requireName("name", name);
    }

    private static void requireName(String what, String value) {
        if (value.length() > NAME_MAX || value.indexOf('\n') >= 0) {
            throw new IllegalArgumentException(
                    what + " is one line of up to " + NAME_MAX + " characters");
        }
    }

    boolean wants(long number) {
        return number % stride == offset;
    }

    /** As it stands in a registration. */
    String text() {
        return stride + "\n" + offset + "\n" + policy.name() + "\n" + group + "\n" + name + "\n";
    }

    /**
     * Reads {@link #text()}.
     *
     * @throws IllegalArgumentException if it is none
     */
    static ConsumerWish parse(String text) {
        String[] lines = text.split("\n", -1);
        if (lines.length != LINES + 1) {
            throw new IllegalArgumentException("a registration of " + lines.length + " lines");
        }
        return new ConsumerWish(
                Long.parseLong(lines[0]),
                Long.parseLong(lines[1]),
                QueuePolicy.valueOf(lines[2]),
                lines[3],
                lines[4]);
    }
}
