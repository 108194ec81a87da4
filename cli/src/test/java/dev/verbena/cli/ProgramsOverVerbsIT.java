package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The demo and {@code lat} over {@code verbs://}: each starts processes of its own. */
@Tag("verbs-device")
@Timeout(600)
class ProgramsOverVerbsIT {
    private static final int DEMO_SECONDS = 500;

    @TempDir private Path folder;

    @BeforeEach
    void find() {
        VerbsPrograms.here();
        assumeTrue(Boolean.getBoolean("verbena.long"), "takes long: -Dverbena.long=true runs it");
    }

    @Test
    void shouldMeasureWithAProcessThatItStarts() {
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said);
        int code =
                VerbenaCommand.run(
                        out,
                        out,
                        "lat",
                        "--transport=verbs",
                        "--op=send",
                        "--sleep",
                        "-n=20",
                        "--start-timeout=200");
        assertThat(code).as("%s", said).isZero();
        assertThat(said.toString()).contains("over verbs: verbs://").contains("GID index");
    }

    @Test
    void shouldRunTheDemo() throws Exception {
        try (CommandProcess demo =
                CommandProcess.start(
                        folder,
                        "demo",
                        "--transport=verbs",
                        "--ranks=1",
                        "--servers=1",
                        "--steps=8",
                        "--no-compare",
                        "--no-kill",
                        "--timeout=300",
                        "--output=" + folder.resolve("demo"))) {
            assertThat(demo.exitCode(DEMO_SECONDS)).as("%s", demo.out()).isZero();
            assertThat(demo.out()).contains("All checks passed");
        }
    }
}
