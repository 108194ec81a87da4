package dev.verbena.transport;

/**
 * Bits of {@link Transport#capabilities()}. A bit that is missing means {@link
 * Transport#NOT_SUPPORTED}, unless it says otherwise.
 */
public final class Capability {
    /** {@code fetchAdd} and {@code compareSwap}. */
    public static final long ATOMICS = 1;

    /** {@code putNotify}. */
    public static final long PUT_NOTIFY = 1 << 1;

    /** Memory that the toolkit did not allocate can be registered and reached by peers. */
    public static final long FOREIGN_MEMORY = 1 << 2;

    /**
     * The target's CPU takes no part in one-sided operations. A target that looks at its memory for
     * a put sees it sooner with {@code VarHandle.fullFence()} between two looks than with {@code
     * Thread.onSpinWait()}: docs/performance.md.
     */
    public static final long APPLICATION_BYPASS = 1 << 3;

    /**
     * {@code putSummed} and {@code getSummed} of long ranges take the checksum while they copy.
     * Without it the bytes are read once more.
     */
    public static final long SUMS = 1 << 4;

    private Capability() {}
}
