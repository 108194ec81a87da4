package dev.verbena.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.verbena.HeadlessBrowser;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** One trial of {@code verbena bench}: that it runs and what it writes, not what it finds. */
@Timeout(900)
@Tag("once")
class BenchCommandIT {
    private static final Path HOME = Path.of("..").toAbsolutePath().normalize();

    /** Every row of the table is a row of the other, each field as text. */
    private static final String SAME_ROWS =
            "import csv, json, sys\n"
                    + "rows = json.load(open('results.json'))['points']\n"
                    + "table = list(csv.DictReader(open('points.csv')))\n"
                    + "def text(v): return str(v).lower() if isinstance(v, bool) else str(v)\n"
                    + "def same(a, b):\n"
                    + "    return float(a) == b if type(b) in (int, float) else a == text(b)\n"
                    + "assert len(rows) == len(table), (len(rows), len(table))\n"
                    + "for row, line in zip(rows, table):\n"
                    + "    assert {k for k, v in line.items() if v} == set(row), (line, row)\n"
                    + "    assert all(same(line[k], row[k]) for k in row), (line, row)\n"
                    + "for row in rows: print(row['group'], row['series'], row['bytes'], sep=',')\n";

    // --long: two rounds, whose spread is reported, instead of one
    private static final int ROUNDS = Boolean.getBoolean("verbena.long") ? 2 : 1;

    @TempDir private Path folder;

    private record Run(int code, String out, String err) {}

    private static Run bench(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = new CommandLine(new BenchCommand());
        line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        line.setExecutionExceptionHandler(
                (error, at, result) -> {
                    at.getErr().println(error.getMessage());
                    return 1;
                });
        int code = line.execute(arguments);
        return new Run(code, out.toString(), err.toString());
    }

    private String output(String... command) throws Exception {
        Path file = folder.resolve("output.txt");
        Process process =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(file.toFile())
                        .start();
        int code = process.waitFor();
        String text = Files.readString(file);
        assertThat(code).as(text).isZero();
        return text;
    }

