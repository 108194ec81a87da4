package dev.verbena.nsim.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.program.Program;
import dev.verbena.nsim.program.Rank;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Scenario files: what they can say, and what is said about wrong ones. */
@Timeout(60)
class ScenarioFileTest {
    private static SimulationResult run(Scenario scenario, int processes, ScenarioOptions options) {
        Machine machine = new Machine();
        scenario.prepare(machine, processes, options);
        return new Simulation(machine.topology(), machine.network())
                .processes(processes)
                .perNode(scenario.perNode())
                .run(scenario.program(processes, options));
    }

    private static SimulationResult run(Scenario scenario, int processes) {
        return run(scenario, processes, ScenarioOptions.DEFAULT);
    }

    @Test
    void shouldRunEachThatComesWithTheSimulator() {
        for (Scenario scenario : Scenarios.all()) {
            assertThat(scenario.description()).isNotBlank();
            assertThat(scenario.figure()).isNotEmpty();
            ScenarioOptions options = new ScenarioOptions(1, 3000);
            int processes = Math.min(12, scenario.figure().get(scenario.figure().size() - 1));
            SimulationResult result = run(scenario, processes, options);
            assertThat(scenario.measure().of(result)).isPositive();
            assertThat(scenario.measure().line(result)).contains(".");
            assertThat(result.putCount()).isGreaterThanOrEqualTo(processes);
            assertThat(run(scenario, processes, options).traceHash()).isEqualTo(result.traceHash());
        }
    }

    @Test
    void shouldShowOfACurveWhatItSays() {
        Scenario scenario =
                Scenario.parse(
                        "x.scenario",
                        """
                        shows    time
                        param    long = 1
                        curve    all of it, to 8: long=2
                        curve    work, to 4, shows computing: long=2
                        curve    the rest, shows communicating
                        program
                            compute 1ms * long
                            barrier
                        """);
        assertThat(scenario.curves())
                .extracting(Curve::measure)
                .containsExactly(Measure.TIME, Measure.COMPUTING, Measure.COMMUNICATING);
        assertThat(scenario.curves().get(1))
                .isEqualTo(new Curve("work", 4, Measure.COMPUTING, List.of("long=2")));
        SimulationResult result = run(scenario, 4);
        double all = Measure.TIME.of(result);
        double work = Measure.COMPUTING.of(result);
        assertThat(work).isEqualTo(1);
        assertThat(Measure.COMMUNICATING.of(result)).isEqualTo(all - work).isPositive();
        assertThat(Measure.COMMUNICATING.line(result)).contains("besides computing");
        assertThatThrownBy(
                        () ->
                                Scenario.parse(
                                        "x.scenario",
                                        "shows barrier\ncurve a, shows time\nprogram\n barrier"))
                .hasMessageContaining("curve a shows ms, and scenario x shows us");
    }

    @Test
    void shouldRecordWhatTheSameProgramInJavaRecords() {
        String text =
                """
                says     all that a file can say
                set      node.overhead = 300ns
                set      topology = torus({p / 2},2)
                param    rounds = 3
                bytes    2 * 1KiB + 1

                program
                    let h = put (rank + 1) % p, bytes, 0   # a comment
                    get (rank - 1) % p, 4KB
                    poll 0
                    complete h
                    for i = 0 to 3
                        let square[i] = i * i
                    end
                    loop rounds
                        put xor(rank, 1), square[3], 1
                        poll xor(rank, 1), 1
                    end
                    complete all
                    if rank = 0 or not (rank < p - 1 and p <> 3)
                        compute 1.5us
                    else
                        compute max(log2(p), pow2(2)) * 1ns
                    end
                    let s = isend (rank + 1) % p, 20000, 7
                    let r = irecv any, 20000, any
                    await r
                    await s
                    if rank = 1
                        send 0, 10, 3
                    end
                    if rank = 0
                        recv 1, 10, 3
                    end
                    await all
                    barrier
                    bcast 1, 100
                    reduce 0, 100
                    allreduce 100
                    alltoall 10
                """;
        Program java =
                rank -> {
                    int p = rank.size();
                    int right = (rank.rank() + 1) % p;
                    long h = rank.put(right, 2049, 0);
                    rank.get((rank.rank() + p - 1) % p, 4000);
                    rank.poll(0);
                    rank.complete(h);
                    rank.loop(
                            3,
                            () -> {
                                rank.put(rank.rank() ^ 1, 9, 1);
                                rank.poll(rank.rank() ^ 1, 1);
                            });
                    rank.completeAll();
                    boolean isEnd = rank.rank() == 0 || rank.rank() == p - 1;
                    rank.computePs(isEnd ? 1_500_000 : 4_000);
                    long s = rank.isend(right, 20_000, 7);
                    rank.await(rank.irecv(Rank.ANY, 20_000, Rank.ANY));
                    rank.await(s);
                    if (rank.rank() == 1) {
                        rank.send(0, 10, 3);
                    } else if (rank.rank() == 0) {
                        rank.recv(1, 10, 3);
                    }
                    rank.awaitAll();
                    rank.barrier();
                    rank.bcast(1, 100);
                    rank.reduce(0, 100);
                    rank.allreduce(100);
                    rank.alltoall(10);
                };
        Scenario scenario = Scenario.parse("folder/mine.scenario", text);
        assertThat(scenario.name()).isEqualTo("mine");
        assertThat(scenario.isParameter("rounds")).isTrue();
        SimulationResult result = run(scenario, 10);
        Machine machine = new Machine().set("node.overhead=300ns").set("topology=torus(5,2)");
        SimulationResult expected =
                new Simulation(machine.topology(), machine.network()).processes(10).run(java);
        assertThat(result.traceHash()).isEqualTo(expected.traceHash());
        assertThat(result.executionPs()).isEqualTo(expected.executionPs());
        ScenarioOptions more = new ScenarioOptions(1, -1, Map.of("rounds", 5L));
        assertThat(run(scenario, 10, more).putCount()).isEqualTo(expected.putCount() + 20);
    }

