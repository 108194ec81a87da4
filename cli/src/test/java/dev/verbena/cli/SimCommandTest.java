package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sim pingpong | there is no scenario 'pingpong'; there are [random-ring",
                "sim ring-barrier -n 0 | --processes 0 is outside 1 to",
                "sim random-ring -n 1 | a ring needs at least 2 processes",
                "sim ring-barrier --set nonsense=1 | there is no key 'nonsense'",
                "sim ring-barrier --set nonsense | is not key=value",
                "sim ring-barrier --set router.rc=4 | router.rc=4 is not understood",
                "sim ring-barrier --set vc.buffer=0 | vc.buffer is 0; at least 1",
                "sim ring-barrier --set topology=cube(3) | topology 'cube(3)' is not understood",
                "sim ring-barrier --set topology=torus(0) | a dimension of size 0",
                "sim ring-barrier -n 9 --set topology=torus(2,4) | need 9 nodes; torus(2,4) has 8",
                "sim ring-barrier --per-node 0 | 0 processes per node",
                "sim ring-barrier --bytes -1 | --bytes -1 is negative",
            })
    void shouldSayWhatIsWrong(String line, String expected) {
        Run run = Run.of(line.split(" "));
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains(expected);
    }
}
