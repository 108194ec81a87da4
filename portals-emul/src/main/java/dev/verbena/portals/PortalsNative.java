package dev.verbena.portals;

import dev.verbena.portals.bindings.portals;
import dev.verbena.softnic.NativeAccess;
import dev.verbena.softnic.NativeLibrary;
import java.lang.invoke.MethodHandles;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.IntPointer;

/**
 * Loads libportals3 and compares the layout that Java was compiled with with that of the library.
 */
final class PortalsNative {
    /** PTL_EQ_NONE, PTL_INVALID_HANDLE, PTL_NID_ANY and PTL_PID_ANY, which are unsigned in C. */
    static final int EQ_NONE = 0xbfffffff;

    private static final String UNAVAILABILITY_CAUSE = load();

    private PortalsNative() {}

    static String unavailabilityCause() {
        return UNAVAILABILITY_CAUSE;
    }

    static void open() {
        if (UNAVAILABILITY_CAUSE != null) {
            throw new IllegalStateException(UNAVAILABILITY_CAUSE);
        }
    }

    /** Text of this thread's last failed call. */
    static String lastError() {
        BytePointer text = portals.PtlExtError();
        return text == null || text.isNull() ? "" : text.getString();
    }

    static PortalsException failure(String call, long result, Object object) {
        return new PortalsException(call, (int) -result, object.toString(), lastError());
    }

    /** The result of a call that has not failed; else an exception that names it. */
    static long check(String call, long result, Object object) {
        if (result < 0) {
            throw failure(call, result, object);
        }
        return result;
    }

    /** Whether an unlink has ended with this code; false: it may be tried again. */
    static boolean isUnlinked(String call, int code, Object object) {
        boolean isBusy =
                code == PortalsCode.ME_IN_USE
                        || code == PortalsCode.MD_IN_USE
                        || code == PortalsCode.NO_SPACE;
        if (!isBusy) {
            check(call, -code, object);
        }
        return !isBusy;
    }

    private static String load() {
        if (!NativeAccess.isAvailable()) {
            return NativeAccess.unavailabilityCause();
        }
        NativeLibrary library = new NativeLibrary(portals.class, "jniportals3", "verbena-portals");
        String cause = library.load();
        if (cause != null) {
            return cause;
        }
        String difference =
                library.layoutDifference(
                        MethodHandles.lookup(),
                        portals.class,
                        constant -> constant.startsWith("PTL_") ? constant : null,
                        portals::PtlExtLayoutName,
                        portals::PtlExtLayoutValue);
        if (difference != null) {
            return difference;
        }
        try (IntPointer interfacesMax = new IntPointer(1)) {
            int code = portals.PtlInit(interfacesMax);
            return code == PortalsCode.OK ? null : "PtlInit: " + PortalsCode.name(code);
        }
    }
}
