package dev.verbena.nsim.savime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nsim.savime.SimulatedClient.Asked;
import dev.verbena.nsim.savime.SimulatedSink.Arrival;
import dev.verbena.nsim.savime.SimulatedSink.End;
import dev.verbena.nsim.savime.SimulatedSink.Execution;
import dev.verbena.savime.server.ServerCounts;
import dev.verbena.savime.wire.StgStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The staging server's and the client's own engines in virtual time: processes are killed, the sink
 * is away, refuses or is lost, memory and disk are full, and work on files is done late.
 */
@Timeout(300)
class StagingSimulationTest {
    private static final long MS = 1_000_000;
    private static final long LIMIT_NS = 120_000 * MS;

    /** Seeds that are near one another begin alike. */
    private static final long FAR = 0x9E3779B97F4A7C15L;

    private static final long FAULTS_WITHIN_NS = 120 * MS;

    // --long: 200 seeds instead of 12
    private static final long SEEDS = Boolean.getBoolean("verbena.long") ? 200 : 12;

    private static StagingSimulation simulation(long seed) throws Exception {
        StagingSimulation simulation = new StagingSimulation(seed);
        Random random = new Random(seed * FAR);
        for (int i = random.nextInt(3); i > 0; i--) {
            simulation.killServerWithin(FAULTS_WITHIN_NS);
        }
        if (random.nextBoolean()) {
            simulation.killClientWithin(0, FAULTS_WITHIN_NS);
        }
        if (random.nextBoolean()) {
            simulation.cutWithin(1, FAULTS_WITHIN_NS);
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            simulation.sinkAwayWithin(FAULTS_WITHIN_NS);
        }
        return simulation;
    }

    /** Runs it to its end, and checks it; a number that says what happened. */
    private static long check(long seed) throws Exception {
        try (StagingSimulation simulation = simulation(seed)) {
            String what = "seed " + seed;
            assertThat(simulation.world().runUntil(simulation::isDone, LIMIT_NS)).as(what).isTrue();
            long hash = simulation.world().traceHash();
            assertThat(simulation.sink().wrong()).as(what).isEmpty();
            for (SimulatedClient client : simulation.clients()) {
                requireConfirmed(what, simulation, client);
                requireOrder(what, simulation, client);
            }
            requireMarked(what, simulation.sink().arrivals());
            if (simulation.senders() == 1) {
                requireFirstCome(what, simulation);
            }
            requireNothingLeft(what, simulation);
            return hash;
        }
    }

    /** What was confirmed to a client is in the sink, unless that has refused it. */
    private static void requireConfirmed(
            String what, StagingSimulation simulation, SimulatedClient client) {
        Set<String> reached = new HashSet<>();
        for (Arrival arrival : simulation.sink().arrivals()) {
            if (arrival.end() != End.LOST) {
                reached.add(arrival.name());
            }
        }
        for (Asked asked : client.asked()) {
            if (asked.isDataset() && asked.status() == StgStatus.OK) {
                assertThat(reached).as(what).contains(asked.name());
            }
        }
    }

    /** A dataset comes again only with the mark that it may be there already. */
    private static void requireMarked(String what, List<Arrival> arrivals) {
        Set<String> seen = new HashSet<>();
        for (Arrival arrival : arrivals) {
            if (!seen.add(arrival.name())) {
                assertThat(arrival.isRepeated())
                        .as("%s: %s comes again, marked", what, arrival)
                        .isTrue();
            }
        }
    }

    /** With one sender: a dataset that was written when another was confirmed comes behind it. */
    private static void requireFirstCome(String what, StagingSimulation simulation) {
        Map<String, Integer> firstAt = new HashMap<>();
        for (Arrival arrival : simulation.sink().arrivals()) {
            firstAt.putIfAbsent(arrival.name(), arrival.at());
        }
        List<Asked> all = new ArrayList<>();
        simulation.clients().forEach(client -> all.addAll(client.asked()));
        all.removeIf(each -> !firstAt.containsKey(each.name()));
        for (Asked before : all) {
            for (Asked after : all) {
                if (before.status() == StgStatus.OK && before.endedAt() < after.askedAt()) {
                    assertThat(firstAt.get(before.name()))
                            .as("%s: %s before %s", what, before.name(), after.name())
                            .isLessThan(firstAt.get(after.name()));
                }
            }
        }
    }

    /**
     * Commands run once at most, as they were answered, and ordered ones behind what was before.
     */
    private static void requireOrder(
            String what, StagingSimulation simulation, SimulatedClient client) {
        Map<String, Integer> ranAt = new HashMap<>();
        for (Execution execution : simulation.sink().executions()) {
            assertThat(ranAt.put(execution.text(), execution.at())).as(what).isNull();
        }
        Map<String, Integer> thereAt = new HashMap<>();
        for (Arrival arrival : simulation.sink().arrivals()) {
            if (arrival.end() != End.LOST) {
                thereAt.putIfAbsent(arrival.name(), arrival.at());
            }
        }
        List<Asked> before = new ArrayList<>();
        for (Asked asked : client.asked()) {
            if (asked.isDataset()) {
                before.add(asked);
                continue;
            }
            String whose = what + ": " + asked.name();
            Integer at = ranAt.get(asked.name());
            if (asked.status() == StgStatus.OK) {
                assertThat(at).as(whose).isNotNull();
                assertThat(asked.text()).isEqualTo("done " + asked.name());
            } else if (asked.status() == StgStatus.PREDECESSOR_FAILED) {
                assertThat(at).as(whose).isNull();
            }
            if (at != null && asked.isOrdered()) {
                for (Asked each : before) {
                    if (each.status() == StgStatus.OK) {
                        assertThat(thereAt.get(each.name()))
                                .as("%s behind %s", whose, each.name())
                                .isLessThan(at);
                    }
                }
            }
        }
    }

    private static void requireNothingLeft(String what, StagingSimulation simulation)
            throws Exception {
        simulation.closeInOrder();
        assertThat(simulation.engine().counts().get(ServerCounts.Count.PINNED)).as(what).isZero();
        assertThat(simulation.engine().memoryReserved()).as(what).isZero();
        assertThat(simulation.engine().diskReserved()).as(what).isZero();
        assertThat(simulation.world().regionCount()).as(what).isZero();
        assertThat(simulation.left()).as(what).containsOnly("lock");
        simulation.servers().forEach(each -> assertThat(each.errors()).as(what).isEmpty());
        simulation
                .clients()
                .forEach(each -> assertThat(each.process().errors()).as(what).isEmpty());
    }

    @Test
    @Tag("nsim-46")
    @Tag("savime-33")
    @Tag("savime-35")
    void shouldHandOverWhatWasConfirmedWhateverDies() throws Exception {
        for (long seed = 1; seed <= SEEDS; seed++) {
            check(seed);
        }
    }

    @Test
    @Tag("nsim-46")
    void shouldDoTheSameAgainWithTheSameSeed() throws Exception {
        assertThat(check(5)).isEqualTo(check(5));
    }
}
