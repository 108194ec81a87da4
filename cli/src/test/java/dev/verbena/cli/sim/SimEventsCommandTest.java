package dev.verbena.cli.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.Run;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class SimEventsCommandTest {
    private static final Pattern PRINTED =
            Pattern.compile("(\\d+) events in .* s, seed 1, trace ([0-9a-f]{16})");
    private static final Pattern READ =
            Pattern.compile("run (\\d), (\\d+) processes: (\\d+) events until .*, trace (\\w{16})");

    @TempDir private Path folder;

    private Run written(Path file, String... more) {
        String[] line = {"sim", "random-ring", "-n", "4,8", "--bytes=5000", "--events=" + file};
        Run run = Run.of(with(line, more));
        assertThat(run.code()).as(run.err()).isZero();
        return run;
    }

    private static Run read(Path file, String... more) {
        return Run.of(with(new String[] {"sim", "events", file.toString()}, more));
    }

    private static String[] with(String[] line, String... more) {
        String[] all = Arrays.copyOf(line, line.length + more.length);
        System.arraycopy(more, 0, all, line.length, more.length);
        return all;
    }

    /** A record for each event, and nothing but that: the number that the run printed follows. */
    @ParameterizedTest
    @ValueSource(strings = {"packet", "message", "flit"})
    void shouldFindTheTraceNumberOfEachRunAgain(String level) {
        Path file = folder.resolve("events");
        Matcher printed = PRINTED.matcher(written(file, "--level=" + level).out());
        Run summary = read(file, "--summary");
        assertThat(summary.code()).as(summary.err()).isZero();
        Matcher read = READ.matcher(summary.out());
        for (int run = 1; run <= 2; run++) {
            assertThat(printed.find()).isTrue();
            assertThat(read.find()).isTrue();
            assertThat(read.group(1)).isEqualTo("" + run);
            assertThat(read.group(2)).isEqualTo("" + 4 * run);
            assertThat(read.group(3)).isEqualTo(printed.group(1));
            assertThat(read.group(4)).isEqualTo(printed.group(2));
        }
        assertThat(read.find()).isFalse();
        assertThat(summary.out()).contains("  program ").doesNotContain("kind-");
    }

    @Test
    void shouldPrintEventsInTheirOrder() {
        Path file = folder.resolve("events");
        Matcher printed = PRINTED.matcher(written(file).out());
        assertThat(printed.find()).isTrue();
        List<String> lines = read(file).out().lines().toList();
        assertThat(lines.get(0)).isEqualTo("run,processes,time_ps,kind,target,source,argument");
        List<String> first = lines.stream().filter(l -> l.startsWith("1,4,")).toList();
        assertThat(first).hasSize(Integer.parseInt(printed.group(1)));
        assertThat(first).isSortedAccordingTo((a, b) -> Long.compare(time(a), time(b)));
        assertThat(first).anyMatch(l -> l.contains(",node 1,")).anyMatch(l -> l.contains("router"));
        long middle = time(first.get(first.size() / 2));
        List<String> part =
                read(file, "--from=" + middle, "--until=" + middle)
                        .out()
                        .lines()
                        .filter(l -> l.startsWith("1,4,"))
                        .toList();
        assertThat(part).isNotEmpty().allMatch(l -> time(l) == middle).isSubsetOf(first);
    }

    /** Of a country with digits of its own. */
    @Test
    void shouldPrintTheSameInEachLocale() {
        Path file = folder.resolve("events");
        written(file);
        String events = read(file).out();
        String summary = read(file, "--summary").out();
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag("ar-EG"));
            assertThat(read(file).out()).isEqualTo(events);
            assertThat(read(file, "--summary").out()).isEqualTo(summary);
        } finally {
            Locale.setDefault(before);
        }
    }

    private static long time(String line) {
        return Long.parseLong(line.split(",")[2]);
    }

    @Test
    void shouldRefuseWhatIsNoTraceOrNotWhole() throws Exception {
        Path file = folder.resolve("events");
        written(file);
        byte[] bytes = Files.readAllBytes(file);
        assertRefused(new byte[0], "holds no events of a simulation");
        assertRefused(Arrays.copyOf(bytes, 15), "holds no events of a simulation");
        assertRefused(Arrays.copyOf(bytes, bytes.length - 1), "ends in the middle of record");
        byte[] damaged = bytes.clone();
        damaged[SimEvents.HEADER + 32 + 24] = 77;
        assertRefused(damaged, "record 1 makes no sense");
        byte[] headless = bytes.clone();
        headless[SimEvents.HEADER + 24] = 1;
        assertRefused(headless, "record 0 makes no sense");
        assertThat(read(folder.resolve("none")).err()).contains("FILE " + folder.resolve("none"));
        assertThat(Run.of("sim", "ring-barrier", "--events=" + file).err()).contains("exists");
    }

    private void assertRefused(byte[] bytes, String expected) throws Exception {
        Path file = Files.write(folder.resolve("other"), bytes);
        Run run = read(file, "--summary");
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains(expected).doesNotContain("fault of Verbena");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void shouldSayThatTheDiskIsFull() {
        Run run = Run.of("sim", "random-ring", "-n8", "--trace=/dev/null", "--events=/dev/full");
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("--events /dev/full: No space left on device");
    }

    /** The latest events are those that say why. */
    @Test
    void shouldHaveTheEventsOfARunThatFailed() throws Exception {
        String program = "program\n  put (rank + 1) % p, 8, 0\n  poll 0\n  poll 1\n";
        Path scenario = Files.writeString(folder.resolve("stuck"), program);
        Path file = folder.resolve("events");
        Run run = Run.of("sim", scenario.toString(), "-n4", "--events=" + file);
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("nobody sends what it waits for");
        assertThat(read(file).out()).contains(",program,").contains("1,4,");
    }

    @Test
    void shouldRunNothingWhenALaterNumberOfProcessesIsWrong() {
        Path file = folder.resolve("events");
        Run run = Run.of("sim", "random-ring", "-n", "4,8,1", "--events=" + file);
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("cannot have 1 processes");
        assertThat(run.out()).isEmpty();
        assertThat(file).doesNotExist();
    }

    @Test
    void shouldKeepTheEventsOfRunsBeforeOneThatIsRefused() {
        Path file = folder.resolve("events");
        String torus = "--set=topology=torus(4,2)";
        String[] line = {"sim", "random-ring", torus, "--per-node=1", "-n"};
        Run run = Run.of(with(line, "4,8,16", "--events=" + file));
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("16 processes, 1 per node, need 16 nodes");
        assertThat(read(file, "--summary").out()).contains("run 1, 4 ").contains("run 2, 8 ");
        Path other = folder.resolve("other");
        assertThat(Run.of(with(line, "16", "--events=" + other)).code()).isEqualTo(2);
        assertThat(other).doesNotExist();
    }

    /** Without what the first try made, the second would be told that it exists. */
    @Test
    void shouldLeaveNothingOfSeveralOptionsInANewFolderWhenItIsRefused() {
        Path made = folder.resolve("made");
        String[] line = {
            "sim",
            "random-ring",
            "-n",
            "1",
            "--trace=" + made.resolve("trace"),
            "--events=" + made.resolve("events"),
            "--output=" + made.resolve("out")
        };
        for (int i = 0; i < 2; i++) {
            assertThat(Run.of(line).err()).contains("cannot have 1 processes");
            assertThat(made).doesNotExist();
        }
    }
}
