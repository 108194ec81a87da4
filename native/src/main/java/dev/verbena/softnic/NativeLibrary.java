package dev.verbena.softnic;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntFunction;
import java.util.function.IntToLongFunction;
import java.util.function.UnaryOperator;
import java.util.jar.JarFile;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Loader;

/**
 * A library that JavaCPP generated: loading it, and whether it fits the Java code. Thread-safe.
 *
 * <p>JavaCPP takes an unpacked file for current if it has the length and the time of the jar's
 * entry. A reproducible build gives every entry the same time, so a file of an older build is
 * removed here before JavaCPP looks at it.
 */
public final class NativeLibrary {
    private final Class<?> bindings;
    private final String name;
    private final String artifact;

    /**
     * For the class that loads it.
     *
     * @param bindings what JavaCPP generated; the library is in the package above its own
     * @param name file name without "lib" and ".so"
     * @param artifact which jar has it, for messages
     */
    public NativeLibrary(Class<?> bindings, String name, String artifact) {
        this.bindings = bindings;
        this.name = name;
        this.artifact = artifact;
    }

    /** Loads it; returns why that failed and what to do about it, or null. */
    public String load() {
        try {
            removeStale();
            Loader.load(bindings);
            return null;
        } catch (IOException | LinkageError e) {
            return ("the native library %s for %s cannot be loaded: %s. It is in the jar %s of its"
                            + " platform and needs glibc 2.28 or newer (musl is not supported);"
                            + " JavaCPP unpacks it to ~/.javacpp/cache or to"
                            + " -Dorg.bytedeco.javacpp.cachedir=DIR, which must be writable and"
                            + " allow executable mappings")
                    .formatted(name, Loader.getPlatform(), e.getMessage(), artifact);
        }
    }

    private void removeStale() throws IOException {
        String folder = bindings.getPackageName();
        folder = folder.substring(0, folder.lastIndexOf('.')).replace('.', '/');
        URL library =
                bindings.getResource(
                        "/%s/%s/lib%s.so".formatted(folder, Loader.getPlatform(), name));
        if (library != null && library.openConnection() instanceof JarURLConnection connection) {
            connection.setUseCaches(false);
            try (JarFile jar = connection.getJarFile()) {
                Path cache = Loader.getCacheDir().toPath();
                Path file =
                        cache.resolve(Path.of(jar.getName()).getFileName())
                                .resolve(connection.getEntryName());
                removeUnless(file, connection.getJarEntry().getCrc(), cache);
            }
        }
    }

    private static void removeUnless(Path file, long crc, Path cache) throws IOException {
        if (!Files.isRegularFile(file) || crc(file) == crc) {
            return;
        }
        // JavaCPP's own locks: another process or thread may be unpacking the right file.
        synchronized (Runtime.getRuntime()) {
            try (FileOutputStream lock = new FileOutputStream(cache.resolve(".lock").toFile());
                    FileChannel channel = lock.getChannel()) {
                channel.lock();
                if (Files.isRegularFile(file) && crc(file) != crc) {
                    Files.delete(file);
                }
            }
        }
    }

    private static long crc(Path file) throws IOException {
        CRC32 sum = new CRC32();
        try (InputStream in = new CheckedInputStream(Files.newInputStream(file), sum)) {
            in.transferTo(OutputStream.nullOutputStream());
        }
        return sum.getValue();
    }

    /**
     * Compares the constants that the Java code was compiled with with those of the loaded library,
     * whose table of names ends with null.
     *
     * @param reader may read the constants, whose package may be exported to the caller alone
     * @param constants the class that has them as fields
     * @param javaName the field for a name of the table; null: it has none
     * @param names the name in a row of the table
     * @param values the value in a row of the table
     * @return what differs, or null
     */
    public String layoutDifference(
            MethodHandles.Lookup reader,
            Class<?> constants,
            UnaryOperator<String> javaName,
            IntFunction<BytePointer> names,
            IntToLongFunction values) {
        int compared = 0;
        for (int row = 0; ; row++) {
            BytePointer text = names.apply(row);
            if (text == null || text.isNull()) {
                break;
            }
            String inC = text.getString();
            String field = javaName.apply(inC);
            if (field == null) {
                continue;
            }
            try {
                VarHandle constant = reader.unreflectVarHandle(constants.getField(field));
                long inJava = (long) constant.get();
                if (inJava != values.applyAsLong(row)) {
                    return ("layout constant %s is %s in the native library %s and %s in Java: the"
                                    + " jars and the library are of different builds")
                            .formatted(inC, values.applyAsLong(row), name, inJava);
                }
            } catch (ReflectiveOperationException e) {
                return "layout constant %s of the native library %s is unknown to Java"
                        .formatted(inC, name);
            }
            compared++;
        }
        return compared > 0 ? null : "the native library " + name + " has no table of its layout";
    }
}
