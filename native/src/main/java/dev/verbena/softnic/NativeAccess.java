package dev.verbena.softnic;

import dev.verbena.softnic.bindings.Layout;
import dev.verbena.softnic.bindings.softnic;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import org.bytedeco.javacpp.Loader;

/**
 * Loads the toolkit's native library; the one class that does. Thread-safe.
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
        try {
            Loader.load(softnic.class);
        } catch (LinkageError e) {
            return ("the native library jnisoftnic for %s cannot be loaded: %s. It is in "
                            + "the jar verbena-native of its platform and needs glibc 2.28 or newer "
                            + "(musl is not supported); JavaCPP unpacks it to ~/.javacpp/cache or to "
                            + "-Dorg.bytedeco.javacpp.cachedir=DIR, which must be writable and allow "
                            + "executable mappings")
                    .formatted(Loader.getPlatform(), e.getMessage());
        }
        String difference = layoutDifference();
        return difference != null ? difference : openInternal();
    }

    /** Compares the constants this Java code was compiled with with those of the loaded library. */
    private static String layoutDifference() {
        int count = softnic.vna_layout_count();
        int compared = 0;
        for (int row = 0; row < count; row++) {
            String name = softnic.vna_layout_name(row).getString();
            long inC = softnic.vna_layout_value(row);
            try {
                Field field = Layout.class.getField(name);
                long inJava = field.getLong(null);
                if (inJava != inC) {
                    return ("layout constant %s is %s in the native library and %s in Java: the "
                                    + "jars and the library are of different builds")
                            .formatted(name, inC, inJava);
                }
                compared++;
            } catch (ReflectiveOperationException e) {
                return "layout constant " + name + " of the native library is unknown to Java";
            }
        }
        long declared = 0;
        for (Field field : Layout.class.getFields()) {
            declared += Modifier.isStatic(field.getModifiers()) ? 1 : 0;
        }
        return declared == compared
                ? null
                : ("Java knows %s layout constants, the native library %s: the jars and "
                                + "the library are of different builds")
                        .formatted(declared, compared);
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
