package dev.verbena.flesnet.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.flesnet.MicrosliceFlyweight;
import dev.verbena.flesnet.archive.ArchiveHead;
import dev.verbena.flesnet.archive.ArchiveWriter;
import dev.verbena.flesnet.archive.ArchivedMicroslice;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Microslices out of archives. */
@Timeout(60)
class ArchiveSourceTest {
    @TempDir private Path folder;
    private final RealEnvironment environment = RealEnvironment.create();
    private final KeptMicroslices sink = new KeptMicroslices(false);

    @AfterEach
    void close() {
        environment.close();
    }

    private Path archive(String name, int type, int compression, int first, int count)
            throws IOException {
        Path file = folder.resolve(name);
        ArchiveHead head = new ArchiveHead(type, compression, 0, "host", "user");
        try (ArchiveWriter writer = new ArchiveWriter(Files.newOutputStream(file), head)) {
            for (int i = first; i < first + count; i++) {
                byte[] descriptor = new byte[32];
                new MicrosliceFlyweight()
                        .wrap(new UnsafeBuffer(descriptor), 0)
                        .set(3, 0, 0xF0, 0, i, 0, i % 50);
                writer.write(new ArchivedMicroslice(descriptor, new byte[i % 50]));
            }
        }
        return file;
    }

    private void pollToTheEnd(ArchiveSource source) {
        Await.until(
                () -> "the end: " + sink.kept.size(),
                () -> {
                    source.poll(sink, 0);
                    return source.isEnded() || source.failure() != null;
                });
    }

    @Test
    void shouldReadOneFileAfterTheOther() throws IOException {
        List<Path> files =
                List.of(
                        archive("a.msa", ArchiveHead.MICROSLICES, ArchiveHead.PLAIN, 0, 700),
                        archive("b.msa", ArchiveHead.MICROSLICES, ArchiveHead.ZSTD, 700, 0),
                        archive("c.msa", ArchiveHead.MICROSLICES, ArchiveHead.ZSTD, 700, 300));
        try (ArchiveSource source = ArchiveSource.launch(environment, files)) {
            pollToTheEnd(source);
            assertThat(source.failure()).isNull();
        }
        assertThat(sink.kept).hasSize(1000);
        for (int i = 0; i < 1000; i++) {
            assertThat(sink.kept.get(i)).isEqualTo(new KeptMicroslices.Kept(3, 0, i, i % 50));
        }
    }

    @Test
    void shouldGiveWhatIsWholeAndSayWhereAFileIsCut() throws IOException {
        Path whole = archive("a.msa", ArchiveHead.MICROSLICES, ArchiveHead.PLAIN, 0, 20);
        byte[] bytes = Files.readAllBytes(whole);
        Files.write(whole, Arrays.copyOf(bytes, bytes.length - 1));
        try (ArchiveSource source = ArchiveSource.launch(environment, List.of(whole))) {
            pollToTheEnd(source);
            assertThat(source.isEnded()).isFalse();
            assertThat(source.failure()).contains("a.msa").contains("ends within the item");
        }
        assertThat(sink.kept).hasSize(19);
    }

    /** What no ring takes is not read: its bytes, which may be few in a file, could be 1 GiB. */
    @Test
    void shouldRefuseALengthBeforeItReadsTheBytes() throws IOException {
        Path file = archive("a.msa", ArchiveHead.MICROSLICES, ArchiveHead.PLAIN, 49, 1);
        byte[] bytes = Files.readAllBytes(file);
        int length = bytes.length - 49 - Long.BYTES;
        assertThat(bytes[length]).isEqualTo((byte) 49);
        // 2^24 + 49 bytes.
        bytes[length + 3] = 1;
        Files.write(file, bytes);
        try (ArchiveSource source = ArchiveSource.launch(environment, List.of(file))) {
            pollToTheEnd(source);
            assertThat(source.failure()).contains("a length of 16777265 bytes, at most 1048576");
        }
    }

    /** Its own thread must not end without a word. */
    @Test
    void shouldFailWhenMemoryEnds() throws IOException {
        Path whole = archive("a.msa", ArchiveHead.MICROSLICES, ArchiveHead.PLAIN, 0, 20);
        Path large =
                (Path)
                        Proxy.newProxyInstance(
                                getClass().getClassLoader(),
                                new Class<?>[] {Path.class},
                                (path, method, arguments) -> {
                                    if (method.getName().equals("toString")) {
                                        return "large.msa";
                                    }
                                    throw new OutOfMemoryError("Java heap space");
                                });
        try (ArchiveSource source = ArchiveSource.launch(environment, List.of(whole, large))) {
            pollToTheEnd(source);
            assertThat(source.isEnded()).isFalse();
            assertThat(source.failure()).contains("large.msa", "Java heap space");
        }
        assertThat(sink.kept).hasSize(20);
    }

    @Test
    void shouldRefuseWhatNoRingTakesAndWhatIsNoArchive() throws IOException {
        Path file = archive("a.msa", ArchiveHead.MICROSLICES, ArchiveHead.PLAIN, 0, 20);
        sink.contentMax = 8;
        try (ArchiveSource source = ArchiveSource.launch(environment, List.of(file))) {
            pollToTheEnd(source);
            assertThat(source.failure())
                    .contains("a.msa", "a length of 9 bytes, at most 8 are taken");
            assertThat(sink.kept).hasSize(9);
        }
        Path other = archive("b.tsa", ArchiveHead.TIMESLICES, ArchiveHead.PLAIN, 0, 0);
        assertThatThrownBy(() -> ArchiveSource.launch(environment, List.of(other)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no archive of microslices");
        Files.write(other, new byte[10]);
        assertThatThrownBy(() -> ArchiveSource.launch(environment, List.of(other)))
                .isInstanceOf(IOException.class);
    }
}
