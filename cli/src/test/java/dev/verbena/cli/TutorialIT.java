package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.HeldPort;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Every command of docs/tutorial.md, in one shell, from top to bottom. */
@Timeout(400)
class TutorialIT {
    @TempDir private Path folder;

    @Test
    void shouldDoWhatTheTutorialSays() throws Exception {
        List<String> page =
                Files.readAllLines(Bash.CI.resolveSibling("docs").resolve("tutorial.md"));
        try (HeldPort port = new HeldPort()) {
            String lines =
                    page.stream()
                            .filter(line -> line.startsWith("    "))
                            .map(line -> line.strip().replace("7000", "" + port.port()))
                            .collect(Collectors.joining("\n"));
            writeCommand();
            Bash done = Bash.run(folder, "set -e\n" + lines + "\n", 300);
            assertThat(done.text().lines().filter("same"::equals)).as(done.text()).hasSize(3);
            assertThat(done.code()).as(done.text()).isZero();
            assertThat(done.text())
                    .contains("dart master", "watching on http://127.0.0.1:", "more.txt")
                    .contains("All checks passed");
            assertThat(folder.resolve("whole/report.html")).isNotEmptyFile();
        }
    }

    /** In place of the script, which would build. */
    private void writeCommand() throws Exception {
        Path command = folder.resolve("verbena");
        Files.writeString(
                command,
                "#!/bin/sh\nexec '%s/bin/java' -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.io.tmpdir='%s' -cp '%s' %s \"$@\"\n"
                        .formatted(
                                System.getProperty("java.home"),
                                System.getProperty("java.io.tmpdir"),
                                System.getProperty("java.class.path"),
                                VerbenaCommand.class.getName()));
        Files.setPosixFilePermissions(command, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
