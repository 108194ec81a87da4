package dev.verbena.sinks.duckdb;

import dev.verbena.staging.sink.Sink;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Locale;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;

/**
 * Loads DuckDB's driver, and the classes that call it, again: here the driver finds its native
 * library unpacked in a cache. By itself it would unpack it into the temporary folder at each
 * start, and leave it there if its process is killed. One for each process, as a native library
 * belongs to one class loader.
 */
final class DriverLoader extends URLClassLoader {
    private static final String ENGINE = "dev.verbena.sinks.duckdb.engine.";
    private static final String DRIVER = "org.duckdb.";
    private static final String LIBRARY = "libduckdb_java.so";
    private static ClassLoader shared;

    private final Path library;

    private DriverLoader(URL[] places, ClassLoader parent, Path library) {
        super(places, parent);
        this.library = library;
    }

    static Sink engine(Path file, Path parquet) throws IOException {
        try {
            return (Sink)
                    shared().loadClass(ENGINE + "DuckDb")
                            .getConstructor(Path.class, Path.class)
                            .newInstance(file, parquet);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IOException(e);
        }
    }

    private static synchronized ClassLoader shared() throws IOException {
        if (shared == null) {
            shared = create(DriverLoader.class.getClassLoader());
        }
        return shared;
    }

    private static ClassLoader create(ClassLoader own) throws IOException {
        URL driver = own.getResource("org/duckdb/DuckDBDriver.class");
        if (driver == null || !(driver.openConnection() instanceof JarURLConnection connection)) {
            return own;
        }
        connection.setUseCaches(false);
        try (JarFile jar = connection.getJarFile()) {
            ZipEntry entry = jar.getEntry(LIBRARY + "_linux_" + architecture());
            Path cached = entry == null ? null : unpacked(jar, entry);
            URL classes = DriverLoader.class.getProtectionDomain().getCodeSource().getLocation();
            return cached == null
                    ? own
                    : new DriverLoader(
                            new URL[] {classes, connection.getJarFileURL()}, own, cached);
        }
    }

    private static String architecture() {
        String name = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        return List.of("amd64", "x86_64").contains(name) ? "amd64" : "arm64";
    }

    /** The library in the cache, named by its checksum; null: there can be no cache. */
    private static Path unpacked(JarFile jar, ZipEntry entry) {
        Path folder = cache().resolve("duckdb-" + Long.toHexString(entry.getCrc()));
        Path file = folder.resolve(LIBRARY);
        try {
            if (Files.exists(file) && Files.size(file) == entry.getSize()) {
                return file;
            }
            Files.createDirectories(folder);
            Path fresh = Files.createTempFile(folder, "unpacking", ".tmp");
            try (InputStream in = jar.getInputStream(entry)) {
                Files.copy(in, fresh, StandardCopyOption.REPLACE_EXISTING);
                Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(fresh);
            }
            return file;
        } catch (IOException e) {
            return null; // The driver unpacks it in its own way.
        }
    }

    private static Path cache() {
        String set = System.getProperty("verbena.cache");
        String user = System.getenv("XDG_CACHE_HOME");
        if (set != null) {
            return Path.of(set);
        }
        return user != null && user.startsWith("/")
                ? Path.of(user, "verbena")
                : Path.of(System.getProperty("user.home"), ".cache", "verbena");
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(ENGINE) && !name.startsWith(DRIVER)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? findClass(name) : loaded;
        }
    }

    /** The driver looks for its library here, first; what it does not find it does not unpack. */
    @Override
    public URL getResource(String name) {
        return name.startsWith(LIBRARY) ? null : super.getResource(name);
    }

    @Override
    protected String findLibrary(String name) {
        return name.equals("duckdb_java") ? library.toString() : null;
    }
}
