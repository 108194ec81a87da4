package dev.verbena.portals;

import dev.verbena.portals.bindings.portals;
import dev.verbena.softnic.NativeAccess;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.IntPointer;
import org.bytedeco.javacpp.Loader;

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

    private static String load() {
        if (!NativeAccess.isAvailable()) {
            return NativeAccess.unavailabilityCause();
        }
        try {
            Loader.load(portals.class);
        } catch (LinkageError e) {
            return ("the native library jniportals3 for %s cannot be loaded: %s. It is in the"
                            + " jar verbena-portals of its platform; see verbena-native for what it needs")
                    .formatted(Loader.getPlatform(), e.getMessage());
        }
        String difference = layoutDifference();
        if (difference != null) {
            return difference;
        }
        try (IntPointer interfacesMax = new IntPointer(1)) {
            int code = portals.PtlInit(interfacesMax);
            return code == PortalsCode.OK ? null : "PtlInit: " + PortalsCode.name(code);
        }
    }

    private static String layoutDifference() {
        int compared = 0;
        for (int row = 0; ; row++) {
            BytePointer text = portals.PtlExtLayoutName(row);
            if (text == null || text.isNull()) {
                break;
            }
            String name = text.getString();
            if (!name.startsWith("PTL_")) {
                continue;
            }
            try {
                long inJava = portals.class.getField(name).getLong(null);
                long inC = portals.PtlExtLayoutValue(row);
                if (inJava != inC) {
                    return ("layout constant %s is %s in libportals3 and %s in Java: the jar"
                                    + " and the library are of different builds")
                            .formatted(name, inC, inJava);
                }
                compared++;
            } catch (ReflectiveOperationException e) {
                return "layout constant " + name + " of libportals3 is unknown to Java";
            }
        }
        return compared > 0 ? null : "libportals3 tells nothing of its layout";
    }
}
