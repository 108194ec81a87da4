package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** docs/architecture.md names classes that exist; the pages that people write are short. */
@Timeout(60)
class ArchitecturePageTest {
    private static final Path ROOT = Path.of("..");
    private static final Path DOCS = ROOT.resolve("docs");
    private static final Path PAGE = DOCS.resolve("architecture.md");
    private static final Set<String> LEFT_OUT = Set.of(".git", "target");

    /** A class, or a class and its member. */
    private static final Pattern NAME = Pattern.compile("`([A-Z]\\w*[a-z]\\w*)(?:\\.(\\w+))?");

    /** Programs write these. */
    private static final Set<String> GENERATED =
            Set.of("benchmarks.md", "conformance.md", "pyverbs.md", "troubleshooting.md");

    /** Pages of systems that came after November 2026's 26,000 words: each is bounded alone. */
    private static final Set<String> NEWER =
            Set.of(
                    "cluster.md",
                    "containers.md",
                    "flesnet.md",
                    "flesnet-experiments.md",
                    "nessie.md",
                    "nessie-arrays.md",
                    "nessie-xdr.md",
                    "performance.md",
                    "release.md",
                    "savime.md",
                    "savime-experiments.md",
                    "transport-auto.md",
                    "transport-ofi.md",
                    "tutorial.md",
                    "watch.md");

    private static Map<String, List<Path>> sources() throws IOException {
        Map<String, List<Path>> found = new HashMap<>();
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
                        String name = file.getFileName().toString();
                        if (name.endsWith(".java")) {
                            found.computeIfAbsent(
                                            name.replace(".java", ""), key -> new ArrayList<>())
                                    .add(file);
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

    private static boolean isThere(List<Path> files, String member) throws IOException {
        for (Path file : files) {
            if (member == null
                    || Pattern.compile("\\b" + member + "\\b")
                            .matcher(Files.readString(file))
                            .find()) {
                return true;
            }
        }
        return false;
    }

    private static int words(Path page) throws IOException {
        return Files.readString(page).trim().split("\\s+").length;
    }

    @Test
    void shouldNameOnlyClassesThatExist() throws IOException {
        Map<String, List<Path>> sources = sources();
        TreeSet<String> wrong = new TreeSet<>();
        int count = 0;
        Matcher name = NAME.matcher(Files.readString(PAGE));
        for (; name.find(); count++) {
            if (!isThere(sources.getOrDefault(name.group(1), List.of()), name.group(2))) {
                wrong.add(name.group().substring(1));
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(count).isGreaterThan(50);
        assertThat(words(PAGE)).isLessThanOrEqualTo(1_800);
    }

    @Test
    void shouldBeFewWords() throws IOException {
        int words = 0;
        try (Stream<Path> pages = Files.list(DOCS)) {
            for (Path page : pages.filter(p -> p.toString().endsWith(".md")).toList()) {
                String name = page.getFileName().toString();
                if (NEWER.contains(name)) {
                    assertThat(words(page)).as(name).isLessThanOrEqualTo(1_200);
                } else if (!GENERATED.contains(name)) {
                    words += words(page);
                }
            }
        }
        assertThat(words).isLessThanOrEqualTo(26_000);
    }
}
