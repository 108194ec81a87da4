package dev.verbena.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Finding providers; the order of a program's first steps, in JVMs of their own without a flag. */
@Timeout(60)
class TransportsTest {
    @TempDir private Path folder;

    /** A program that makes a buffer before it opens a transport. */
    static final class Child {
        private Child() {}

        public static void main(String[] arguments) {
            if (arguments.length > 0) {
                Transports.prepare();
            }
            System.out.println("capacity " + new UnsafeBuffer(new byte[8]).capacity());
            String job = "first-" + ProcessHandle.current().pid();
            Transports.open("shm", new TransportContext().job(job)).close();
            System.out.println("opened");
        }
    }

    @Test
    void shouldLetAgronaWorkBeforeAnyTransportWhenPrepared() throws Exception {
        assertThat(run("prepare")).contains("capacity 8", "opened");
    }

    /** What the guide describes; if this turns red the guide may be shortened. */
    @Test
    void shouldFailAsTheGuideSaysWhenAgronaComesFirst() throws Exception {
        assertThat(run())
                .contains("IllegalAccessError", "org.agrona.UnsafeApi", "jdk.internal.misc")
                .doesNotContain("capacity");
    }

    @Test
    void shouldNameTheSchemesThereAre() {
        assertThatThrownBy(() -> Transports.provider("carrier-pigeon"))
                .isInstanceOf(TransportException.class)
                .hasMessageContaining("carrier-pigeon")
                .hasMessageContaining("shm");
    }

    /** This module's tests have only the providers of this module. */
    @Test
    void shouldNameTheArtifactOfAProviderThatIsMissing() {
        assertThatThrownBy(() -> Transports.provider("portals"))
                .hasMessageContaining("no transport provider 'portals'")
                .hasMessageContaining("dev.verbena:verbena-portals");
        assertThatThrownBy(() -> Transports.provider("gni"))
                .hasMessageContaining("dev.verbena:verbena-gni");
    }

    @Test
    void shouldNameProvidersInAnOrderThatNoFolderDecides() {
        assertThat(Transports.providers()).extracting(TransportProvider::scheme).isSorted();
    }

    private String run(String... arguments) throws Exception {
        List<String> command =
                new java.util.ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-cp",
                                System.getProperty("java.class.path"),
                                Child.class.getName()));
        command.addAll(List.of(arguments));
        Path out = folder.resolve("out.txt");
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(out.toFile())
                        .start();
        try {
            assertThat(process.waitFor(50, TimeUnit.SECONDS)).isTrue();
            return Files.readString(out);
        } finally {
            process.destroyForcibly();
        }
    }
}
