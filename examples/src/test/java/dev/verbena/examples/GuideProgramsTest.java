package dev.verbena.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the guides show of programs is in those of this module, which other tests run. */
class GuideProgramsTest {
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```\n", Pattern.DOTALL);

    @Test
    void shouldShowAWholeProgramThatIsTested() throws IOException {
        Path source = source("SendReceive");
        assertThat(guide("contract.md"))
                .contains("```java\n" + Files.readString(source) + "```\n")
                .contains("(../" + source.toString().replaceFirst("src", "examples/src") + ")");
    }

    @ParameterizedTest
    @CsvSource({"portals.md, PortalsMailbox", "ugni.md, UgniNotify"})
    void shouldShowPartsOfAProgramThatIsTested(String page, String example) throws IOException {
        Path source = source(example);
        String program = Files.readString(source);
        Matcher block = BLOCK.matcher(guide(page));
        assertThat(block.find()).isTrue();
        do {
            assertThat(program).contains(block.group(1));
        } while (block.find());
        assertThat(guide(page))
                .contains("(../" + source.toString().replaceFirst("src", "examples/src") + ")");
    }

    private static String guide(String page) throws IOException {
        return Files.readString(Path.of("../docs", page));
    }

    private static Path source(String example) {
        return Path.of("src/main/java/dev/verbena/examples", example + ".java");
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
