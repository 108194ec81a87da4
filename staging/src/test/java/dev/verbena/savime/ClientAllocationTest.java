package dev.verbena.savime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.AllocationMeter;
import dev.verbena.agent.AgentStepper;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.client.ClientEngine;
import dev.verbena.savime.client.ClientSettings;
import dev.verbena.savime.client.TaskQueue;
import dev.verbena.savime.client.Upload;
import dev.verbena.transport.TransportContext;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What a dataset of many blocks allocates at the client beyond what one of few blocks does:
 * nothing.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClientAllocationTest {
    private static final int BLOCK = 4096;
    private static final int FEW = 20;
    private static final int MANY = 520;

    @TempDir Path folder;
    private StagingFixture stage;
    private int count;

    @AfterEach
    void close() throws Exception {
        stage.close();
    }

    private ClientSettings settings(boolean hasCrc) {
        long heartbeatNs = 1_000_000_000L;
        long longNs = 60_000_000_000L;
        return new ClientSettings(
                stage.environment,
                7,
                new byte[16],
                BLOCK,
                4,
                1,
                hasCrc,
                false,
                heartbeatNs,
                longNs,
                longNs);
    }

    private ClientEngine engine(boolean isTcp, boolean hasCrc, TaskQueue queue) {
        ClientSettings settings = settings(hasCrc);
        return isTcp
                ? ClientEngine.tcp(settings, "127.0.0.1", stage.service.port(), queue)
                : ClientEngine.transport(
                        settings,
                        () ->
                                stage.environment.openTransport(
                                        "shm", new TransportContext().job(stage.job)),
                        stage.address(),
                        queue);
    }

    private Upload upload(OffHeapMemory memory, int blocks) {
        Upload.Dataset dataset =
                new Upload.Dataset("d%07d".formatted(++count), "char", 1, 0, 0, null);
        return new Upload(dataset, memory, 0, (long) blocks * BLOCK, ended -> {});
    }

    /** Bytes that were allocated while a dataset of so many blocks was written. */
    private long bytes(AgentStepper stepper, TaskQueue queue, OffHeapMemory memory, int blocks) {
        long sequence = queue.add(upload(memory, blocks));
        long bytes =
                AllocationMeter.bytes(
                        () -> {
                            while (!queue.isDoneUpTo(sequence)) {
                                if (stepper.step() == 0) {
                                    Thread.yield();
                                }
                            }
                        });
        assertThat(queue.takeFailures()).isEmpty();
        return bytes;
    }

    @ParameterizedTest
    @CsvSource({"false,false", "true,false", "false,true", "true,true"})
    void shouldAllocateNothingPerBlock(boolean isTcp, boolean hasCrc) throws Exception {
        stage = new StagingFixture(folder, isTcp);
        stage.launch(new RecordingSink(1));
        OffHeapMemory memory = stage.memory(1, MANY * BLOCK);
        TaskQueue queue = new TaskQueue(1, 1, () -> {});
        try (AgentStepper stepper =
                new AgentStepper(List.of(engine(isTcp, hasCrc, queue)), null, stage.errors::add)) {
            AllocationMeter.requireNoneIn(
                    () -> {
                        long few = bytes(stepper, queue, memory, FEW);
                        long many = bytes(stepper, queue, memory, MANY);
                        // With sums, the room for one of each block is made with the dataset.
                        long sums = hasCrc ? 8L * (MANY - FEW) : 0;
                        return Math.max(0, many - few - sums);
                    });
        }
        assertThat(stage.errors).isEmpty();
    }
}
