import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Compiles edited sources of all modules in one go and puts the classes where Maven puts them: into the modules' folders, and those of
 * {@code src/main} into the jars that commands run from. Arguments: the class path, then sources as
 * {@code MODULE/src/main/java/PACKAGE/TYPE.java}, relative to the working folder. Writes nothing if a source does not compile.
 */
public final class CompileEdits extends ForwardingJavaFileManager<StandardJavaFileManager> {
    private static final Pattern SOURCE = Pattern.compile("(?:\\./)?([^/]+)/src/(main|test)/java/(.*)\\.java");
    private static final Pattern ARTIFACT = Pattern.compile("<artifactId>(verbena-(?!parent)[a-z]+)<");

    /** A class that the compiler wrote, and the source that it is of. */
    private record Output(String source, String name, ByteArrayOutputStream bytes) {}

    private final List<Output> outputs = new ArrayList<>();

    private CompileEdits(StandardJavaFileManager files) {
        super(files);
    }

    public static void main(String[] args) throws IOException {
        List<String> sources = Arrays.asList(args).subList(1, args.length);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> options =
                List.of("--release", "17", "-nowarn", "-Xlint:none", "-proc:none", "-implicit:none", "-parameters", "-g", "-cp", args[0]);
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
                CompileEdits edits = new CompileEdits(files)) {
            if (!compiler.getTask(null, edits, null, options, null, files.getJavaFileObjectsFromStrings(sources)).call()) {
                System.exit(1);
            }
            edits.place(sources);
        }
    }

    @Override
    public JavaFileObject getJavaFileForOutput(Location location, String name, JavaFileObject.Kind kind, FileObject source) {
        Output output = new Output(source.getName(), name.replace('.', '/') + ".class", new ByteArrayOutputStream());
        outputs.add(output);
        return new SimpleJavaFileObject(URI.create("memory:///" + output.name), kind) {
            @Override
            public OutputStream openOutputStream() {
                return output.bytes;
            }
        };
    }

    private static Matcher parts(String source) {
        Matcher matcher = SOURCE.matcher(source);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(source + " is no MODULE/src/KIND/java/PACKAGE/TYPE.java");
        }
        return matcher;
    }

    private static Path folder(Matcher source) {
        return Path.of(source.group(1), "target", source.group(2).equals("main") ? "classes" : "test-classes");
    }

    private void place(List<String> sources) throws IOException {
        Map<String, List<Path>> roots = new TreeMap<>();
        for (String source : sources) {
            Matcher parts = parts(source);
            List<Path> of = roots.computeIfAbsent(parts.group(1), module -> new ArrayList<>());
            if (parts.group(2).equals("main") && of.isEmpty()) {
                of.addAll(openJars(parts.group(1)));
            }
        }
        for (String source : sources) {
            Matcher parts = parts(source);
            for (Path root : rootsOf(parts, roots)) {
                removeClasses(root.resolve(parts.group(3)));
            }
        }
        for (Output output : outputs) {
            for (Path root : rootsOf(parts(output.source), roots)) {
                Path file = root.resolve(output.name);
                Files.createDirectories(file.getParent());
                Files.write(file, output.bytes.toByteArray());
            }
        }
        for (List<Path> jars : roots.values()) {
            for (Path jar : jars) {
                jar.getFileSystem().close();
            }
        }
    }

    /** The folder of the source's classes and, for those of {@code src/main}, the roots of the jars. */
    private static List<Path> rootsOf(Matcher source, Map<String, List<Path>> jars) {
        List<Path> roots = new ArrayList<>(List.of(folder(source)));
        if (source.group(2).equals("main")) {
            roots.addAll(jars.get(source.group(1)));
        }
        return roots;
    }

    /** Opens the jars of a module that commands run from; their roots. */
    private static List<Path> openJars(String module) throws IOException {
        List<Path> roots = new ArrayList<>();
        Matcher artifact = ARTIFACT.matcher(Files.readString(Path.of(module, "pom.xml")));
        for (String command : artifact.find() ? new String[] {"cli", "jmh"} : new String[0]) {
            Path lib = Path.of(command, "target", "dist", "lib");
            if (Files.isDirectory(lib)) {
                try (DirectoryStream<Path> jars = Files.newDirectoryStream(lib, artifact.group(1) + "-*.jar")) {
                    for (Path jar : jars) {
                        FileSystem system = FileSystems.newFileSystem(jar);
                        roots.add(system.getPath("/"));
                    }
                }
            }
        }
        return roots;
    }

    /** Removes the class of a type and those nested in it, some of which may be gone from its source. */
    private static void removeClasses(Path type) throws IOException {
        if (!Files.isDirectory(type.getParent())) {
            return;
        }
        String name = type.getFileName().toString();
        try (DirectoryStream<Path> classes =
                Files.newDirectoryStream(
                        type.getParent(),
                        file -> {
                            String found = file.getFileName().toString();
                            return found.equals(name + ".class") || found.startsWith(name + "$") && found.endsWith(".class");
                        })) {
            for (Path file : classes) {
                Files.delete(file);
            }
        }
    }
}
