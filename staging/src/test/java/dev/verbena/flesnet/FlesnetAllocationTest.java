package dev.verbena.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.AllocationMeter;
import dev.verbena.agent.AgentStepper;
import dev.verbena.flesnet.dfs.DfsParameters;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Building timeslices allocates nothing: 0 bytes in thousands of them. */
@Timeout(120)
class FlesnetAllocationTest {
    private static final int TIMESLICES = 2000;

    @TempDir Path directory;

    private void requireNone(DescriptorMode mode, DfsParameters dfs) {
        long[] built = new long[1];
        try (FlesnetRun run =
                new FlesnetRun(
                        directory,
                        c -> c.nodes(1, 1).descriptorMode(mode).dfs(dfs, dfs == null ? 0 : 1))) {
            FlesnetCompute compute =
                    FlesnetCompute.embed(
                            run.context,
                            0,
                            timeslice -> {
                                built[0]++;
                                timeslice.release();
                            });
            FlesnetInput input =
                    FlesnetInput.embed(
                            run.context, 0, new PatternSource(0, Long.MAX_VALUE, 64, 32, 0));
            try (AgentStepper stepper =
                    new AgentStepper(
                            List.of(compute.agent(), input.agent()), null, run.errors::add)) {
                AllocationMeter.requireNone(
                        () -> {
                            long until = built[0] + TIMESLICES;
                            while (built[0] < until && run.errors.isEmpty()) {
                                stepper.step();
                            }
                        });
                assertThat(run.errors).isEmpty();
                assertThat(input.failure()).isNull();
            }
        }
    }

    @Test
    void shouldAllocateNothingPerTimeslice() {
        requireNone(DescriptorMode.RDMA_WRITE, null);
        requireNone(DescriptorMode.IN_SYNC, null);
    }

    @Test
    void shouldAllocateNothingWhenItSchedules() {
        requireNone(DescriptorMode.RDMA_WRITE, DfsParameters.PAPER.intervals(100, 3));
    }
}
