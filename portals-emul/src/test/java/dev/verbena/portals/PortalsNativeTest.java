package dev.verbena.portals;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Loading happens once in a JVM, so that each case has one of its own. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class PortalsNativeTest {
    @TempDir Path folder;

    /** What the other JVMs run. */
    static final class Child {
        private Child() {}

        public static void main(String[] arguments) {
            System.out.println("cause: " + PortalsInterface.unavailabilityCause());
            PortalsInterfaceContext context =
                    new PortalsInterfaceContext().job("native-" + ProcessHandle.current().pid());
            try (PortalsInterface opened = PortalsInterface.open(context)) {
                System.out.println("opened " + opened.id());
            } catch (IllegalStateException e) {
                System.out.println("refused: " + e.getMessage());
            }
        }
    }

    @Test
    void shouldOpenWhereTheLibraryIsThere() throws Exception {
        assertThat(run(List.of())).contains("cause: null").anyMatch(l -> l.startsWith("opened "));
    }

    @Test
    void shouldSayWhatIsMissingInsteadOfFailingToInitialise() throws Exception {
        List<String> lines = run(List.of("-Dorg.bytedeco.javacpp.platform=linux-none"));
        assertThat(lines)
                .anyMatch(l -> l.startsWith("cause: the native library ") && l.contains("-none"))
                .anyMatch(l -> l.startsWith("refused: the native library "));
    }

    private List<String> run(List<String> flags) throws IOException, InterruptedException {
        List<String> command = new java.util.ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add(Child.class.getName());
        Path output = folder.resolve("output");
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
        try {
            assertThat(process.waitFor(90, TimeUnit.SECONDS)).isTrue();
            List<String> lines = Files.readAllLines(output);
            assertThat(process.exitValue()).as("%s", lines).isZero();
            return lines;
        } finally {
            process.destroyForcibly();
        }
    }
}
