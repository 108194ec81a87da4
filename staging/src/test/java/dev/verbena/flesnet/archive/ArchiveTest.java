package dev.verbena.flesnet.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.Fuzz;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Archives, byte for byte. */
@Timeout(60)
class ArchiveTest {
    private static final byte[] FIVE = {1, 2, 3, 4, 5};

    private static ArchiveHead head(int type, int compression) {
        return new ArchiveHead(type, compression, 1_700_000_000, "hn", "user");
    }

    private static byte[] microslices(int compression, int count) throws IOException {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        try (ArchiveWriter writer =
                new ArchiveWriter(file, head(ArchiveHead.MICROSLICES, compression))) {
            for (int i = 0; i < count; i++) {
                byte[] descriptor = new byte[32];
                descriptor[8] = (byte) i;
                writer.write(new ArchivedMicroslice(descriptor, FIVE));
            }
        }
        return file.toByteArray();
    }

    private static ArchivedTimeslice timeslice(int index) {
        byte[] data = new byte[37];
        Arrays.fill(data, (byte) index);
        return new ArchivedTimeslice(
                index,
                index * 40L,
                40,
                2,
                index,
                1,
                List.of(new ArchivedTimeslice.Component(index, 7, 37, 1, 3, data)));
    }

    private static byte[] timeslices(int compression, int first, int count) throws IOException {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        try (ArchiveWriter writer =
                new ArchiveWriter(file, head(ArchiveHead.TIMESLICES, compression))) {
            for (int i = 0; i < count; i++) {
                writer.write(timeslice(first + i));
            }
        }
        return file.toByteArray();
    }

    private static ArchiveReader reader(byte[] bytes, int type) throws IOException {
        return new ArchiveReader(new ByteArrayInputStream(bytes), type);
    }

    @Test
    @Tag("flesnet-54")
    void shouldWriteTheWorkedExample() throws IOException {
        byte[] msa = microslices(ArchiveHead.PLAIN, 2);
        assertThat(msa).hasSize(183);
        assertThat(microslices(ArchiveHead.PLAIN, 0)).hasSize(83);
        assertThat(microslices(ArchiveHead.PLAIN, 1)).hasSize(83 + 55);
        assertThat(timeslices(ArchiveHead.PLAIN, 0, 2)).hasSize(406);
        String hex = HexFormat.of().formatHex(msa, 0, 83);
        String text = HexFormat.of().formatHex("serialization::archive".getBytes());
        assertThat(hex)
                .isEqualTo(
                        "1600000000000000"
                                + text
                                + "1200"
                                + "04080408"
                                + "01000000"
                                + "0002000000"
                                + "01000000"
                                + "00000000"
                                + "00f1536500000000"
                                + "0200000000000000686e"
                                + "040000000000000075736572");
        assertThat(Arrays.copyOfRange(msa, 83, 93)).containsOnly(0);
    }

    private static void requireEqual(ArchivedTimeslice read, ArchivedTimeslice wanted) {
        assertThat(read).usingRecursiveComparison().isEqualTo(wanted);
    }

    @Test
    @Tag("flesnet-55")
    void shouldReadWhatItWroteWithBothCompressions() throws IOException {
        for (int compression : new int[] {ArchiveHead.PLAIN, ArchiveHead.ZSTD}) {
            byte[] tsa = timeslices(compression, 0, 300);
            try (ArchiveReader reader = reader(tsa, ArchiveHead.TIMESLICES)) {
                assertThat(reader.head()).isEqualTo(head(ArchiveHead.TIMESLICES, compression));
                for (int i = 0; i < 300; i++) {
                    requireEqual(reader.nextTimeslice(), timeslice(i));
                }
                assertThat(reader.nextTimeslice()).isNull();
            }
            byte[] msa = microslices(compression, 3);
            try (ArchiveReader reader = reader(msa, ArchiveHead.MICROSLICES)) {
                for (int i = 0; i < 3; i++) {
                    ArchivedMicroslice microslice = reader.nextMicroslice();
                    assertThat(microslice.descriptor()[8]).isEqualTo((byte) i);
                    assertThat(microslice.content()).isEqualTo(FIVE);
                }
                assertThat(reader.nextMicroslice()).isNull();
            }
        }
    }

