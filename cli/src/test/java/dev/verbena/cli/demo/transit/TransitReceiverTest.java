package dev.verbena.cli.demo.transit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.examples.pic.PicExchange;
import dev.verbena.examples.pic.PicParameters;
import dev.verbena.examples.pic.PicSimulation;
import dev.verbena.examples.pic.RestartFile;
import dev.verbena.examples.pic.RestartNames;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A receiver that begins where one before it was killed. */
@Timeout(60)
class TransitReceiverTest {
    private static final PicParameters PARAMETERS =
            new PicParameters(2_000, 32, 10.2604, 0.2, 1.0, 0.02, 0.002, 1);

    @TempDir private Path output;
    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final Queue<Long> shown = new ConcurrentLinkedQueue<>();
    private PicSimulation simulation;

    @BeforeEach
    void makeFolders() throws Exception {
        for (String name : List.of("restart", "compare", "job")) {
            Files.createDirectories(output.resolve(name));
        }
        simulation = PicSimulation.start(PARAMETERS, 0, 1, PicExchange.ALONE);
    }

    private List<byte[]> items() {
        List<byte[]> items = new ArrayList<>();
        simulation.advance();
        simulation
                .restartFile()
                .write(
                        (name, item) -> {
                            byte[] bytes = new byte[item.remaining()];
                            item.get(bytes);
                            items.add(bytes);
                        });
        return items;
    }

    private static byte[] join(List<byte[]> items) {
        ByteBuffer whole = ByteBuffer.allocate(items.stream().mapToInt(i -> i.length).sum());
        items.forEach(whole::put);
        return whole.array();
    }

    private Path restart(String name) {
        return output.resolve("restart").resolve(name);
    }

    private TransitReceiver start(RealEnvironment environment) {
        RunAnalysis analysis = new RunAnalysis(0.03, 0.01);
        analysis.showTo((step, png) -> shown.add(step));
        return new TransitReceiver(environment, output, 0, analysis, told::add);
    }

    private void await(String line) throws InterruptedException {
        String found;
        do {
            found = told.poll(30, TimeUnit.SECONDS);
            assertThat(found).as("instead of '" + line + "'").isNotNull();
        } while (!found.equals(line));
    }

    @Test
    void shouldTakeOverWhatOneBeforeStored() throws Exception {
        String noted = RestartNames.of(1, 0);
        String stored = RestartNames.of(2, 0);
        String inItems = RestartNames.of(3, 0);
        Files.write(restart(noted), join(items()));
        StagingRecord.Arrival arrival = new StagingRecord.Arrival(0, 1, 5, 1, 12345);
        new ArrivalJournal(output.resolve("job/arrivals.csv")).add(noted, arrival);
        Files.write(restart(stored), join(items()));
        List<byte[]> items = items();
        assertThat(items).hasSize(RestartFile.ITEM_COUNT);
        for (int i = 0; i < items.size(); i++) {
            Files.write(restart(inItems + "." + i), items.get(i));
        }
        Files.write(restart("compare-whole-0-" + noted), join(items));
        try (RealEnvironment environment = RealEnvironment.builder().build();
                TransitReceiver receiver = start(environment)) {
            await("analysed 3");
            assertThat(receiver.staging().arrivals())
                    .hasSize(3)
                    .contains(arrival)
                    .extracting(StagingRecord.Arrival::step)
                    .containsExactlyInAnyOrder(1L, 2L, 3L);
        }
        // No picture of a step that is older than one that was shown.
        assertThat(List.copyOf(shown)).isSorted().contains(3L);
        assertThat(restart(inItems)).hasBinaryContent(join(items));
        assertThat(restart(inItems + ".0")).doesNotExist();
        assertThat(output.resolve("compare/compare-whole-0-" + noted)).exists();
        assertThat(told).noneMatch(line -> line.startsWith("fault"));
    }

    @Test
    void shouldGoOnWithTheItemsOfAFileThatWasBegun() {
        Path folder = output.resolve("restart");
        ItemFiles first = new ItemFiles(folder);
        assertThat(first.add("a.vpic", 0, folder.resolve("a.vpic.0"))).isTrue();
        assertThat(first.add("a.vpic", 2, folder.resolve("a.vpic.2"))).isFalse();
        assertThat(first.isEmpty()).isFalse();
    }

    @Test
    void shouldLeaveOutALineOfTheJournalThatWasCutOff() throws Exception {
        Path path = output.resolve("job/arrivals.csv");
        ArrivalJournal journal = new ArrivalJournal(path);
        assertThat(journal.read()).isEmpty();
        StagingRecord.Arrival arrival = new StagingRecord.Arrival(3, 8, 100, 1, 7);
        journal.add("restart-000008-0003.vpic", arrival);
        Files.writeString(path, Files.readString(path) + "restart-000012-0003.vpic,3,12,10");
        assertThat(journal.read())
                .containsExactly(java.util.Map.entry("restart-000008-0003.vpic", arrival));
    }
}
