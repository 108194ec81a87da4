package dev.verbena.savime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.query.SavimeClient;
import dev.verbena.savime.query.SavimeQueries;
import dev.verbena.savime.query.SavimeQueries.CreateTar;
import dev.verbena.savime.query.SavimeQueries.LoadSubtar;
import dev.verbena.savime.query.SavimeResult;
import dev.verbena.savime.query.SavimeSink;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Assertion savime-56: datasets of several clients by way of a staging server into a SAVIME that
 * {@code VERBENA_SAVIME=HOST:PORT} names, and what that answers to queries. Its array is dropped.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RealSavimeIT {
    private static final int STEPS = 10;
    private static final int CLIENTS = 2;
    private static final int CELLS = 50;

    @TempDir Path folder;
    private final String array = "verbena" + ProcessHandle.current().pid();

    private static double value(int step, int cell) {
        return step + cell / 64.0;
    }

    private static OffHeapMemory values(int step) {
        OffHeapMemory memory = OffHeapMemories.allocate(CELLS * Double.BYTES);
        UnsafeBuffer buffer = memory.buffer(0, CELLS * Double.BYTES);
        for (int cell = 0; cell < CELLS; cell++) {
            buffer.putDouble(cell * Double.BYTES, value(step, cell), ByteOrder.LITTLE_ENDIAN);
        }
        return memory;
    }

    private String dataset(int step) {
        return array + "_" + step;
    }

    private void stage(SavimeSink sink) throws Exception {
        List<OffHeapMemory> memories = new ArrayList<>();
        try (StagingFixture stage = new StagingFixture(folder, false)) {
            stage.launch(sink);
            List<StagingServer> clients = new ArrayList<>();
            for (int client = 0; client < CLIENTS; client++) {
                StagingServer server = stage.connect();
                clients.add(server);
                for (int step = client; step < STEPS; step += CLIENTS) {
                    OffHeapMemory memory = values(step);
                    memories.add(memory);
                    server.dataset(dataset(step), ElementType.DOUBLE).write(memory);
                    server.runAsync(
                            new LoadSubtar(array, "t", "x")
                                    .ordered("t", step, step)
                                    .ordered("x", 0, CELLS - 1)
                                    .attribute("v", dataset(step))
                                    .text());
                }
            }
            for (StagingServer server : clients) {
                server.drain(Duration.ofSeconds(60));
            }
            stage.stop();
            assertThat(StagingFixture.staged(stage.memory)).isEmpty();
        } finally {
            memories.forEach(OffHeapMemory::close);
        }
    }

    /** Values of a column by the positions of another; schemas say of which type those are. */
    private static TreeMap<Double, Double> read(SavimeResult result, String key, String column)
            throws IOException {
        TreeMap<Double, Double> found = new TreeMap<>();
        while (result.next()) {
            int size = result.schema().element(key).size();
            for (int i = 0; i < result.cells(); i++) {
                UnsafeBuffer keys = result.column(key);
                long at =
                        size == Integer.BYTES
                                ? keys.getInt(i * size, ByteOrder.LITTLE_ENDIAN)
                                : keys.getLong(i * size, ByteOrder.LITTLE_ENDIAN);
                double value =
                        result.column(column).getDouble(i * Double.BYTES, ByteOrder.LITTLE_ENDIAN);
                found.put((double) at, value);
            }
        }
        return found;
    }

    @Test
    void shouldAnswerWithWhatWasStaged() throws Exception {
        String address = System.getenv("VERBENA_SAVIME");
        Assumptions.assumeTrue(
                address != null, "needs a real SAVIME: VERBENA_SAVIME=HOST:PORT names one");
        int colon = address.lastIndexOf(':');
        String host = address.substring(0, colon);
        int port = Integer.parseInt(address.substring(colon + 1));
        try (SavimeClient client = SavimeClient.connect(host, port, SavimeClient.Limits.DEFAULT)) {
            client.command(
                    new CreateTar(array)
                            .dimension("t", "int", 0, STEPS - 1, 1)
                            .dimension("x", "int", 0, CELLS - 1, 1)
                            .attribute("v", "double")
                            .text());
        }
        stage(new SavimeSink(host, port, SavimeClient.Limits.DEFAULT));
        try (SavimeClient client = SavimeClient.connect(host, port, SavimeClient.Limits.DEFAULT)) {
            try (SavimeResult result =
                    client.execute("where(" + array + ", t = 3 and v > 3.25);")) {
                TreeMap<Double, Double> cells = read(result, "x", "v");
                assertThat(cells).hasSize(CELLS - 17);
                cells.forEach((x, v) -> assertThat(v).isEqualTo(value(3, x.intValue())));
            }
            try (SavimeResult result =
                    client.execute("aggregate(" + array + ", sum, v, total, t);")) {
                TreeMap<Double, Double> sums = read(result, "t", "total");
                assertThat(sums).hasSize(STEPS);
                sums.forEach(
                        (t, sum) ->
                                assertThat(sum)
                                        .isCloseTo(
                                                CELLS * (t + (CELLS - 1) / 128.0), within(1e-9)));
            }
            client.command(SavimeQueries.dropTar(array));
            for (int step = 0; step < STEPS; step++) {
                client.command(SavimeQueries.dropDataset(dataset(step)));
            }
        }
    }
}
