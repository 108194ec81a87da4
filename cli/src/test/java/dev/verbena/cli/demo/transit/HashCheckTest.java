package dev.verbena.cli.demo.transit;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class HashCheckTest {
    /** SHA-256 of "abc", and of nothing, as FIPS 180-4 and every sha256sum give them. */
    private static final String ABC =
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    private static final String NOTHING =
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    @TempDir private Path folder;
    private Path files;

    @BeforeEach
    void store() throws Exception {
        files = Files.createDirectories(folder.resolve("files"));
        Files.writeString(files.resolve("one.vpic"), "abc");
        Files.writeString(files.resolve("two.vpic"), "");
        Files.write(folder.resolve("sent-0.sha256"), List.of(ABC + "  one.vpic"));
        Files.write(folder.resolve("sent-1.sha256"), List.of(NOTHING + "  two.vpic"));
        Files.write(folder.resolve("other-0.sha256"), List.of(ABC + "  absent.vpic"));
    }

    private HashCheck check() {
        return HashCheck.of(folder, "sent", files);
    }

    @Test
    void shouldCountFilesThatAreAsTheyWereSent() {
        assertThat(check()).isEqualTo(new HashCheck(2, 2, List.of()));
        assertThat(check().check("x", 2).outcome()).isEqualTo(Check.Outcome.PASSED);
        assertThat(check().check("x", 3).outcome()).isEqualTo(Check.Outcome.FAILED);
    }

    @Test
    void shouldNoticeOneBitThatDiffers() throws Exception {
        Files.writeString(files.resolve("one.vpic"), "abb");
        assertThat(check().equalCount()).isEqualTo(1);
        Check found = check().check("x", 2);
        assertThat(found.outcome()).isEqualTo(Check.Outcome.FAILED);
        assertThat(found.detail()).contains("1 of 2", "one.vpic differs from what was sent");
    }

    @Test
    void shouldNameAFileThatIsNotThere() throws Exception {
        Files.delete(files.resolve("two.vpic"));
        assertThat(check().faults()).containsExactly("two.vpic was sent and is not there");
    }

    @Test
    void shouldNotLeaveTheFolderWhateverTheListSays() throws Exception {
        Files.write(folder.resolve("sent-0.sha256"), List.of(ABC + "  ../files/one.vpic", "short"));
        assertThat(check().expectedCount()).isEqualTo(3);
        assertThat(check().faults()).hasSize(1).first().asString().contains("'short'");
    }
}
