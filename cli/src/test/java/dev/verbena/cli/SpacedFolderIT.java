package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.Turns;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A checkout in a folder whose name has a space and an umlaut. */
@Timeout(240)
class SpacedFolderIT {
    @TempDir private Path folder;

    @ParameterizedTest
    @CsvSource({"portals, lib/libportals3.so.3", "gni, bin/gni-run"})
    void shouldInstallCLibrariesFromAFolderWithASpace(String library, String installed)
            throws Exception {
        Turns.assume(library, "portals", "gni");
        Path checkout = copyOf("verbena ci native/src/main portals-emul/src gni-shim/src");
        Bash bash = Bash.run(checkout, "./verbena " + library + " install PREFIX='a präfix'", 200);
        assertThat(bash.code()).as(bash.text()).isZero();
        assertThat(checkout.resolve("a präfix").resolve(installed)).isRegularFile();
        Bash left = Bash.run(checkout, "ls -d */src/main/c/[!a-z]* */src/main/c/*' '* 2>/dev/null");
        assertThat(left.text()).doesNotContain("präfix");
    }

    private Path copyOf(String paths) throws Exception {
        Path checkout = Files.createDirectories(folder.resolve("mein Käfig"));
        String copy =
                "cd '%s' && git ls-files -z %s | tar --null -T - -c | tar -x -C '%s'"
                        .formatted(Bash.CI.getParent(), paths, checkout);
        Bash copied = Bash.run(folder, copy);
        assertThat(copied.code()).as(copied.text()).isZero();
        return checkout;
    }

    // --long: generates and builds the bindings there, too, not only what they are linked with
    @Test
    void shouldBuildThere() throws Exception {
        Path checkout = copyOf(".mvn pom.xml '*/pom.xml' native/src");
        String phase = Boolean.getBoolean("verbena.long") ? "package" : "initialize";
        Bash bash = Bash.run(checkout, "mvn -o -B -ntp -pl native -DskipTests " + phase, 200);
        assertThat(bash.code()).as(bash.text()).isZero();
        assertThat(checkout.resolve("native/target/c/libsoftnic.a")).isRegularFile();
        assertThat(checkout.resolve("native/target/jni/libverbenajni.a")).isRegularFile();
    }

    /** Their make files name each file by its whole path. */
    @ParameterizedTest
    @ValueSource(
            strings = {"compare", "test", "test --only native/test_x", "commsplit", "mpi-hold x"})
    void shouldSayWhyItDoesNotRunThere(String command) throws Exception {
        Path checkout = copyOf("verbena ci");
        Bash bash = Bash.run(checkout, "./verbena " + command);
        assertThat(bash.code()).isEqualTo(1);
        assertThat(bash.text())
                .contains("mein Käfig", "has a space in its name", "move")
                .doesNotContain("Building");
        assertThat(checkout.resolve("target")).doesNotExist();
    }
}