    @Test
    void shouldDrawFromTheSeed() {
        String text =
                """
                set topology = switch({p})
                program
                    put shuffle(p, place(p, rank)) + 1 - 2 * (rank % 2), 1 + random(100), 0
                    poll 0
                """;
        Scenario scenario = Scenario.parse("random.scenario", text);
        SimulationResult one = run(scenario, 8, new ScenarioOptions(1, -1));
        assertThat(run(scenario, 8, new ScenarioOptions(1, -1)).putBytes())
                .isEqualTo(one.putBytes());
        assertThat(run(scenario, 8, new ScenarioOptions(2, -1)).putBytes())
                .isNotEqualTo(one.putBytes());
    }

    @Test
    void shouldReadCurvesAndGoOnFromAnother() {
        String text =
                """
                like ring-barrier
                figure 2,4
                curve slow, to 8: node.overhead=2us; cable.latency=1ns
                program
                    barrier
                """;
        Scenario scenario = Scenario.parse("x.scenario", text);
        assertThat(scenario.measure()).isEqualTo(Measure.BARRIER);
        assertThat(scenario.figure()).containsExactly(2, 4);
        assertThat(scenario.curves()).hasSize(5);
        Curve last = scenario.curves().get(4);
        assertThat(last.name()).isEqualTo("slow");
        assertThat(last.processesMax()).isEqualTo(8);
        assertThat(last.settings()).containsExactly("node.overhead=2us", "cable.latency=1ns");
        assertThat(run(scenario, 4).putCount()).isEqualTo(8);
    }

    @Test
    void shouldCountToTheLargestNumber() {
        String text =
                """
                program
                    for i = 9223372036854775806 to 9223372036854775807
                        put (rank + 1) % p, i / pow2(60), 0
                    end
                    for i = 1 to 0
                        put (rank + 1) % p, 8, 0
                    end
                """;
        assertThat(run(Scenario.parse("x.scenario", text), 4).putCount()).isEqualTo(8);
    }

