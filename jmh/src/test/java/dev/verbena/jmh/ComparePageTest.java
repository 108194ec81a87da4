package dev.verbena.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page of comparisons keeps what was not measured anew. */
class ComparePageTest {
    private static final List<String> IDS = List.of("first", "second", "third");

    @TempDir Path folder;

    private ComparePage reread(ComparePage page, List<String> ids) throws IOException {
        Path file = folder.resolve("page.md");
        Files.writeString(file, page.text(ids));
        return ComparePage.read(file);
    }

    @Test
    void shouldKeepRowsOfOtherEnvironmentsUnderTheirs() throws IOException {
        ComparePage page = ComparePage.read(folder.resolve("none.md"));
        page.put(
                "old machine.",
                "second",
                List.of("| second | x | near |", "| second | x | far |"),
                "| second | `a` | `b` |");
        page.put("old machine.", "first", List.of("| first | old |"), "| first | `o old` | `c` |");
        page = reread(page, IDS);
        page.put("new machine.", "first", List.of("| first | new |"), "| first | `o new` | `c` |");

        String text = reread(page, IDS).text(IDS);

        assertThat(text).doesNotContain("| first | old |").doesNotContain("`o old`");
        assertThat(text.indexOf("## Settings"))
                .isLessThan(text.indexOf("| first | `o new` | `c` |"));
        assertThat(text.indexOf("| first | `o new` | `c` |"))
                .isLessThan(text.indexOf("| second | `a` | `b` |"));
        assertThat(text.indexOf("Environment: old machine."))
                .isLessThan(text.indexOf("| second | x | near |\n| second | x | far |"));
        assertThat(text.indexOf("| second | x | far |"))
                .isLessThan(text.indexOf("Environment: new machine."));
        assertThat(text.indexOf("Environment: new machine."))
                .isLessThan(text.indexOf("| first | new |"));
        assertThat(text).contains("## What is not a ratio").containsOnlyOnce("| allocated per put");
    }

    @Test
    void shouldReplaceOnlyWhatBenchWrote() throws IOException {
        ComparePage page = ComparePage.read(folder.resolve("none.md"));
        page.put("machine.", "first", List.of("| first | 3 ns |"), "| first | `a` | `b` |");
        page.putBench("machine.", "2 rounds.", "| what |\n|---|\n| first | old |\n");
        page = reread(page, IDS);
        String before = page.text(IDS);
        page = reread(page, IDS);
        assertThat(page.text(IDS)).isEqualTo(before);
        page.putBench("machine.", "3 rounds.", "| what |\n|---|\n| first | new |\n");

        assertThat(reread(page, IDS).text(IDS))
                .contains(
                        "| first | 3 ns |",
                        "| first | `a` | `b` |",
                        "Environment: machine. 3 rounds.")
                .contains("| first | new |")
                .doesNotContain("| first | old |", "2 rounds");
    }

    @Test
    void shouldKeepFiguresWhereNoneCanBeMeasuredNow() throws IOException {
        assertThat(CompareMain.isKept(1)).isFalse();
        assertThat(CompareMain.isKept(10)).isTrue();
        ComparePage page = ComparePage.read(folder.resolve("none.md"));
        page.put("machine.", "first", List.of("| first | 3 ns |"), "| first | `a` | `b` |");
        page.put(
                "machine.",
                "first",
                List.of("| first | - | not measured: x is not installed |"),
                "| first | `a` | `b` |");

        assertThat(page.text(IDS)).contains("| first | 3 ns |").doesNotContain("not measured");
    }

