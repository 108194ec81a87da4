package dev.verbena.nsim.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.program.Program;
import dev.verbena.nsim.topology.TreeTopology;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Programs in C for the paper's interface, compiled as they are and run in the simulator. */
@Timeout(120)
class MgenHeaderTest {
    @TempDir private Path folder;

    private Path compiled(Path source) throws Exception {
        Path program = folder.resolve("program");
        String include = Path.of("src/main/c").toAbsolutePath().toString();
        List<String> cc =
                List.of(
                        "cc",
                        "-std=gnu99",
                        "-Wall",
                        "-Wextra",
                        "-Werror",
                        "-I",
                        include,
                        "-o",
                        program.toString(),
                        source.toAbsolutePath().toString());
        assertThat(run(0, "", cc)).isEmpty();
        return program;
    }

    /** Runs a command; answers what it printed. */
    private String run(int size, String scenario, List<String> command) throws Exception {
        Path printed = folder.resolve("printed");
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.redirectOutput(printed.toFile());
        if (size > 0) {
            builder.environment().put("MGEN_SIZE", Integer.toString(size));
            builder.environment().put("MGEN_FILE", scenario);
        }
        Process process = builder.start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return Files.readString(printed);
    }

    private Path compiled(String main) throws Exception {
        Path source = folder.resolve("main.c");
        Files.writeString(source, "#include \"mgen.h\"\nint MGEN_Main(void)\n{\n" + main + "}\n");
        return compiled(source);
    }

    private Scenario recorded(Path program, int size, String... arguments) throws Exception {
        Path file = folder.resolve("recorded.scenario");
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        assertThat(run(size, file.toString(), command)).isEmpty();
        return Scenario.parse(file.toString(), Files.readString(file));
    }

    private static SimulationResult simulated(Program program, int size) {
        return new Simulation(TreeTopology.single(size), new NetworkContext())
                .processes(size)
                .run(program);
    }

    @Test
    void shouldRunThePapersSampleAsTheSameProgramInJavaDoes() throws Exception {
        Path program = compiled(Path.of("../examples/mgen/ring.c"));
        for (int size : new int[] {2, 16}) {
            Scenario scenario = recorded(program, size);
            scenario.prepare(new Machine(), size, ScenarioOptions.DEFAULT);
            SimulationResult ofC = simulated(scenario.program(size, ScenarioOptions.DEFAULT), size);
            SimulationResult ofJava =
                    simulated(
                            rank -> {
                                long handle = rank.put((rank.rank() + 1) % rank.size(), 4, 0);
                                rank.poll(0);
                                rank.complete(handle);
                            },
                            size);
            assertThat(ofC.traceHash()).isEqualTo(ofJava.traceHash());
            assertThat(ofC.executionPs()).isEqualTo(ofJava.executionPs());
        }
    }

    @Test
    void shouldRecordAllCallsAndFoldWhatIsRepeated() throws Exception {
        Path program = compiled(Path.of("src/test/c/mixed.c"));
        long[] endPs = new long[2];
        for (int i = 0; i < 2; i++) {
            int rounds = 1 + 999 * i;
            Scenario scenario = recorded(program, 4, Integer.toString(rounds));
            SimulationResult result = simulated(scenario.program(4, ScenarioOptions.DEFAULT), 4);
            assertThat(result.computePs(3)).isEqualTo(2_000_000L * rounds);
            endPs[i] = result.executionPs();
        }
        assertThat(Files.size(folder.resolve("recorded.scenario"))).isLessThan(4000);
        assertThat(endPs[1] - endPs[0]).isGreaterThan(999 * 2_000_000L);
    }

    @Test
    void shouldRefuseAnotherNumberOfProcessesAndAProgramThatFails() throws Exception {
        Path program = compiled(Path.of("../examples/mgen/ring.c"));
        Scenario scenario = recorded(program, 4);
        assertThatThrownBy(() -> scenario.prepare(new Machine(), 5, ScenarioOptions.DEFAULT))
                .hasMessageContaining("cannot have 5 processes");
        assertThat(run(0, "", List.of(program.toString()))).contains("MGEN_SIZE=PROCESSES");
        Path wrong = compiled("MGEN_acp_complete(0); return 0;");
        String file = folder.resolve("none").toString();
        assertThat(run(2, file, List.of(wrong.toString())))
                .contains("rank 0: a handle that no call has returned")
                .contains("rank 0 has failed");
        assertThat(Path.of(file)).doesNotExist();
    }

    @Test
    @Timeout(20)
    void shouldRecordALongProgramOfWhichARequestIsAlwaysOpen() throws Exception {
        Path program =
                compiled(
                        """
                        MGEN_Request last, next;
                        MGEN_Isend(0, 8, MGEN_BYTE, 0, 0, MGEN_COMM_WORLD, &last);
                        for (int i = 0; i < 20000; i++) {
                            MGEN_Isend(0, 8, MGEN_BYTE, 0, 0, MGEN_COMM_WORLD, &next);
                            MGEN_Wait(&last, MGEN_STATUS_IGNORE);
                            last = next;
                        }
                        return MGEN_Wait(&last, MGEN_STATUS_IGNORE);
                        """);
        recorded(program, 4);
        assertThat(Files.readAllLines(folder.resolve("recorded.scenario")))
                .filteredOn(line -> line.contains("await"))
                .hasSize(4 * 20_001);
    }

    @Test
    void shouldWaitOnceForAPutThatIsCompletedTwice() throws Exception {
        Path program =
                compiled(
                        """
                        MGEN_acp_handle first = MGEN_rdma_put(0, 8, 0), second, third;
                        MGEN_acp_complete(first);
                        second = MGEN_rdma_put(0, 16, 0);
                        MGEN_acp_complete(first);
                        third = MGEN_rdma_put(0, 24, 0);
                        MGEN_acp_complete(second);
                        MGEN_acp_complete(third);
                        return 0;
                        """);
        recorded(program, 1);
        assertThat(Files.readString(folder.resolve("recorded.scenario")))
                .contains("let h[0] = put 0, 16, 0\n  let h[1] = put 0, 24, 0\n")
                .endsWith("complete h[0]\n  complete h[1]\nend\n");
    }

    @Test
    void shouldFailAndLeaveNothingWhenThereIsNoRoomForTheRecording() throws Exception {
        String ring = compiled(Path.of("../examples/mgen/ring.c")).toString();
        String file = folder.resolve("full").toString();
        String limited = "trap '' XFSZ; ulimit -f 1; exec " + ring;
        assertThat(run(32, file, List.of("bash", "-c", limited)))
                .contains("cannot write what was recorded; is there room for MGEN_FILE?");
        assertThat(Path.of(file)).doesNotExist();
    }

    @Test
    void shouldNotRemoveADeviceThatItWritesTo() throws Exception {
        Path device = folder.resolve("null");
        Files.createSymbolicLink(device, Path.of("/dev/null"));
        String ring = compiled(Path.of("../examples/mgen/ring.c")).toString();
        assertThat(run(2, device.toString(), List.of(ring))).isEmpty();
        assertThat(device).isSymbolicLink();
        String wrong = compiled("return 1;").toString();
        assertThat(run(2, device.toString(), List.of(wrong))).contains("rank 0 has failed");
        assertThat(device).isSymbolicLink();
    }
}
