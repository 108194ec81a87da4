package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    private final OtherUser user;
    private final Path filter;

    private Container(Path folder) throws Exception {
        filter = folder.resolve("container-filter");
        user = new OtherUser(folder);
        run(
                "gcc",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-o",
                filter.toString(),
                Path.of("src/test/c/container-filter.c").toAbsolutePath().toString());
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
        return user.home();
    }

    private List<String> namespace() {
        List<String> command = new ArrayList<>(List.of("unshare", "--propagation", "private"));
        command.addAll(
                OtherUser.isRoot() ? List.of("--mount") : List.of("--mount", "--map-root-user"));
        command.addAll(
                List.of(
                        "sh",
                        "-c",
                        "mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm && exec \"$@\"",
                        "container"));
        if (OtherUser.isRoot()) {
            command.addAll(OtherUser.change());
            command.addAll(List.of("--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"));
        }
        return command;
    }

    /** Runs the verbena command in it. */
    Process start(Path out, String... arguments) throws IOException {
        List<String> command = namespace();
        command.addAll(List.of("env", "HOME=" + home(), filter.toString()));
        return user.start(command, out, arguments);
    }

    private static void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).inheritIO().start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as("%s", List.of(command)).isZero();
    }
}