    @Test
    void shouldReplaceRowsOfTheSamePlacementUnlessPairsAreTooFew() throws Exception {
        ComparePage page = ComparePage.read(folder.resolve("none.md"));
        List<String> old = List.of("| first | x | near (1 ns) | 1 |", "| first | x | far | 2 |");
        page.put("old machine.", "first", old, "| first | `o old` | `c` |");
        List<String> measured =
                List.of(
                        "| first | x | near (2 ns) | 3 |",
                        "| first | x | far | 4 | too few pairs |");
        page.put("new machine.", "first", measured, "| first | `o new` | `c` |");

        String text = page.text(IDS);

        assertThat(text).contains("| 2 |", "| 3 |").doesNotContain("| 1 |").doesNotContain("| 4 |");
        assertThat(text.indexOf("| 2 |")).isLessThan(text.indexOf("Environment: new machine."));

        // Of a row without a target, too.
        Comparison untargeted =
                new Comparison(
                        "second", "x", "ns", says(1), List.of(says(2)), Comparison.Bound.NONE, 0);
        untargeted.takePair(says(80), true);
        old = List.of("| second | x | near (80 ns), 10 pairs, 0 dropped | 5 |");
        page.put("old machine.", "second", old, "| second | `o old` | `c` |");
        page.put("new machine.", "second", untargeted.rows(), "| second | `o new` | `c` |");
        assertThat(page.text(IDS))
                .contains("10 pairs, 0 dropped | 5 |", "| second | `o old` | `c` |")
                .doesNotContain("1 pairs, ");
    }

    private static Contestant says(int value) {
        List<String> command = List.of("echo", Integer.toString(value));
        return new Contestant("says", command, Map.of(), Pattern.compile("([0-9]+)"), 1);
    }

    @Test
    void shouldSayNoLongerThatARowWasNotMeasuredOnceItIs() throws IOException {
        ComparePage page = ComparePage.read(folder.resolve("none.md"));
        page.put(
                "old machine.",
                "first",
                List.of("| first | x | - | - | - | - | - | not measured: no program |"),
                "| first | `o old` | `c` |");
        page = reread(page, IDS);
        assertThat(page.text(IDS)).contains("not measured: no program");
        page.put(
                "new machine.",
                "first",
                List.of("| first | x | near (2 ns) | 3 |", "| first | x | far (9 ns) | 4 |"),
                "| first | `o new` | `c` |");

        assertThat(page.text(IDS))
                .contains("| 3 |", "| 4 |")
                .doesNotContain("not measured", "old machine");
    }

    @Test
    void shouldCountTheComparisonsThatPutARow() throws Exception {
        Path page = folder.resolve("page.md");
        CompareMain main = new CompareMain(folder.resolve("no-programs/softnic-bench").toString());
        assertThat(main.run(10, List.of("put-c", "put-limit"), page)).isEqualTo(2);
        assertThat(page).content().contains("| put-c |", "not measured: ");
        String before = Files.readString(page);
        assertThat(main.run(10, List.of("put-c", "put-limit"), page)).isZero();
        assertThat(main.run(1, List.of("put-rate"), page)).isZero();
        assertThat(page).content().isEqualTo(before);
    }

    @Test
    void shouldLeaveOutEmptyTablesAndComparisonsThatAreNoMore() throws IOException {
        ComparePage page = ComparePage.read(folder.resolve("none.md"));
        page.put("old machine.", "first", List.of("| first | old |"), "| first | `o old` | `c` |");
        page.put("old machine.", "gone", List.of("| gone | x |"), "| gone | `o x` | `c` |");
        page.put("new machine.", "first", List.of("| first | new |"), "| first | `o new` | `c` |");

        String text = page.text(IDS);

        assertThat(text).doesNotContain("old machine").doesNotContain("| gone |");
    }

    @Test
    void shouldReadTheProjectsPageAsItIs() throws IOException {
        Path file = Path.of("../docs/benchmarks.md");
        String text = Files.readString(file);
        List<String> ids = Comparisons.of("softnic-bench").stream().map(each -> each.id).toList();

        assertThat(ids).isNotEmpty();
        assertThat(ComparePage.read(file).text(ids)).isEqualTo(text);
    }
}
