package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;

/**
 * Commands of {@link PostDescriptorFlyweight#AMO}, {@code GNI_FMA_ATOMIC_...} in C (specification,
 * section 6). The first generation works on 8 bytes; of the second ({@code ATOMIC2_...}) {@code S}
 * works on 4. A name that begins with F fetches the value from before; {@code C} keeps the value in
 * the NIC's cache, which makes no difference here. {@code AX} is and-xor: {@code (t & first) ^
 * second}; {@code CSWAP} stores the second operand where the first is found.
 */
public final class AtomicCommand {
    private static final int SILENT_BIT = 0x100;
    private static final int SHORT_BIT = 0x200;

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
    public static final int ATOMIC_FADD_C = ugni.GNI_FMA_ATOMIC_FADD_C;
    public static final int ATOMIC_ADD_C = ugni.GNI_FMA_ATOMIC_ADD_C;
    public static final int ATOMIC_FAND_C = ugni.GNI_FMA_ATOMIC_FAND_C;
    public static final int ATOMIC_AND_C = ugni.GNI_FMA_ATOMIC_AND_C;
    public static final int ATOMIC_FOR_C = ugni.GNI_FMA_ATOMIC_FOR_C;
    public static final int ATOMIC_OR_C = ugni.GNI_FMA_ATOMIC_OR_C;
    public static final int ATOMIC_FXOR_C = ugni.GNI_FMA_ATOMIC_FXOR_C;
    public static final int ATOMIC_XOR_C = ugni.GNI_FMA_ATOMIC_XOR_C;
    public static final int ATOMIC_FAX_C = ugni.GNI_FMA_ATOMIC_FAX_C;
    public static final int ATOMIC_AX_C = ugni.GNI_FMA_ATOMIC_AX_C;
    public static final int ATOMIC_CSWAP_C = ugni.GNI_FMA_ATOMIC_CSWAP_C;
    public static final int ATOMIC2_FAND = ugni.GNI_FMA_ATOMIC2_FAND;
    public static final int ATOMIC2_FAND_S = ugni.GNI_FMA_ATOMIC2_FAND_S;
    public static final int ATOMIC2_FAND_C = ugni.GNI_FMA_ATOMIC2_FAND_C;
    public static final int ATOMIC2_FAND_SC = ugni.GNI_FMA_ATOMIC2_FAND_SC;
    public static final int ATOMIC2_AND = ugni.GNI_FMA_ATOMIC2_AND;
    public static final int ATOMIC2_AND_S = ugni.GNI_FMA_ATOMIC2_AND_S;
    public static final int ATOMIC2_AND_C = ugni.GNI_FMA_ATOMIC2_AND_C;
    public static final int ATOMIC2_AND_SC = ugni.GNI_FMA_ATOMIC2_AND_SC;
    public static final int ATOMIC2_FOR = ugni.GNI_FMA_ATOMIC2_FOR;
    public static final int ATOMIC2_FOR_S = ugni.GNI_FMA_ATOMIC2_FOR_S;
    public static final int ATOMIC2_FOR_C = ugni.GNI_FMA_ATOMIC2_FOR_C;
    public static final int ATOMIC2_FOR_SC = ugni.GNI_FMA_ATOMIC2_FOR_SC;
    public static final int ATOMIC2_OR = ugni.GNI_FMA_ATOMIC2_OR;
    public static final int ATOMIC2_OR_S = ugni.GNI_FMA_ATOMIC2_OR_S;
    public static final int ATOMIC2_OR_C = ugni.GNI_FMA_ATOMIC2_OR_C;
    public static final int ATOMIC2_OR_SC = ugni.GNI_FMA_ATOMIC2_OR_SC;
    public static final int ATOMIC2_FXOR = ugni.GNI_FMA_ATOMIC2_FXOR;
    public static final int ATOMIC2_FXOR_S = ugni.GNI_FMA_ATOMIC2_FXOR_S;
    public static final int ATOMIC2_FXOR_C = ugni.GNI_FMA_ATOMIC2_FXOR_C;
    public static final int ATOMIC2_FXOR_SC = ugni.GNI_FMA_ATOMIC2_FXOR_SC;
    public static final int ATOMIC2_XOR = ugni.GNI_FMA_ATOMIC2_XOR;
    public static final int ATOMIC2_XOR_S = ugni.GNI_FMA_ATOMIC2_XOR_S;
    public static final int ATOMIC2_XOR_C = ugni.GNI_FMA_ATOMIC2_XOR_C;
    public static final int ATOMIC2_XOR_SC = ugni.GNI_FMA_ATOMIC2_XOR_SC;
    public static final int ATOMIC2_FSWAP = ugni.GNI_FMA_ATOMIC2_FSWAP;
    public static final int ATOMIC2_FSWAP_S = ugni.GNI_FMA_ATOMIC2_FSWAP_S;
    public static final int ATOMIC2_FSWAP_C = ugni.GNI_FMA_ATOMIC2_FSWAP_C;
    public static final int ATOMIC2_FSWAP_SC = ugni.GNI_FMA_ATOMIC2_FSWAP_SC;
    public static final int ATOMIC2_SWAP = ugni.GNI_FMA_ATOMIC2_SWAP;
    public static final int ATOMIC2_SWAP_S = ugni.GNI_FMA_ATOMIC2_SWAP_S;
    public static final int ATOMIC2_SWAP_C = ugni.GNI_FMA_ATOMIC2_SWAP_C;
    public static final int ATOMIC2_SWAP_SC = ugni.GNI_FMA_ATOMIC2_SWAP_SC;
    public static final int ATOMIC2_FAX = ugni.GNI_FMA_ATOMIC2_FAX;
    public static final int ATOMIC2_FAX_S = ugni.GNI_FMA_ATOMIC2_FAX_S;
    public static final int ATOMIC2_FAX_C = ugni.GNI_FMA_ATOMIC2_FAX_C;
    public static final int ATOMIC2_FAX_SC = ugni.GNI_FMA_ATOMIC2_FAX_SC;
    public static final int ATOMIC2_AX = ugni.GNI_FMA_ATOMIC2_AX;
    public static final int ATOMIC2_AX_S = ugni.GNI_FMA_ATOMIC2_AX_S;
    public static final int ATOMIC2_AX_C = ugni.GNI_FMA_ATOMIC2_AX_C;
    public static final int ATOMIC2_AX_SC = ugni.GNI_FMA_ATOMIC2_AX_SC;
    public static final int ATOMIC2_FCSWAP = ugni.GNI_FMA_ATOMIC2_FCSWAP;
    public static final int ATOMIC2_FCSWAP_S = ugni.GNI_FMA_ATOMIC2_FCSWAP_S;
    public static final int ATOMIC2_FCSWAP_C = ugni.GNI_FMA_ATOMIC2_FCSWAP_C;
    public static final int ATOMIC2_FCSWAP_SC = ugni.GNI_FMA_ATOMIC2_FCSWAP_SC;
    public static final int ATOMIC2_CSWAP = ugni.GNI_FMA_ATOMIC2_CSWAP;
    public static final int ATOMIC2_CSWAP_S = ugni.GNI_FMA_ATOMIC2_CSWAP_S;
    public static final int ATOMIC2_CSWAP_C = ugni.GNI_FMA_ATOMIC2_CSWAP_C;
    public static final int ATOMIC2_CSWAP_SC = ugni.GNI_FMA_ATOMIC2_CSWAP_SC;
    public static final int ATOMIC2_FIMIN = ugni.GNI_FMA_ATOMIC2_FIMIN;
    public static final int ATOMIC2_FIMIN_S = ugni.GNI_FMA_ATOMIC2_FIMIN_S;
    public static final int ATOMIC2_FIMIN_C = ugni.GNI_FMA_ATOMIC2_FIMIN_C;
    public static final int ATOMIC2_FIMIN_SC = ugni.GNI_FMA_ATOMIC2_FIMIN_SC;
    public static final int ATOMIC2_IMIN = ugni.GNI_FMA_ATOMIC2_IMIN;
    public static final int ATOMIC2_IMIN_S = ugni.GNI_FMA_ATOMIC2_IMIN_S;
    public static final int ATOMIC2_IMIN_C = ugni.GNI_FMA_ATOMIC2_IMIN_C;
    public static final int ATOMIC2_IMIN_SC = ugni.GNI_FMA_ATOMIC2_IMIN_SC;
    public static final int ATOMIC2_FIMAX = ugni.GNI_FMA_ATOMIC2_FIMAX;
    public static final int ATOMIC2_FIMAX_S = ugni.GNI_FMA_ATOMIC2_FIMAX_S;
    public static final int ATOMIC2_FIMAX_C = ugni.GNI_FMA_ATOMIC2_FIMAX_C;
    public static final int ATOMIC2_FIMAX_SC = ugni.GNI_FMA_ATOMIC2_FIMAX_SC;
    public static final int ATOMIC2_IMAX = ugni.GNI_FMA_ATOMIC2_IMAX;
    public static final int ATOMIC2_IMAX_S = ugni.GNI_FMA_ATOMIC2_IMAX_S;
    public static final int ATOMIC2_IMAX_C = ugni.GNI_FMA_ATOMIC2_IMAX_C;
    public static final int ATOMIC2_IMAX_SC = ugni.GNI_FMA_ATOMIC2_IMAX_SC;
    public static final int ATOMIC2_FIADD = ugni.GNI_FMA_ATOMIC2_FIADD;
    public static final int ATOMIC2_FIADD_S = ugni.GNI_FMA_ATOMIC2_FIADD_S;
    public static final int ATOMIC2_FIADD_C = ugni.GNI_FMA_ATOMIC2_FIADD_C;
    public static final int ATOMIC2_FIADD_SC = ugni.GNI_FMA_ATOMIC2_FIADD_SC;
    public static final int ATOMIC2_IADD = ugni.GNI_FMA_ATOMIC2_IADD;
    public static final int ATOMIC2_IADD_S = ugni.GNI_FMA_ATOMIC2_IADD_S;
    public static final int ATOMIC2_IADD_C = ugni.GNI_FMA_ATOMIC2_IADD_C;
    public static final int ATOMIC2_IADD_SC = ugni.GNI_FMA_ATOMIC2_IADD_SC;
    public static final int ATOMIC2_FFPMIN = ugni.GNI_FMA_ATOMIC2_FFPMIN;
    public static final int ATOMIC2_FFPMIN_S = ugni.GNI_FMA_ATOMIC2_FFPMIN_S;
    public static final int ATOMIC2_FFPMIN_C = ugni.GNI_FMA_ATOMIC2_FFPMIN_C;
    public static final int ATOMIC2_FFPMIN_SC = ugni.GNI_FMA_ATOMIC2_FFPMIN_SC;
    public static final int ATOMIC2_FPMIN = ugni.GNI_FMA_ATOMIC2_FPMIN;
    public static final int ATOMIC2_FPMIN_S = ugni.GNI_FMA_ATOMIC2_FPMIN_S;
    public static final int ATOMIC2_FPMIN_C = ugni.GNI_FMA_ATOMIC2_FPMIN_C;
    public static final int ATOMIC2_FPMIN_SC = ugni.GNI_FMA_ATOMIC2_FPMIN_SC;
    public static final int ATOMIC2_FFPMAX = ugni.GNI_FMA_ATOMIC2_FFPMAX;
    public static final int ATOMIC2_FFPMAX_S = ugni.GNI_FMA_ATOMIC2_FFPMAX_S;
    public static final int ATOMIC2_FFPMAX_C = ugni.GNI_FMA_ATOMIC2_FFPMAX_C;
    public static final int ATOMIC2_FFPMAX_SC = ugni.GNI_FMA_ATOMIC2_FFPMAX_SC;
    public static final int ATOMIC2_FPMAX = ugni.GNI_FMA_ATOMIC2_FPMAX;
    public static final int ATOMIC2_FPMAX_S = ugni.GNI_FMA_ATOMIC2_FPMAX_S;
    public static final int ATOMIC2_FPMAX_C = ugni.GNI_FMA_ATOMIC2_FPMAX_C;
    public static final int ATOMIC2_FPMAX_SC = ugni.GNI_FMA_ATOMIC2_FPMAX_SC;
    public static final int ATOMIC2_FFPADD = ugni.GNI_FMA_ATOMIC2_FFPADD;
    public static final int ATOMIC2_FFPADD_S = ugni.GNI_FMA_ATOMIC2_FFPADD_S;
    public static final int ATOMIC2_FFPADD_C = ugni.GNI_FMA_ATOMIC2_FFPADD_C;
    public static final int ATOMIC2_FFPADD_SC = ugni.GNI_FMA_ATOMIC2_FFPADD_SC;
    public static final int ATOMIC2_FPADD = ugni.GNI_FMA_ATOMIC2_FPADD;
    public static final int ATOMIC2_FPADD_S = ugni.GNI_FMA_ATOMIC2_FPADD_S;
    public static final int ATOMIC2_FPADD_C = ugni.GNI_FMA_ATOMIC2_FPADD_C;
    public static final int ATOMIC2_FPADD_SC = ugni.GNI_FMA_ATOMIC2_FPADD_SC;

    private AtomicCommand() {}

    /** Bytes that a command works on, 4 or 8. */
    public static int length(int command) {
        return (command & SHORT_BIT) != 0 ? Integer.BYTES : Long.BYTES;
    }

    /** Whether a command brings back the value from before. */
    public static boolean isFetching(int command) {
        return (command & SILENT_BIT) == 0;
    }
}
