package dev.verbena.nessie.xdr;

import dev.verbena.nessie.xdr.compiler.XdrCompiler;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Classes of a {@code .x} source, generated and compiled without a warning, and loaded. */
final class GeneratedXdr implements AutoCloseable {
    private static final String PACKAGE = "org.example.xdr";

    private final URLClassLoader loader;
    private final Map<String, String> files;

    private GeneratedXdr(URLClassLoader loader, Map<String, String> files) {
        this.loader = loader;
        this.files = files;
    }

    static GeneratedXdr compile(Path folder, String file, String source) throws IOException {
        return compile(
                folder, file, source, XdrCompiler.LENGTH_MAX_DEFAULT, XdrCompiler.DEPTH_DEFAULT);
    }

    static GeneratedXdr compile(Path folder, String file, String source, int max, int depth)
            throws IOException {
        Map<String, String> files =
                XdrCompiler.compile(file, source, new XdrCompiler.Options(PACKAGE, max, depth));
        Path sources = Files.createDirectories(folder.resolve("sources"));
        Path classes = Files.createDirectories(folder.resolve("classes"));
        List<Path> paths = new ArrayList<>();
        for (Map.Entry<String, String> each : files.entrySet()) {
            paths.add(Files.writeString(sources.resolve(each.getKey()), each.getValue()));
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            boolean isCompiled =
                    compiler.getTask(
                                    messages,
                                    manager,
                                    null,
                                    List.of(
                                            "-Xlint:all",
                                            "-Werror",
                                            "-Xdoclint:all,-missing",
                                            "-proc:none",
                                            "--release",
                                            "17",
                                            "-d",
                                            classes.toString(),
                                            "-cp",
                                            System.getProperty("java.class.path")),
                                    null,
                                    manager.getJavaFileObjectsFromPaths(paths))
                            .call();
            if (!isCompiled) {
                throw new AssertionError(messages + "\n" + source);
            }
        }
        URL[] urls = {classes.toUri().toURL()};
        return new GeneratedXdr(
                new URLClassLoader(urls, GeneratedXdr.class.getClassLoader()), files);
    }

    Map<String, String> files() {
        return files;
    }

    Class<?> type(String name) throws ClassNotFoundException {
        return Class.forName(PACKAGE + "." + name, true, loader);
    }

    /** A new object of a class. */
    XdrObject make(String name) {
        try {
            return (XdrObject) type(name).getConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** What an accessor returns. */
    static Object get(Object owner, String name) {
        try {
            return owner.getClass().getMethod(name).invoke(owner);
        } catch (ReflectiveOperationException e) {
            throw failure(e);
        }
    }

    /** Calls a setter. */
    static void set(Object owner, String name, Object value) {
        try {
            for (var method : owner.getClass().getMethods()) {
                if (method.getName().equals(name) && method.getParameterCount() == 1) {
                    method.invoke(owner, value);
                    return;
                }
            }
        } catch (ReflectiveOperationException e) {
            throw failure(e);
        }
        throw new AssertionError("no setter " + name + " in " + owner.getClass());
    }

    private static RuntimeException failure(ReflectiveOperationException e) {
        if (e.getCause() instanceof RuntimeException thrown) {
            return thrown;
        }
        throw new AssertionError(e);
    }

    @Override
    public void close() throws IOException {
        loader.close();
    }
}
