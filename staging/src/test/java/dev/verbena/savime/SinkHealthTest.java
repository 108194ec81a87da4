package dev.verbena.savime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.StagedDataset.Place;
import dev.verbena.savime.query.FakeSavimeServer;
import dev.verbena.savime.query.SavimeClient;
import dev.verbena.savime.query.SavimeSink;
import dev.verbena.staging.sink.SinkWatch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a staging server says of a sink that goes away, stops, or is started again. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SinkHealthTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir Path folder;
    private StagingFixture stage;
    private final List<String> told = new CopyOnWriteArrayList<>();

    @BeforeEach
    void prepare() throws Exception {
        stage = new StagingFixture(folder, true);
    }

    @AfterEach
    void close() throws Exception {
        stage.close();
    }

    private final class Told implements SinkWatch {
        @Override
        public void away(String why) {
            told.add(why.isEmpty() ? "" : "away");
        }

        @Override
        public void back() {
            told.add("back");
        }

        @Override
        public void wedged() {
            told.add("wedged");
        }

        @Override
        public void restarted() {
            told.add("restarted");
        }
    }

    private StagingServer launch(FakeSavimeServer savime) {
        SavimeClient.Limits limits =
                new SavimeClient.Limits(
                        LONG, Duration.ofSeconds(10), LONG, Duration.ofMillis(50), () -> {});
        SavimeSink sink = new SavimeSink("127.0.0.1", savime.port(), limits);
        stage.launch(stage.context(sink).watch(new Told()));
        return stage.connect();
    }

    /** {@code sinkRestarted} of the specification, section 6.3. */
    @Test
    void shouldTellThatTheSinkWasAwayAndStartedAgain() throws Exception {
        FakeSavimeServer first = new FakeSavimeServer();
        StagingServer client = launch(first);
        client.dataset("before", ElementType.CHAR).write(stage.memory(1, 8));
        client.drain(LONG);
        first.close();
        client.dataset("after", ElementType.CHAR).write(stage.memory(2, 8));
        client.sync();
        Await.until("away", () -> stage.service.statistics().isSinkAway());
        try (FakeSavimeServer second = new FakeSavimeServer(first.port())) {
            client.drain(LONG);
            assertThat(second.datasets).containsOnlyKeys("after");
            assertThat(told).containsExactly("away", "restarted", "back");
        }
        StagingStatistics statistics = stage.service.statistics();
        assertThat(statistics.isSinkAway()).isFalse();
        assertThat(statistics.sinkLosses()).isOne();
        assertThat(statistics.sinkRestarts()).isOne();
    }

    /** {@code sinkWedged}, section 9: the upload goes on, because one cut short stops SAVIME. */
    @Test
    void shouldTellOfAnUploadThatDoesNotGetOn() throws Exception {
        try (FakeSavimeServer savime = new FakeSavimeServer()) {
            StagingServer client = launch(savime);
            savime.isDeaf = true;
            // More than the sockets hold.
            client.dataset("large", ElementType.CHAR).write(stage.memory(1, 32 << 20));
            client.sync();
            Await.until("wedged", () -> told.contains("wedged"));
            savime.isDeaf = false;
            client.drain(LONG);
            assertThat(savime.datasets).containsOnlyKeys("large");
            assertThat(told).containsOnly("wedged");
            assertThat(stage.service.statistics().sinkWedges()).isPositive();
        }
    }

    /** Its meta file cannot be written, as on a full disk: others go on. */
    @Test
    void shouldNotTakeADatasetThatCannotBeBegunForASinkThatIsAway() throws Exception {
        RecordingSink sink = new RecordingSink(1).hold();
        stage.launch(stage.context(sink).watch(new Told()));
        StagingServer client = stage.connect();
        OffHeapMemory memory = stage.memory(1, 800);
        client.dataset("head", ElementType.CHAR).write(memory).join();
        Await.until("its turn", () -> sink.waiting() == 1);
        long id =
                client.dataset("full", ElementType.CHAR)
                        .place(Place.DISK)
                        .write(memory)
                        .join()
                        .id();
        client.dataset("other", ElementType.CHAR).place(Place.MEMORY).write(memory).join();
        Path inTheWay = folder.resolve("disk").resolve(Long.toHexString(id) + ".tmp");
        Files.createDirectory(inTheWay);
        sink.openAll();
        Await.until("the other one", () -> sink.order.contains("other"));
        assertThat(sink.order).containsExactly("head", "other");
        Await.until("said", () -> !stage.errors.isEmpty());
        assertThat(stage.errors).singleElement().asString().contains("full", inTheWay.toString());
        Files.delete(inTheWay);
        client.drain(LONG);
        assertThat(sink.order).containsExactly("head", "other", "full");
        assertThat(told).isEmpty();
        assertThat(stage.service.statistics().sinkLosses()).isZero();
    }
}
