package dev.verbena.nsim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.nsim.network.Level;
import dev.verbena.nsim.network.LinkStatistics;
import dev.verbena.nsim.program.Program;
import dev.verbena.nsim.program.SimulationException;
import dev.verbena.nsim.scenario.Scenario;
import dev.verbena.nsim.scenario.ScenarioOptions;
import dev.verbena.nsim.scenario.Scenarios;
import dev.verbena.nsim.scenario.SeededRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs in several partitions, on several threads, give what one engine gives. */
@Timeout(120)
@Tag("once")
class ParallelTest {
    private static final ExecutorService EXECUTOR = Executors.newCachedThreadPool();
    private static final String[] SHAPES = {
        "torus(4,3,2)",
        "fattree(levels=2,down=4,up=4,leaves=6)",
        "dragonfly(p=2,a=4,h=2,routing=ugal)",
        "hyperx(4,3;nodes=2,routing=valiant)",
        "mesh(24)"
    };

    @AfterAll
    static void stopThreads() {
        EXECUTOR.shutdownNow();
    }

    /** Puts and gets of random sizes to random ranks, with waits and computations. */
    private static Program random(long seed) {
        return rank -> {
            SeededRandom random = new SeededRandom(seed * 1_000 + rank.rank());
            for (int i = 0; i < 6; i++) {
                int other = (rank.rank() + 1 + random.below(rank.size() - 1)) % rank.size();
                rank.computeNanos(random.below(3_000));
                if (random.below(3) == 0) {
                    rank.complete(rank.get(other, random.below(20_000)));
                } else {
                    rank.put(other, random.below(20_000), 1);
                }
                rank.put((rank.rank() + 1) % rank.size(), 8, 0);
                rank.poll(0);
            }
            rank.completeAll();
        };
    }

    private static SimulationResult run(Machine machine, Program program, int parts, int threads) {
        return new Simulation(machine.topology(), machine.network())
                .processes(24)
                .parallel(parts, threads, EXECUTOR::execute)
                .run(program);
    }

    private static void assertSame(SimulationResult result, SimulationResult expected, String as) {
        assertThat(result.traceHash()).as(as).isEqualTo(expected.traceHash());
        assertThat(result.events()).as(as).isEqualTo(expected.events());
        assertThat(result.executionPs()).as(as).isEqualTo(expected.executionPs());
        assertThat(result.latency()).as(as).isEqualTo(expected.latency());
        for (int rank = 0; rank < expected.processes(); rank++) {
            assertThat(result.endPs(rank)).as(as).isEqualTo(expected.endPs(rank));
            assertThat(result.pollPs(rank)).as(as).isEqualTo(expected.pollPs(rank));
            assertThat(result.completePs(rank)).as(as).isEqualTo(expected.completePs(rank));
        }
        LinkStatistics links = result.links();
        for (int link = 0; link < links.count(); link++) {
            assertThat(links.bytes(link)).as(as).isEqualTo(expected.links().bytes(link));
            assertThat(links.packets(link)).as(as).isEqualTo(expected.links().packets(link));
            assertThat(links.busyPs(link)).as(as).isEqualTo(expected.links().busyPs(link));
            assertThat(links.creditStalls(link))
                    .as(as)
                    .isEqualTo(expected.links().creditStalls(link));
        }
    }

    @Test
    @Tag("nsim-6")
    void shouldGiveTheSameInAnyNumberOfPartitions() {
        for (String shape : SHAPES) {
            Machine machine = new Machine().set("topology", shape).set("vc.buffer", "1packets");
            for (long seed = 1; seed <= 3; seed++) {
                SimulationResult alone = run(machine, random(seed), 1, 1);
                for (int parts : new int[] {2, 4, 8}) {
                    // Two threads on a busy processor take a time slice per window: few of these.
                    int threads = seed == 1 && parts == 4 ? 2 : 1;
                    String as = shape + ", seed " + seed + ", " + parts + " partitions";
                    assertSame(run(machine, random(seed), parts, threads), alone, as);
                }
            }
        }
    }

    /** The tests run on two versions of Java by two vendors, and this number is of both. */
    @Test
    @Tag("nsim-7")
    void shouldHaveTheSameTraceOnEveryJvm() {
        Machine machine = new Machine().set("topology", "torus(4,3,2)");
        assertThat(run(machine, random(7), 1, 1).traceHash()).isEqualTo(TRACE_OF_SEED_7);
    }

    private static final long TRACE_OF_SEED_7 = 7_875_015_892_344_082_230L;

    @Test
    @Tag("nsim-8")
    void shouldChangeItsTraceWithTheSeedOnlyIfTheProgramIsRandom() {
        Machine machine = new Machine().set("topology", "torus(4,3,2)");
        long first = run(machine, random(1), 1, 1).traceHash();
        assertThat(run(machine, random(1), 1, 1).traceHash()).isEqualTo(first);
        assertThat(run(machine, random(2), 1, 1).traceHash()).isNotEqualTo(first);
        assertThat(of("random-ring", 2, 1)).isNotEqualTo(of("random-ring", 1, 1));
        assertThat(of("particle-exchange", 2, 1)).isNotEqualTo(of("particle-exchange", 1, 1));
        for (String drawsNothing : new String[] {"ring-barrier", "recursive-doubling"}) {
            assertThat(of(drawsNothing, 2, 1)).isEqualTo(of(drawsNothing, 1, 1));
        }
    }

    /** The trace of one that comes with the simulator, on the machine that it names. */
    private static long of(String name, long seed, int parts) {
        return scenario(name, seed, parts).traceHash();
    }

    private static SimulationResult scenario(String name, long seed, int parts) {
        Scenario scenario = Scenarios.named(name);
        ScenarioOptions options = new ScenarioOptions(seed, 20_000);
        int processes = name.startsWith("two-process") ? 2 : 21;
        Machine machine = new Machine();
        scenario.prepare(machine, processes, options);
        return new Simulation(machine.topology(), machine.network())
                .processes(processes)
                .perNode(scenario.perNode())
                .parallel(parts, 1, EXECUTOR::execute)
                .run(scenario.program(processes, options));
    }

    @Test
    @Tag("nsim-6")
    void shouldGiveTheSameForEveryScenarioInAnyNumberOfPartitions() {
        for (Scenario each : Scenarios.all()) {
            SimulationResult alone = scenario(each.name(), 3, 1);
            for (int parts : new int[] {2, 4, 8}) {
                String as = each.name() + ", " + parts + " partitions";
                assertSame(scenario(each.name(), 3, parts), alone, as);
            }
        }
    }

    @Test
    void shouldSayWhoWaitsWhateverThePartitions() {
        Machine machine = new Machine().set("topology", "torus(4,3,2)");
        Program stuck =
                rank -> {
                    if (rank.rank() == 20) {
                        rank.poll(5);
                    }
                };
        for (int parts : new int[] {1, 2, 4}) {
            assertThatThrownBy(() -> run(machine, stuck, parts, 2))
                    .isInstanceOf(SimulationException.class)
                    .hasMessageContaining("rank 20 waits in poll(tag 5)");
        }
    }

    @Test
    void shouldRefuseToDivideOtherLevels() {
        Machine machine = new Machine().set("topology", "mesh(24)");
        machine.network().level(Level.MESSAGE);
        assertThatThrownBy(() -> run(machine, random(1), 2, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("2 partitions at level message");
    }
}
