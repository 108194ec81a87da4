package dev.verbena.transport;

/**
 * Bits of {@link Transport#capabilities()}. A bit that is missing means {@link
 * Transport#NOT_SUPPORTED}.
 */
public final class Capability {
    /** {@code fetchAdd} and {@code compareSwap}. */
    public static final long ATOMICS = 1;

    /** {@code putNotify}. */
    public static final long PUT_NOTIFY = 1 << 1;

    /** Memory that the toolkit did not allocate can be registered and reached by peers. */
    public static final long FOREIGN_MEMORY = 1 << 2;

    /** The target's CPU takes no part in one-sided operations. */
    public static final long APPLICATION_BYPASS = 1 << 3;

    private Capability() {}
}
