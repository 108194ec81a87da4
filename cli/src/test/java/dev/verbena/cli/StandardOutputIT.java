package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a command prints is stored, or the command fails. */
@Timeout(120)
class StandardOutputIT {
    @TempDir private Path folder;

    private Bash verbena(String line) throws Exception {
        return Bash.run(folder, line(line));
    }

    private static String line(String line) {
        String java = Path.of(System.getProperty("java.home"), "bin/java").toString();
        String command = " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp \"$VERBENA_CP\" ";
        return "export VERBENA_CP='"
                + System.getProperty("java.class.path")
                + "'; '"
                + java
                + "'"
                + command
                + VerbenaCommand.class.getName()
                + " "
                + line;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "version",
                "sim --help",
                "sim ring-barrier -n 4 --json",
                "lat --op=put --transport=shm --size 8 -n 100 --json",
            })
    void shouldFailWhenWhatItPrintsCannotBeStored(String line) throws Exception {
        Bash full = verbena(line + " >/dev/full");
        assertThat(full.code()).as(full.text()).isEqualTo(1);
        assertThat(full.text())
                .isEqualTo("verbena: standard output is incomplete: No space left on device\n");
    }

    /** A file that a JVM opens would get the number of a stream that is closed. */
    @Test
    void shouldOpenTheStreamsThatACallerClosed() throws Exception {
        String setup = ". '" + Bash.CI + "/setup.sh'; setup_streams; ";
        String look = "readlink /proc/$$/fd/[012] >found; echo lost";
        Files.writeString(folder.resolve("script"), setup + look);
        assertThat(Bash.run(folder, "bash script <&- >&- 2>&-").code()).isEqualTo(1);
        assertThat(folder.resolve("found")).hasContent("/dev/null\n".repeat(3));
    }

    @Test
    void shouldFoldErrorsToATerminalOnly() throws Exception {
        String wrong = "lat --transport nowhere";
        String whole = verbena(wrong).text();
        assertThat(whole.lines()).hasSize(2);
        String asked = Bash.run(folder, "export COLUMNS=40; " + line(wrong)).text();
        Run.assertFits(asked, 40, whole);
        String script = "stty cols 50; { " + line(wrong) + "; } >/dev/null";
        String quoted = "'" + script.replace("'", "'\\''") + "'";
        String terminal = "unset COLUMNS; script -qec " + quoted + " /dev/null </dev/null";
        Run.assertFits(Bash.run(folder, terminal).text(), 50, whole);
    }

    @Test
    void shouldEndSilentlyAsOthersDoWhenNobodyReadsOn() throws Exception {
        Bash closed = verbena("completion | head -c 1; echo \" ${PIPESTATUS[0]}\"");
        assertThat(closed.text()).startsWith("#").endsWith(" 141\n");
        Bash top = verbena("top --interval=0.1 | head -n 1; echo \" ${PIPESTATUS[0]}\"");
        assertThat(top.text()).startsWith("verbena top").endsWith(" 141\n");
    }
}