    @Test
    void shouldWriteAReportAndTheSameRowsAsJsonAndAsATable() throws Exception {
        Path written = folder.resolve("bench");
        Path page = copyOfThePage();
        Run run =
                bench(
                        "--page=" + page,
                        "--programs=" + programs(),
                        "--trial",
                        "--transport=shm",
                        "--sizes=8,4k",
                        "--rounds=" + ROUNDS,
                        "--output=" + written);
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out())
                .containsPattern("shm-put-lat +8 B +Verbena [0-9.,]+ ns")
                .contains(ROUNDS == 1 ? "One round" : "2 rounds. In ")
                .contains("page.md stays as it is: the figures of a trial mean nothing")
                .contains("written: ");
        assertThat(page).hasSameTextualContentAs(HOME.resolve("docs/benchmarks.md"));
        Files.copy(written.resolve("results.json"), folder.resolve("results.json"));
        Files.copy(written.resolve("points.csv"), folder.resolve("points.csv"));
        String rows = output("python3", "-c", SAME_ROWS);
        for (String group : List.of("shm-put-lat", "shm-send-lat", "shm-put-bw")) {
            for (String series : List.of(BenchPlan.OURS, BenchPlan.SOFTNIC)) {
                assertThat(rows).contains(group + "," + series + ",8", series + ",4096");
            }
        }
        requirePage(written.resolve("report.html"));
    }

    private Path copyOfThePage() throws IOException {
        return Files.copy(HOME.resolve("docs/benchmarks.md"), folder.resolve("page.md"));
    }

    @Test
    void shouldPutAllRowsIntoThePage() throws Exception {
        Path page = copyOfThePage();
        BenchProgram ours =
                BenchProgram.single(BenchPlan.OURS, BenchProgram.LATENCY, 8, List.of(saying(5)));
        BenchProgram other =
                BenchProgram.single(BenchPlan.LIMIT, BenchProgram.LATENCY, 8, List.of(saying(4)));
        BenchGroup group =
                new BenchGroup("shm-put-lat", "Put", BenchProgram.LATENCY, List.of(ours, other));
        group.turn(saying(80), 0, ms -> false);
        BenchCommand.putBench(page, new BenchReport(List.of(group), Map.of(), 1), "softnic-bench");
        assertThat(page)
                .content()
                .startsWith("# Benchmarks")
                .contains("| put-limit | 8 B put from Java", "## Settings")
                .containsOnlyOnce("## By length")
                .containsOnlyOnce("| shm-put-lat |")
                .contains("| shm-put-lat | 8 | 5.00 ns | plain C 4.00 ns: 1.25 | 80 |");
    }

    /** A table of a whole run is not replaced by one with fewer figures. */
    @Test
    void shouldLeaveThePageAsItIsWhenNoWholeRunWasMeasured() {
        assertThat(BenchCommand.whyPageStays(1, false, false)).isNull();
        assertThat(BenchCommand.whyPageStays(3, true, false)).startsWith("the run was ended early");
        assertThat(BenchCommand.whyPageStays(0, false, false)).startsWith("no round was finished");
        assertThat(BenchCommand.whyPageStays(1, false, true)).contains("a trial");
    }

    /** What was measured before is in the report; what the signal ended is not a failure. */
    @Test
    void shouldWriteTheReportWhenItIsEnded() throws Exception {
        Path log = folder.resolve("log.txt");
        Path written = folder.resolve("ended");
        Path page = copyOfThePage();
        List<String> command =
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        BenchCommand.class.getName(),
                        "--page=" + page,
                        "--programs=" + programs(),
                        "--trial",
                        "--transport=shm",
                        "--sizes=8",
                        "--rounds=1000",
                        "--output=" + written);
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start();
        try {
            while (process.isAlive() && !Files.readString(log).contains("round 2, ")) {
                process.waitFor(100, TimeUnit.MILLISECONDS);
            }
            process.destroy();
            assertThat(process.waitFor()).as(Files.readString(log)).isEqualTo(1);
        } finally {
            process.destroyForcibly();
        }
        assertThat(log)
                .content()
                .contains("round 2, ", "ended early", "page.md stays as it is", "written: ")
                .doesNotContainPattern("shm-[a-z-]+, .* is left out: ");
        assertThat(written.resolve("report.html")).content().contains("<h2>Put over shm://");
        assertThat(page).hasSameTextualContentAs(HOME.resolve("docs/benchmarks.md"));
    }

    /** Others carry what a call without arguments has: what NNTI puts before it, and its header. */
    @Test
    void shouldCompareCallsWithAsManyBytes() throws Exception {
        int bytes =
                constant("dev.verbena.nessie.nnti.Messages", "DATA_OFFSET")
                        + constant("dev.verbena.nessie.rpc.RpcMessage", "HEADER_LENGTH");
        Map<String, List<Contestant>> calls =
                new BenchPlan(
                                Path.of("softnic-bench"),
                                List.of("rpc"),
                                List.of(8),
                                BenchPlan.Effort.FULL)
                        .calls();
        assertThat(calls).containsOnlyKeys(BenchPlan.OURS, "gRPC", "Aeron IPC");
        for (String name : List.of("gRPC", "Aeron IPC")) {
            assertThat(calls.get(name))
                    .isNotEmpty()
                    .extracting(each -> each.command().contains(Integer.toString(bytes)))
                    .containsOnly(true);
        }
    }

    private static int constant(String type, String name) throws ReflectiveOperationException {
        Field field = Class.forName(type).getDeclaredField(name);
        field.setAccessible(true);
        return field.getInt(null);
    }

    private String programs() throws Exception {
        String bench = HOME.resolve("target/bench").toString();
        output("make", "-s", "-C", HOME + "/native/src/test/c", "BUILD=" + bench, "bench");
        return bench + "/softnic-bench";
    }

    private void requirePage(Path page) throws Exception {
        String text = Files.readString(page);
        assertThat(text)
                .contains("<svg class=\"chart\"", "p99.9 corrected", "name=\"viewport\"")
                .contains("prefers-color-scheme: dark", "@media print", "max-width: 640px")
                .doesNotContain("<script", "<link", "src=", "href=", "url(", "@import");
        Path browser = HeadlessBrowser.find();
        assumeThat(browser).as("Chromium").isNotNull();
        String elements = HeadlessBrowser.dump(browser, page, folder);
        assertThat(elements.split("<svg class=\"chart\"", -1)).hasSize(4);
        assertThat(elements).contains("<h2>Put over shm://");
    }

    @Test
    void shouldRefuseWrongOptions() {
        String programs = "--programs=none";
        assertThat(bench(programs, "--sizes=4").err()).contains("--sizes 4 is outside 8 to");
        assertThat(bench(programs, "--sizes=8,x").err()).contains("--sizes x: allowed are bytes");
        assertThat(bench(programs, "--transport=shm,pigeon").err())
                .contains("--transport pigeon is none of machine, rpc, ");
        assertThat(bench(programs, "--minutes=0").code()).isEqualTo(2);
        assertThat(bench(programs, "--page=" + folder.resolve("none/page.md")).err())
                .contains("page.md: no file that can be written; name an existing page");
    }

    /** The script runs once for all transports, and its own rounds stand for all. */
    @Test
    void shouldTakePerftestsFiguresFromOneRunOfItsComparison() throws Exception {
        String row = "| `%s`, %s | 64 | 150.0 | 75.0 | 165.0 | 1.10 (1.10 to 1.10) |\n";
        Path runs = folder.resolve("runs");
        String table = row.formatted("write_lat", "us") + row.formatted("write_bw", "MiB/s");
        List<BenchGroup> groups =
                BenchMachine.groups(
                        List.of("sh", "-c", "echo >>" + runs + "; printf %s \"$0\"", table));
        Contestant probe =
                new Contestant(
                        "probe", List.of("echo", "80"), Map.of(), Pattern.compile("(80)"), 1);
        for (int round = 0; round < 2; round++) {
            for (BenchGroup group : groups) {
                group.turn(probe, round, ms -> false);
            }
        }
        BenchGroup latency = groups.get(0);
        assertThat(latency.id()).isEqualTo("verbs-write-lat");
        assertThat(latency.series()).containsExactly(BenchPlan.OURS, "C twin", "perftest");
        assertThat(latency.samples(BenchPlan.OURS, 64, BenchProgram.LATENCY))
                .containsExactly(165_000.);
        assertThat(latency.ratio(BenchPlan.OURS, "C twin", 64)).isEqualTo(2.2);
        assertThat(groups.get(3).median("perftest", 64, BenchProgram.BANDWIDTH))
                .isCloseTo(0.157, within(0.001));
        assertThat(groups.get(1).series()).as("not in the table").isEmpty();
        assertThat(runs).content().hasLineCount(1);
    }

    /** A program that says how often it has been run. */
    private BenchProgram counting(String series, String script) {
        Contestant contestant =
                new Contestant(
                        series,
                        List.of("sh", "-c", script.replace("FILE", folder + "/" + series)),
                        Map.of(),
                        Pattern.compile("([0-9.]+)"),
                        1);
        return BenchProgram.single(series, BenchProgram.LATENCY, 8, List.of(contestant));
    }

    /** What is best for few bytes need not be for many. */
    @Test
    void shouldTakeTheBestSettingOfEachLength() throws Exception {
        BenchProgram program =
                BenchProgram.single(
                        "other",
                        BenchProgram.LATENCY,
                        Map.of(
                                8,
                                List.of(saying(5), saying(3)),
                                4096,
                                List.of(saying(7), saying(9))));
        for (int round = 0; round < 2; round++) {
            assertThat(program.run().run())
                    .extracting(BenchProgram.Reading::bytes, BenchProgram.Reading::value)
                    .containsExactlyInAnyOrder(tuple(8, 3.), tuple(4096, 7.));
        }
    }

    /** What peers and the twin in C print of single transfers is kept, in nanoseconds. */
    @Test
    void shouldKeepTheTailThatAProgramPrints() throws Exception {
        Contestant peer =
                new Contestant(
                        "peer",
                        List.of("echo", "p999Us\": 3.5; {\"us\":2, \"p999CorrectedNs\":4000}"),
                        Map.of(),
                        Pattern.compile("\"us\":([0-9.]+)"),
                        1e3);
        BenchProgram program = BenchProgram.single("peer", BenchProgram.LATENCY, 8, List.of(peer));
        assertThat(program.run().run())
                .extracting(BenchProgram.Reading::figure, BenchProgram.Reading::value)
                .containsExactly(
                        tuple("ns", 2000.),
                        tuple("p999Ns", 3500.),
                        tuple("p999CorrectedNs", 4000.));
        String twin =
                "{\"op\":\"put_lat\",\"impl\":\"softnic\",\"size\":8,\"metric\":\"ns\",\"value\":90,"
                        + "\"p999Ns\":150.5}";
        Map<String, String> series = Map.of("softnic", BenchPlan.SOFTNIC);
        assertThat(BenchProgram.readings(twin, "twin", BenchProgram.softnic(series)))
                .extracting(BenchProgram.Reading::figure, BenchProgram.Reading::value)
                .containsExactly(tuple("ns", 90.), tuple("p999Ns", 150.5));
    }

    private static BenchGroup latency(BenchProgram... programs) {
        return new BenchGroup("group", "Title", BenchProgram.LATENCY, List.of(programs));
    }

    /** One that failed in the second round has one figure, of which no spread is known. */
    @Test
    void shouldMarkRoundsThatDifferBesideAProgramWithOneFigure() throws Exception {
        BenchGroup group =
                latency(
                        counting(BenchPlan.OURS, "echo x >>FILE; wc -l <FILE"),
                        counting("once", "rm FILE.no 2>/dev/null || exit 1; echo 2"));
        Files.createFile(folder.resolve("once.no"));
        for (int round = 0; round < 3; round++) {
            group.turn(saying(80), round, ms -> false);
        }
        BenchReport report = new BenchReport(List.of(group), Map.of(), 3);
        report.write(folder, Map.of());
        assertThat(report.trust()).startsWith("3 rounds. In 1 of 1 rows");
        assertThat(report.table()).contains("| noisy |");
        assertThat(folder.resolve("report.html")).content().contains(">100 %<", ">noisy<");
    }

    /** A probe that fails ends the run; the rounds before are in the report. */
    @Test
    void shouldWriteTheReportWhenAProbeFails() throws Exception {
        Path program = folder.resolve("softnic-bench");
        String script =
                """
                #!/bin/sh
                case "$*" in *"--ms 10") echo x >>FOLDER/probes;; esac
                test $(wc -l <FOLDER/probes) -lt COUNT || { echo broken; exit 3; }
                echo '{"impl":"limit","size":8,"metric":"ns","value":40}'
                """;
        for (int count : new int[] {6, 2}) {
            Files.deleteIfExists(folder.resolve("probes"));
            String text = script.replace("FOLDER", folder.toString());
            Files.writeString(program, text.replace("COUNT", Integer.toString(count)));
            assertThat(program.toFile().setExecutable(true)).isTrue();
            Path written = folder.resolve("failed" + count);
            Run run =
                    bench(
                            "--programs=" + program,
                            "--trial",
                            "--transport=machine",
                            "--sizes=8",
                            "--output=" + written);
            assertThat(run.code()).isEqualTo(1);
            assertThat(run.out() + run.err()).contains("exit code 3, no figure in: broken");
            assertThat(run.out().contains("round 2 failed: plain C: ")).isEqualTo(count == 6);
            assertThat(run.out().contains("ended early")).isEqualTo(count == 6);
            assertThat(Files.exists(written.resolve("report.html"))).isEqualTo(count == 6);
        }
    }

    private static Contestant saying(int value) {
        List<String> command = List.of("echo", Integer.toString(value));
        return new Contestant("says", command, Map.of(), Pattern.compile("([0-9.]+)"), 1);
    }

    @Test
    void shouldMarkRoundsThatDifferAndGoOnWithoutAProgramThatFails()
            throws IOException, InterruptedException {
        BenchGroup group =
                latency(
                        counting(BenchPlan.OURS, "echo x >>FILE; wc -l <FILE"),
                        counting("steady", "echo 2"),
                        counting("absent", "no_such_program"));
        Contestant probe =
                new Contestant(
                        "probe", List.of("echo", "80"), Map.of(), Pattern.compile("(80)"), 1);
        for (int round = 0; round < 3; round++) {
            group.turn(probe, round, ms -> false);
        }
        assertThat(group.samples(BenchPlan.OURS, 8, BenchProgram.LATENCY))
                .containsExactly(1., 2., 3.);
        assertThat(group.ratio(BenchPlan.OURS, "steady", 8)).isEqualTo(1);
        assertThat(group.spread(BenchPlan.OURS, 8)).isEqualTo(1);
        assertThat(group.isNoisy(BenchPlan.OURS, 8)).isTrue();
        assertThat(group.isNoisy("steady", 8)).isFalse();
        assertThat(group.failures()).containsOnlyKeys("absent");
        BenchReport report = new BenchReport(List.of(group), Map.of("gni://", "no"), 3);
        assertThat(report.trust()).startsWith("3 rounds. In 1 of 1 rows").contains("noisy");
        assertThat(new BenchReport(List.of(group), Map.of(), 0).trust())
                .startsWith("No round was finished");
        report.write(folder, Map.of());
        assertThat(folder.resolve("report.html"))
                .content()
                .contains("no_such_program is not installed", "gni://", ">noisy<");
    }
}
