package dev.verbena.ofi;

import dev.verbena.ofi.bindings.fabric;
import dev.verbena.softnic.NativeAccess;
import dev.verbena.softnic.NativeLibrary;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import org.bytedeco.javacpp.BytePointer;

/**
 * libfabric itself, opened at run time: {@code libfabric.so.1}, or the file that the property
 * {@value #PROPERTY} names. Thread-safe.
 */
public final class OfiLibrary {
    /** System property: path of the library to open instead. */
    public static final String PROPERTY = "verbena.ofi.library";

    private static final String DEFAULT = "libfabric.so.1";
    private static final int WHY_SIZE = 512;
    private static final int VERSION_SHIFT = 16;
    private static final int VERSION_MASK = 0xFFFF;

    /** Set by {@link #load}. */
    private static int version;

    private static final String UNAVAILABILITY_CAUSE = load();

    private OfiLibrary() {}

    /** Why libfabric cannot be used, and what to do about it; null if it can. */
    public static String unavailabilityCause() {
        return UNAVAILABILITY_CAUSE;
    }

    /** Version of the library, as {@code 1.17}; not if it is unavailable. */
    public static String version() {
        open();
        return (version >>> VERSION_SHIFT) + "." + (version & VERSION_MASK);
    }

    /** What a code means. */
    public static String text(int code) {
        if (UNAVAILABILITY_CAUSE != null) {
            return "code";
        }
        BytePointer text = fabric.vfi_error_text(code);
        return text == null || text.isNull() ? "code" : text.getString(StandardCharsets.UTF_8);
    }

    /**
     * Before the first call.
     *
     * @throws IllegalStateException with the cause if libfabric is unavailable
     */
    static void open() {
        if (UNAVAILABILITY_CAUSE != null) {
            throw new IllegalStateException(UNAVAILABILITY_CAUSE);
        }
    }

    private static String load() {
        if (!NativeAccess.isAvailable()) {
            return NativeAccess.unavailabilityCause();
        }
        NativeLibrary library = new NativeLibrary(fabric.class, "jniofi", "verbena-ofi");
        String cause = library.load();
        if (cause != null) {
            return cause;
        }
        String difference =
                library.layoutDifference(
                        MethodHandles.lookup(),
                        fabric.class,
                        constant -> constant,
                        fabric::vfi_layout_name,
                        fabric::vfi_layout_value);
        return difference != null ? difference : open(System.getProperty(PROPERTY, DEFAULT));
    }

    private static String open(String path) {
        try (BytePointer name = new BytePointer(path, StandardCharsets.UTF_8);
                BytePointer why = new BytePointer(WHY_SIZE).zero()) {
            version = fabric.vfi_open(name, why, WHY_SIZE);
            return version > 0
                    ? null
                    : "libfabric cannot be opened: "
                            + why.getString(StandardCharsets.UTF_8).trim()
                            + ". Debian and Ubuntu have it in the package libfabric1; -D"
                            + PROPERTY
                            + "=PATH names another file";
        }
    }
}
