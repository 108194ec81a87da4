package dev.verbena.cli.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.flesnet.Timeslice;
import dev.verbena.flesnet.archive.ArchiveHead;
import dev.verbena.flesnet.archive.ArchiveReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is in a compute node's archive when a timeslice is released. */
class TimesliceCheckerTest {
    @TempDir Path directory;

    /** A timeslice of a few bytes. */
    private record Small(long index, Runnable onRelease) implements Timeslice {
        private static final int LENGTH = 40;

        @Override
        public long descriptor() {
            return index;
        }

        @Override
        public int flags() {
            return 0;
        }

        @Override
        public int flags(int input) {
            return 0;
        }

        @Override
        public int componentCount() {
            return 1;
        }

        @Override
        public boolean hasComponent(int input) {
            return true;
        }

        @Override
        public int size(int input) {
            return LENGTH;
        }

        @Override
        public int microsliceCount(int input) {
            return 1;
        }

        @Override
        public long arrivalSpreadNs() {
            return 0;
        }

        @Override
        public DirectBuffer ring(int input) {
            return new UnsafeBuffer(new byte[LENGTH]);
        }

        @Override
        public int offset(int input, int at) {
            return at;
        }

        @Override
        public void copy(int input, int at, byte[] target, int targetOffset, int length) {
            // Zeros.
        }

        @Override
        public void release() {
            onRelease.run();
        }
    }

    /** As a process that is killed then leaves it; nobody else builds what was released. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldHaveATimesliceInItsFileBeforeItIsReleased(boolean isCompressed) throws IOException {
        Path file = directory.resolve("kept.tsa");
        int[] released = new int[1];
        try (TimesliceChecker checker = new TimesliceChecker(1, true)) {
            checker.archive(file, isCompressed, 0);
            for (int i = 0; i < 3; i++) {
                Runnable onRelease = () -> assertThat(count(file)).isEqualTo(++released[0]);
                checker.onTimeslice(new Small(i, onRelease));
            }
        }
        assertThat(released[0]).isEqualTo(3);
    }

    private static int count(Path file) {
        int count = 0;
        try (ArchiveReader reader =
                new ArchiveReader(Files.newInputStream(file), ArchiveHead.TIMESLICES)) {
            while (reader.nextTimeslice() != null) {
                count++;
            }
        } catch (IOException e) {
            // It is cut off, as it is still being written.
        }
        return count;
    }
}
