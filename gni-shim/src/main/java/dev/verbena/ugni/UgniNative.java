package dev.verbena.ugni;

import dev.verbena.softnic.NativeAccess;
import dev.verbena.softnic.NativeLibrary;
import dev.verbena.ugni.bindings.ugni;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import org.bytedeco.javacpp.BytePointer;

/**
 * Loads the bindings, compares the layout that Java was compiled with with theirs, and chooses the
 * library that the calls go to.
 */
final class UgniNative {
    /** Linked into the bindings. */
    private static final String BUILT_IN = "builtin";

    /** Cray's library if there is one with a device, else the one linked in. */
    private static final String AUTOMATIC = "auto";

    /** Cray's name of its library. */
    private static final String SYSTEM = "libugni.so.0";

    private static final int WHY_SIZE = 512;

    /** What is in use; set by {@link #load}. */
    private static String library = BUILT_IN;

    private static final String UNAVAILABILITY_CAUSE = load();

    /**
     * Whether entries have the layout of {@code gni_entry.c}, so that Java may read them itself.
     */
    static final boolean IS_BUILT_IN = UNAVAILABILITY_CAUSE == null && library.equals(BUILT_IN);

    private UgniNative() {}

    static String unavailabilityCause() {
        return UNAVAILABILITY_CAUSE;
    }

    static String library() {
        return library;
    }

    static void open() {
        if (UNAVAILABILITY_CAUSE != null) {
            throw new IllegalStateException(UNAVAILABILITY_CAUSE);
        }
    }

    static UgniException failure(String call, long result, Object object) {
        int code = (int) -result;
        String why =
                code == UgniCode.MISSING
                        ? library + " has no " + call + "; Verbena's own library has"
                        : UgniCode.reason(call, code);
        return new UgniException(call, code, object.toString(), why);
    }

    static long check(String call, long result, Object object) {
        if (result < 0) {
            throw failure(call, result, object);
        }
        return result;
    }

    private static String load() {
        if (!NativeAccess.isAvailable()) {
            return NativeAccess.unavailabilityCause();
        }
        NativeLibrary bindings = new NativeLibrary(ugni.class, "jniugni", "verbena-gni");
        String cause = bindings.load();
        if (cause != null) {
            return cause;
        }
        String difference =
                bindings.layoutDifference(
                        MethodHandles.lookup(),
                        ugni.class,
                        name -> name,
                        ugni::vgn_layout_name,
                        ugni::vgn_layout_value);
        return difference != null ? difference : choose();
    }

    /** Null, or why the library that was asked for cannot be used. */
    private static String choose() {
        String asked = System.getProperty(CommunicationDomain.LIBRARY_PROPERTY, AUTOMATIC);
        if (asked.equals(BUILT_IN)) {
            return null;
        }
        boolean isAutomatic = asked.isEmpty() || asked.equals(AUTOMATIC);
        String path = isAutomatic || asked.equals("system") ? SYSTEM : asked;
        String why = open(path);
        if (why == null && isAutomatic) {
            why = unsuitable();
            if (why != null) {
                ugni.vgn_built_in();
            }
        }
        if (why == null) {
            library = path;
        }
        return why == null || isAutomatic
                ? null
                : "libugni cannot be opened: %s; -D%s=builtin uses Verbena's own library"
                        .formatted(why, CommunicationDomain.LIBRARY_PROPERTY);
    }

    private static String open(String path) {
        try (BytePointer name = new BytePointer(path, StandardCharsets.UTF_8);
                BytePointer why = new BytePointer(WHY_SIZE).zero()) {
            return ugni.vgn_open(name, why, WHY_SIZE) > 0
                    ? null
                    : why.getString(StandardCharsets.UTF_8).trim();
        }
    }

    /** Why a library that was found is not taken unasked: it is no better than the built-in one. */
    private static String unsuitable() {
        if (ugni.vgn_is_ours() != 0) {
            return "it is Verbena's own";
        }
        return ugni.vgn_device_count() < 1 ? "it finds no device" : null;
    }
}
