package dev.verbena.ofi;

import dev.verbena.ofi.bindings.fabric;
import dev.verbena.softnic.NativeAccess;
import java.nio.charset.StandardCharsets;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Loader;

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
        try {
            Loader.load(fabric.class);
        } catch (LinkageError e) {
            return ("the native library jniofi for %s cannot be loaded: %s. It is in the jar"
                            + " verbena-ofi of its platform")
                    .formatted(Loader.getPlatform(), e.getMessage());
        }
        String difference = layoutDifference();
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

    private static String layoutDifference() {
        int row = 0;
        while (true) {
            BytePointer text = fabric.vfi_layout_name(row);
            if (text == null || text.isNull()) {
                return row > 0 ? null : "the native library jniofi says nothing of its layout";
            }
            String name = text.getString();
            try {
                long inJava = ((Number) fabric.class.getField(name).get(null)).longValue();
                if (inJava != fabric.vfi_layout_value(row)) {
                    return "constant "
                            + name
                            + " differs: the jar and the library are of different builds";
                }
            } catch (ReflectiveOperationException e) {
                return "constant " + name + " of the native library is unknown to Java";
            }
            row++;
        }
    }
}
