package dev.verbena.cli.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.cli.Bash;
import dev.verbena.cli.VerbenaCommand;
import dev.verbena.cli.terminal.Messages;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code dart send} is about to send. */
@Timeout(60)
@Tag("once")
class SendItemsTest {
    @TempDir Path folder;
    private final List<String> faults = new ArrayList<>();

    private Path file(String name) throws Exception {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, name);
    }

    private List<String> names(Path... paths) throws Exception {
        return new SendItems(faults::add)
                .collect(List.of(paths)).stream().map(SendQueue.Item::name).toList();
    }

    @Test
    void shouldNameEachFileByItsPathBelowTheArgumentsFolder() throws Exception {
        file("run/a/x");
        Path single = file("other/x");
        assertThat(names(folder.resolve("run"), single))
                .containsExactlyInAnyOrder("run", "run/a", "run/a/x", "x");
        assertThat(faults).isEmpty();
    }

    @Test
    void shouldRefuseTwoSourcesWithOneName() throws Exception {
        Path one = file("run1/out.dat");
        Path two = file("run2/out.dat");
        assertThatThrownBy(() -> names(one, two))
                .isInstanceOf(Messages.Failure.class)
                .hasMessageContaining(one.toString())
                .hasMessageContaining(two.toString())
                .hasMessageContaining("nothing was sent");
        file("run1/sub/y");
        file("run2/sub/z");
        assertThatThrownBy(() -> names(folder.resolve("run1/sub"), folder.resolve("run2/sub")))
                .isInstanceOf(Messages.Failure.class);
        assertThat(names(one.getParent(), two.getParent())).hasSize(8);
    }

    @Test
    void shouldRefuseAnEmptyPath() {
        assertThatThrownBy(() -> names(Path.of("")))
                .isInstanceOf(Messages.Failure.class)
                .hasMessageContaining("an empty path");
    }

    /** As the script starts the command, in the locale of containers and batch jobs. */
    @ParameterizedTest
    @ValueSource(strings = {"LC_ALL=C", "LC_ALL=POSIX", "LANG=", "LC_CTYPE=C"})
    void shouldSendNamesThatAreNotAsciiInTheCLocale(String locale) throws Exception {
        file("naïve ☃");
        Bash send =
                Bash.run(
                        folder,
                        "unset LC_ALL LC_CTYPE LANG; export "
                                + locale
                                + ("; . '" + Bash.CI + "/setup.sh'; setup_locale; '")
                                + (System.getProperty("java.home")
                                        + "/bin/java' -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp '")
                                + (System.getProperty("java.class.path") + "' ")
                                + VerbenaCommand.class.getName()
                                + " dart send --timeout=1 --config=absent.conf naïve*");
        assertThat(send.text()).contains("not confirmed: naïve ☃").doesNotContain("left out");
    }

    /** Each byte would be the same replacement character, and one file would replace the other. */
    @Test
    void shouldLeaveOutByNameWhatHasNoText() throws Exception {
        file("bad/good");
        Process touch =
                new ProcessBuilder("bash", "-c", "touch bad/x$'\\xfe' bad/x$'\\xff'")
                        .directory(folder.toFile())
                        .start();
        assertThat(touch.waitFor()).isZero();
        assertThat(names(folder.resolve("bad"))).containsExactlyInAnyOrder("bad", "bad/good");
        assertThat(faults).hasSize(2).allMatch(fault -> fault.contains("left out"));
    }
}
