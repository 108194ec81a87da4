package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whatever refers to a decision, or links to a file, finds it; decisions are few and short. */
@Timeout(60)
class DecisionsTest {
    private static final Path ROOT = Path.of("..");
    private static final Path FOLDER = ROOT.resolve("docs").resolve("decisions");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#\\s]+)(?:#[^)]*)?\\)");
    private static final Pattern REFERENCE = Pattern.compile("[Dd]ecisions?[/ ]+(\\d{4})\\b");
    private static final Pattern SEARCHED =
            Pattern.compile(".*\\.(md|java|c|h|xml|sh|txt|html)|.*/ci/.*|[^.]*");
    private static final Set<String> LEFT_OUT = Set.of(".git", "target", "demo-output");

    /** Decisions by number. */
    private static TreeMap<String, Path> decisions() throws IOException {
        TreeMap<String, Path> found = new TreeMap<>();
        try (Stream<Path> files = Files.list(FOLDER)) {
            files.filter(file -> file.getFileName().toString().matches("\\d{4}-.*\\.md"))
                    .forEach(
                            file ->
                                    assertThat(found.put(number(file), file))
                                            .describedAs("a second file of this number")
                                            .isNull());
        }
        return found;
    }

    private static String number(Path file) {
        return file.getFileName().toString().substring(0, 4);
    }

    private static List<Path> searched() throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(
                ROOT,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes is) {
                        return LEFT_OUT.contains(folder.getFileName().toString())
                                ? FileVisitResult.SKIP_SUBTREE
                                : FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes is) {
                        if (SEARCHED.matcher(ROOT.relativize(file).toString()).matches()) {
                            found.add(file);
                        }
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path file, IOException gone) {
                        return FileVisitResult.CONTINUE;
                    }
                });
        return found;
    }

    private static String text(Path file) throws IOException {
        return Files.isRegularFile(file) ? Files.readString(file, StandardCharsets.ISO_8859_1) : "";
    }

    @Test
    void shouldFindWhatIsReferredToAndLinked() throws IOException {
        Set<String> numbers = decisions().keySet();
        TreeSet<String> wrong = new TreeSet<>();
        int references = 0;
        for (Path file : searched()) {
            String text = text(file);
            for (Matcher m = REFERENCE.matcher(text); m.find(); references++) {
                if (!numbers.contains(m.group(1))) {
                    wrong.add(file + ": " + m.group());
                }
            }
            if (!file.toString().endsWith(".md")) {
                continue;
            }
            for (Matcher m = LINK.matcher(text); m.find(); ) {
                String target = m.group(1);
                if (!target.contains(":") && !Files.exists(file.resolveSibling(target))) {
                    wrong.add(file + ": " + target);
                }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(references).isGreaterThan(30);
    }

    @Test
    void shouldBeListed() throws IOException {
        TreeSet<String> listed = new TreeSet<>();
        for (Matcher m = LINK.matcher(text(FOLDER.resolve("README.md"))); m.find(); ) {
            listed.add(m.group(1));
        }
        assertThat(decisions().values())
                .extracting(file -> file.getFileName().toString())
                .containsExactlyElementsOf(listed);
    }

    @Test
    void shouldBeFewAndShort() throws IOException {
        int files = 0;
        int words = 0;
        try (Stream<Path> folder = Files.list(FOLDER)) {
            for (Path file : folder.toList()) {
                files++;
                words += text(file).trim().split("\\s+").length;
            }
        }
        assertThat(files).isLessThanOrEqualTo(60);
        assertThat(words).isLessThanOrEqualTo(12_000);
    }
}
