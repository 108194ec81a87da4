package dev.verbena.savime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgStatus;
import dev.verbena.savime.wire.StgType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The server against a client that says what it likes. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StagingProtocolTest {
    private static final int PAGE = 4096;

    @TempDir Path folder;
    private final RecordingSink sink = new RecordingSink(2);
    private StagingFixture stage;

    @BeforeEach
    void start() throws IOException {
        stage = new StagingFixture(folder, true);
    }

    @AfterEach
    void stop() throws Exception {
        sink.openAll();
        stage.close();
    }

    private RawClient client(long id, int window) throws IOException {
        return new RawClient(stage.service.port()).hello(id, 1 << 20, window, 0);
    }

    @Test
    @Tag("savime-8")
    void shouldRefuseNamesThatSavimeWouldNotTake() throws IOException {
        stage.launch(sink);
        try (RawClient client = client(1, 1)) {
            for (String name :
                    List.of("", "1a", "a b", "a/b", "../a", "é", "a\0", "x".repeat(64))) {
                assertThat(client.open(name, 10)).as(name).isEqualTo(-StgStatus.BAD_NAME);
                org.assertj.core.api.Assertions.assertThatThrownBy(
                                () -> stage.connect().dataset(name, ElementType.CHAR))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            assertThat(client.open("x".repeat(63), 10)).isPositive();
            assertThat(client.open("zero", 0)).isEqualTo(-StgStatus.BAD_SIZE);
            assertThat(client.open("huge", Long.MAX_VALUE)).isEqualTo(-StgStatus.BAD_SIZE);
            assertThat(client.open("large", 1L << 40)).isEqualTo(-StgStatus.NO_SPACE);
        }
    }

    @Test
    @Tag("savime-11")
    void shouldNotRunACommandBehindADatasetThatWasRefused() throws IOException {
        sink.hold();
        stage.launch(sink);
        try (RawClient client = client(1, 1)) {
            long id = client.open("a", PAGE);
            client.block(id, 0, 0, new byte[PAGE]);
            assertThat(client.sync(id, PAGE)).isZero();
            client.run("before", 0);
            assertThat(client.open("a", PAGE)).isEqualTo(-StgStatus.DUPLICATE);
            assertThat(client.open("", PAGE)).isEqualTo(-StgStatus.BAD_NAME);
            client.run("behind", 0);
            client.run("next", 0);
            assertThat(client.open("b b", PAGE)).isEqualTo(-StgStatus.BAD_NAME);
            client.run("anyway", StgFlags.FLAG_EVEN_IF_FAILED);
            sink.openAll();
            assertThat(client.read(StgType.RUN_RESULT).status()).isZero();
            assertThat(client.read(StgType.RUN_RESULT).status())
                    .isEqualTo(StgStatus.PREDECESSOR_FAILED);
            assertThat(client.message.runText()).isEqualTo("a, ''");
            assertThat(client.read(StgType.RUN_RESULT).status()).isZero();
            assertThat(client.read(StgType.RUN_RESULT).status()).isZero();
        }
        assertThat(sink.order).containsExactly("a", "before", "next", "anyway");
    }

    @Test
    void shouldRefuseTypesThatMeanSomethingElseToASink() throws IOException {
        stage.launch(sink);
        try (RawClient client = client(1, 1)) {
            for (String type : List.of("", "a b", "int\", \"@1", "x;", "é", "x".repeat(64))) {
                assertThat(client.open("a", PAGE, type)).as(type).isEqualTo(-StgStatus.BAD_SIZE);
            }
            assertThat(client.open("a", PAGE, "double:2:2")).isPositive();
        }
    }

    @Test
    @Tag("savime-13")
    @Tag("savime-14")
    @Tag("savime-15")
    void shouldGrantNoMoreThanTheWindow() throws IOException {
        stage.launch(sink);
        try (RawClient client = client(1, 1)) {
            long id = client.open("d", 4 * PAGE);
            assertThat(stage.service.statistics().pinnedBytes()).isZero();
            assertThat(blocksOf(id)).isEqualTo("0");
            for (int i = 0; i < 4; i++) {
                client.ask(id, (long) i * PAGE, PAGE, i);
            }
            for (int i = 0; i < 4; i++) {
                assertThat(client.granted()).isZero();
                assertThat(client.message.blockNo()).isEqualTo(i);
                assertThat(stage.service.statistics().pinnedBytes()).isEqualTo(PAGE);
                client.data(id, (long) i * PAGE, i, new byte[PAGE]);
                client.release(id, i, 0);
            }
            assertThat(client.sync(id, 4 * PAGE)).isZero();
        }
        Await.until("nothing is pinned", () -> stage.service.statistics().pinnedBytes() == 0);
    }

    /** Blocks that the file system has given to a dataset's file. */
    private String blocksOf(long id) throws IOException {
        String file = stage.memory.resolve(Long.toHexString(id) + ".data").toString();
        Process stat = new ProcessBuilder("stat", "-c", "%b", file).start();
        return new String(stat.getInputStream().readAllBytes()).strip();
    }

    @Test
    @Tag("savime-20")
    @Tag("savime-21")
    void shouldTakeBlocksInAnyOrderAndNameTheFirstGap() throws IOException {
        stage.launch(sink);
        try (RawClient client = client(1, 4)) {
            byte[] bytes = StagingFixture.bytes(3, 3 * PAGE + 7);
            long id = client.open("d", bytes.length);
            for (int i = 3; i >= 0; i--) {
                if (i == 1) {
                    continue;
                }
                int length = Math.min(PAGE, bytes.length - i * PAGE);
                byte[] block = java.util.Arrays.copyOfRange(bytes, i * PAGE, i * PAGE + length);
                client.block(id, (long) i * PAGE, i, block);
            }
            assertThat(client.sync(id, bytes.length)).isEqualTo(StgStatus.PARTIAL);
            assertThat(client.message.syncBytes()).isEqualTo(PAGE);
            assertThat(sink.order).isEmpty();
            client.block(id, PAGE, 1, java.util.Arrays.copyOfRange(bytes, PAGE, 2 * PAGE));
            assertThat(client.sync(id, bytes.length)).isZero();
            Await.until("forwarded", () -> sink.datasets.containsKey("d"));
            assertThat(sink.datasets.get("d")).isEqualTo(bytes);
        }
    }

    @Test
    @Tag("savime-22")
    void shouldRefuseBlocksOutOfRangeAndAboveThePinLimit() throws IOException {
        stage.launch(stage.context(sink).pinMax(4 * PAGE).blocks(8 * PAGE, 4));
        try (RawClient client = client(1, 4)) {
            assertThat(client.message.maxBlock()).isEqualTo(8 * PAGE);
            long id = client.open("d", 16 * PAGE);
            long[][] wrong = {
                {0, 9 * PAGE},
                {-PAGE, PAGE},
                {1, PAGE},
                {0, 0},
                {0, -1},
                {0, 5},
                {16 * PAGE, PAGE},
                {15 * PAGE, 2 * PAGE},
                {Long.MAX_VALUE - 4095, PAGE}
            };
            for (long[] each : wrong) {
                client.ask(id, each[0], (int) each[1], 1);
                assertThat(client.granted())
                        .as("%s at %s", each[1], each[0])
                        .isEqualTo(StgStatus.BAD_RANGE);
            }
            client.ask(id, 0, 8 * PAGE, 1);
            assertThat(client.granted()).isEqualTo(StgStatus.PIN_LIMIT);
            assertThat(client.message.blockLength()).isEqualTo(4 * PAGE);
            client.ask(id, 0, 4 * PAGE, 1);
            assertThat(client.granted()).isZero();
            client.ask(id, 3 * PAGE, PAGE, 2);
            assertThat(client.granted()).isEqualTo(StgStatus.BAD_RANGE);
            client.ask(id + 1000, 0, PAGE, 2);
            assertThat(client.granted()).isEqualTo(StgStatus.NO_SUCH_DATASET);
        }
    }

    /** Also while neither of the two is granted. */
    @Test
    @Tag("savime-22")
    void shouldRefuseTwoBlocksOfOneNumber() throws IOException {
        stage.launch(sink);
        try (RawClient client = client(1, 2)) {
            long id = client.open("d", 4 * PAGE);
            for (int i = 0; i < 2; i++) {
                client.ask(id, (long) i * PAGE, PAGE, i);
                assertThat(client.granted()).isZero();
            }
            client.ask(id, 2 * PAGE, PAGE, 7);
            client.ask(id, 3 * PAGE, PAGE, 7);
            for (int i = 0; i < 2; i++) {
                client.data(id, (long) i * PAGE, i, new byte[PAGE]);
                client.release(id, i, 0);
            }
            assertThat(List.of(client.granted(), client.granted()))
                    .containsExactly(StgStatus.BAD_RANGE, StgStatus.OK);
            client.data(id, 2 * PAGE, 7, new byte[PAGE]);
            client.release(id, 7, 0);
            client.ask(id, 3 * PAGE, PAGE, 7);
            assertThat(client.granted()).as("its number is free again").isZero();
        }
        Await.until("nothing is pinned", () -> stage.service.statistics().pinnedBytes() == 0);
    }

    @Test
    @Tag("savime-39")
    void shouldFindAFlippedByte() throws IOException {
        stage.launch(sink);
        try (RawClient client =
                new RawClient(stage.service.port()).hello(1, 1 << 20, 1, StgFlags.FEATURE_CRC)) {
            byte[] bytes = StagingFixture.bytes(3, PAGE);
            var crc = new java.util.zip.CRC32C();
            crc.update(bytes);
            bytes[77] ^= 1;
            long id = client.open("d", PAGE);
            client.ask(id, 0, PAGE, 0);
            assertThat(client.granted()).isZero();
            client.data(id, 0, 0, bytes);
            client.release(id, 0, (int) crc.getValue());
            assertThat(client.read(StgType.DATASET_ABORT).status()).isEqualTo(StgStatus.CHECKSUM);
            Await.until("given back", () -> stage.service.statistics().memoryReserved() == 0);
            assertThat(StagingFixture.staged(stage.memory)).isEmpty();
        }
    }

    @Test
    @Tag("savime-27")
    @Tag("savime-30")
    @Tag("savime-32")
    @Tag("savime-33")
    void shouldRemoveWhatALostClientDidNotFinishAndForwardTheRest() throws IOException {
        sink.hold();
        stage.launch(sink);
        RawClient client = client(1, 1);
        long done = client.open("done", PAGE);
        client.block(done, 0, 0, new byte[PAGE]);
        assertThat(client.sync(done, PAGE)).isZero();
        long half = client.open("half", 2 * PAGE);
        client.block(half, 0, 0, new byte[PAGE]);
        client.ask(half, PAGE, PAGE, 1);
        assertThat(client.granted()).isZero();
        assertThat(stage.service.statistics().memoryReserved()).isEqualTo(3 * PAGE);
        client.close();
        Await.until("given back", () -> stage.service.statistics().memoryReserved() == PAGE);
        assertThat(stage.service.statistics().pinnedBytes()).isZero();
        assertThat(StagingFixture.staged(stage.memory)).hasSize(2);
        sink.openAll();
        Await.until("forwarded", () -> stage.service.statistics().datasetsOut() == 1);
        stage.stop();
        assertThat(StagingFixture.staged(stage.memory)).isEmpty();
    }

    @Test
    @Tag("savime-32")
    void shouldDropAClientThatIsSilent() throws IOException {
        stage.launch(stage.context(sink).heartbeat(Duration.ofMillis(50)));
        RawClient client = client(1, 1);
        client.open("half", 2 * PAGE);
        long beginNs = System.nanoTime();
        client.readToEnd();
        assertThat(System.nanoTime() - beginNs).isLessThan(1_150_000_000L);
        Await.until("given back", () -> stage.service.statistics().memoryReserved() == 0);
        client.close();
    }

    @Test
    @Tag("savime-34")
    void shouldResumeWithTheMissingSuffix() throws IOException {
        stage.launch(sink);
        byte[] bytes = StagingFixture.bytes(9, 3 * PAGE);
        byte[] first = java.util.Arrays.copyOf(bytes, PAGE);
        byte[] rest = java.util.Arrays.copyOfRange(bytes, PAGE, 3 * PAGE);
        RawClient client =
                new RawClient(stage.service.port()).hello(7, 1 << 20, 2, StgFlags.FEATURE_RESUME);
        long id = client.open("d", bytes.length);
        client.block(id, 0, 0, first);
        client.ask(id, PAGE, PAGE, 1);
        assertThat(client.granted()).isZero();
        client.close();
        Await.until("noticed", () -> stage.service.statistics().pinnedBytes() == 0);
        try (RawClient again =
                new RawClient(stage.service.port()).hello(7, 1 << 20, 2, StgFlags.FEATURE_RESUME)) {
            assertThat(again.openAgain("d", bytes.length, id)).isEqualTo(id);
            assertThat(again.message.resumeOffset()).isEqualTo(PAGE);
            again.block(id, PAGE, 0, rest);
            assertThat(again.sync(id, bytes.length)).isZero();
        }
        Await.until("forwarded", () -> sink.datasets.containsKey("d"));
        assertThat(sink.datasets.get("d")).isEqualTo(bytes);
    }

    /** Of a length that is not one of whole pages. */
    @Test
    @Tag("savime-34")
    @Tag("savime-39")
    void shouldResumeADatasetOfWhichAllHadArrived() throws IOException {
        stage.launch(sink);
        byte[] bytes = StagingFixture.bytes(9, 10_000);
        var sum = new java.util.zip.CRC32C();
        sum.update(bytes);
        int crc = (int) sum.getValue();
        int features = StgFlags.FEATURE_CRC | StgFlags.FEATURE_RESUME;
        int port = stage.service.port();
        long id;
        try (RawClient client = new RawClient(port).hello(7, 1 << 20, 2, features)) {
            id = client.open("d", bytes.length);
            client.ask(id, 0, bytes.length, 0);
            assertThat(client.granted()).isZero();
            client.data(id, 0, 0, bytes);
            client.release(id, 0, crc);
            client.begin(StgType.HEARTBEAT);
            client.flush();
            client.read(StgType.HEARTBEAT);
        }
        try (RawClient again = new RawClient(port).hello(7, 1 << 20, 2, features)) {
            assertThat(again.openAgain("d", bytes.length, id)).isEqualTo(id);
            assertThat(again.message.resumeOffset()).isEqualTo(bytes.length);
            again.begin(StgType.DATASET_SYNC).sync(id, bytes.length, crc, 0);
            again.flush();
            assertThat(again.read(StgType.DATASET_DONE).status()).isZero();
        }
        Await.until("forwarded", () -> sink.datasets.containsKey("d"));
        assertThat(sink.datasets.get("d")).isEqualTo(bytes);
    }

    /** The bytes of a write that its client gave up are no beginning of the next one. */
    @Test
    @Tag("savime-34")
    void shouldBeginAnewWhenAnotherWriteTakesTheNameOfALostOne() throws IOException {
        stage.launch(sink);
        byte[] bytes = StagingFixture.bytes(9, 2 * PAGE);
        int port = stage.service.port();
        RawClient client = new RawClient(port).hello(7, 1 << 20, 2, StgFlags.FEATURE_RESUME);
        long id = client.open("d", bytes.length);
        client.block(id, 0, 0, StagingFixture.bytes(1, PAGE));
        client.ask(id, PAGE, PAGE, 1);
        assertThat(client.granted()).isZero();
        client.close();
        Await.until("noticed", () -> stage.service.statistics().pinnedBytes() == 0);
        try (RawClient again = new RawClient(port).hello(7, 1 << 20, 2, StgFlags.FEATURE_RESUME)) {
            assertThat(again.open("d", bytes.length, "int8")).isEqualTo(-StgStatus.DUPLICATE);
            assertThat(again.open("d", bytes.length)).isEqualTo(id);
            assertThat(again.message.resumeOffset()).isZero();
            again.block(id, 0, 1, bytes);
            assertThat(again.sync(id, bytes.length)).isZero();
            again.run("behind", 0);
            assertThat(again.read(StgType.RUN_RESULT).status())
                    .isEqualTo(StgStatus.PREDECESSOR_FAILED);
            assertThat(again.message.runText()).as("refused, and given up").isEqualTo("d, d");
        }
        Await.until("forwarded", () -> sink.datasets.containsKey("d"));
        assertThat(sink.datasets.get("d")).isEqualTo(bytes);
    }

    @Test
    @Tag("savime-34")
    void shouldSayAgainThatAllArrivedBeforeTheConnectionWasLost() throws IOException {
        sink.isDown = true;
        stage.launch(sink);
        byte[] bytes = StagingFixture.bytes(9, PAGE);
        int port = stage.service.port();
        long id;
        try (RawClient client = new RawClient(port).hello(7, 1 << 20, 2, 0)) {
            id = client.open("d", PAGE);
            client.block(id, 0, 0, bytes);
            assertThat(client.sync(id, PAGE)).isZero();
        }
        try (RawClient again = new RawClient(port).hello(7, 1 << 20, 2, 0)) {
            assertThat(again.open("d", PAGE)).isEqualTo(-StgStatus.DUPLICATE);
            assertThat(again.openAgain("d", PAGE, id + 1)).isEqualTo(-StgStatus.DUPLICATE);
            assertThat(again.openAgain("d", PAGE, id)).isEqualTo(id);
            assertThat(again.message.resumeOffset()).isEqualTo(PAGE);
            assertThat(again.sync(id, PAGE)).isZero();
            sink.isDown = false;
            assertThat(again.read(StgType.DATASET_EVENT).datasetId()).isEqualTo(id);
            assertThat(again.sync(id, PAGE)).isZero();
        }
        assertThat(sink.order).containsExactly("d");
    }

    @Test
    void shouldRemoveWhatWasNotResumedInTime() throws IOException {
        stage.launch(stage.context(sink).resume(Duration.ofMillis(100)));
        RawClient client =
                new RawClient(stage.service.port()).hello(7, 1 << 20, 2, StgFlags.FEATURE_RESUME);
        client.open("d", PAGE);
        client.close();
        Await.until("given back", () -> stage.service.statistics().memoryReserved() == 0);
        assertThat(StagingFixture.staged(stage.memory)).isEmpty();
    }

    @Test
    @Tag("savime-58")
    void shouldRefuseAWrongToken() throws IOException {
        byte[] token = StagingFixture.bytes(5, 16);
        stage.launch(stage.context(sink).token(token));
        try (RawClient client = new RawClient(stage.service.port())) {
            client.hello(1, 1 << 20, 1, 0);
            assertThat(client.message.status()).isEqualTo(StgStatus.AUTH_FAILED);
            client.readToEnd();
        }
        try (RawClient client = new RawClient(stage.service.port())) {
            assertThat(client.hello(1, 1 << 20, 1, 0, token).message.status()).isZero();
        }
    }

    @Test
    @Tag("savime-28")
    void shouldSurviveAMemoryDirectoryThatFails() throws IOException {
        stage.launch(sink);
        try (RawClient client = client(1, 1)) {
            long id = client.open("d", 2 * PAGE);
            // What a foreign process does to the directory.
            for (String name : StagingFixture.staged(stage.memory)) {
                if (name.endsWith(".data")) {
                    Files.delete(stage.memory.resolve(name));
                    Files.createDirectory(stage.memory.resolve(name));
                }
            }
            client.ask(id, 0, PAGE, 0);
            assertThat(client.granted()).isIn(StgStatus.NO_SPACE, StgStatus.IO_ERROR);
            Await.until("given back", () -> stage.service.statistics().memoryReserved() == 0);
            long next = client.open("next", PAGE);
            client.block(next, 0, 0, new byte[PAGE]);
            assertThat(client.sync(next, PAGE)).isZero();
        }
        assertThat(stage.errors).isNotEmpty();
    }

    @Test
    void shouldLeaveNothingOfADatasetWhoseMetaFileCannotBeMade() throws IOException {
        stage.launch(sink);
        try (RawClient client = client(1, 1)) {
            String next = Long.toHexString(client.open("d", PAGE) + 1);
            // What a foreign process does to the directory.
            Files.createDirectory(stage.memory.resolve(next + ".tmp"));
            assertThat(client.open("next", PAGE)).isEqualTo(-StgStatus.NO_SPACE);
            Await.until("gone", () -> !Files.exists(stage.memory.resolve(next + ".data")));
        }
    }

    @Test
    void shouldDropClientsThatSendGarbageAndServeOthers() throws IOException {
        stage.launch(sink);
        Random random = new Random(20);
        for (int round = 0; round < 300; round++) {
            try (RawClient client = new RawClient(stage.service.port())) {
                boolean isGreeted = round % 3 > 0;
                if (isGreeted) {
                    client.hello(round, 1 << 20, 1, 0);
                }
                int type = 1 + random.nextInt(0x12);
                int length = Math.max(32, random.nextInt(1024));
                StgFlyweight message = client.begin(type).length(length);
                byte[] bytes = new byte[length];
                random.nextBytes(bytes);
                if (round % 3 == 2) {
                    // A right header, and anything behind it.
                    byte[] header = new byte[32];
                    client.copy(header);
                    System.arraycopy(header, 0, bytes, 0, 32);
                }
                assertThat(message.type()).isEqualTo(type);
                client.send(bytes);
            }
        }
        try (RawClient client = client(1, 1)) {
            long id = client.open("fine", PAGE);
            client.block(id, 0, 0, new byte[PAGE]);
            assertThat(client.sync(id, PAGE)).isZero();
        }
        Await.until("nothing is pinned", () -> stage.service.statistics().pinnedBytes() == 0);
    }
}
