package dev.verbena.jmh;

import dev.verbena.cli.terminal.ThisMachine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * Measures every ratio that the project promises and writes docs/benchmarks.md. Arguments: the
 * checkout, the C twin's program, pairs for each comparison, and optionally names of comparisons.
 * Run by {@code ./verbena compare}.
 */
public final class CompareMain {
    private final Contestants contestants;
    private final List<Comparison> comparisons;

    CompareMain(String bench) {
        contestants = new Contestants(bench);
        comparisons = Comparisons.of(bench);
    }

    private static int pairs(String text) {
        if (!text.matches("[1-9][0-9]{0,3}")) {
            System.err.println(text + " is no number of pairs; for example: ./verbena compare 10");
            System.exit(2);
        }
        return Integer.parseInt(text);
    }

    /** Runs. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length < 3) {
            System.err.println("arguments: CHECKOUT SOFTNIC_BENCH PAIRS [NAME...]");
            System.exit(2);
        }
        List<String> all = Arrays.asList(arguments);
        if (all.contains("--list") || all.contains("--help") || all.contains("-h")) {
            new CompareMain(arguments[1]).list();
            return;
        }
        int pairs = pairs(arguments[2]);
        List<String> wanted = all.subList(3, all.size());
        Path page = Path.of(arguments[0]).resolve("docs/benchmarks.md");
        CompareMain main = new CompareMain(arguments[1]);
        int put = main.run(pairs, wanted, page);
        System.out.println(said(page, pairs, put));
        if (isKept(pairs) && put == 0) {
            System.exit(1);
        }
    }

    /** What became of the page. */
    private static String said(Path page, int pairs, int put) {
        if (!isKept(pairs)) {
            return "%s stays as it is: it needs %s pairs".formatted(page, Comparison.VERDICT_PAIRS);
        }
        return put == 0
                ? page + " stays as it is: no new row for it; the reasons are above"
                : "wrote " + page;
    }

    /** Too few pairs are a trial, which takes no figures away. */
    static boolean isKept(int pairs) {
        return pairs >= Comparison.VERDICT_PAIRS;
    }

    private void list() {
        System.out.println(
                "./verbena compare [PAIRS [NAME...]], PAIRS 10 unless given; ofi stands for all"
                        + " that begin with ofi-; names:");
        for (Comparison comparison : comparisons) {
            System.out.printf("  %-20s %s%n", comparison.id, comparison.sentence);
        }
    }

    /**
     * The page is written after each comparison, so that a run that is ended keeps its rows.
     *
     * @return how many comparisons put a row into the page
     */
    int run(int pairs, List<String> wanted, Path page) throws IOException, InterruptedException {
        for (String name : wanted) {
            if (comparisons.stream().noneMatch(comparison -> comparison.isNamed(name))) {
                System.err.println(
                        "%s is no comparison; there are %s"
                                .formatted(
                                        name, comparisons.stream().map(each -> each.id).toList()));
                System.exit(2);
            }
        }
        Contestant probe = contestants.c("line", "limit", 8).scaled(2);
        List<Comparison> chosen =
                comparisons.stream()
                        .filter(each -> wanted.isEmpty() || wanted.stream().anyMatch(each::isNamed))
                        .toList();
        for (Comparison comparison : chosen) {
            if (comparison.needs(Contestants.UCX) && !ThisMachine.isOnPath(Contestants.UCX)) {
                System.out.printf(
                        "%s is left out: no %s on the PATH (package ucx-utils)%n",
                        comparison.id, Contestants.UCX);
            }
        }
        int put = 0;
        for (Comparison comparison : chosen) {
            if (!comparison.needs(Contestants.UCX) || ThisMachine.isOnPath(Contestants.UCX)) {
                comparison.choose();
                take(comparison, probe, pairs);
                comparison.rows().forEach(System.out::println);
                if (isKept(pairs) && put(comparison, page)) {
                    put++;
                }
            }
        }
        return put;
    }

    /** False: the page stays as it is. */
    private boolean put(Comparison comparison, Path page) throws IOException {
        List<String> ids = comparisons.stream().map(each -> each.id).toList();
        ComparePage measured = ComparePage.read(page);
        boolean isPut =
                measured.put(
                        Surroundings.line(),
                        comparison.id,
                        comparison.rows(),
                        comparison.settings());
        if (isPut) {
            Files.writeString(page, measured.text(ids));
        }
        return isPut;
    }

    static void take(Comparison comparison, Contestant probe, int pairs)
            throws InterruptedException {
        for (int tried = 0; comparison.pairs() < pairs && tried < 2 * pairs; tried++) {
            int next = comparison.pairs() + 1;
            System.err.printf("\r%-14s pair %d of %d   ", comparison.id, next, pairs);
            comparison.takePair(probe, tried % 2 == 0);
            if (comparison.pairs() == 0 && tried == 2 && !comparison.failure().isEmpty()) {
                break;
            }
        }
        System.err.println();
        if (!comparison.told().isEmpty()) {
            System.err.println(comparison.told());
        }
    }
}
