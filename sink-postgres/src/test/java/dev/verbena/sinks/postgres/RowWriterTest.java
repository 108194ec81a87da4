package dev.verbena.sinks.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.StagedPiece;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.copy.CopyIn;
import org.postgresql.util.ByteStreamWriter;

/** Rows in the binary form. */
class RowWriterTest {
    @TempDir Path folder;

    /** Counts what it is given. */
    private static final class Count implements CopyIn {
        private long bytes;

        @Override
        public void writeToCopy(byte[] from, int offset, int length) {
            bytes += length;
        }

        @Override
        public void writeToCopy(ByteStreamWriter from) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void flushCopy() {}

        @Override
        public long endCopy() {
            return 0;
        }

        @Override
        public int getFieldCount() {
            return 0;
        }

        @Override
        public int getFormat() {
            return 1;
        }

        @Override
        public int getFieldFormat(int field) {
            return 1;
        }

        @Override
        public boolean isActive() {
            return true;
        }

        @Override
        public void cancelCopy() {}

        @Override
        public long getHandledRowCount() {
            return 0;
        }
    }

    private static StagedPiece rows(int count) throws IOException {
        return StagedPiece.of(new SinkDataset("a", "double", 8L * count, 8, null, false));
    }

    private static void write(RowWriter writer, StagedPiece piece, FileChannel data, Count to) {
        try {
            writer.write(piece, data, to);
        } catch (IOException | SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldAllocateNothingPerRow() throws IOException {
        Path file = Files.write(folder.resolve("data"), new byte[8 * 100_000]);
        RowWriter writer = new RowWriter();
        Count to = new Count();
        StagedPiece few = rows(10);
        StagedPiece many = rows(100_000);
        try (FileChannel data = FileChannel.open(file)) {
            AllocationMeter.requireNoneIn(
                    () -> {
                        long least = AllocationMeter.bytes(() -> write(writer, few, data, to));
                        long all = AllocationMeter.bytes(() -> write(writer, many, data, to));
                        return Math.max(0, all - least);
                    });
        }
        assertThat(to.bytes).isPositive();
    }

    @Test
    void shouldFindAFileThatIsTooShort() throws IOException {
        Path file = Files.write(folder.resolve("data"), new byte[8 * 999 + 7]);
        try (FileChannel data = FileChannel.open(file)) {
            assertThatThrownBy(() -> new RowWriter().write(rows(1000), data, new Count()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("ends at");
        }
    }
}
