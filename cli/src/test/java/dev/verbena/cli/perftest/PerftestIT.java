package dev.verbena.cli.perftest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code lat} and {@code bw} over a device: with perftest's programs at the other end, both ways
 * round, and among themselves, where every byte of the last message is compared.
 */
@Tag("verbs-device")
@Timeout(180)
class PerftestIT {
    private VerbsPrograms programs;

    @BeforeEach
    void find() {
        programs = VerbsPrograms.here();
    }

    private List<String> ours(String line) {
        return VerbsPrograms.plus(
                List.of(line.split(" ")), "-d", programs.device, "-x", "" + programs.gidIndex);
    }

    // --long: every measurement beside perftest, instead of some each day
    private static void assumeTurn(String line, int days) {
        long day = line.hashCode() + LocalDate.now(ZoneOffset.UTC).toEpochDay();
        boolean isToday = day % days == 0;
        assumeTrue(isToday || Boolean.getBoolean("verbena.long"), "the turn of the others today");
    }

    /** The same measurement of perftest. */
    private List<String> theirs(String line) {
        String[] words = line.split(" ", 3);
        List<String> program = List.of("ib_" + words[1] + "_" + words[0], "-F");
        List<String> command =
                VerbsPrograms.plus(program, "-d", programs.device, "-x", "" + programs.gidIndex);
        return words.length < 3 ? command : VerbsPrograms.plus(command, words[2].split(" "));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "lat write -s 64 -n 300",
                "lat read -s 4096 -n 100 -e",
                "lat send -s 2 -n 700",
                "lat atomic -n 100",
                "bw write -s 1000 -n 300",
                "bw read -s 512 -n 300 --report_gbits",
                "bw send -s 1000 -n 700 -q 2",
                "bw atomic -n 300",
                "bw write -b -s 1000 -n 300 -q 2",
                "bw send -b -s 1000 -n 600 -e",
            })
    void shouldMeasureWithPerftest(String line) throws Exception {
        assumeTurn(line, 2);
        VerbsPrograms.Both client = programs.ourClient(theirs(line), ours(line)).assertWell();
        assertThat(client.client().text()).contains("the other side is perftest");
        VerbsPrograms.Both server = programs.ourServer(ours(line), theirs(line)).assertWell();
        assertThat(server.server().text()).contains("the other side is perftest");
        if (line.startsWith("bw")) {
            assertThat(server.server().text()).containsPattern("\n \\d+ +\\d+ +\\d+\\.\\d\\d ");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "lat send -s 100 -n 50 -c UD",
                "lat write -s 100 -n 50 -c UC",
                "bw send -s 1000 -n 100 -c UC",
                "bw send -s 64 -n 700 -c UD",
            })
    void shouldMeasureWithPerftestOverOtherConnections(String line) throws Exception {
        assumeTurn(line, 2);
        programs.ourClient(theirs(line), ours(line)).assertWell();
        programs.ourServer(ours(line), theirs(line)).assertWell();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bw write -D 3 -f 1 -s 64",
                "bw send -D 3 -f 1 -s 1000",
                "bw read -b -s 2048 -n 200 -q 2",
                "bw atomic -b -n 200",
                "bw send -b -s 64 -n 300 -q 2 --report_gbits",
                "bw read -e -s 1000 -n 300",
                "lat atomic -n 50 -e",
            })
    void shouldMeasureWithPerftestInOtherWays(String line) throws Exception {
        assumeTurn(line, 3);
        programs.ourClient(theirs(line), ours(line)).assertWell();
        programs.ourServer(ours(line), theirs(line)).assertWell();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "lat write -D 3 -f 1 -s 64",
                "lat send -D 3 -f 1 -s 64",
                "lat read -D 3 -f 1 -s 64",
                "lat atomic -D 3 -f 1",
            })
    void shouldMeasureLatencyForATimeWithPerftest(String line) throws Exception {
        assumeTurn(line, 6);
        programs.ourClient(theirs(line), ours(line)).assertWell();
        programs.ourServer(ours(line), theirs(line)).assertWell();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bw write -R -s 1000 -n 300 -q 2",
                "bw send -R -b -s 1000 -n 300",
                "bw read -R -s 500 -n 300",
                "bw atomic -R -n 100",
                "lat write -R -s 20 -n 50",
                "lat send -R -s 20 -n 50",
                "lat read -R -s 20 -n 50 -e",
                "lat atomic -R -n 50",
            })
    void shouldMeasureWithPerftestThroughRdmaCm(String line) throws Exception {
        assumeTurn(line, 4);
        programs.ourClient(theirs(line), ours(line)).assertWell();
        programs.ourServer(ours(line), theirs(line)).assertWell();
    }

    // --long: all lengths up to 8 MiB beside perftest
    @ParameterizedTest
    @ValueSource(strings = {"bw write -a -n 5", "bw send -a -n 5 -b"})
    void shouldMeasureEveryLengthWithPerftest(String line) throws Exception {
        assumeTrue(Boolean.getBoolean("verbena.long"), "with --long only");
        programs.ourClient(theirs(line), ours(line)).assertWell();
        programs.ourServer(ours(line), theirs(line)).assertWell();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "lat write -s 5000 -n 50",
                "lat send -s 333 -n 50 -I 16",
                "bw write -s 64 -n 300 -l 3 -t 3",
                "bw read -s 64 -n 300 -o 1",
                "bw send -s 70 -n 600 -q 2 -r 16 -Q 10",
                "bw send -b -s 700 -n 300 -q 2 -r 16 -e",
                "bw write -b -s 700 -n 300 -q 2",
                "bw read -b -D 3 -f 1 -s 700",
                "bw send -R -b -s 700 -n 300 -q 2 -e",
                "lat write -R -s 700 -n 50",
                "lat write -D 3 -f 1 -s 700",
            })
    void shouldCompareBytesAmongThemselves(String line) throws Exception {
        assumeTurn(line, 2);
        VerbsPrograms.Both both = programs.ours(ours(line), ours(line)).assertWell();
        assertThat(both.client().text()).contains("the other side is a Verbena");
    }

    @Test
    void shouldPrintJson() throws Exception {
        String line = "lat write -s 8 -n 20";
        VerbsPrograms.Both both =
                programs.ours(ours(line), VerbsPrograms.plus(ours(line), "--json")).assertWell();
        assertThat(both.client().text())
                .startsWith("{\"test_info\": {\"test\": \"WRITE_LAT\"")
                .containsPattern(
                        "\"results\": \\[\\{\"MsgSize\": 8, \"n_iterations\": 20, \"t_min\"");
    }
}