    @Test
    @Tag("flesnet-55")
    void shouldReadOlderFiles() throws IOException {
        byte[] now = timeslices(ArchiveHead.PLAIN, 4, 1);
        for (int version = 0; version <= 1; version++) {
            byte[] old = older(now, version);
            try (ArchiveReader reader = reader(old, ArchiveHead.TIMESLICES)) {
                ArchivedTimeslice read = reader.nextTimeslice();
                assertThat(read.index()).isEqualTo(4);
                assertThat(read.durationNs()).isZero();
                assertThat(read.position()).isEqualTo(4);
                assertThat(read.components().get(0).flags()).isZero();
                assertThat(read.components().get(0).data()).hasSize(37);
                assertThat(reader.nextTimeslice()).isNull();
            }
        }
    }

    /** The file of one timeslice, as classes of this version had it. */
    private static byte[] older(byte[] now, int version) {
        ByteArrayOutputStream old = new ByteArrayOutputStream();
        old.write(now, 0, 41);
        old.write(new byte[] {(byte) version, 0, 0, 0}, 0, 4);
        if (version == 1) {
            old.write(now, 45, 4);
        }
        old.write(now, 53, 83 - 53 + 5);
        old.write(new byte[] {0, (byte) version, 0, 0, 0}, 0, 5);
        if (version == 1) {
            old.write(now, 93, 8);
        }
        // Without start, duration and flags.
        int position = 93 + 28;
        int components = now.length - 41;
        old.write(now, position, components - position);
        old.write(new byte[] {0, 0, 0, 0, 0}, 0, 5);
        old.write(now, components + 5, 32);
        return old.toByteArray();
    }

    @Test
    @Tag("flesnet-55")
    void shouldSayWhereATruncatedItemBegins() throws IOException {
        byte[] msa = microslices(ArchiveHead.PLAIN, 2);
        for (int length = 139; length < 183; length++) {
            try (ArchiveReader reader =
                    reader(Arrays.copyOf(msa, length), ArchiveHead.MICROSLICES)) {
                reader.nextMicroslice();
                assertThatThrownBy(reader::nextMicroslice)
                        .isInstanceOfSatisfying(
                                ArchiveException.class,
                                e -> {
                                    assertThat(e.isTruncated()).isTrue();
                                    assertThat(e.offset()).isEqualTo(138);
                                })
                        .hasMessageContaining("138");
            }
        }
        byte[] zstd = timeslices(ArchiveHead.ZSTD, 0, 50);
        try (ArchiveReader reader =
                reader(Arrays.copyOf(zstd, zstd.length - 20), ArchiveHead.TIMESLICES)) {
            assertThatThrownBy(
                            () -> {
                                while (reader.nextTimeslice() != null) {
                                    continue;
                                }
                            })
                    .isInstanceOf(ArchiveException.class);
        }
    }

    @Test
    @Tag("flesnet-55")
    void shouldReadASequenceOfFilesAsOne() throws IOException {
        assertThat(ArchiveReader.sequenceName("run_%n.tsa", 7)).isEqualTo("run_0007.tsa");
        assertThat(ArchiveReader.sequenceName("run_%n.tsa", 12345)).isEqualTo("run_12345.tsa");
        byte[] first = timeslices(ArchiveHead.PLAIN, 0, 3);
        byte[] second = timeslices(ArchiveHead.ZSTD, 3, 2);
        List<Long> read = new ArrayList<>();
        for (byte[] file : List.of(first, second)) {
            try (ArchiveReader reader = reader(file, ArchiveHead.TIMESLICES)) {
                for (ArchivedTimeslice t = reader.nextTimeslice();
                        t != null;
                        t = reader.nextTimeslice()) {
                    read.add(t.index());
                }
            }
        }
        assertThat(read).containsExactly(0L, 1L, 2L, 3L, 4L);
    }

    @Test
    void shouldBearWhateverBytesCome() throws IOException {
        List<byte[]> corpus = new ArrayList<>();
        corpus.add(timeslices(ArchiveHead.PLAIN, 0, 2));
        corpus.add(microslices(ArchiveHead.PLAIN, 2));
        corpus.add(timeslices(ArchiveHead.ZSTD, 0, 2));
        new Fuzz("flesnet archive", corpus, 64 << 20)
                .run(
                        input -> {
                            try (ArchiveReader reader = reader(input, ArchiveHead.TIMESLICES)) {
                                boolean isTimeslices =
                                        reader.head().type() == ArchiveHead.TIMESLICES;
                                while (isTimeslices
                                        ? reader.nextTimeslice() != null
                                        : reader.nextMicroslice() != null) {
                                    continue;
                                }
                            } catch (IOException e) {
                                // refused
                            }
                        });
    }
}
