package dev.verbena.staging.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Boxes of arrays in files, and the list of pieces of a folder. */
class BoxesTest {
    @TempDir Path folder;

    private FileChannel file(String name, int length) throws IOException {
        Path file = Files.write(folder.resolve(name), new byte[length]);
        return FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /** Elements are the numbers of their places in the whole. */
    private static void number(Boxes array, long[] whole) throws IOException {
        ByteBuffer value = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < array.shape()[0]; i++) {
            for (int j = 0; j < array.shape()[1]; j++) {
                for (int k = 0; k < array.shape()[2]; k++) {
                    long[] start = array.start();
                    long number =
                            ((start[0] + i) * whole[1] + start[1] + j) * whole[2] + start[2] + k;
                    long place = (i * array.shape()[1] + j) * array.shape()[2] + k;
                    value.clear().putInt((int) number + 1).flip();
                    array.file().write(value, array.address() + 4 * place);
                }
            }
        }
    }

    private static int read(Boxes array, int place) throws IOException {
        ByteBuffer value = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
        array.file().read(value, array.address() + 4L * place);
        return value.getInt(0);
    }

    @Test
    void shouldCopyABoxAndNothingElse() throws IOException {
        long[] whole = {5, 6, 7};
        long[][] boxes = {{2, 3, 1, 2, 2, 3}, {2, 2, 0, 2, 3, 7}, {1, 1, 1, 3, 4, 5}};
        for (long[] box : boxes) {
            try (FileChannel in = file("in", 4 * 500);
                    FileChannel out = file("out", 4 * 300)) {
                Boxes from = new Boxes(in, 16, new long[] {1, 1, 0}, new long[] {4, 5, 7}, 4);
                Boxes to = new Boxes(out, 8, new long[3], whole, 4);
                number(from, whole);
                long[] start = {box[0], box[1], box[2]};
                long[] shape = {box[3], box[4], box[5]};
                from.copyTo(to, start, shape);
                for (int place = 0; place < 210; place++) {
                    long[] at = {place / 42, place / 7 % 6, place % 7};
                    boolean isInside = true;
                    for (int i = 0; i < 3; i++) {
                        isInside &= at[i] >= start[i] && at[i] < start[i] + shape[i];
                    }
                    assertThat(read(to, place)).isEqualTo(isInside ? place + 1 : 0);
                }
            }
        }
    }

    private static void copy(Boxes from, Boxes to, long rows) {
        try {
            from.copyTo(to, new long[2], new long[] {rows, 8});
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldAllocateNothingPerRun() throws IOException {
        try (FileChannel in = file("in", 4 * 16 * 4096);
                FileChannel out = file("out", 1 << 20)) {
            Boxes from = new Boxes(in, 0, new long[2], new long[] {4096, 16}, 4);
            Boxes to = new Boxes(out, 0, new long[2], new long[] {4096, 8}, 4);
            AllocationMeter.requireNoneIn(
                    () -> {
                        long least = AllocationMeter.bytes(() -> copy(from, to, 2));
                        long all = AllocationMeter.bytes(() -> copy(from, to, 4096));
                        return Math.max(0, all - least);
                    });
            assertThatThrownBy(() -> from.copyTo(to, new long[] {4095, 12}, new long[] {3, 2}))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("ends at");
        }
    }

    private static StagedPiece piece(int rank) throws SinkRejectedException {
        return StagedPiece.of(
                new SinkDataset(
                        "d" + rank,
                        "double:2",
                        64,
                        16,
                        SinkTester.piece(
                                "v",
                                3,
                                rank,
                                new long[] {8},
                                new long[] {4L * rank},
                                new long[] {4}),
                        false));
    }

    @Test
    void shouldKeepTheListOfPiecesOverAKill() throws IOException {
        PieceIndex index = new PieceIndex(folder);
        index.add("d0", piece(0));
        assertThat(index.isSealed(piece(1))).isFalse();
        // The end of a line that a killed process did not write.
        Files.writeString(
                folder.resolve("verbena_pieces"), "d1 v 3 1 dou", StandardOpenOption.APPEND);
        PieceIndex again = new PieceIndex(folder);
        assertThat(again.contains(piece(0))).isTrue();
        assertThat(again.contains(piece(1))).isFalse();
        again.add("d1", piece(1));
        PieceIndex last = new PieceIndex(folder);
        assertThat(last.isSealed(piece(1))).isTrue();
        assertThat(last.piece("d1").start()).containsExactly(4);
        assertThat(last.piece("d1").vector()).isEqualTo(2);
        Files.writeString(folder.resolve("verbena_pieces"), "nothing\n");
        assertThatThrownBy(() -> new PieceIndex(folder)).isInstanceOf(IOException.class);
    }
}
