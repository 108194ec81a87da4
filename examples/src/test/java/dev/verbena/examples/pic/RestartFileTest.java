package dev.verbena.examples.pic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class RestartFileTest {
    private static final PicParameters PARAMETERS =
            new PicParameters(256, 16, 10.2604, 0.2, 1.0, 0.02, 0.01, 1);
    private static final List<String> NAMES = new ArrayList<>();
    private static byte[] good;

    @BeforeAll
    static void write() {
        PicSimulation simulation = PicSimulation.start(PARAMETERS, 0, 1, PicExchange.ALONE);
        simulation.advance();
        simulation.advance();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        simulation
                .restartFile()
                .write(
                        (name, item) -> {
                            NAMES.add(name);
                            byte[] copy = new byte[item.remaining()];
                            item.get(copy);
                            out.writeBytes(copy);
                        });
        good = out.toByteArray();
        assertThat(good).hasSize((int) simulation.restartFile().length());
    }

    @Test
    void shouldHaveTheDocumentedLayout() {
        RestartFile file = RestartFile.decode("good", ByteBuffer.wrap(good));
        assertThat(file.step()).isEqualTo(2);
        assertThat(file.samples()).hasSize(2);
        assertThat(file.places()).hasSize(256);
        assertThat(new String(good, 0, 8, java.nio.charset.StandardCharsets.US_ASCII))
                .isEqualTo("VRBNAPIC");
        assertThat(good).hasSize(104 + 2 * 48 + 8 * 16 + 16 * 256 + 4);
        assertThat(NAMES).hasSize(22).startsWith("magic").endsWith("places", "speeds", "crc");
    }

    @Test
    void shouldRefuseEveryTruncation() {
        for (int length = 0; length < good.length; length++) {
            byte[] cut = Arrays.copyOf(good, length);
            assertThatThrownBy(() -> RestartFile.decode("cut.rst", ByteBuffer.wrap(cut)))
                    .isInstanceOf(RestartFileException.class)
                    .hasMessageStartingWith("cut.rst: ");
        }
    }

    @Test
    void shouldRefuseEveryFlippedBitOfTheHeaderAndSomeOfTheRest() {
        SplittableRandom random = new SplittableRandom(42);
        for (int i = 0; i < 3000; i++) {
            int bit = i < 8 * RestartFile.HEADER_LENGTH ? i : random.nextInt(8 * good.length);
            byte[] bad = good.clone();
            bad[bit / 8] ^= (byte) (1 << bit % 8);
            assertThatThrownBy(() -> RestartFile.decode("bad.rst", ByteBuffer.wrap(bad)))
                    .as("bit %d", bit)
                    .isInstanceOf(RestartFileException.class);
        }
    }

    @Test
    void shouldReadFromDiskAndNameAMissingFile(@TempDir Path folder) throws Exception {
        Path path = folder.resolve("r.rst");
        Files.write(path, good);
        assertThat(RestartFile.read(path).step()).isEqualTo(2);
        Path missing = folder.resolve("none.rst");
        assertThatThrownBy(() -> RestartFile.read(missing)).hasMessageContaining("none.rst");
    }
}
