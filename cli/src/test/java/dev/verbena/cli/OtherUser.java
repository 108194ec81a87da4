package dev.verbena.cli;

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

/**
 * A user of this machine beside the one who runs the tests, with a home and a copy of the programs
 * that it may read. Only root can start processes as another; for everybody else it is the same.
 */
final class OtherUser {
    private static final int NOBODY = 65534;

    private final Path home;
    private final String classPath;

    /** Prepares what the other user needs below a folder of the test. */
    OtherUser(Path folder) throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        home = Files.createDirectory(folder.resolve("home"));
        if (isRoot()) {
            Files.setAttribute(home, "unix:uid", NOBODY, LinkOption.NOFOLLOW_LINKS);
        }
        classPath = copyClassPath(folder);
    }

    static boolean isRoot() {
        try {
            return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** The command before a command that makes it the other user's. */
    static List<String> change() {
        return List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups");
    }

    /** Folder in which the other user may write. */
    Path home() {
        return home;
    }

    /** Runs the verbena command by this other command, which changes the user. */
    Process start(List<String> by, Path out, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(by);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classPath));
        command.add("-Djava.io.tmpdir=" + home);
        command.add(VerbenaCommand.class.getName());
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(home.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("VERBENA_"));
        return builder.redirectErrorStream(true).redirectOutput(out.toFile()).start();
    }

    /** Copies it to where another user may read it: Maven's own folder belongs to this one. */
    private static String copyClassPath(Path folder) throws IOException {
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
