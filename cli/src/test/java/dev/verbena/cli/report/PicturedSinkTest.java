package dev.verbena.cli.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.FieldPictures;
import dev.verbena.agent.FieldPictures.Picture;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.staging.metadata.PieceMetadata;
import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.SinkSession;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class PicturedSinkTest {
    private static final int DARK = 0x0A0E1A;
    private static final int BRIGHT = 0xFADC78;
    private static final int GREY = 0x808080;

    @TempDir private Path folder;
    private final AtomicLong now = new AtomicLong(1);
    private final List<Throwable> errors = new ArrayList<>();
    private final Accepting accepting = new Accepting();
    private RealEnvironment environment;
    private SinkSession session;

    /** Takes what it is given, unless it refuses. */
    private static final class Accepting implements Sink, SinkSession {
        private boolean isRefusing;
        private int count;

        @Override
        public int sessionsMax() {
            return 1;
        }

        @Override
        public SinkSession open() {
            return this;
        }

        @Override
        public void transfer(SinkDataset dataset, FileChannel data) throws IOException {
            if (isRefusing) {
                throw new SinkRejectedException("no");
            }
            count++;
        }

        @Override
        public String command(String text) {
            return text;
        }

        @Override
        public void close() {}
    }

    @BeforeEach
    void open() throws IOException {
        environment =
                RealEnvironment.builder()
                        .shmDirectory(folder)
                        .nanoClock(now::get)
                        .errorHandler(errors::add)
                        .build();
        session = new PicturedSink(accepting, environment).open();
    }

    @AfterEach
    void close() {
        environment.close();
    }

    private void send(long step, int rank, long[] global, long[] start, long[] shape, double... of)
            throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(8 * of.length).order(ByteOrder.LITTLE_ENDIAN);
        for (double each : of) {
            bytes.putDouble(each);
        }
        Path file = Files.write(folder.resolve("data"), bytes.array());
        PieceMetadata piece =
                global == null ? null : new PieceMetadata("v", step, rank, global, start, shape);
        try (FileChannel data = FileChannel.open(file)) {
            session.transfer(
                    new SinkDataset("d", "double", bytes.capacity(), 8, piece, false), data);
        }
    }

    private void sendRow(long step, int rank, double... of) throws IOException {
        send(step, rank, new long[] {2, 3}, new long[] {rank, 0}, new long[] {1, 3}, of);
    }

    private void pass(long milliseconds) {
        now.addAndGet(TimeUnit.MILLISECONDS.toNanos(milliseconds));
    }

    private List<Picture> shown() throws IOException {
        return FieldPictures.read(environment.countersPath());
    }

    private int colour(int row, int column, int rows, int columns) throws IOException {
        BufferedImage image = ImageIO.read(new ByteArrayInputStream(shown().get(0).png()));
        int x = image.getWidth() * (2 * column + 1) / (2 * columns);
        int y = image.getHeight() * (2 * row + 1) / (2 * rows);
        return image.getRGB(x, y) & 0xFFFFFF;
    }

    @Test
    void shouldDrawAStepOnceItIsWhole() throws Exception {
        sendRow(4, 1, 5, 5, 9);
        assertThat(shown()).isEmpty();
        sendRow(4, 0, 1, 5, Double.NaN);
        assertThat(shown()).extracting(Picture::field).containsExactly("v");
        assertThat(shown()).extracting(Picture::step).containsExactly(4L);
        assertThat(colour(0, 0, 2, 3)).isEqualTo(DARK);
        assertThat(colour(1, 2, 2, 3)).isEqualTo(BRIGHT);
        assertThat(colour(0, 2, 2, 3)).isEqualTo(GREY);
        assertThat(colour(0, 1, 2, 3)).isEqualTo(colour(1, 0, 2, 3)).isNotIn(DARK, BRIGHT);
        assertThat(errors).isEmpty();
    }

    @Test
    void shouldDrawAtMostOnceASecondAndLeaveOutWholeSteps() throws Exception {
        sendRow(1, 0, 1, 2, 3);
        sendRow(1, 1, 1, 2, 3);
        pass(600);
        sendRow(2, 0, 1, 2, 3);
        pass(600);
        // The other half of a step that was left out is no beginning of a picture.
        sendRow(2, 1, 1, 2, 3);
        assertThat(shown()).extracting(Picture::step).containsExactly(1L);
        sendRow(3, 0, 1, 2, 3);
        sendRow(2, 1, 1, 2, 3);
        sendRow(3, 1, 1, 2, 3);
        assertThat(shown()).extracting(Picture::step).containsExactly(3L);
        pass(2000);
        sendRow(4, 0, 1, 2, 3);
        pass(2000);
        sendRow(5, 0, 1, 2, 3);
        sendRow(5, 1, 1, 2, 3);
        // A rank of step 4 is waited for, up to a limit.
        assertThat(shown()).extracting(Picture::step).containsExactly(3L);
        pass(4000);
        sendRow(6, 0, 1, 2, 3);
        sendRow(6, 1, 1, 2, 3);
        assertThat(shown()).extracting(Picture::step).containsExactly(6L);
    }

    @Test
    void shouldDrawStripsAndMiddlePlanes() throws Exception {
        send(1, 0, new long[] {4}, new long[] {0}, new long[] {4}, 0, 1, 2, 3);
        assertThat(shown()).extracting(Picture::width).containsExactly(192);
        assertThat(colour(0, 0, 1, 4)).isEqualTo(DARK);
        assertThat(colour(0, 3, 1, 4)).isEqualTo(BRIGHT);
        pass(2000);
        long[] cube = {3, 1, 2};
        send(2, 0, cube, new long[3], cube, 100, 200, 2, 1, 300, 400);
        assertThat(colour(0, 0, 1, 2)).isEqualTo(BRIGHT);
        assertThat(colour(0, 1, 1, 2)).isEqualTo(DARK);
    }

    @Test
    void shouldDrawALargeArraySmall() throws Exception {
        double[] all = new double[300 * 500];
        all[all.length - 1] = 1;
        long[] shape = {300, 500};
        send(1, 0, shape, new long[2], shape, all);
        assertThat(shown()).extracting(Picture::width).containsExactly(FieldImage.WIDTH_MAX);
        assertThat(shown()).extracting(Picture::height).containsExactly(FieldImage.HEIGHT_MAX);
        assertThat(shown().get(0).png().length).isLessThan(4_000);
    }

    @Test
    void shouldHoldUpNothing() throws Exception {
        send(1, 0, null, null, null, 1, 2);
        assertThat(shown()).isEmpty();
        accepting.isRefusing = true;
        assertThatThrownBy(() -> sendRow(1, 0, 1, 2, 3)).isInstanceOf(SinkRejectedException.class);
        accepting.isRefusing = false;
        // Where the folder of pictures belongs there is something else.
        String counters = environment.countersPath().toString();
        Path folderOfPictures = Path.of(counters.replaceFirst("\\.counters$", ".pictures"));
        Files.write(folderOfPictures, new byte[1]);
        for (int step = 2; step < 5; step++) {
            sendRow(step, 0, 1, 2, 3);
            sendRow(step, 1, 1, 2, 3);
            pass(2000);
        }
        assertThat(accepting.count).isEqualTo(7);
        assertThat(errors).hasSize(1);
        assertThat(errors.get(0)).hasMessageContaining("no picture of d");
        Files.delete(folderOfPictures);
        sendRow(9, 0, 1, 2, 3);
        sendRow(9, 1, 1, 2, 3);
        assertThat(shown()).extracting(Picture::step).containsExactly(9L);
    }
}
