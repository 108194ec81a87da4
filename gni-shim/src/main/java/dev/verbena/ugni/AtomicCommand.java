package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;

/**
 * Commands of {@link PostDescriptorFlyweight#AMO}, {@code GNI_FMA_ATOMIC_...} in C (specification,
 * section 6). They work on 8 bytes; {@link #onFourBytes} and {@link #cached} make what C names by
 * {@code S} and {@code C}. A name that begins with F fetches the value from before. {@code AX} is
 * and-xor: {@code (t & first) ^ second}; {@code CSWAP} stores the second operand where the first is
 * found.
 */
public final class AtomicCommand {
    private static final int SILENT_BIT = 0x100;
    private static final int SHORT_BIT = 0x200;
    private static final int LONG_BIT = 1;
    private static final int SECOND_BIT = 0x40;
    private static final int CACHED_BIT = 0x10;
    private static final int SECOND_CACHED_BIT = 0x20;

    public static final int ATOMIC_FADD = ugni.GNI_FMA_ATOMIC_FADD;
    public static final int ATOMIC_ADD = ugni.GNI_FMA_ATOMIC_ADD;
    public static final int ATOMIC_FAND = ugni.GNI_FMA_ATOMIC_FAND;
    public static final int ATOMIC_AND = ugni.GNI_FMA_ATOMIC_AND;
    public static final int ATOMIC_FOR = ugni.GNI_FMA_ATOMIC_FOR;
    public static final int ATOMIC_OR = ugni.GNI_FMA_ATOMIC_OR;
    public static final int ATOMIC_FXOR = ugni.GNI_FMA_ATOMIC_FXOR;
    public static final int ATOMIC_XOR = ugni.GNI_FMA_ATOMIC_XOR;
    public static final int ATOMIC_FAX = ugni.GNI_FMA_ATOMIC_FAX;
    public static final int ATOMIC_AX = ugni.GNI_FMA_ATOMIC_AX;
    public static final int ATOMIC_CSWAP = ugni.GNI_FMA_ATOMIC_CSWAP;
    public static final int ATOMIC2_FAND = ugni.GNI_FMA_ATOMIC2_FAND;
    public static final int ATOMIC2_AND = ugni.GNI_FMA_ATOMIC2_AND;
    public static final int ATOMIC2_FOR = ugni.GNI_FMA_ATOMIC2_FOR;
    public static final int ATOMIC2_OR = ugni.GNI_FMA_ATOMIC2_OR;
    public static final int ATOMIC2_FXOR = ugni.GNI_FMA_ATOMIC2_FXOR;
    public static final int ATOMIC2_XOR = ugni.GNI_FMA_ATOMIC2_XOR;
    public static final int ATOMIC2_FSWAP = ugni.GNI_FMA_ATOMIC2_FSWAP;
    public static final int ATOMIC2_SWAP = ugni.GNI_FMA_ATOMIC2_SWAP;
    public static final int ATOMIC2_FAX = ugni.GNI_FMA_ATOMIC2_FAX;
    public static final int ATOMIC2_AX = ugni.GNI_FMA_ATOMIC2_AX;
    public static final int ATOMIC2_FCSWAP = ugni.GNI_FMA_ATOMIC2_FCSWAP;
    public static final int ATOMIC2_CSWAP = ugni.GNI_FMA_ATOMIC2_CSWAP;
    public static final int ATOMIC2_FIMIN = ugni.GNI_FMA_ATOMIC2_FIMIN;
    public static final int ATOMIC2_IMIN = ugni.GNI_FMA_ATOMIC2_IMIN;
    public static final int ATOMIC2_FIMAX = ugni.GNI_FMA_ATOMIC2_FIMAX;
    public static final int ATOMIC2_IMAX = ugni.GNI_FMA_ATOMIC2_IMAX;
    public static final int ATOMIC2_FIADD = ugni.GNI_FMA_ATOMIC2_FIADD;
    public static final int ATOMIC2_IADD = ugni.GNI_FMA_ATOMIC2_IADD;
    public static final int ATOMIC2_FFPMIN = ugni.GNI_FMA_ATOMIC2_FFPMIN;
    public static final int ATOMIC2_FPMIN = ugni.GNI_FMA_ATOMIC2_FPMIN;
    public static final int ATOMIC2_FFPMAX = ugni.GNI_FMA_ATOMIC2_FFPMAX;
    public static final int ATOMIC2_FPMAX = ugni.GNI_FMA_ATOMIC2_FPMAX;
    public static final int ATOMIC2_FFPADD = ugni.GNI_FMA_ATOMIC2_FFPADD;
    public static final int ATOMIC2_FPADD = ugni.GNI_FMA_ATOMIC2_FPADD;

    private AtomicCommand() {}

    /** A command of the second generation ({@code ATOMIC2_...}) on 4 bytes, in C {@code _S}. */
    public static int onFourBytes(int command) {
        return command & ~LONG_BIT | SHORT_BIT;
    }

    /** A command that keeps the value in the NIC's cache, in C {@code _C}: no difference here. */
    public static int cached(int command) {
        return command | ((command & SECOND_BIT) != 0 ? SECOND_CACHED_BIT : CACHED_BIT);
    }

    /** Bytes that a command works on, 4 or 8. */
    public static int length(int command) {
        return (command & SHORT_BIT) != 0 ? Integer.BYTES : Long.BYTES;
    }

    /** Whether a command brings back the value from before. */
    public static boolean isFetching(int command) {
        return (command & SILENT_BIT) == 0;
    }
}
