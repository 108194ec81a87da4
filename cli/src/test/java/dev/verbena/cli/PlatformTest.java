package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The script on systems that are not Linux; a uname of our own says which. */
@Timeout(60)
class PlatformTest {
    @TempDir private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"Darwin", "MINGW64_NT-10.0", "FreeBSD"})
    void shouldPrintOneContainerCommandElsewhere(String system) throws Exception {
        Path uname = folder.resolve("uname");
        Files.writeString(uname, "#!/bin/sh\necho " + system + "\n");
        Files.setPosixFilePermissions(uname, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path out = folder.resolve("out.txt");
        ProcessBuilder builder =
                new ProcessBuilder(
                        "bash", Path.of("../verbena").toAbsolutePath().toString(), "demo");
        builder.environment().compute("PATH", (name, path) -> folder + File.pathSeparator + path);
        Process process = builder.redirectErrorStream(true).redirectOutput(out.toFile()).start();
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(3);
        String text = Files.readString(out);
        assertThat(text).contains("this is " + system);
        assertThat(text.lines().filter(line -> line.contains("docker run")))
                .singleElement()
                .asString()
                .contains("--shm-size=1g", "docker build -q -f ci/Containerfile .", "demo");
        assertThat(Files.exists(Path.of("../ci/Containerfile"))).isTrue();
    }
}
