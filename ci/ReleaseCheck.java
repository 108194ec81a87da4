import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Looks at what a release would publish: folders in the form of a Maven repository. {@code whole
 * FOLDER}: every artifact has what users of a repository expect. {@code equal FOLDER OTHER}: the
 * files that both have are the same bytes. {@code signed FOLDER}: every file has a signature, every
 * POM what Maven Central wants. Exit code 1 with what is wrong.
 */
public final class ReleaseCheck {
    private static final List<String> KINDS = List.of(".jar", "-sources.jar", "-javadoc.jar");
    private static final String SBOM = "-cyclonedx.json";
    private static final Pattern REFERENCE = Pattern.compile("\"purl\" : \"pkg:maven/([^@\"]+)@");
    private static final Pattern COMPONENTS =
            Pattern.compile("\"components\" : \\[(.*?)\\n  \\]", Pattern.DOTALL);

    private final List<String> wrong = new ArrayList<>();
    private final Path folder;

    private ReleaseCheck(Path folder) {
        this.folder = folder;
    }

    public static void main(String[] args) throws IOException {
        ReleaseCheck check = new ReleaseCheck(Path.of(args[1]));
        String well =
                switch (args[0]) {
                    case "whole" -> check.whole();
                    case "equal" -> check.equal(Path.of(args[2]));
                    case "signed" -> check.signed();
                    default -> throw new IllegalArgumentException(args[0]);
                };
        check.wrong.forEach(line -> System.out.println("   " + line));
        if (!check.wrong.isEmpty()) {
            System.exit(1);
        }
        System.out.println("   " + well);
    }

    /** By path below the folder; without sums and lists of versions, which a deployment makes. */
    private static Map<String, Path> files(Path folder) throws IOException {
        Map<String, Path> found = new TreeMap<>();
        try (Stream<Path> all = Files.walk(folder)) {
            all.filter(Files::isRegularFile)
                    .filter(f -> !f.toString().matches(".*(\\.(md5|sha\\d+)|maven-metadata.*)"))
                    .forEach(f -> found.put(folder.relativize(f).toString(), f));
        }
        return found;
    }

    private String whole() throws IOException {
        Map<String, Path> files = files(folder);
        int artifacts = 0;
        int jars = 0;
        TreeSet<String> libraries = new TreeSet<>();
        for (Map.Entry<String, Path> file : files.entrySet()) {
            if (file.getKey().endsWith(".pom")) {
                artifacts++;
                artifact(files, file.getKey(), Files.readString(file.getValue()), libraries);
            } else if (file.getKey().endsWith(".jar")) {
                jars++;
                jar(file.getKey(), file.getValue());
            }
        }
        if (artifacts < 4) {
            wrong.add(folder + ": only " + artifacts + " artifacts");
        }
        return artifacts
                + " artifacts, "
                + jars
                + " jars with licence and notice; sources, Javadoc and SBOM of each; in the SBOMs: "
                + String.join(" ", libraries);
    }

    private void artifact(
            Map<String, Path> files, String pom, String text, TreeSet<String> libraries)
            throws IOException {
        String stem = pom.substring(0, pom.length() - ".pom".length());
        if (!text.contains("<licenses>") && !text.contains("<parent>")) {
            wrong.add(pom + " has no licence");
        }
        requireOwn(pom, text, List.of("name", "description"));
        if (text.contains("-SNAPSHOT")) {
            wrong.add(pom + " names a snapshot");
        }
        if (text.contains("<packaging>pom</packaging>")) {
            return;
        }
        for (String kind : KINDS) {
            if (!files.containsKey(stem + kind)) {
                wrong.add(stem + kind + " is missing");
            }
        }
        Path sbom = files.get(stem + SBOM);
        if (sbom == null) {
            wrong.add(stem + SBOM + " is missing");
        } else {
            sbom(stem + SBOM, Files.readString(sbom), libraries);
        }
    }

    /** Every library in it, with a licence. */
    private void sbom(String name, String text, TreeSet<String> libraries) {
        Matcher components = COMPONENTS.matcher(text.substring(text.indexOf("\n  },") + 1));
        if (!components.find()) {
            wrong.add(name + " lists nothing");
            return;
        }
        for (String component : components.group(1).split("\\n    \\{")) {
            Matcher reference = REFERENCE.matcher(component);
            if (!reference.find()) {
                continue;
            }
            if (!component.contains("\"license\"") && !component.contains("\"expression\"")) {
                wrong.add(name + ": " + reference.group(1) + " has no licence");
            }
            if (!reference.group(1).startsWith("dev.verbena/")) {
                libraries.add(reference.group(1).replaceFirst(".*/", ""));
            }
        }
    }

