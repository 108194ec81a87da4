package dev.verbena.softnic;

import dev.verbena.softnic.bindings.Layout;
import dev.verbena.softnic.bindings.softnic;
import java.lang.invoke.MethodHandles;

/**
 * Loads the toolkit's native library. Thread-safe.
 *
 * <p>Loading also opens the package {@code jdk.internal.misc} of {@code java.base} to the module
 * that holds Agrona (the unnamed module on a class path), because Agrona's buffers need it and a
 * program that embeds the toolkit should need no JVM flag. It is the same as {@code --add-opens
 * java.base/jdk.internal.misc=ALL-UNNAMED}, done by JNI. It must happen before any Agrona buffer
 * class is initialised, so types that use Agrona call {@link #open()} in a static initialiser. With
 * {@code -Dverbena.open.jdk.internal=false} it is left to the flag.
 */
public final class NativeAccess {
    /** System property; {@code false}: do not open {@code jdk.internal.misc}. */
    public static final String OPEN_PROPERTY = "verbena.open.jdk.internal";

    private static final String INTERNAL_PACKAGE = "jdk.internal.misc";
    private static final String FLAG = "--add-opens java.base/jdk.internal.misc=";
    private static final NativeLibrary LIBRARY =
            new NativeLibrary(softnic.class, "jnisoftnic", "verbena-native");
    private static final String UNAVAILABILITY_CAUSE = load();

    private NativeAccess() {}

    /**
     * Loads the native library and opens what Agrona needs. Idempotent, cheap after the first call.
     *
     * @throws IllegalStateException saying what is missing and what to do about it
     */
    public static void open() {
        if (UNAVAILABILITY_CAUSE != null) {
            throw new IllegalStateException(UNAVAILABILITY_CAUSE);
        }
    }

    /** Whether {@link #open()} succeeds. */
    public static boolean isAvailable() {
        return UNAVAILABILITY_CAUSE == null;
    }

    /** Why {@link #open()} fails and what to do about it; null if it does not. */
    public static String unavailabilityCause() {
        return UNAVAILABILITY_CAUSE;
    }

    private static String load() {
        String os = System.getProperty("os.name");
        if (!"Linux".equals(os)) {
            return "the native library of Verbena exists for Linux only; this is " + os;
        }
        String cause = LIBRARY.load();
        return cause != null ? cause : unfit();
    }

    private static String unfit() {
        String difference =
                LIBRARY.layoutDifference(
                        MethodHandles.lookup(),
                        Layout.class,
                        name -> name,
                        softnic::vna_layout_name,
                        softnic::vna_layout_value);
        if (difference != null) {
            return difference;
        }
        int declared = Layout.class.getFields().length;
        int count = softnic.vna_layout_count();
        return declared == count
                ? openInternal()
                : ("Java knows %s layout constants, the native library %s: the jars and "
                                + "the library are of different builds")
                        .formatted(declared, count);
    }

    private static String openInternal() {
        Module base = Object.class.getModule();
        Module target = agronaModule();
        if (base.isOpen(INTERNAL_PACKAGE, target)) {
            return null;
        }
        String flag = FLAG + (target.isNamed() ? target.getName() : "ALL-UNNAMED");
        if (!Boolean.parseBoolean(System.getProperty(OPEN_PROPERTY, "true"))) {
            return ("Agrona needs the JVM flag %s: the toolkit would open it itself, but "
                            + "-D%s=false forbids that")
                    .formatted(flag, OPEN_PROPERTY);
        }
        int result = openPackage(base, INTERNAL_PACKAGE, target);
        return result == 0 && base.isOpen(INTERNAL_PACKAGE, target)
                ? null
                : "this JDK (%s) does not let native code open %s; give the JVM flag %s"
                        .formatted(System.getProperty("java.vm.version"), INTERNAL_PACKAGE, flag);
    }

    /** 0, -1 if the JDK lacks the method, -2 if it threw. */
    private static native int openPackage(Module of, String name, Module to);

    private static Module agronaModule() {
        try {
            return Class.forName("org.agrona.UnsafeApi", false, NativeAccess.class.getClassLoader())
                    .getModule();
        } catch (ClassNotFoundException e) {
            return NativeAccess.class.getClassLoader().getUnnamedModule();
        }
    }
}
