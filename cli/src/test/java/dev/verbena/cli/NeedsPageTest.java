package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** docs/needs.md has its 25 rows, and the tests that it names exist. */
@Timeout(60)
class NeedsPageTest {
    private static final Pattern NAME =
            Pattern.compile("`([A-Z]\\w+(?:Test|IT|Contract|Properties))(?:\\.(should\\w+))?`");

    private static Map<String, Path> sources() throws IOException {
        Map<String, Path> found = new HashMap<>();
        for (String module :
                List.of(
                        "native",
                        "java-api",
                        "portals-emul",
                        "gni-shim",
                        "ofi",
                        "staging",
                        "nsim",
                        "cli")) {
            collect(Path.of("..", module, "src", "test", "java"), found);
        }
        collect(Path.of("..", "examples", "src", "test", "java"), found);
        return found;
    }

    private static void collect(Path folder, Map<String, Path> found) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            files.filter(file -> file.toString().endsWith(".java"))
                    .forEach(
                            file ->
                                    found.put(
                                            file.getFileName().toString().replace(".java", ""),
                                            file));
        }
    }

    @Test
    void shouldNameOnlyTestsThatExist() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "needs.md"));
        assertThat(page.lines().filter(line -> line.matches("\\| \\d+ \\|.*"))).hasSize(25);
        Map<String, Path> sources = sources();
        TreeSet<String> wrong = new TreeSet<>();
        Matcher names = NAME.matcher(page);
        int count = 0;
        while (names.find()) {
            count++;
            Path source = sources.get(names.group(1));
            boolean isThere =
                    source != null
                            && (names.group(2) == null
                                    || Files.readString(source).contains(names.group(2) + "("));
            if (!isThere) {
                wrong.add(names.group());
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(count).isGreaterThan(25);
    }
}
