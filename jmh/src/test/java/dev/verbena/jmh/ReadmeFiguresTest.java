package dev.verbena.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Figures of the README are rows of docs/benchmarks.md, and say which are missed. */
@Tag("once")
class ReadmeFiguresTest {
    private static final Path HOME = Path.of(System.getProperty("verbena.home", ".."));
    private static final Pattern RATIO = Pattern.compile("\\| (\\d+\\.\\d\\d) \\|$");
    private static final Pattern FIGURE =
            Pattern.compile("(\\d+(?:\\.\\d+)?) (ns|us|GB/s|M/s|M rows/s)");

    /** A measured figure, times in nanoseconds, and half of its last digit. */
    private record Figure(double value, double half, String unit) {
        static List<Figure> in(String cell) {
            List<Figure> all = new ArrayList<>();
            for (Matcher m = FIGURE.matcher(cell); m.find(); ) {
                double scale = m.group(2).equals("us") ? 1000 : 1;
                String unit = m.group(2).replace("us", "ns").replace("M rows/s", "M/s");
                double half = 0.5001 * Math.pow(10, -new BigDecimal(m.group(1)).scale());
                all.add(new Figure(scale * Double.parseDouble(m.group(1)), scale * half, unit));
            }
            return all;
        }

        boolean isRounded(Figure exact) {
            return unit.equals(exact.unit) && Math.abs(value - exact.value) <= half;
        }
    }

    private static boolean isOf(String[] row, String[] measured) {
        List<Figure> beside = Figure.in(row[3]);
        return row[4].equals(measured[6])
                && Figure.in(row[2]).get(0).isRounded(Figure.in(measured[4]).get(0))
                && beside.get(0).isRounded(Figure.in(measured[5]).get(0))
                && row[3].contains("missed") == measured[8].contains("missed");
    }

    private static String[] cells(String line) {
        return line.split(" *\\| *", -1);
    }

    @Test
    void shouldBeMeasuredRows() throws IOException {
        List<String[]> measured =
                Files.readAllLines(HOME.resolve("docs/benchmarks.md")).stream()
                        .filter(
                                line ->
                                        line.startsWith("| ")
                                                && line.matches(".*[0-9] pairs[, ].*"))
                        .map(ReadmeFiguresTest::cells)
                        .toList();
        List<String> rows =
                Files.readAllLines(HOME.resolve("README.md")).stream()
                        .filter(line -> RATIO.matcher(line).find())
                        .toList();
        assertThat(rows).hasSizeGreaterThan(10);
        assertThat(rows)
                .allSatisfy(
                        row ->
                                assertThat(measured)
                                        .as(row)
                                        .anyMatch(each -> isOf(cells(row), each)));
    }
}
