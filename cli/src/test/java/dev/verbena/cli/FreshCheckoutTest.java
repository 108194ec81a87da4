package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The script where nothing is built, or where what is built is another user's. */
@Timeout(60)
class FreshCheckoutTest {
    @TempDir private Path folder;
    private Path checkout;

    @BeforeEach
    void copy() throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        checkout = Files.createDirectory(folder.resolve("checkout"));
        Path home = Bash.CI.getParent();
        Files.createDirectory(checkout.resolve("ci"));
        Files.createDirectory(checkout.resolve("docs"));
        Files.copy(home.resolve("verbena"), checkout.resolve("verbena"));
        Files.copy(home.resolve("docs/cli.md"), checkout.resolve("docs/cli.md"));
        for (String script : new String[] {"build.sh", "edits.sh", "setup.sh"}) {
            Files.copy(Bash.CI.resolve(script), checkout.resolve("ci/" + script));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--help", "-h", "help"})
    void shouldNameTheCommandsWithoutBuilding(String word) throws Exception {
        Bash help = Bash.run(folder, "COLUMNS=60 checkout/verbena " + word);
        assertThat(help.code()).isZero();
        assertThat(help.text())
                .startsWith("usage: ./verbena COMMAND")
                .contains("  demo: ", "  doctor: machine check", "docs/README.md")
                .doesNotContain("](", "Building", "--spill");
        assertThat(help.text().lines()).allMatch(line -> line.length() <= 60);
        assertThat(checkout.resolve("target")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rping --help",
                "dart send --help",
                "help doctor",
                "lat -h",
                "help dart send"
            })
    void shouldSayWhatACommandDoesWithoutBuilding(String words) throws Exception {
        Bash help = Bash.run(folder, "COLUMNS=60 checkout/verbena " + words);
        assertThat(help.code()).isZero();
        String command = words.replaceAll("help |-.*", "").strip().split(" ")[0];
        assertThat(help.text())
                .contains("  " + command, "once something is built", "docs/cli.md")
                .doesNotContain("](", "Building", "usage:");
        assertThat(help.text().lines()).hasSizeLessThan(20);
        assertThat(checkout.resolve("target")).doesNotExist();
    }

    @Test
    void shouldSayWhoseBuildCannotBeRenewed() throws Exception {
        Path lib = Files.createDirectories(checkout.resolve("cli/target/dist/lib"));
        Path built = Files.createFile(lib.resolveSibling("built"));
        Files.setLastModifiedTime(built, FileTime.fromMillis(0));
        Files.createDirectories(checkout.resolve("cli/src"));
        Path target = Files.createDirectory(checkout.resolve("target"));
        Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("r-xr-xr-x"));
        String other = OtherUser.isRoot() ? String.join(" ", OtherUser.change()) + " " : "";
        Bash run = Bash.run(folder, other + "checkout/verbena version");
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.text())
                .contains("older than its sources", "may not build: ", " belongs to ", "git clone")
                .doesNotContain("Permission denied", "Missing Debian");
        assertThat(run.text().lines()).hasSize(2);
    }
}
