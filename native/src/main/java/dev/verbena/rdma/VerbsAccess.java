package dev.verbena.rdma;

import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import dev.verbena.softnic.NativeAccess;
import dev.verbena.softnic.NativeLibrary;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.bytedeco.javacpp.BytePointer;

/**
 * Loads the verbs bindings and opens libibverbs and librdmacm; the one class that does.
 * Thread-safe.
 *
 * <p>Nothing is opened before it is asked for. A machine without libibverbs is told by {@link
 * #unavailabilityCause()}; the rest of the toolkit does not notice.
 */
public final class VerbsAccess {
    /** System property: path or name of libibverbs, for {@code dlopen}. */
    public static final String IBVERBS_PROPERTY = "verbena.ibverbs";

    /** System property: path or name of librdmacm, for {@code dlopen}. */
    public static final String RDMACM_PROPERTY = "verbena.rdmacm";

    private static final String IBVERBS = "libibverbs.so.1";
    private static final String RDMACM = "librdmacm.so.1";
    private static final int WHY_SIZE = 512;
    private static final NativeLibrary LIBRARY =
            new NativeLibrary(verbscalls.class, "jniverbs", "verbena-native");

    private VerbsAccess() {}

    /** Loads once, when first asked. */
    private static final class Ibverbs {
        static final String CAUSE = load();
    }

    /** Loads once, when first asked. */
    private static final class RdmaCm {
        static final String CAUSE =
                Ibverbs.CAUSE != null ? Ibverbs.CAUSE : open(RDMACM_PROPERTY, RDMACM, "librdmacm1");
    }

    /**
     * Loads the bindings and opens libibverbs. Idempotent, cheap after the first call.
     *
     * @throws IllegalStateException saying what is missing and what to do about it
     */
    public static void open() {
        if (Ibverbs.CAUSE != null) {
            throw new IllegalStateException(Ibverbs.CAUSE);
        }
    }

    /**
     * Why {@link #open()} fails and what to do about it; null if it does not. That a device is
     * there is another question.
     */
    public static String unavailabilityCause() {
        return Ibverbs.CAUSE;
    }

    /**
     * Opens librdmacm too. Idempotent.
     *
     * @throws IllegalStateException saying what is missing and what to do about it
     */
    public static void openRdmaCm() {
        if (RdmaCm.CAUSE != null) {
            throw new IllegalStateException(RdmaCm.CAUSE);
        }
    }

    /** Why {@link #openRdmaCm()} fails and what to do about it; null if it does not. */
    public static String rdmaCmUnavailabilityCause() {
        return RdmaCm.CAUSE;
    }

    private static String load() {
        if (!NativeAccess.isAvailable()) {
            return NativeAccess.unavailabilityCause();
        }
        String cause = LIBRARY.load();
        String difference = cause != null ? cause : layoutDifference();
        return difference != null ? difference : open(IBVERBS_PROPERTY, IBVERBS, "libibverbs1");
    }

    private static String open(String property, String library, String debianPackage) {
        String path = System.getProperty(property, library);
        try (BytePointer name = new BytePointer(path, StandardCharsets.UTF_8);
                BytePointer why = new BytePointer(WHY_SIZE).zero()) {
            int found =
                    property.equals(IBVERBS_PROPERTY)
                            ? verbscalls.vv_open_ibverbs(name.address(), why.address(), WHY_SIZE)
                            : verbscalls.vv_open_rdmacm(name.address(), why.address(), WHY_SIZE);
            return found > 0
                    ? null
                    : path
                            + " cannot be opened: "
                            + why.getString(StandardCharsets.UTF_8).trim() // of the zeros behind it
                            + ". On Debian: apt-get install "
                            + debianPackage
                            + " ibverbs-providers; elsewhere rdma-core; or name the file by -D"
                            + property
                            + "=PATH";
        }
    }

    private static String layoutDifference() {
        String difference =
                LIBRARY.layoutDifference(
                        MethodHandles.lookup(),
                        VerbsLayout.class,
                        VerbsAccess::javaName,
                        verbscalls::vv_layout_name,
                        verbscalls::vv_layout_value);
        if (difference != null) {
            return difference;
        }
        int count = verbscalls.vv_layout_count();
        int declared = VerbsLayout.class.getFields().length;
        return declared == count
                ? null
                : "Java knows " + declared + " names of the verbs layout, the library " + count;
    }

    /**
     * The constant in {@code VerbsLayout} for a name in C: {@code SEND_WR_WR_ID} for {@code struct
     * ibv_send_wr.wr_id}, {@code WC_SIZEOF} for {@code sizeof(struct ibv_wc)}, {@code
     * RDMA_CM_EVENT_ID} for {@code struct rdma_cm_event.id}; constants keep their own.
     */
    static String javaName(String nameInC) {
        int space = nameInC.indexOf(' ');
        if (space < 0) {
            return nameInC;
        }
        String type = nameInC.substring(space + 1);
        String field =
                (type.startsWith("ibv_") ? type.substring("ibv_".length()) : type)
                        .replace(")", "")
                        .replace('.', '_')
                        .toUpperCase(Locale.ROOT);
        return nameInC.startsWith("sizeof(") ? field + "_SIZEOF" : field;
    }
}
