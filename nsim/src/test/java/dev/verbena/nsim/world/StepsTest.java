package dev.verbena.nsim.world;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Processes are stepped when they wish, and waiting costs no events. */
@Timeout(60)
class StepsTest {
    private static final long MS = 1_000_000L;
    private static final long SECOND = 1_000 * MS;

    /** Notes when it is stepped, and wants to be stepped again after a while without news. */
    private static final class Patient implements ProtocolAgent {
        private final SimulatedProcess process;
        private long patienceNs;
        private final List<Long> stepsNs = new ArrayList<>();
        private long deadlineNs;

        Patient(World world, int host, long patienceNs) {
            process = world.host("host" + host).start("patient");
            this.patienceNs = patienceNs;
            process.run(List.of(this));
        }

        @Override
        public int doWork() {
            long now = process.nanoClock().nanoTime();
            stepsNs.add(now);
            deadlineNs = now + patienceNs;
            return 0;
        }

        @Override
        public long nextDeadlineNs() {
            return deadlineNs;
        }

        @Override
        public String roleName() {
            return "patient";
        }

        long lastStepNs() {
            return stepsNs.get(stepsNs.size() - 1);
        }
    }

    private static World world() {
        return new World(1, TreeTopology.single(200), new NetworkContext());
    }

    @Test
    @Tag("nsim-4")
    void shouldStepAtADeadlineThatWasPutOffAThousandTimes() {
        try (World world = world()) {
            Patient patient = new Patient(world, 0, 2 * SECOND);
            for (int i = 0; i < 1000; i++) {
                world.run(MS);
                patient.process.wakeup();
            }
            world.run(MS);
            assertThat(patient.stepsNs).hasSize(1001);
            long last = patient.lastStepNs();
            world.run(3 * SECOND);
            assertThat(patient.stepsNs).hasSize(1002);
            assertThat(patient.lastStepNs() - last).isEqualTo(2 * SECOND);
        }
    }

    @Test
    @Tag("nsim-4")
    void shouldKeepOneEventForEachDeadlineHoweverOftenItMoves() {
        try (World world = world()) {
            List<Patient> all = new ArrayList<>();
            for (int host = 0; host < 100; host++) {
                all.add(new Patient(world, host, 10 * SECOND));
            }
            for (int i = 0; i < 500; i++) {
                all.forEach(patient -> patient.process.wakeup());
                world.run(MS);
            }
            assertThat(all).allSatisfy(p -> assertThat(p.stepsNs).hasSizeBetween(500, 501));
            // Besides, there are the ends of the runs.
            assertThat(world.engine.pendingCount()).isLessThan(100 + 10);
        }
    }

    @Test
    void shouldStepEarlierIfTheDeadlineComesNearer() {
        try (World world = world()) {
            Patient patient = new Patient(world, 0, 2 * SECOND);
            world.run(MS);
            patient.patienceNs = 5 * MS;
            patient.process.wakeup();
            world.run(23 * MS);
            assertThat(patient.stepsNs).hasSize(1 + 5);
        }
    }

    @Test
    void shouldStepADeadProcessNeverAgain() {
        try (World world = world()) {
            Patient patient = new Patient(world, 0, 2 * SECOND);
            world.run(MS);
            patient.process.kill();
            world.run(5 * SECOND);
            assertThat(patient.stepsNs).hasSize(1);
            assertThat(world.stepCount("patient")).isEqualTo(1);
        }
    }
}
