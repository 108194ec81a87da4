package dev.verbena.nsim.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.program.Program;
import dev.verbena.nsim.scenario.ScenarioOptions;
import dev.verbena.nsim.scenario.Scenarios;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Queues and use over time (nsim-ace.md, section 4.1). */
@Timeout(60)
class LinkDetailsTest {
    private static SimulationResult run(String topology, int parts, Program program) {
        Machine machine = new Machine().set("topology", topology).set("dma.bandwidth", "0");
        machine.network().isDetailed(true);
        return new Simulation(machine.topology(), machine.network())
                .parallel(parts, 1, task -> {})
                .run(program);
    }

    /** All but the last send one packet to the last, at once: the k-th waits for k others. */
    private static Program gather(int bytes) {
        return rank -> {
            if (rank.rank() < rank.size() - 1) {
                rank.put(rank.size() - 1, bytes, 0);
            } else {
                rank.loop(rank.size() - 1, () -> rank.poll(0));
            }
        };
    }

    @Test
    void shouldCountHowManyWaitAndHowLong() {
        SimulationResult result = run("switch(5)", 1, gather(2048));
        LinkDetails details = result.details();
        int link = result.links().linkOf(0, 4);
        // Four packets of 512 ns each: waits of 0, 1, 2 and 3 times that.
        assertThat(details.waitPs(link)).isEqualTo(6 * 512_000);
        assertThat(details.queueMax(link)).isEqualTo(4);
        assertThat(details.queueMean(link, result.executionPs()))
                .isCloseTo(6 * 512_000.0 / result.executionPs(), within(1e-9));
        assertThat(details.waitPs(result.links().linkOf(0, 0))).isZero();
    }

    @Test
    void shouldDivideTheTimeOfEachLinkAmongIntervals() {
        for (int parts : new int[] {1, 2, 4}) {
            SimulationResult result =
                    run(
                            "torus(4,2)",
                            parts,
                            Scenarios.named("random-ring")
                                    .program(8, new ScenarioOptions(3, 200_000)));
            LinkDetails details = result.details();
            LinkStatistics links = result.links();
            assertThat(details.intervals()).isBetween(20, LinkDetails.INTERVALS);
            assertThat(details.intervals() * details.intervalPs())
                    .isGreaterThanOrEqualTo(result.executionPs() - details.intervalPs());
            for (int link = 0; link < links.count(); link++) {
                long sum = 0;
                for (int i = 0; i < details.intervals(); i++) {
                    assertThat(details.busyPs(link, i)).isBetween(0L, details.intervalPs());
                    sum += details.busyPs(link, i);
                }
                assertThat(sum).isEqualTo(links.busyPs(link));
            }
        }
    }

    @Test
    void shouldBeTheSameInAnyNumberOfPartitions() {
        Program program = Scenarios.named("random-ring").program(8, new ScenarioOptions(3, 50_000));
        SimulationResult alone = run("torus(4,2)", 1, program);
        SimulationResult parts = run("torus(4,2)", 4, program);
        assertThat(parts.details().intervalPs()).isEqualTo(alone.details().intervalPs());
        for (int link = 0; link < alone.links().count(); link++) {
            assertThat(parts.details().waitPs(link)).isEqualTo(alone.details().waitPs(link));
            assertThat(parts.details().queueMax(link)).isEqualTo(alone.details().queueMax(link));
            for (int i = 0; i < LinkDetails.INTERVALS; i++) {
                assertThat(parts.details().busyPs(link, i))
                        .isEqualTo(alone.details().busyPs(link, i));
            }
        }
    }

    @Test
    void shouldRecordNothingUnlessAsked() {
        Machine machine = new Machine().set("topology", "switch(5)");
        SimulationResult result =
                new Simulation(machine.topology(), machine.network()).run(gather(8));
        assertThat(result.details()).isNull();
        machine.set("level", "message").network().isDetailed(true);
        result = new Simulation(machine.topology(), machine.network()).run(gather(8));
        assertThat(result.details()).isNull();
    }
}
