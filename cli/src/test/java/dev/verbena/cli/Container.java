package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * What a rootless container with default settings is to a program, without a container engine: a
 * mount namespace in which /dev/shm has 64 MiB, no privilege and no way to one, another user than
 * root, and a system-call filter ({@code src/test/c/container-filter.c}).
 */
final class Container {
    private static final int NOBODY = 65534;

    private final Path folder;
    private final boolean isRoot;
    private final Path filter;
    private final String classPath;

    private Container(Path folder) throws Exception {
        this.folder = folder;
        isRoot = Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
        filter = folder.resolve("container-filter");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.createDirectory(folder.resolve("home"));
        own(folder.resolve("home"));
        run(
                "gcc",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-o",
                filter.toString(),
                Path.of("src/test/c/container-filter.c").toAbsolutePath().toString());
        classPath = copyClassPath();
    }

    /**
     * Prepares one in a folder of the test; skips the test where the kernel lets nobody make mount
     * namespaces.
     */
    static Container in(Path folder) throws Exception {
        Container container = new Container(folder);
        List<String> attempt = new ArrayList<>(container.namespace());
        attempt.add("true");
        Path log = folder.resolve("attempt.txt");
        Process process =
                new ProcessBuilder(attempt)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start();
        boolean isEnded = process.waitFor(30, TimeUnit.SECONDS);
        Assumptions.assumeTrue(
                isEnded && process.exitValue() == 0,
                "no mount namespace may be made here: " + Files.readString(log).strip());
        return container;
    }

    /** Folder in which the container's user may write. */
    Path home() {
        return folder.resolve("home");
    }

    private List<String> namespace() {
        List<String> command = new ArrayList<>(List.of("unshare", "--propagation", "private"));
        command.addAll(isRoot ? List.of("--mount") : List.of("--mount", "--map-root-user"));
        command.addAll(
                List.of(
                        "sh",
                        "-c",
                        "mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm && exec \"$@\"",
                        "container"));
        if (isRoot) {
            command.addAll(
                    List.of(
                            "setpriv",
                            "--reuid=" + NOBODY,
                            "--regid=" + NOBODY,
                            "--clear-groups",
                            "--inh-caps=-all",
                            "--bounding-set=-all",
                            "--no-new-privs"));
        }
        return command;
    }

    /** Runs the verbena command in it. */
    Process start(Path out, String... arguments) throws IOException {
        List<String> command = namespace();
        command.addAll(List.of("env", "HOME=" + home(), filter.toString()));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:+UseSerialGC", "-cp", classPath));
        command.add("-Djava.io.tmpdir=" + home());
        command.add(VerbenaCommand.class.getName());
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(home().toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("VERBENA_"));
        return builder.redirectErrorStream(true).redirectOutput(out.toFile()).start();
    }

    private static void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).inheritIO().start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as("%s", List.of(command)).isZero();
    }

    private void own(Path path) throws IOException {
        if (isRoot) {
            Files.setAttribute(path, "unix:uid", NOBODY, LinkOption.NOFOLLOW_LINKS);
        }
    }

    /** Copies it to where another user may read it: Maven's own folder belongs to this one. */
    private String copyClassPath() throws IOException {
        List<String> copies = new ArrayList<>();
        Path lib = Files.createDirectory(folder.resolve("lib"));
        Files.setPosixFilePermissions(lib, PosixFilePermissions.fromString("rwxr-xr-x"));
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path from = Path.of(entry);
            Path to = lib.resolve(copies.size() + "-" + from.getFileName());
            if (Files.isDirectory(from)) {
                copyTree(from, to);
            } else if (Files.exists(from)) {
                Files.copy(from, to);
                Files.setPosixFilePermissions(to, PosixFilePermissions.fromString("rw-r--r--"));
            }
            copies.add(to.toString());
        }
        return String.join(File.pathSeparator, copies);
    }

    private static void copyTree(Path from, Path to) throws IOException {
        Files.walkFileTree(
                from,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(
                            Path directory, BasicFileAttributes attributes) throws IOException {
                        Path made = to.resolve(from.relativize(directory).toString());
                        Files.createDirectory(made);
                        Files.setPosixFilePermissions(
                                made, PosixFilePermissions.fromString("rwxr-xr-x"));
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                            throws IOException {
                        Path copy = to.resolve(from.relativize(file).toString());
                        Files.copy(file, copy);
                        Files.setPosixFilePermissions(
                                copy, PosixFilePermissions.fromString("rwxr-xr-x"));
                        return FileVisitResult.CONTINUE;
                    }
                });
    }
}