    private void jar(String name, Path path) throws IOException {
        try (ZipFile jar = new ZipFile(path.toFile())) {
            boolean isOfTests = name.endsWith("-tests.jar") || name.endsWith("-javadoc.jar");
            for (String entry : List.of("META-INF/LICENSE", "META-INF/NOTICE")) {
                if (!isOfTests && jar.getEntry(entry) == null) {
                    wrong.add(name + " has no " + entry);
                }
            }
            if (name.matches(".*-linux-\\w+\\.jar")
                    && jar.stream().noneMatch(e -> e.getName().endsWith(".so"))) {
                wrong.add(name + " has no native library");
            }
            // What their generator copies from the headers of others is not ours to publish.
            if (name.endsWith("-sources.jar")
                    && jar.stream().anyMatch(e -> e.getName().matches(".*/bindings/.*\\.java"))) {
                wrong.add(name + " has generated bindings");
            }
        }
    }

    private String equal(Path other) throws IOException {
        Map<String, Path> mine = files(folder);
        Map<String, Path> others = files(other);
        int same = 0;
        for (Map.Entry<String, Path> file : mine.entrySet()) {
            Path twin = others.get(file.getKey());
            if (twin == null) {
                continue;
            }
            if (Files.mismatch(file.getValue(), twin) < 0) {
                same++;
            } else {
                wrong.add(file.getKey() + " differs" + difference(file.getValue(), twin));
            }
        }
        if (same + wrong.size() < others.size()) {
            wrong.add("the second build has files that the first has not");
        }
        if (same == 0) {
            wrong.add("nothing was compared");
        }
        return same + " files are the same bytes after two builds";
    }

    /** Which entries. */
    private static String difference(Path one, Path other) throws IOException {
        if (!one.toString().endsWith(".jar")) {
            return "";
        }
        TreeSet<String> names = new TreeSet<>();
        try (ZipFile a = new ZipFile(one.toFile());
                ZipFile b = new ZipFile(other.toFile())) {
            compare(a, b, names);
            compare(b, a, names);
        }
        return names.isEmpty() ? " in the order or the times of its entries" : " in " + names;
    }

    private static void compare(ZipFile one, ZipFile other, TreeSet<String> names)
            throws IOException {
        Enumeration<? extends ZipEntry> entries = one.entries();
        while (entries.hasMoreElements()) {
            ZipEntry entry = entries.nextElement();
            ZipEntry twin = other.getEntry(entry.getName());
            if (twin == null || !Arrays.equals(bytes(one, entry), bytes(other, twin))) {
                names.add(entry.getName());
            }
        }
    }

    private static byte[] bytes(ZipFile jar, ZipEntry entry) throws IOException {
        try (InputStream in = jar.getInputStream(entry)) {
            return in.readAllBytes();
        }
    }

    /** Elements of the project itself. */
    private void requireOwn(String pom, String text, List<String> elements) {
        for (String element : elements) {
            if (!text.matches("(?s).*<project .*<" + element + "\\b[^>]*>.*")) {
                wrong.add(pom + " has no " + element);
            }
        }
    }

    /** What Maven Central wants besides; others inherit it from the parent. */
    private void requireProject(String pom, String text) {
        if (!text.contains("<parent>")) {
            requireOwn(
                    pom,
                    text.replaceAll("(?s)<licenses>.*?</licenses>", ""),
                    List.of("url", "developers", "scm", "connection"));
        }
    }

    private String signed() throws IOException {
        Map<String, Path> files = files(folder);
        int count = 0;
        for (String name : files.keySet()) {
            if (name.endsWith(".pom")) {
                requireProject(name, Files.readString(files.get(name)));
            }
            if (name.endsWith(".asc")) {
                count++;
            } else if (!files.containsKey(name + ".asc")) {
                wrong.add(name + " has no signature");
            }
        }
        if (count == 0) {
            wrong.add("nothing is signed");
        }
        return count + " files are signed; POMs name page, repository and developer";
    }
}
