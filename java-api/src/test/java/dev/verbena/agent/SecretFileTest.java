package dev.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Secrets are read from files that are nobody else's. */
@Timeout(60)
class SecretFileTest {
    private static final String GOOD = "0123456789abcdef";

    @TempDir private Path folder;

    private Path file(String content, String permissions) throws IOException {
        Path file = Files.writeString(folder.resolve("secret"), content);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    }

    private static void assertRefused(Path file, String... why) {
        assertThatThrownBy(() -> SecretFile.read(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContainingAll(why);
    }

    @Test
    void shouldReadContentWithoutItsLineEnd() throws IOException {
        for (String end : new String[] {"", "\n", "\r\n"}) {
            assertThat(SecretFile.read(file(GOOD + end, "rw-------"))).asString().isEqualTo(GOOD);
        }
        assertThat(SecretFile.read(file(GOOD + "\n\n", "rw-------")))
                .asString()
                .isEqualTo(GOOD + "\n");
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("secret"));
        assertThat(SecretFile.read(link)).asString().isEqualTo(GOOD + "\n");
    }

    @Test
    void shouldRefuseFilesThatOthersMayTouch() throws IOException {
        for (String permissions :
                new String[] {"rw-r-----", "rw--w----", "rw----r--", "rw-----w-", "rwx--x---"}) {
            assertRefused(file(GOOD, permissions), permissions, "chmod 600");
        }
        assertThat(SecretFile.read(file(GOOD, "rw-------"))).hasSize(16);
    }

    @Test
    void shouldRefuseFilesOfAnotherUser() throws IOException {
        Path file = file(GOOD, "rw-------");
        boolean isRoot = Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
        assumeTrue(isRoot, "only root can give a file away");
        Files.setAttribute(file, "unix:uid", 65534);
        assertRefused(file, "belongs to user id 65534");
    }

    @Test
    void shouldRefuseWhatIsTooShortTooLongOrNoFile() throws IOException {
        assertRefused(file("123456789abcdef", "rw-------"), "16 to 4096 bytes");
        assertRefused(file("123456789abcdef\n", "rw-------"), "16 to 4096 bytes");
        assertRefused(file("x".repeat(4097), "rw-------"), "16 to 4096 bytes");
        assertThat(SecretFile.read(file("x".repeat(4096) + "\r\n", "rw-------"))).hasSize(4096);
        assertRefused(folder.resolve("absent"), "no such file", "openssl rand");
        assertRefused(folder, "not a regular file");
        assertRefused(Path.of("/dev/zero"), "not a regular file");
    }
}
