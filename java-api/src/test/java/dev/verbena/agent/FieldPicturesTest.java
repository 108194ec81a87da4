package dev.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class FieldPicturesTest {
    private static final int RED = 0xFF0000;

    @TempDir Path shm;

    private RealEnvironment environment() {
        return RealEnvironment.builder()
                .shmDirectory(shm)
                .job("pictures")
                .errorHandler(e -> {})
                .build();
    }

    private static byte[] png(int width, int height, int colour) throws IOException {
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        image.setRGB(width - 1, 0, colour);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ImageIO.write(image, "png", out);
        return out.toByteArray();
    }

    private static Path folder(RealEnvironment environment) {
        String counters = environment.countersPath().toString();
        return Path.of(counters.replaceFirst("\\.counters$", ".pictures"));
    }

    @Test
    void shouldShowTheNewestOfEachFieldUntilTheEnvironmentCloses() throws Exception {
        Path counters;
        FieldPictures pictures;
        try (RealEnvironment environment = environment()) {
            counters = environment.countersPath();
            pictures = environment.pictures();
            assertThat(FieldPictures.read(counters)).isEmpty();
            pictures.show("temperature", 3, png(5, 2, 0));
            pictures.show("phase space", 7, png(4, 4, RED));
            pictures.show("temperature", 4, png(6, 3, RED));
            List<FieldPictures.Picture> found = FieldPictures.read(counters);
            assertThat(found)
                    .extracting(FieldPictures.Picture::field, FieldPictures.Picture::step)
                    .containsExactly(
                            org.assertj.core.groups.Tuple.tuple("phase space", 7L),
                            org.assertj.core.groups.Tuple.tuple("temperature", 4L));
            FieldPictures.Picture newest = found.get(1);
            assertThat(List.of(newest.width(), newest.height())).isEqualTo(List.of(6, 3));
            // With its step in it, it is a picture that others read.
            BufferedImage image = ImageIO.read(new ByteArrayInputStream(newest.png()));
            assertThat(image.getRGB(5, 0) & 0xFFFFFF).isEqualTo(RED);
            Path folder = folder(environment);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)))
                    .isEqualTo("rwx------");
            try (var files = Files.list(folder)) {
                assertThat(files).hasSize(2);
            }
        }
        assertThat(counters).doesNotExist();
        try (var files = Files.list(counters.getParent())) {
            assertThat(files).isEmpty();
        }
        pictures.show("late", 1, png(1, 1, 0));
        assertThat(FieldPictures.read(counters)).isEmpty();
    }

    @Test
    void shouldStayBounded() throws Exception {
        try (RealEnvironment environment = environment()) {
            FieldPictures pictures = environment.pictures();
            for (int i = 0; i < FieldPictures.FIELDS_MAX + 2; i++) {
                pictures.show("field " + i, i, png(2, 2, 0));
                pictures.show("field 0", i, png(2, 2, 0));
            }
            assertThat(FieldPictures.read(environment.countersPath()))
                    .extracting(FieldPictures.Picture::field)
                    .hasSize(FieldPictures.FIELDS_MAX)
                    .contains("field 0", "field 9")
                    .doesNotContain("field 1", "field 2");
            byte[] longest = Arrays.copyOf(png(2, 2, 0), FieldPictures.LENGTH_MAX);
            pictures.show("longest", Long.MAX_VALUE, longest);
            assertThat(FieldPictures.read(environment.countersPath()))
                    .extracting(FieldPictures.Picture::step)
                    .contains(Long.MAX_VALUE);
            byte[] large = Arrays.copyOf(longest, FieldPictures.LENGTH_MAX + 1);
            assertThatThrownBy(() -> pictures.show("large", 1, large))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("large");
        }
    }

    @Test
    void shouldRefuseWhatIsNoPictureOrWouldLeaveTheFolder() throws Exception {
        try (RealEnvironment environment = environment()) {
            FieldPictures pictures = environment.pictures();
            byte[] good = png(2, 2, 0);
            for (String field : List.of("", "../x", "a/b", ".hidden", " x", "x".repeat(64), "ä")) {
                assertThatThrownBy(() -> pictures.show(field, 1, good))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            for (byte[] png : List.of(new byte[0], new byte[100], png(1025, 1, 0))) {
                assertThatThrownBy(() -> pictures.show("x", 1, png))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("PNG");
            }
            assertThatThrownBy(() -> pictures.show("x", -1, good))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(folder(environment)).doesNotExist();
        }
    }

    @Test
    void shouldReadNothingButPictures() throws Exception {
        try (RealEnvironment environment = environment()) {
            environment.pictures().show("good", 12, png(2, 2, 0));
            Path folder = folder(environment);
            byte[] good = Files.readAllBytes(folder.resolve("good.png"));
            Files.write(folder.resolve("no step.png"), png(2, 2, 0));
            Files.write(folder.resolve("text.png"), new byte[] {1, 2, 3});
            Files.write(folder.resolve("long.png"), Arrays.copyOf(good, 1 << 20));
            Files.write(folder.resolve(".dot.png"), good);
            Files.write(folder.resolve("other.txt"), good);
            Path secret = Files.write(shm.resolve("secret.png"), good);
            Files.createSymbolicLink(folder.resolve("link.png"), secret);
            for (int cut = 0; cut < 70; cut++) {
                Files.write(folder.resolve("cut.png"), Arrays.copyOf(good, cut));
                assertThat(FieldPictures.read(environment.countersPath()))
                        .extracting(FieldPictures.Picture::field)
                        .contains("good")
                        .doesNotContain("link", "text", "long", "no step", ".dot");
            }
        }
        assertThat(shm.resolve("secret.png")).exists();
    }

    @Test
    void shouldStayAfterAKillUntilTheCountersFileGoes() throws Exception {
        Path left;
        try (RealEnvironment environment = environment()) {
            environment.pictures().show("last", 9, png(2, 2, 0));
            // What a killed process leaves is what a running one has.
            left = environment.countersPath().resolveSibling("77-1.counters");
            Files.copy(environment.countersPath(), left);
            Path copy = Files.createDirectory(left.resolveSibling("77-1.pictures"));
            Files.copy(folder(environment).resolve("last.png"), copy.resolve("last.png"));
        }
        assertThat(FieldPictures.read(left)).hasSize(1);
        FieldPictures.remove(left);
        assertThat(FieldPictures.read(left)).isEmpty();
        assertThat(left.resolveSibling("77-1.pictures")).doesNotExist();
    }
}
