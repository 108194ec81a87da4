package dev.verbena.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.jmh.Comparison.Bound;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Others get the best of their settings, and the page says which. */
@Timeout(60)
class ComparisonTest {
    private static final Pattern NUMBER = Pattern.compile("value ([0-9.]+)");

    @TempDir private Path folder;

    /** A program that says what its variable is. */
    private static Contestant program(String name, String value) {
        return new Contestant(
                name,
                List.of("/bin/sh", "-c", "echo value $VALUE | cat"),
                Map.of("VALUE", value),
                NUMBER,
                1);
    }

    private static String rows(String unit, Bound bound) throws InterruptedException {
        Contestant absent = new Contestant("absent", List.of("/bin/false"), Map.of(), NUMBER, 1);
        Comparison comparison =
                new Comparison(
                        "id",
                        "sentence",
                        unit,
                        program("ours", "10"),
                        List.of(absent, program("slow", "30"), program("quick", "20")),
                        bound,
                        1);
        comparison.choose();
        comparison.takePair(program("probe", "100"), true);
        return comparison.rows() + comparison.settings();
    }

    @Test
    void shouldCompareWithTheBestSettingsOfTheOther() throws InterruptedException {
        assertThat(rows("ns", Bound.AT_MOST)).contains("20.000 ns (quick)", "| 0.50 |");
        assertThat(rows("GB/s", Bound.AT_LEAST)).contains("30.000 GB/s (slow)", "| 0.33 |");
    }

    private Comparison comparison(String ours, Bound bound) {
        return new Comparison(
                "id",
                "sentence",
                "ns",
                new Contestant("ours", List.of("/bin/sh", "-c", ours), Map.of(), NUMBER, 1),
                List.of(program("other", "20")),
                bound,
                1);
    }

    /** A program that fails at every second call, by a file that is there or not. */
    private String everySecondFails() {
        return "if rm FILE 2>/dev/null; then echo broken; exit 3; else touch FILE; echo value 10; fi"
                .replace("FILE", folder.resolve("called").toString());
    }

    @Test
    void shouldGiveNoVerdictWhereManyPairsFailed() throws InterruptedException {
        Comparison comparison = comparison(everySecondFails(), Bound.AT_MOST);
        CompareMain.take(comparison, program("probe", "100"), 10);
        assertThat(comparison.rows())
                .singleElement()
                .asString()
                .contains("10 pairs, 0 dropped, 9 failed |")
                .endsWith("| too many pairs failed |");
        assertThat(comparison.told())
                .isEqualTo(
                        "id: 9 of 19 pairs failed, the last: ours: exit code 3, no figure in: broken");
    }

    /** They belong to no placement. */
    @Test
    void shouldSayOnceHowManyPairsWereDroppedAndFailed() throws InterruptedException {
        Comparison comparison = comparison("echo value 10", Bound.AT_MOST);
        for (String probe : List.of("80", "340", "none")) {
            comparison.takePair(program("probe", probe), true);
        }
        List<String> rows = comparison.rows();
        assertThat(rows.get(0)).contains("| near (80 ns), 1 pairs, 0 dropped, 1 failed |");
        assertThat(rows.get(1)).contains("| far (340 ns), 1 pairs |");
    }

    @Test
    void shouldGiveAVerdictWhereFewPairsFailed() throws InterruptedException {
        Comparison comparison = comparison("echo value 10", Bound.AT_MOST);
        CompareMain.take(comparison, program("probe", "100"), 10);
        assertThat(comparison.told()).isEmpty();
        comparison.takePair(program("probe", "none"), true);
        assertThat(comparison.rows())
                .singleElement()
                .asString()
                .contains("10 pairs, 0 dropped, 1 failed |")
                .endsWith("| met |");
    }

    @Test
    void shouldSayHowEachSideWasRunWithoutPathsOfThisMachine() throws InterruptedException {
        assertThat(rows("ns", Bound.AT_MOST))
                .endsWith(
                        "| id | `VALUE=10 sh -c echo value $VALUE \\| cat`"
                                + " | `VALUE=20 sh -c echo value $VALUE \\| cat` |");
    }

    /** A collector option that only ours has would be no comparison. */
    @Test
    void shouldStartEveryJavaProgramWithTheSameCollector() {
        for (Comparison comparison : Comparisons.of("softnic-bench")) {
            if (comparison.settings().contains("Peer ")) {
                // Between two hosts the command line of each side has both programs.
                int programs = comparison.id.startsWith("ofi-") ? 4 : 2;
                assertThat(comparison.settings().split("UseSerialGC", -1)).hasSize(programs + 1);
            }
            assertThat(comparison.settings())
                    .as("UCX as it comes")
                    .doesNotContainPattern("-default \\|.*UCX_TLS");
        }
        assertThat(Comparisons.of("softnic-bench"))
                .extracting(each -> each.id)
                .contains("put-ucx-default", "put-jucx-default", "send-ucx-default");
    }

    @Test
    void shouldMeasureAllBetweenTwoHostsByOneName() {
        assertThat(Comparisons.of("/checkout/target/bench/softnic-bench"))
                .filteredOn(each -> each.isNamed("ofi"))
                .extracting(each -> each.id)
                .contains("ofi-send-c", "ofi-put-c", "ofi-bw-c", "ofi-put-jucx", "ofi-send-aeron");
        assertThat(Comparisons.of("/checkout/target/bench/softnic-bench"))
                .filteredOn(each -> each.isNamed("ofi"))
                .allSatisfy(
                        each ->
                                assertThat(each.settings())
                                        .contains("`two-hosts ")
                                        .doesNotContain("/checkout"));
    }

    @Test
    void shouldNameAProgramThatIsNotInstalled() {
        Contestant absent =
                new Contestant(
                        "peer",
                        List.of("bash", "-c", "no_such_program -x; true"),
                        Map.of(),
                        NUMBER,
                        1);
        assertThatThrownBy(absent::sample).hasMessage("peer: no_such_program is not installed");
    }
}
