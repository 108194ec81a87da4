package dev.verbena.cli.dart;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.dart.DartMessage;
import dev.verbena.dart.DartMetadata;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class ReceivedTreeTest {
    @TempDir private Path folder;
    private final List<String> log = new ArrayList<>();
    private int number;

    /** A message whose payload the receiver has stored. */
    private DartMessage stored(DartMetadata metadata, byte[] bytes) throws IOException {
        String name = "flat-" + number++;
        Files.write(folder.resolve(name), bytes);
        return new StoredMessage(metadata, name, bytes);
    }

    private static String crc(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return String.format("%08x", (int) crc.getValue());
    }

    private DartMetadata metadata(String path, long offset, long total, String crc) {
        DartMetadata metadata = new DartMetadata();
        SentFile.describe(metadata, path, "one", offset, total, false);
        return crc == null ? metadata : metadata.property("crc", crc);
    }

    @Test
    void shouldGiveAFileItsFolderBack() throws Exception {
        ReceivedTree tree = new ReceivedTree(folder, log::add, () -> true);
        byte[] bytes = {1, 2, 3};
        String path = "a/b c/ümlaut-" + "x".repeat(100) + ".txt";
        tree.onMessage(stored(metadata(path, 0, 3, crc(bytes)), bytes));
        assertThat(Files.readAllBytes(folder.resolve(path))).isEqualTo(bytes);
        assertThat(tree.fileCount()).isEqualTo(1);
        assertThat(folder.resolve("flat-0")).doesNotExist();
    }

    @Test
    void shouldPutPartsTogetherInOrder() throws Exception {
        ReceivedTree tree = new ReceivedTree(folder, log::add, () -> true);
        byte[] whole = new byte[1000];
        for (int i = 0; i < whole.length; i++) {
            whole[i] = (byte) i;
        }
        byte[] first = Arrays.copyOf(whole, 600);
        byte[] second = Arrays.copyOfRange(whole, 600, 1000);
        tree.onMessage(stored(metadata("big", 0, 1000, null), first));
        assertThat(folder.resolve("big")).doesNotExist();
        tree.onMessage(stored(metadata("big", 600, 1000, crc(whole)), second));
        assertThat(Files.readAllBytes(folder.resolve("big"))).isEqualTo(whole);
        tree.onMessage(stored(metadata("odd", 600, 1000, crc(whole)), second));
        assertThat(tree.damagedCount()).isEqualTo(1);
        assertThat(log).anyMatch(line -> line.contains("out of order"));
    }

    @Test
    void shouldGoOnWithPartsThatAKilledReceiverHad() throws Exception {
        byte[] whole = "what came before and after the kill".getBytes(UTF_8);
        byte[] first = Arrays.copyOf(whole, 10);
        byte[] second = Arrays.copyOfRange(whole, 10, 20);
        byte[] third = Arrays.copyOfRange(whole, 20, whole.length);
        ReceivedTree killed = new ReceivedTree(folder, log::add, () -> true);
        killed.onMessage(stored(metadata("a/big", 0, whole.length, null), first));
        killed.onMessage(stored(metadata("a/big", 10, whole.length, null), second));
        final Path lock = Files.write(folder.resolve(".receiving-lock"), new byte[0]);
        ReceivedTree next = new ReceivedTree(folder, log::add, () -> true);
        // Not acknowledged before the kill: it comes again.
        next.onMessage(stored(metadata("a/big", 10, whole.length, null), second));
        next.onMessage(stored(metadata("a/big", 20, whole.length, crc(whole)), third));
        assertThat(folder.resolve("a/big")).hasBinaryContent(whole);
        ReceivedTree last = new ReceivedTree(folder, log::add, () -> true);
        last.onMessage(stored(metadata("a/big", 20, whole.length, crc(whole)), third));
        assertThat(log).noneMatch(line -> line.startsWith("refused"));
        Files.delete(lock);
        try (var files = Files.walk(folder)) {
            assertThat(files.filter(Files::isRegularFile)).containsExactly(folder.resolve("a/big"));
        }
    }

    @Test
    void shouldReplaceNoOtherFileUnlessAsked() throws Exception {
        ReceivedTree tree = new ReceivedTree(folder, log::add, () -> true);
        for (byte i = 1; i <= 3; i++) {
            // Each comes twice, as after a kill.
            for (int times = 0; times < 2; times++) {
                byte[] bytes = {i};
                tree.onMessage(stored(metadata("out.dat", 0, 1, crc(bytes)), bytes));
            }
        }
        assertThat(folder.resolve("out.dat")).hasBinaryContent(new byte[] {1});
        assertThat(folder.resolve("out.dat.1")).hasBinaryContent(new byte[] {2});
        assertThat(folder.resolve("out.dat.2")).hasBinaryContent(new byte[] {3});
        assertThat(log).anyMatch(line -> line.startsWith("kept out.dat") && line.endsWith(".2"));
        byte[] bytes = {4};
        new ReceivedTree(folder, log::add, () -> true, true)
                .onMessage(stored(metadata("out.dat", 0, 1, crc(bytes)), bytes));
        assertThat(folder.resolve("out.dat")).hasBinaryContent(bytes);
        try (var files = Files.list(folder)) {
            assertThat(files).hasSize(3);
        }
    }

    @Test
    void shouldKeepTheAttemptsOfASenderApart() throws Exception {
        ReceivedTree tree = new ReceivedTree(folder, log::add, () -> true);
        byte[] old = {1, 2, 3, 4};
        byte[] fresh = {5, 6, 7, 8};
        tree.onMessage(stored(metadata("f", 0, 4, null), Arrays.copyOf(old, 2)));
        DartMetadata begin = new DartMetadata();
        SentFile.describe(begin, "f", "one-2", 0, 4, false);
        tree.onMessage(stored(begin, Arrays.copyOf(fresh, 2)));
        tree.onMessage(stored(metadata("f", 2, 4, "00000000"), Arrays.copyOfRange(old, 2, 4)));
        DartMetadata end = new DartMetadata();
        SentFile.describe(end, "f", "one-2", 2, 4, false);
        tree.onMessage(stored(end.property("crc", crc(fresh)), Arrays.copyOfRange(fresh, 2, 4)));
        assertThat(folder.resolve("f")).hasBinaryContent(fresh);
        try (var files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString())).containsExactly("f");
        }
    }

    @Test
    void shouldKeepTheSendersOfAPathApart() throws Exception {
        ReceivedTree tree = new ReceivedTree(folder, log::add, () -> true);
        byte[] one = {1, 2, 3, 4, 5, 6};
        byte[] two = {7, 8, 9, 10, 11, 12};
        tree.onMessage(part("one", one, 0));
        tree.onMessage(part("two", two, 0));
        tree.onMessage(part("one", one, 2));
        tree.onMessage(part("one", one, 4));
        tree.onMessage(part("two", two, 2));
        tree.onMessage(part("two", two, 4));
        assertThat(folder.resolve("out.dat")).hasBinaryContent(one);
        assertThat(folder.resolve("out.dat.1")).hasBinaryContent(two);
        assertThat(tree.damagedCount()).isZero();
        // The receiver was killed before it could say so: these come again.
        tree.onMessage(part("one", one, 2));
        tree.onMessage(part("one", one, 4));
        tree.onMessage(part("two", two, 2));
        tree.onMessage(part("two", two, 4));
        assertThat(tree.damagedCount()).isZero();
        try (var files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("out.dat", "out.dat.1");
        }
    }

    /** Without a checksum a file of its length is not known to have it. */
    @Test
    void shouldRefuseAPartWhoseBytesAreNotInPlace() throws Exception {
        byte[] there = {1, 2, 3, 4, 5, 6};
        Files.write(folder.resolve("out.dat"), there);
        ReceivedTree tree = new ReceivedTree(folder, log::add, () -> true);
        tree.onMessage(part("one", there, 2));
        assertThat(tree.damagedCount()).isZero();
        tree.onMessage(part("two", new byte[] {1, 2, 3, 0, 5, 6}, 2));
        assertThat(tree.damagedCount()).isEqualTo(1);
        assertThat(log).singleElement().asString().contains("out of order");
        assertThat(folder.resolve("flat-1")).hasBinaryContent(new byte[] {3, 0});
        assertThat(folder.resolve("out.dat")).hasBinaryContent(there);
    }

    /** Two bytes of out.dat; the last ones come with the checksum. */
    private DartMessage part(String attempt, byte[] whole, int offset) throws IOException {
        DartMetadata metadata = new DartMetadata();
        SentFile.describe(metadata, "out.dat", attempt, offset, whole.length, false);
        if (offset + 2 == whole.length) {
            metadata.property("crc", crc(whole));
        }
        return stored(metadata, Arrays.copyOfRange(whole, offset, offset + 2));
    }

    @Test
    void shouldRefuseAWrongChecksumAndKeepWhatCame() throws Exception {
        ReceivedTree tree = new ReceivedTree(folder, log::add, () -> true);
        tree.onMessage(stored(metadata("file", 0, 2, "00000000"), new byte[] {1, 2}));
        assertThat(tree.damagedCount()).isEqualTo(1);
        assertThat(folder.resolve("file")).doesNotExist();
        assertThat(folder.resolve("flat-0")).exists();
    }

    /** As on a device that takes no new folder for a while: nothing is refused meanwhile. */
    @Test
    void shouldWaitUntilAFolderCanBeMade() throws Exception {
        Path root = Files.createDirectory(folder.resolve("root"));
        Thread mender = null;
        ReceivedTree tree = new ReceivedTree(root, log::add, () -> false);
        byte[] bytes = {1, 2, 3};
        DartMessage message = new StoredMessage(metadata("a/b", 0, 3, crc(bytes)), "flat", bytes);
        Path away = folder.resolve("away");
        Files.move(root, away);
        mender =
                new Thread(
                        () -> {
                            try {
                                while (log.isEmpty()) {
                                    Thread.sleep(10);
                                }
                                Files.write(away.resolve("flat"), bytes);
                                Files.move(away, root);
                            } catch (IOException | InterruptedException e) {
                                log.add("refused by the test itself: " + e);
                            }
                        });
        mender.start();
        tree.onMessage(message);
        mender.join();
        assertThat(root.resolve("a/b")).hasBinaryContent(bytes);
        assertThat(tree.damagedCount()).isZero();
        assertThat(log).first().asString().startsWith("waiting, cannot place a/b");
        try (var files = Files.list(root)) {
            assertThat(files).containsExactly(root.resolve("a"));
        }
    }

    /** Waiting for what never changes would keep everybody else from being served. */
    @Test
    void shouldRefuseWhatIsInTheWayOfItsOwnNameOnly() throws Exception {
        Files.write(folder.resolve("taken"), new byte[] {1});
        Files.createDirectories(folder.resolve("full/of"));
        ReceivedTree tree = new ReceivedTree(folder, log::add, () -> false);
        byte[] bytes = {7};
        for (String path :
                List.of("taken/below", "full", "x".repeat(300), "x".repeat(300) + "/y")) {
            tree.onMessage(stored(metadata(path, 0, 1, crc(bytes)), bytes));
        }
        assertThat(tree.damagedCount()).isEqualTo(4);
        assertThat(log).hasSize(4).allMatch(line -> line.startsWith("refused: "));
        tree.onMessage(stored(metadata("good", 0, 1, crc(bytes)), bytes));
        assertThat(folder.resolve("good")).hasBinaryContent(bytes);
    }

    /** Its parts cannot be stored, however long one waits. */
    @Test
    void shouldRefuseAPartWhenADirectoryIsWhereItsFileIsPutTogether() throws Exception {
        ReceivedTree tree = new ReceivedTree(folder, log::add, () -> false);
        Files.createDirectory(new PartFile(folder, "big", "one").path());
        tree.onMessage(stored(metadata("big", 0, 4, null), new byte[] {1, 2}));
        assertThat(tree.damagedCount()).isEqualTo(1);
        assertThat(log).singleElement().asString().startsWith("refused: big").contains("directory");
        assertThat(folder.resolve("flat-0")).hasBinaryContent(new byte[] {1, 2});
    }

    /** Another file of the same length is not the one that was sent. */
    @Test
    void shouldNotTakeAFileOfTheSameLengthForTheOneThatWasSent() throws Exception {
        Files.write(folder.resolve("big"), new byte[] {1, 2, 3, 4});
        ReceivedTree tree = new ReceivedTree(folder, log::add, () -> true);
        byte[] whole = {5, 6, 7, 8};
        byte[] end = {7, 8};
        tree.onMessage(stored(metadata("big", 2, 4, crc(whole)), end));
        assertThat(tree.damagedCount()).isEqualTo(1);
        assertThat(log).anyMatch(line -> line.contains("out of order"));
        assertThat(folder.resolve("flat-0")).exists();
    }

    @Test
    void shouldDeleteUnfinishedFilesOnlyWhenNoServerCanHaveTheRest() throws Exception {
        byte[] first = {1, 2};
        ReceivedTree killed = new ReceivedTree(folder, log::add, () -> true);
        killed.onMessage(stored(metadata("big", 0, 4, null), first));
        Path state = Files.write(folder.resolve(".receiving-state"), new byte[1]);
        new ReceivedTree(folder, log::add, () -> true);
        assertThat(parts()).isEqualTo(1);
        Files.delete(state);
        new ReceivedTree(folder, log::add, () -> true);
        assertThat(parts()).isZero();
        assertThat(log).containsExactly("deleted 1 unfinished files of senders that gave up");
    }

    private long parts() throws IOException {
        try (var files = Files.list(folder)) {
            return files.filter(f -> f.getFileName().toString().startsWith(".verbena-part"))
                    .count();
        }
    }

    /** More than it keeps in mind. */
    @Test
    void shouldPutManyFilesTogetherAtATime() throws Exception {
        ReceivedTree tree = new ReceivedTree(folder, log::add, () -> true);
        int count = ReceivedTree.OPEN_MAX + 10;
        byte[] whole = {1, 2, 3, 4};
        for (int i = 0; i < count; i++) {
            tree.onMessage(stored(metadata("f" + i, 0, 4, null), Arrays.copyOf(whole, 2)));
        }
        for (int i = 0; i < count; i++) {
            byte[] end = Arrays.copyOfRange(whole, 2, 4);
            tree.onMessage(stored(metadata("f" + i, 2, 4, crc(whole)), end));
        }
        assertThat(tree.fileCount()).isEqualTo(count);
        assertThat(tree.damagedCount()).isZero();
    }

    @Test
    void shouldKeepWhatCameInPartsAndIsNotWhatItsSenderSays() throws Exception {
        ReceivedTree tree = new ReceivedTree(folder, log::add, () -> true);
        tree.onMessage(stored(metadata("big", 0, 4, null), new byte[] {1, 2}));
        tree.onMessage(stored(metadata("big", 2, 4, "00000000"), new byte[] {3, 4}));
        assertThat(tree.damagedCount()).isEqualTo(1);
        String left = log.get(0).substring(log.get(0).indexOf("left as ") + 8);
        new ReceivedTree(folder, log::add, () -> true);
        assertThat(Path.of(left)).hasBinaryContent(new byte[] {1, 2, 3, 4});
        assertThat(folder.resolve("big")).doesNotExist();
    }

    /** The least length less what came would wrap to a great one. */
    @Test
    @Tag("dart-S7")
    void shouldRefuseAPartOfAFileWithoutALength() throws Exception {
        ReceivedTree tree = new ReceivedTree(folder, log::add, () -> true);
        tree.onMessage(stored(metadata("f", 0, Long.MIN_VALUE, null), new byte[] {7}));
        assertThat(tree.damagedCount()).isEqualTo(1);
        assertThat(log).anyMatch(line -> line.contains("a part outside the file"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "../outside",
                "/etc/passwd",
                "a/../../b",
                "a//b",
                ".",
                "a/.",
                ".verbena-part-1",
                "a\0b",
            })
    void shouldNeverLeaveItsFolder(String path) throws Exception {
        ReceivedTree tree = new ReceivedTree(folder, log::add, () -> true);
        byte[] bytes = {7};
        tree.onMessage(stored(metadata(path, 0, 1, crc(bytes)), bytes));
        assertThat(tree.damagedCount()).isEqualTo(1);
        try (var files = Files.walk(folder)) {
            assertThat(files.filter(Files::isRegularFile))
                    .containsExactly(folder.resolve("flat-0"));
        }
    }

    @Test
    void shouldNotFollowALinkOutOfItsFolder(@TempDir Path elsewhere) throws Exception {
        Files.createSymbolicLink(folder.resolve("link"), elsewhere);
        ReceivedTree tree = new ReceivedTree(folder, log::add, () -> true);
        byte[] bytes = {7};
        tree.onMessage(stored(metadata("link/file", 0, 1, crc(bytes)), bytes));
        assertThat(elsewhere).isEmptyDirectory();
        assertThat(tree.damagedCount()).isEqualTo(1);
    }

    /** What a receiver hands over. */
    private record StoredMessage(DartMetadata metadata, String fileName, byte[] bytes)
            implements DartMessage {
        @Override
        public DirectBuffer buffer() {
            return new UnsafeBuffer(bytes);
        }

        @Override
        public int offset() {
            return 0;
        }

        @Override
        public int length() {
            return bytes.length;
        }

        @Override
        public int clientId() {
            return 1;
        }

        @Override
        public long sequence() {
            return 1;
        }

        @Override
        public int tag() {
            return 0;
        }

        @Override
        public int serverId() {
            return 0;
        }

        @Override
        public int crc32c() {
            return 0;
        }

        @Override
        public boolean isCorrupt() {
            return false;
        }
    }
}
