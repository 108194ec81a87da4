package dev.verbena.dart.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.dart.DartConfiguration;
import dev.verbena.dart.DartException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class DartConfigurationTest {
    private static final DartConfiguration ONE =
            new DartConfiguration(
                    new UUID(1, 2), 1234567, URI.create("shm://job/name?incarnation=1"), 2, 4);

    @Test
    void shouldRoundTrip() {
        assertThat(DartConfiguration.parse(ONE.encode())).isEqualTo(ONE);
        assertThat(ONE.transport()).isEqualTo("shm");
    }

    @Test
    @Tag("dart-D5")
    void shouldRefuseEveryPrefix() {
        String text = ONE.encode();
        for (int length = 0; length < text.length(); length++) {
            String prefix = text.substring(0, length);
            assertThatThrownBy(() -> DartConfiguration.parse(prefix))
                    .isInstanceOfSatisfying(
                            DartException.class,
                            e -> assertThat(e.code()).isEqualTo(DartException.Code.MALFORMED));
        }
    }

    @Test
    void shouldRefuseChangedLines() {
        assertThatThrownBy(
                        () ->
                                DartConfiguration.parse(
                                        ONE.encode().replace("servers=2", "servers=3")))
                .hasMessageContaining("crc");
        assertThatThrownBy(() -> DartConfiguration.parse("x".repeat(5000)))
                .hasMessageContaining("4096");
        assertThatThrownBy(() -> DartConfiguration.parse(ONE.encode() + "more=1\n"))
                .hasMessageContaining("after crc");
    }

    @Test
    void shouldReadTheFileThatALinkNames(@TempDir Path folder) throws Exception {
        Path real = Files.createDirectory(folder.resolve("real")).resolve("job.conf");
        Files.writeString(real, ONE.encode());
        Path link = Files.createSymbolicLink(folder.resolve("link.conf"), real);
        try (RealEnvironment environment = RealEnvironment.create();
                ConfigurationFile file = new ConfigurationFile(environment, link.toString())) {
            assertThat(file.read(name -> null)).isEqualTo(ONE);
            assertThat(file.claim(0)).isTrue();
        }
        assertThat(real.resolveSibling("job.conf.lock")).exists();
    }

    @Test
    @Tag("dart-D6")
    void shouldReadLegacyFormAndLetEnvironmentWin() {
        DartConfiguration legacy = DartConfiguration.parse("P2TNID=shm://a/b\nP2TPID=17\n");
        assertThat(legacy.url()).isEqualTo(URI.create("shm://a/b"));
        assertThat(legacy.job()).isEqualTo(DartConfiguration.NO_JOB);
        assertThat(DartConfiguration.parse("P2TNID=5\nP2TPID=17\n").url())
                .isEqualTo(URI.create("portals://5:17"));
        assertThat(DartConfiguration.parse(ONE.encodeLegacy()).url()).isEqualTo(ONE.url());
        DartConfiguration changed =
                DartConfiguration.override(
                        ONE, name -> name.equals("VERBENA_DART_URL") ? "shm://x/y" : null);
        assertThat(changed.url()).isEqualTo(URI.create("shm://x/y"));
        assertThat(changed.job()).isEqualTo(ONE.job());
        assertThat(
                        DartConfiguration.override(
                                        null, name -> name.equals("P2TNID") ? "shm://n/m" : null)
                                .url())
                .isEqualTo(URI.create("shm://n/m"));
        assertThat(DartConfiguration.override(null, name -> null)).isNull();
    }

    @Test
    @Tag("dart-D5")
    void shouldNeverShowHalfAFile(@TempDir Path directory) throws Exception {
        AtomicBoolean isEnough = new AtomicBoolean();
        AtomicInteger written = new AtomicInteger();
        Path path = directory.resolve("dart.conf");
        try (RealEnvironment environment = RealEnvironment.create()) {
            CompletableFuture<Void> writer =
                    CompletableFuture.runAsync(
                            () -> {
                                try (ConfigurationFile file =
                                        new ConfigurationFile(environment, path.toString())) {
                                    while (!isEnough.get()) {
                                        rewrite(file, written.incrementAndGet());
                                    }
                                }
                            });
            Await.until("first file", () -> Files.exists(path));
            for (int read = 0; read < 10_000 || written.get() < 20; read++) {
                DartConfiguration.parse(Files.readString(path));
            }
            isEnough.set(true);
            writer.get();
            try (var files = Files.list(directory)) {
                assertThat(files).containsExactly(path);
            }
        }
    }

    private static void rewrite(ConfigurationFile file, int number) {
        DartConfiguration next =
                new DartConfiguration(
                        new UUID(number, number),
                        number,
                        URI.create("shm://job/" + "n".repeat(number % 60 + 1)),
                        1,
                        number);
        file.publish(next.encode(), Integer.toString(number));
        Await.until(
                "published",
                () -> {
                    file.publishStep();
                    return file.isPublished();
                });
    }
}