    /** A put costs its process no time, so the processes end long before their bytes are sent. */
    @Test
    void shouldDivideBytesByTheTimeUntilTheLastPutIsComplete() {
        Scenario scenario =
                Scenario.parse(
                        "x.scenario",
                        """
                        shows bandwidth
                        program
                            loop 10
                                put (rank + 1) % p, 2MB, 0
                                compute 1ns
                            end
                        """);
        for (String level : List.of("packet", "message")) {
            Machine machine = new Machine().set("level", level);
            scenario.prepare(machine, 4, ScenarioOptions.DEFAULT);
            Simulation simulation = new Simulation(machine.topology(), machine.network());
            SimulationResult result =
                    simulation.processes(4).run(scenario.program(4, ScenarioOptions.DEFAULT));
            assertThat(result.executionPs()).isEqualTo(10_000);
            assertThat(result.bandwidthPerProcess()).isBetween(2.7, 2.8);
            assertThat(result.lastPs()).isGreaterThan(7_000_000_000L);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "barrier | f:1: barrier / there is no 'barrier' before the program; there are",
                "says x | f: there is no line 'program'",
                "set bandwidth = 3;program | f:1: set bandwidth = 3 / there is no key 'bandwidth'",
                "set node.overhead;program | f:1: set node.overhead / '=' is missing",
                "set node.overhead = 3;program | f:1: set node.overhead = 3 / node.overhead=3 is not",
                "per-node 0;program | f:1: per-node 0 / '0' is no number from 1 on",
                "shows colours;program | f:1: shows colours / it shows one of [barrier, bandwidth",
                "like nothing;program | f:1: like nothing / there is no scenario 'nothing'",
                "needs p > 9;program | f:1: needs p > 9 / f cannot have 4 processes",
                "bytes 9GB * 9GB;program; barrier | f:1: bytes 9GB * 9GB / long overflow",
                "param x = 1 / 0;program; barrier | f:1: param x = 1 / 0 / / by zero",
                "program; for i = -1 to 9223372036854775807; barrier; end | from -1 to 9223372036854",
                "program; jump 3 | f:2: jump 3 / there is no statement 'jump'; there are put, get",
                "program; put 1, 2 | f:2: put 1, 2 / put has 2 numbers behind it; it is written: put",
                "program; put 1 2 3 | f:2: put 1 2 3 / something is missing, or too much, before",
                "program; put x, 2, 3 | f:2: put x, 2, 3 / 'x' is not known here; there are p, rank",
                "program; put 9, 2, 3 | f:2: put 9, 2, 3 / rank 0 of 4: there is no rank 9 among 4",
                "program; put rank, 2, 3 | f:2: put rank, 2, 3 / rank 0 of 4: put of rank 0 to itself",
                "program; poll 1 / 0 | f:2: poll 1 / 0 / rank 0 of 4: / by zero",
                "program; compute 3 weeks | f:2: compute 3 weeks / something is missing",
                "program; compute 3weeks | f:2: compute 3weeks / 3weeks: there is no unit weeks",
                "program; loop 3; barrier | f:2: loop 3 / it is never closed; write 'end'",
                "program; if p; barrier; else | f:2: if p / it is never closed; write 'end'",
                "program; end | f:2: end / there is nothing open",
                "program; let p = 3 | f:2: let p = 3 / 'p' cannot be set",
                "program; let x | f:2: let x / let needs '='",
                "program; compute max(1) | f:2: compute max(1) / max takes 2 numbers, not 1",
                "program; compute sin(1) | f:2: compute sin(1) / there is no function 'sin'",
                "program; compute 2 ! 3 | f:2: compute 2 ! 3 / '! 3' is not understood",
                "program; compute (2 | f:2: compute (2 / ')' is expected at the end",
                "program; await 7 | f:2: await 7 / rank 0 of 4: await: rank 0 has started nothing",
                "program; compute random(0) | f:2: compute random(0) / rank 0 of 4: random(0): between",
                "program; let x[-1] = 2 | f:2: let x[-1] = 2 / rank 0 of 4: index -1 is outside",
            })
    void shouldNameFileLineAndWhatToDo(String text, String expected) {
        String file = text.replace(';', '\n');
        assertThatThrownBy(() -> run(Scenario.parse("f", file + "\n"), 4))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(expected.replaceFirst(" / (?!0)", "\n  "));
    }

    @Test
    @Timeout(10)
    void shouldLeaveOutALoopThatHasNothingInIt() {
        String empty = "loop 9000000000000000000\nloop 1\nlet x = 3\nend\nend\n";
        Scenario with = Scenario.parse("f", "program\nbarrier\n" + empty + "loop x\nbarrier\nend");
        Scenario without = Scenario.parse("f", "program\nbarrier\nloop 3\nbarrier\nend");
        assertThat(run(with, 4).traceHash()).isEqualTo(run(without, 4).traceHash());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "program\ncompute (1)",
                "program\ncompute -1",
                "program\ncompute +1",
                "program\nif 1\nend",
                "program\nloop 1\nend",
                "needs (1)\nprogram\nbarrier",
                "needs +1\nprogram\nbarrier",
                "bytes +1\nprogram\nbarrier",
                "param x = -1\nprogram\nbarrier",
                "set node.overhead = {+1}ns\nprogram\nbarrier"
            })
    void shouldRefuseWhatIsNestedTooDeeply(String text) {
        String deep = text;
        for (String part : List.of("(", ")", "-", "if 1\n", "loop 1\n", "end")) {
            deep = deep.replace(part, (part + (part.equals("end") ? "\n" : "")).repeat(60_000));
        }
        String file = deep.replace("+", "1+".repeat(60_000));
        assertThatThrownBy(() -> run(Scenario.parse("f", file + "\n"), 4))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("f:")
                .hasMessageEndingWith("it is nested too deeply");
    }
}
