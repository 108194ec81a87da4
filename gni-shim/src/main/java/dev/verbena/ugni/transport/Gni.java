package dev.verbena.ugni.transport;

import dev.verbena.ugni.UgniCode;
import dev.verbena.ugni.bindings.ugni;

/** Values that no constant of {@code gni_pub.h} names, and checks of calls. */
final class Gni {
    static final int TYPE_SMSG = 1;

    /** Hardware statuses of an event. */
    static final int STATUS_MDD_INVALID = 7;

    static final int STATUS_PROTECTION = 8;
    static final int STATUS_BOUNDS = 9;
    static final int STATUS_READ_ONLY = 10;
    static final int STATUS_UNREACHABLE = 11;

    /** Another process sits on what it needs. */
    static final int STATUS_BUSY = 13;

    /** How the functions begin that only our own library has. */
    private static final String EXTENSION = "GNI_Ext";

    private static final int TYPE_SHIFT = 54;
    private static final int TYPE_MASK = 3;

    private Gni() {}

    /** The first function of {@code gni_ext.h} that the library in use lacks, or null. */
    static String missingExtension() {
        int count = ugni.vgn_function_count();
        for (int row = 0; row < count; row++) {
            String name = ugni.vgn_function_name(row).getString();
            if (name.startsWith(EXTENSION) && ugni.vgn_function_present(row) == 0) {
                return name;
            }
        }
        return null;
    }

    /** Kind of an event of a source queue. */
    static int type(long entry) {
        return (int) (entry >>> TYPE_SHIFT) & TYPE_MASK;
    }

    /**
     * Checks a call that must succeed.
     *
     * @throws GniFailure naming it
     */
    static long must(String call, long result) {
        if (result < 0) {
            throw new GniFailure(UgniCode.failure(call, result), (int) -result);
        }
        return result;
    }
}
