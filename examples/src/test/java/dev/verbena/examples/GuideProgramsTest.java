package dev.verbena.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The whole programs in the guides are those of this module, which other tests run. */
class GuideProgramsTest {
    @ParameterizedTest
    @CsvSource({"contract.md, SendReceive", "portals.md, PortalsMailbox", "ugni.md, UgniNotify"})
    void shouldShowAWholeProgramThatIsTested(String page, String example) throws IOException {
        String guide = Files.readString(Path.of("../docs", page));
        Path source = Path.of("src/main/java/dev/verbena/examples", example + ".java");
        assertThat(guide).contains("```java\n" + Files.readString(source) + "```\n");
        assertThat(guide).contains("(../examples/" + source + ")");
    }

    @Test
    void shouldNameEveryProgramInAGuide() throws IOException {
        String guides = "";
        try (Stream<Path> pages = Files.list(Path.of("../docs"))) {
            for (Path page : pages.filter(p -> p.toString().endsWith(".md")).toList()) {
                guides += Files.readString(page);
            }
        }
        try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
            for (Path source : sources.filter(p -> p.toString().endsWith(".java")).toList()) {
                if (Files.readString(source).contains("static void main(")) {
                    String name = source.getFileName().toString().replace(".java", "");
                    assertThat(guides).as("the guides name %s", name).contains(name);
                }
            }
        }
    }
}
