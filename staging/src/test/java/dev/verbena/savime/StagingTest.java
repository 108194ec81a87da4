package dev.verbena.savime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.StagedDataset.IfTaken;
import dev.verbena.savime.StagedDataset.Place;
import dev.verbena.staging.metadata.PieceMetadata;
import dev.verbena.staging.sink.FileSink;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Client, server and sink together, over {@code shm} and over TCP. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StagingTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir Path folder;
    private StagingFixture stage;
    private final RecordingSink sink = new RecordingSink(4);

    private void start(boolean isTcp) throws Exception {
        stage = new StagingFixture(folder, isTcp);
    }

    @AfterEach
    void close() throws Exception {
        sink.openAll();
        stage.close();
    }

    private static int statusOf(CompletableFuture<?> future) {
        try {
            future.join();
            return 0;
        } catch (CompletionException e) {
            return ((StagingException) e.getCause()).status();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("savime-3")
    @Tag("savime-16")
    @Tag("savime-17")
    @Tag("savime-30")
    void shouldBringDatasetsToFilesInOrder(boolean isTcp) throws Exception {
        start(isTcp);
        Path target = folder.resolve("sink");
        stage.launch(stage.context(new FileSink(target)).senders(1));
        StagingServer server = stage.connect(stage.config().checksum(true));
        List<Long> ids = new ArrayList<>();
        int[] lengths = {1, 4096, (1 << 20) - 8, 1 << 20, (3 << 20) + 1};
        for (int i = 0; i < lengths.length; i++) {
            OffHeapMemory memory = stage.memory(i, lengths[i]);
            server.dataset("d" + i, ElementType.CHAR)
                    .piece(
                            new PieceMetadata(
                                    "v",
                                    i,
                                    0,
                                    new long[] {lengths[i]},
                                    new long[] {0},
                                    new long[] {lengths[i]}))
                    .write(memory)
                    .thenAccept(receipt -> ids.add(receipt.id()));
        }
        server.drain(LONG);
        assertThat(ids).isSorted().hasSize(lengths.length);
        for (int i = 0; i < lengths.length; i++) {
            assertThat(Files.readAllBytes(target.resolve("d" + i + ".raw")))
                    .isEqualTo(StagingFixture.bytes(i, lengths[i]));
            assertThat(Files.readString(target.resolve("d" + i + ".json")))
                    .contains("\"step\":" + i, "\"type\":\"char\"");
        }
        assertThat(stage.service.statistics().pinnedBytes()).isZero();
        server.close();
        stage.stop();
        assertThat(StagingFixture.staged(stage.memory)).isEmpty();
        assertThat(stage.errors).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("savime-29")
    @Tag("savime-22")
    void shouldBringTheSameBytesThroughTheDisk(boolean isTcp) throws Exception {
        start(isTcp);
        stage.launch(stage.context(sink).bounce(64 << 10, 2));
        StagingServer server = stage.connect(stage.config().checksum(true).window(4));
        int length = (300 << 10) + 5;
        OffHeapMemory memory = stage.memory(7, length);
        CompletableFuture<Receipt> disk =
                server.dataset("ondisk", ElementType.CHAR).place(Place.DISK).write(memory);
        CompletableFuture<Receipt> inMemory =
                server.dataset("inmemory", ElementType.CHAR).place(Place.MEMORY).write(memory);
        server.drain(LONG);
        assertThat(disk.join().isInMemory()).isFalse();
        assertThat(inMemory.join().isInMemory()).isTrue();
        assertThat(sink.datasets.get("ondisk"))
                .isEqualTo(sink.datasets.get("inmemory"))
                .isEqualTo(StagingFixture.bytes(7, length));
        Await.until("given back", () -> stage.service.statistics().diskReserved() == 0);
        assertThat(stage.errors).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("savime-25")
    @Tag("savime-26")
    @Tag("savime-27")
    void shouldAdmitToMemoryWhatFits(boolean isTcp) throws Exception {
        start(isTcp);
        sink.hold();
        stage.launch(stage.context(sink).memory(stage.memory, 100_000).pool(0));
        StagingServer server = stage.connect(stage.config().ioThreads(2));
        OffHeapMemory memory = stage.memory(1, 100_001);
        assertThat(
                        statusOf(
                                server.dataset("toolong", ElementType.CHAR)
                                        .place(Place.MEMORY)
                                        .write(memory)))
                .isEqualTo(7);
        assertThat(server.dataset("spilled", ElementType.CHAR).write(memory).join().isInMemory())
                .isFalse();
        var one = server.dataset("one", ElementType.CHAR).write(memory, 0, 60_000);
        var two = server.dataset("two", ElementType.CHAR).write(memory, 0, 60_000);
        assertThat(one.join().isInMemory()).isNotEqualTo(two.join().isInMemory());
        assertThat(stage.service.statistics().memoryReserved()).isEqualTo(60_000);
        sink.openAll();
        assertThatThrownBy(() -> server.drain(LONG)).hasMessageContaining("toolong: NO_SPACE");
        Await.until("given back", () -> stage.service.statistics().memoryReserved() == 0);
        assertThat(server.dataset("whole", ElementType.CHAR).write(memory, 0, 100_000).join())
                .matches(Receipt::isInMemory);
        server.drain(LONG);
        assertThat(sink.datasets).containsOnlyKeys("spilled", "one", "two", "whole");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("savime-9")
    @Tag("savime-10")
    @Tag("savime-12")
    void shouldRunCommandsBehindTheirDataUnlessTheyAreImmediate(boolean isTcp) throws Exception {
        start(isTcp);
        sink.hold();
        stage.launch(stage.context(sink).senders(4));
        StagingServer server = stage.connect(stage.config());
        OffHeapMemory memory = stage.memory(1, 8000);
        for (int i = 0; i < 6; i++) {
            server.dataset("d" + i, ElementType.DOUBLE).write(memory);
        }
        var ordered = server.runAsync("load");
        server.dataset("late", ElementType.DOUBLE).write(memory).join();
        var immediate = server.runAsync("now", true, false);
        Await.until("queued", () -> stage.service.statistics().queued() == 9);
        sink.answer = "x".repeat(984);
        // Four senders had a dataset each before it came; it is the next, before d4 and d5.
        sink.permit(1);
        Await.until("its turn", () -> sink.order.size() == 1 && sink.waiting() == 4);
        sink.permit(4);
        assertThat(immediate.join().text()).isEqualTo(sink.answer);
        sink.openAll();
        assertThat(ordered.join().text()).isEqualTo(sink.answer);
        server.drain(LONG);
        assertThat(sink.order.indexOf("load"))
                .isGreaterThan(sink.order.indexOf("d5"))
                .isGreaterThan(sink.order.indexOf("d0"));
        assertThat(sink.order.indexOf("now")).isBetween(1, 4);
        sink.answer = "é\n" + "long ".repeat(100_000);
        assertThat(server.run("show").text()).isEqualTo(sink.answer);
        String text = "create " + "y".repeat(20_000);
        server.run(text);
        assertThat(sink.order).contains(text);
        assertThat(stage.errors).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("savime-11")
    @Tag("savime-37")
    void shouldNotRunACommandBehindADatasetThatFailed(boolean isTcp) throws Exception {
        start(isTcp);
        sink.refused.add("bad");
        stage.launch(sink);
        StagingServer server = stage.connect();
        OffHeapMemory memory = stage.memory(1, 800);
        server.dataset("bad", ElementType.DOUBLE).write(memory);
        server.dataset("good", ElementType.DOUBLE).write(memory);
        assertThatThrownBy(() -> server.run("load"))
                .hasMessageContaining("PREDECESSOR_FAILED, bad");
        assertThat(sink.order).containsExactly("good");
        assertThatThrownBy(() -> server.drain(LONG)).hasMessageContaining("Error: bad is refused");
        sink.refused.add("worse");
        server.dataset("worse", ElementType.DOUBLE).write(memory);
        assertThat(server.runAsync("anyway", false, true).join().text()).contains("success");
        sink.refused.add("wrong command");
        assertThatThrownBy(() -> server.run("wrong command"))
                .hasMessageContaining("SINK_REJECTED, Error: wrong command");
        assertThat(stage.service.statistics().refused()).isEqualTo(2);
        assertThat(stage.service.statistics().retries()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("savime-36")
    @Tag("savime-31")
    void shouldHoldDatasetsWhileTheSinkIsDown(boolean isTcp) throws Exception {
        start(isTcp);
        sink.isDown = true;
        stage.launch(stage.context(sink).senders(1));
        StagingServer server = stage.connect();
        OffHeapMemory memory = stage.memory(3, 8000);
        for (int i = 0; i < 5; i++) {
            server.dataset("d" + i, ElementType.DOUBLE).write(memory);
        }
        server.sync();
        Await.until("tried again", () -> stage.service.statistics().retries() >= 2);
        sink.isDown = false;
        server.drain(LONG);
        assertThat(sink.order).containsExactly("d0", "d1", "d2", "d3", "d4");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldKeepAClientThatOnlyHears(boolean isTcp) throws Exception {
        start(isTcp);
        sink.hold();
        stage.launch(stage.context(sink).senders(1));
        StagingServer server = stage.connect();
        OffHeapMemory memory = stage.memory(3, 8);
        for (int i = 0; i < 100; i++) {
            server.dataset("d" + i, ElementType.DOUBLE).write(memory);
        }
        server.sync();
        // Something comes more often than the client asks, for longer than it may be silent.
        for (int i = 0; i < 100; i++) {
            sink.permit(1);
            LockSupport.parkNanos(20_000_000);
        }
        server.drain(LONG);
        assertThat(stage.errors).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("savime-38")
    void shouldTreatDuplicateNamesAsAsked(boolean isTcp) throws Exception {
        start(isTcp);
        sink.hold();
        stage.launch(stage.context(sink).senders(1));
        StagingServer server = stage.connect();
        OffHeapMemory first = stage.memory(1, 800);
        OffHeapMemory second = stage.memory(2, 800);
        server.dataset("head", ElementType.DOUBLE).write(first).join();
        server.dataset("a", ElementType.DOUBLE).write(first).join();
        assertThat(statusOf(server.dataset("a", ElementType.DOUBLE).write(second))).isEqualTo(5);
        StagedDataset replacing = server.dataset("a", ElementType.DOUBLE).ifTaken(IfTaken.REPLACE);
        replacing.write(second).join();
        StagedDataset suffixed = server.dataset("a", ElementType.DOUBLE).ifTaken(IfTaken.SUFFIX);
        assertThat(suffixed.write(first).join().name()).isEqualTo("a_2");
        sink.openAll();
        assertThatThrownBy(() -> server.drain(LONG)).hasMessageContaining("a: DUPLICATE");
        assertThat(sink.datasets).containsOnlyKeys("head", "a", "a_2");
        assertThat(sink.datasets.get("a")).isEqualTo(StagingFixture.bytes(2, 800));
        assertThat(sink.datasets.get("a_2")).isEqualTo(StagingFixture.bytes(1, 800));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("savime-4")
    @Tag("savime-5")
    @Tag("savime-6")
    void shouldNameExactlyWhatFailedAtTheNextSync(boolean isTcp) throws Exception {
        start(isTcp);
        sink.hold();
        stage.launch(sink);
        StagingServer server = stage.connect(stage.config().ioThreads(2));
        OffHeapMemory memory = stage.memory(1, 800);
        server.dataset("taken", ElementType.DOUBLE).write(memory).join();
        long threads = clientThreads();
        for (int i = 0; i < 10; i++) {
            server.dataset("taken", ElementType.DOUBLE).write(memory);
        }
        server.dataset("fine", ElementType.DOUBLE).write(memory);
        assertThatThrownBy(server::sync)
                .isInstanceOf(StagingException.class)
                .satisfies(
                        e -> assertThat(e.getMessage().split("taken: DUPLICATE", -1)).hasSize(11))
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("fine"));
        server.sync();
        // Both threads still take tasks: a server that stops answering one leaves the other.
        for (int i = 0; i < 8; i++) {
            server.dataset("next" + i, ElementType.DOUBLE).write(memory);
        }
        server.sync();
        assertThat(stage.service.statistics().datasetsIn()).isEqualTo(10);
        assertThat(clientThreads()).isEqualTo(threads).isEqualTo(2);
    }

    private static long clientThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(each -> each.getName().matches("verbena-staging-[0-9]+.*"))
                .count();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReusePagesOfDatasetsOfTheSameLength(boolean isTcp) throws Exception {
        start(isTcp);
        stage.launch(stage.context(sink).pool(8 << 20));
        StagingServer server = stage.connect();
        OffHeapMemory memory = stage.memory(1, 1 << 20);
        for (int i = 0; i < 5; i++) {
            server.dataset("d" + i, ElementType.CHAR).write(memory);
            server.drain(LONG);
        }
        assertThat(stage.service.statistics().reused()).isEqualTo(4);
        assertThat(stage.service.statistics().memoryReserved()).isEqualTo(1 << 20);
        assertThat(sink.datasets.get("d4")).isEqualTo(StagingFixture.bytes(1, 1 << 20));
    }

    /** The pool has its pages before the first dataset, within the reservation, and no more. */
    @Test
    void shouldHavePagesForTheFirstDatasets() throws Exception {
        start(true);
        int length = 1 << 20;
        stage.launch(stage.context(sink).pool(2 * length).prefault(length, 3));
        Await.until(
                "two files are made",
                () -> stage.service.statistics().memoryReserved() == 2 * length);
        Await.until("with their pages", () -> pages() == 2 * length);
        StagingServer server = stage.connect();
        server.dataset("first", ElementType.CHAR).write(stage.memory(1, length));
        server.drain(LONG);
        assertThat(stage.service.statistics().reused()).isEqualTo(1);
        assertThat(sink.datasets.get("first")).isEqualTo(StagingFixture.bytes(1, length));
        assertThat(pages()).isEqualTo(2 * length);
        // Of another length, and not yet asked for: it has no page.
        OffHeapMemory other = stage.memory(2, length / 2);
        sink.hold();
        server.dataset("other", ElementType.CHAR).write(other).join();
        assertThat(stage.service.statistics().memoryReserved()).isEqualTo(2 * length + length / 2);
        assertThat(pages()).isEqualTo(2 * length + length / 2);
    }

    /** Bytes that the memory file system has given to data files. */
    private long pages() {
        try {
            long bytes = 0;
            for (String name : StagingFixture.staged(stage.memory)) {
                String file = stage.memory.resolve(name).toString();
                Process stat = new ProcessBuilder("stat", "-c", "%b", file).start();
                String blocks = new String(stat.getInputStream().readAllBytes()).strip();
                bytes += name.endsWith(".data") ? 512 * Long.parseLong(blocks) : 0;
            }
            return bytes;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long counter(String label) {
        long[] value = {-1};
        stage.environment
                .counters()
                .forEach(
                        (id, text) -> {
                            if (text.equals("stage " + label)) {
                                value[0] = stage.environment.counters().getCounterValue(id);
                            }
                        });
        return value[0];
    }

    /** Specification, section 5.8. */
    @Test
    void shouldMeasureHowLongItsStepsTake() throws Exception {
        start(true);
        stage.launch(sink);
        StagingServer server = stage.connect();
        server.dataset("d", ElementType.CHAR).write(stage.memory(1, 4096));
        server.drain(LONG);
        for (String step :
                List.of(
                        "open to opened",
                        "request to grant",
                        "sync to done",
                        "done to forwarded")) {
            Await.until(step, () -> counter(step + " max us") > 0);
            assertThat(counter(step + " p50 us")).isBetween(1L, counter(step + " max us"));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("savime-40")
    void shouldLetAnUploadEndWhenTheServerStops(boolean isTcp) throws Exception {
        start(isTcp);
        sink.hold();
        stage.launch(stage.context(sink).senders(1));
        StagingServer server = stage.connect();
        OffHeapMemory memory = stage.memory(1, 800);
        server.dataset("sending", ElementType.DOUBLE).write(memory).join();
        server.dataset("queued", ElementType.DOUBLE).write(memory).join();
        Await.until("sending", () -> stage.service.statistics().forwarding() == 1);
        stage.service.requestStop();
        int taken = 2; // what comes before the server has heard of its stop is taken, too
        while (statusOf(server.dataset("no" + taken, ElementType.DOUBLE).write(memory)) != 17) {
            taken++;
        }
        sink.permit(1);
        stage.stop();
        assertThat(sink.order).containsExactly("sending");
        assertThat(StagingFixture.staged(stage.memory)).hasSize(2 * (taken - 1));
        sink.openAll();
        stage.launch(sink);
        int all = taken;
        Await.until("the rest", () -> sink.order.size() >= all);
        assertThat(sink.order).hasSize(all).startsWith("sending", "queued");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("savime-1")
    @Tag("savime-2")
    @Tag("savime-7")
    void shouldKeepMemoryWhileItIsQueuedAndRefuseWrongLengths(boolean isTcp) throws Exception {
        start(isTcp);
        stage.launch(sink);
        StagingServer away = stage.connect(stage.config().address("127.0.0.1:1").ioThreads(1));
        OffHeapMemory memory = stage.memory(1, 800);
        StagingServer server = stage.connect();
        assertThatThrownBy(() -> server.dataset("d", ElementType.DOUBLE).write(memory, 0, 12))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> server.dataset("d", ElementType.DOUBLE).write(memory, 8, 800))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(away).isNotNull();
        StagingServer nowhere =
                StagingServer.connect(
                        new StagingServer.Config()
                                .environment(stage.environment)
                                .address("127.0.0.1:1"));
        CompletableFuture<Receipt> queued = nowhere.dataset("d", ElementType.DOUBLE).write(memory);
        // Nothing can have been sent.
        assertThat(queued.isDone()).isFalse();
        assertThatThrownBy(memory::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("write of d");
        assertThat(memory.isClosed()).isFalse();
        nowhere.closeNow();
        assertThat(statusOf(queued)).isEqualTo(13);
        ByteBuffer direct = ByteBuffer.allocateDirect(80);
        direct.position(16);
        server.dataset("direct", ElementType.DOUBLE).write(direct).join();
        server.drain(LONG);
        assertThat(sink.datasets.get("direct")).hasSize(64);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGoOnWithOtherServersWhenOneIsLost(boolean isTcp) throws Exception {
        start(isTcp);
        stage.launch(sink);
        StagingServer server =
                stage.connect(
                        stage.config()
                                .address("127.0.0.1:1")
                                .connectTimeout(Duration.ofMillis(200)));
        OffHeapMemory memory = stage.memory(1, 800);
        for (int i = 0; i < 10; i++) {
            server.dataset("d" + i, ElementType.DOUBLE).write(memory);
        }
        server.drain(LONG);
        assertThat(sink.order).hasSize(10);
        assertThat(server.run("ordered").text()).contains("success");
    }
}
