package dev.verbena.cli.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.cli.Run;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.ProgressLine;
import dev.verbena.nsim.dart.DartOutcome;
import dev.verbena.nsim.dart.DartSweep;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class SimCommandTest {
    @Test
    void shouldListScenarios() {
        Run run = Run.of("sim");
        assertThat(run.code()).isZero();
        assertThat(run.out()).contains("random-ring", "ring-barrier", "recursive-doubling");
    }

    @Test
    void shouldPrintWhatTheBarrierTakes() {
        String[] line = {"sim", "ring-barrier", "-n", "8", "--set", "topology=switch(8)"};
        Run run = Run.of(line);
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .contains("ring-barrier, 8 processes: the barrier takes 6.6024 us")
                .contains("switch(8), dma.bandwidth=0, node.overhead=800ns")
                .contains("trace ");
        assertThat(Run.of(line).out().replaceAll("in .* s,", ""))
                .isEqualTo(run.out().replaceAll("in .* s,", ""));
    }

    @Test
    void shouldPrintJsonPerRun() {
        Run run = Run.of("sim", "random-ring", "--processes", "4,8", "--bytes", "20000", "--json");
        assertThat(run.code()).isZero();
        assertThat(run.out().lines()).hasSize(2).allMatch(l -> l.startsWith("{\"scenario\""));
        assertThat(run.out()).contains("\"processes\": 8", "\"dma.bandwidth\": \"2.8e9\"");
    }

    @Test
    void shouldPrintNothingBehindJson(@TempDir Path folder) {
        String output = folder.resolve("report").toString();
        Run run = Run.of("sim", "random-ring", "-n", "4", "--json", "--output", output);
        assertThat(run.code()).isZero();
        assertThat(run.out().lines()).hasSize(1).allMatch(line -> line.endsWith("}"));
        assertThat(run.err()).contains("report: " + output);
    }

    @Test
    void shouldRunAFile(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("mine.scenario");
        Files.writeString(file, Run.of("sim", "ring-barrier", "--print").out());
        String[] line = {"sim", file.toString(), "-n", "8", "--set", "topology=switch(8)"};
        assertThat(Run.of(line).out())
                .contains("ring-barrier, 8 processes: the barrier takes 6.6024 us");
        Files.writeString(file, "set topology = switch(9)\nprogram\n    put 9\n");
        Run wrong = Run.of("sim", file.toString());
        assertThat(wrong.code()).isEqualTo(2);
        assertThat(wrong.err()).contains(file + ":3: put 9").contains("put TO, BYTES, TAG");
        Files.write(file, new byte[] {(byte) 0xff, 3});
        assertThat(Run.of("sim", file.toString()).err()).contains("is no text in UTF-8");
    }

    @Test
    void shouldGiveParametersToTheScenario() {
        String early = Run.of("sim", "particle-exchange", "-n", "8", "--bytes=9000").out();
        String[] line = {"sim", "particle-exchange", "-n", "8", "--bytes=9000", "--set", "late=1"};
        String late = Run.of(line).out();
        assertThat(late).doesNotContain(early.substring(early.indexOf("trace ")));
        String file = Run.of("sim", "particle-exchange-late", "-n", "8", "--bytes=9000").out();
        assertThat(file).contains(late.substring(late.indexOf("trace ")));
    }

    @Test
    void shouldWriteCurvesCablesAndATrace(@TempDir Path folder) throws Exception {
        Path output = folder.resolve("report");
        Path trace = folder.resolve("trace.csv");
        Run run =
                Run.of(
                        "sim",
                        "random-ring",
                        "--figure",
                        "--processes=4,8,64",
                        "--bytes=3000",
                        "--output=" + output,
                        "--trace=" + trace);
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).contains("16 nodes", "256 nodes", "busiest cable: ", "report: ");
        assertThat(Files.readString(output.resolve("report.html")))
                .contains("class=\"chart\"", "class=\"heat\"", "router 0 to ", "% busy");
        // 4 and 8 processes on both machines, 64 on the larger one.
        assertThat(Files.readAllLines(output.resolve("points.csv"))).hasSize(6);
        assertThat(Files.readAllLines(output.resolve("ranks.csv"))).hasSize(65);
        long sent =
                Files.readAllLines(output.resolve("links.csv")).stream()
                        .filter(line -> line.startsWith("node "))
                        .mapToLong(line -> Long.parseLong(line.split(",")[2]))
                        .sum();
        assertThat(Files.readAllLines(output.resolve("links.csv")).get(0))
                .endsWith("credit_stalls,wait_us,queue_mean,queue_max");
        assertThat(Files.readAllLines(output.resolve("series.csv"))).hasSizeGreaterThan(20);
        assertThat(Files.readString(output.resolve("report.html")))
                .contains("Use of cables over time", "busiest at the time");
        // What does not stay in a node, and a control packet of 16 bytes for each such put.
        assertThat(sent).isPositive().isLessThanOrEqualTo(64 * 2 * (3000 + 16));
        assertThat(Files.readAllLines(trace)).hasSize(1 + 2 * 2 * (4 + 8 + 4 + 8 + 64));
        assertThat(Files.readString(trace)).contains("256 nodes,64,", ",arrived,put,");
        assertThat(Run.of("sim", "ring-barrier", "--output=" + output).err())
                .contains("is not empty");
        assertThat(Run.of("sim", "ring-barrier", "--trace=" + trace).err()).contains("exists");
    }

    /** Puts go on when the processes that made them are at their end. */
    @Test
    void shouldSayOfNoCableThatItWasBusyForLongerThanTheRun(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("unfinished.scenario");
        Files.writeString(
                file, "program\n loop 10\n put (rank + 1) % p, 2MB, 0\n compute 1ns\n end\n");
        Path output = folder.resolve("report");
        Run run = Run.of("sim", file.toString(), "-n4", "--output=" + output);
        assertThat(run.code()).as(run.err()).isZero();
        String busiest = run.out().replaceFirst("(?s).*busiest cable: .*?, ([0-9.]+) %.*", "$1");
        assertThat(Double.parseDouble(busiest)).isBetween(50.0, 100.0);
        for (String line : Files.readAllLines(output.resolve("links.csv")).subList(1, 9)) {
            assertThat(Double.parseDouble(line.split(",")[5])).as(line).isBetween(0.5, 1.0);
        }
    }

    /** The same machine and program as the scenario that comes with the simulator. */
    @ParameterizedTest
    @ValueSource(
            strings = {"random-ring", "ring-barrier", "recursive-doubling", "particle-exchange"})
    void shouldHaveAnExampleOfEachProgram(String name) {
        String file = "../examples/scenarios/" + name + ".scenario";
        String[] more = {"-n", "12", "--bytes=3000", "--json"};
        String own = trace(Run.of(with(new String[] {"sim", name}, more)));
        assertThat(trace(Run.of(with(new String[] {"sim", file}, more)))).isEqualTo(own);
    }

    /**
     * Figure 3: packing, putting, and putting between nodes only, for both places of the barrier.
     */
    @Test
    void shouldShowPackingAndPuttingApart(@TempDir Path folder) throws Exception {
        Path output = folder.resolve("figure");
        Run run =
                Run.of(
                        "sim",
                        "particle-exchange",
                        "--figure",
                        "-n32",
                        "--bytes=9000",
                        "--output=" + output);
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out())
                .contains("pack (barrier before)", "put between nodes (barrier after)");
        List<String> lines = Files.readAllLines(output.resolve("points.csv"));
        assertThat(lines).hasSize(7);
        int curve = List.of(lines.get(0).split(",")).indexOf("curve");
        int value = List.of(lines.get(0).split(",")).indexOf("value");
        Map<String, Double> values = new HashMap<>();
        for (String line : lines.subList(1, 7)) {
            String[] cells = line.split(",(?=([^\"]*\"[^\"]*\")*[^\"]*$)");
            values.put(cells[curve], Double.parseDouble(cells[value]));
        }
        assertThat(values.get("pack (barrier before)"))
                .isPositive()
                .isEqualTo(values.get("pack (barrier after)"));
        assertThat(values.get("put between nodes (barrier before)"))
                .isPositive()
                .isLessThanOrEqualTo(values.get("put (barrier before)"));
    }

    @Test
    void shouldTakeALevelAndThreads() {
        String[] usual = {"sim", "random-ring", "-n", "16", "--bytes=20000", "--json"};
        String one = trace(Run.of(usual));
        assertThat(trace(Run.of(with(usual, "--threads=4")))).isEqualTo(one);
        assertThat(trace(Run.of(with(usual, "--level=packet")))).isEqualTo(one);
        Run messages = Run.of(with(usual, "--level=message"));
        assertThat(messages.out()).contains("\"level\": \"message\"");
        assertThat(trace(messages)).isNotEqualTo(one);
        String set = trace(Run.of(with(usual, "--set=level=message")));
        assertThat(trace(messages)).isEqualTo(set);
        Run both = Run.of(with(usual, "--threads=2", "--level=flit"));
        assertThat(both.code()).isEqualTo(2);
        assertThat(both.err()).contains("only the packet level can be divided");
    }

    private static String[] with(String[] line, String... more) {
        return Stream.concat(Arrays.stream(line), Arrays.stream(more)).toArray(String[]::new);
    }

    private static String trace(Run run) {
        assertThat(run.code()).as(run.err()).isZero();
        return run.out().replaceFirst("(?s).*\"trace\": \"([0-9a-f]{16})\".*", "$1");
    }

    /** Of a device that is always full, as the kernel has it. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void shouldSayThatTheDiskIsFull(@TempDir Path folder) throws Exception {
        Run traced = Run.of("sim", "ring-barrier", "-n8", "--trace=/dev/full");
        assertThat(traced.code()).isEqualTo(1);
        assertThat(traced.err())
                .contains("--trace /dev/full: No space left on device")
                .contains("incomplete")
                .doesNotContain("fault of Verbena");
        Path full = folder.resolve("full.csv");
        assertThatThrownBy(
                        () ->
                                OutputFolder.write(
                                        "--output",
                                        full,
                                        () ->
                                                Files.writeString(
                                                        Path.of("/dev/full"),
                                                        "text",
                                                        StandardOpenOption.WRITE)))
                .isInstanceOf(Messages.Failure.class)
                .hasMessageContaining(full + ": No space left on device");
    }

    @Test
    void shouldSayWhyItCannotWrite(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "of somebody");
        for (String place : new String[] {"file", "file/below"}) {
            Run run = Run.of("sim", "ring-barrier", "-n4", "--output=" + folder.resolve(place));
            assertThat(run.code()).isEqualTo(1);
            assertThat(run.err()).contains("--output " + folder.resolve(place)).contains("file");
            assertThat(run.out()).isEmpty();
        }
        Run run = Run.of("sim", "ring-barrier", "-n4", "--trace=" + folder.resolve("no/x.csv"));
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("there is no such file or folder");
        assertThat(Run.of("sim", "ring-barrier", "-n4", "--trace=" + folder).err())
                .contains("exists; choose another name");
        assertThat(Files.readString(file)).isEqualTo("of somebody");
        assertThatThrownBy(
                        () ->
                                OutputFolder.write(
                                        "--output",
                                        folder,
                                        () -> {
                                            throw new AccessDeniedException(folder.toString());
                                        }))
                .hasMessageContaining("--output " + folder)
                .hasMessageContaining("no permission");
    }

    @Test
    void shouldShowHowFarALongRunIs() {
        StringWriter text = new StringWriter();
        ProgressLine line = new ProgressLine(new PrintWriter(text, true));
        long second = 1_000_000_000L;
        SimCommand.progress(line, System.nanoTime()).onProgress(1, 4, 1000, 5_000_000);
        assertThat(text.toString()).isEmpty();
        SimCommand.progress(line, System.nanoTime() - 2 * second).onProgress(2, 4, 1000, 5_000_000);
        assertThat(text.toString()).contains("50 %", "2 of 4 puts", "5.0 us of virtual time");
    }

    @Test
    void shouldLeaveOutWhatCannotBeCompared(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("two-sided.scenario");
        Files.writeString(file, "program\n    isend (rank + 1) % p, 8, 0\n    recv any, 8, 0\n");
        Path tagged = folder.resolve("tagged.scenario");
        Files.writeString(tagged, "program\n    put (rank + 1) % p, 8, 536870912\n");
        String[] scenarios = {file.toString(), tagged.toString(), "particle-exchange"};
        Run run = Run.of(with(new String[] {"sim", "compare", "-n2"}, scenarios));
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err())
                .contains("left out: two-sided: sends, receives and calculations are known to the")
                .contains("left out: tagged: tag 536870912: ", "use a smaller tag")
                .contains("particle-exchange cannot have 2 processes")
                .contains("nothing is left to be compared");
    }

    @Test
    void shouldSayThatNoCurveGoesSoFar(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("a.scenario");
        Files.writeString(file, "curve a, to 4\ncurve b, to 8\nprogram\n    barrier\n");
        Path output = folder.resolve("report");
        String[] line = {"sim", file.toString(), "--figure", "-n", "16,32"};
        for (String[] each : new String[][] {line, with(line, "--output=" + output)}) {
            Run run = Run.of(each);
            assertThat(run.code()).isEqualTo(2);
            assertThat(run.err()).contains(" 16: no curve of a goes so far; the longest goes to 8");
            assertThat(run.out()).isEmpty();
        }
        assertThat(output).doesNotExist();
        assertThat(Run.of("sim", file.toString(), "--figure", "-n8,16").code()).isZero();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "put 1, 20480000, 0 | packet | dma.bandwidth=1 | 2",
                "put 1, 20480000, 0 | message | dma.bandwidth=1 | 2",
                "put 1, 20480000, 0 | packet | link.bandwidth=1 | 1",
                "put 1, 20480000, 0 | message | link.bandwidth=1 | 1",
                "compute 9000000000ms; compute 9000000000ms | packet | vc.buffer=2 | 1",
            })
    void shouldSayThatTheTimeIsOver(
            String program, String level, String setting, int perNode, @TempDir Path folder)
            throws Exception {
        Path file = folder.resolve("long.scenario");
        String rank0 = "\n    if rank = 0\n    " + program.replace("; ", "\n    ") + "\n    end\n";
        Files.writeString(file, "program" + rank0);
        String[] line = {"sim", file.toString(), "-n2", "--level=" + level, "--set=" + setting};
        Run run = Run.of(with(line, "--per-node=" + perNode));
        assertThat(run.code()).as(run.out()).isEqualTo(2);
        assertThat(run.err())
                .contains("the 106 days that can be simulated are over")
                .contains("shorten the computation or raise the bandwidth");
    }

    @Test
    void shouldPrintHowFarTheLevelsAreFromOneAnother() {
        Run run = Run.of("sim", "levels", "--cases", "10");
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .contains("verbena sim levels --cases 10", "| 50 % |", "| 100 % |", "and more");
    }

    @Test
    void shouldSayWhereTheTimeOfAStagingRunGoes() {
        Run run = Run.of("sim", "dart", "--nodes", "4", "--bytes", "10000", "--filled");
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .contains("4 nodes, 2 servers, 1 receivers: 16 messages, 160000 bytes")
                .contains("waiting to send", "pulled in", "receivers' lines");
        String[] flows = {"sim", "dart", "--nodes=4", "--bytes=10000", "--level=message"};
        assertThat(Run.of(flows).out())
                .contains("16 messages, 160000 bytes", "servers ready after", "network and streams")
                .doesNotContain(run.out().substring(run.out().indexOf("trace ")).strip());
        assertThat(Run.of("sim", "dart", "--level=wire").err())
                .contains("level=wire: 'wire' is none of packet");
        Run wrong = Run.of("sim", "dart", "--nodes", "0");
        assertThat(wrong.code()).isEqualTo(2);
        assertThat(wrong.err()).contains("nodes 0 is outside 1 to");
    }

    @Test
    void shouldSweepSeedsAndReplayOne() {
        Run run = Run.of("sim", "sweep", "--seeds", "5");
        assertThat(run.code()).isZero();
        assertThat(run.out()).contains("5 seeds, no promise broken");
        Run replay = Run.of("sim", "sweep", "--seed", "3");
        assertThat(replay.code()).isZero();
        assertThat(replay.out()).contains("servers=", "dart-master@server0: work", "trace ");
        assertThat(Run.of("sim", "sweep", "--seeds", "0").code()).isEqualTo(2);
    }

    /** No seed is known that breaks a promise; this is what would be said of one. */
    @Test
    void shouldSayOfAFindingWhatReplaysIt() {
        StringWriter text = new StringWriter();
        SimSweepCommand.tell(
                new PrintWriter(text, true),
                new DartSweep.Finding(3, "no end: x", "small", List.of("KILL server0"), 255),
                new DartOutcome("no end: x", 4095, 1_500_000, 2, 1),
                List.of("the last event"));
        assertThat(text.toString())
                .contains("seed 3: no end: x", "smallest: small", "fault: KILL server0")
                .contains("its trace: 00000000000000ff", "its trace: 0000000000000fff, 1.500 ms")
                .contains("servers=", "the last event", "verbena ", "Java ")
                .contains("replay: verbena sim sweep --seed 3");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sim pingpong | there is no scenario 'pingpong'; there are [random-ring",
                "sim ring-barier | did you mean 'ring-barrier'?",
                "sim ring-barrier --set node.overhed=1us | did you mean 'node.overhead'?",
                "sim ring-barrier --level mesage | level=mesage: 'mesage' is none of packet, message",
                "sim ring-barrier --level mesage | did you mean 'message'?",
                "sim ring-barrier --set dma=dupleks | dma=dupleks: 'dupleks' is none of duplex",
                "sim ring-barrier --threads 0 | --threads 0 is outside 1 to",
                "sim ring-barrier --threads 2 --trace t | --trace is written by one thread",
                "sim ring-barrier --threads 2 --events t | --events is written by one thread",
                "sim ring-barrier -n 0 | -n 0 is outside 1 to",
                "sim random-ring -n 1 | random-ring cannot have 1 processes",
                "sim no/such.scenario | there is no file no/such.scenario",
                "sim particle-exchange --set late=x | late=x: a parameter of particle-exchange is",
                "sim particle-exchange --set late | 'late' is not key=value; it is a parameter of",
                "sim ring-barrier --set packet.header=9000000 | packet.header is 9000000; at most",
                "sim ring-barrier --set nonsense=1 | there is no key 'nonsense'",
                "sim ring-barrier --set nonsense | is not key=value",
                "sim ring-barrier --set router.rc=4 | router.rc=4 is not understood",
                "sim ring-barrier --set vc.buffer=0 | vc.buffer is 0; at least 1",
                "sim ring-barrier --set topology=cube(3) | topology 'cube(3)' is not understood",
                "sim ring-barrier --set topology=torus(0) | a dimension of size 0",
                "sim ring-barrier -n 9 --set topology=torus(2,4) | need 9 nodes; torus(2,4) has 8",
                "sim ring-barrier --per-node 0 | --per-node 0 is less than 1",
                "sim compare -n1 | -n 1 is outside 2 to 64",
                "sim compare --repeat 0 | --repeat 0 is outside 1 to",
                "sim compare --transport fax | --transport fax: there is no such transport",
                "sim levels --cases 0 | --cases 0 is outside 1 to",
                "sim ring-barrier --bytes -1 | --bytes -1 is negative",
            })
    void shouldSayWhatIsWrong(String line, String expected) {
        Run run = Run.of(line.split(" "));
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains(expected);
    }
}
