package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** From which files JVMs of an installed command load DART: simulated and over shared memory. */
@Timeout(240)
class SimulatorJarsIT {
    private static final Pattern LOADED =
            Pattern.compile("(dev\\.verbena\\.(?:dart|agent)\\.\\S+) source: (\\S+)");

    @TempDir private Path folder;

    @Test
    @Tag("nsim-41")
    void shouldLoadTheProtocolFromTheSameJarsAsRealTransports() throws Exception {
        Map<String, String> simulated =
                loaded("sim", "dart", "--nodes", "4", "--servers", "1", "--messages", "2");
        Map<String, String> real =
                loaded("dart", "experiment", "e1", "--transport=shm", "--only=pulls", "--quick");
        simulated.keySet().retainAll(real.keySet());
        assertThat(simulated).hasSizeGreaterThan(60);
        real.keySet().retainAll(simulated.keySet());
        assertThat(simulated).isEqualTo(real);
        assertThat(new TreeSet<>(simulated.values()))
                .hasSize(2)
                .allMatch(jar -> jar.matches(".*/verbena-(api|staging)-[^/]*\\.jar"));
    }

    /** Class to the file it came from, in the command's JVM and those that it starts. */
    private Map<String, String> loaded(String... arguments) throws Exception {
        Path logs = Files.createTempDirectory(folder, "loaded");
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-cp",
                                Path.of("target/dist/lib").toAbsolutePath() + "/*",
                                VerbenaCommand.class.getName()));
        command.addAll(List.of(arguments));
        if (arguments[0].equals("dart")) {
            command.add("--output=" + folder.resolve("results"));
        }
        Path out = folder.resolve("out.txt");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile());
        builder.environment()
                .put("JDK_JAVA_OPTIONS", "-Xlog:class+load:file=" + logs.resolve("%p.log"));
        Process process = builder.start();
        try {
            assertThat(process.waitFor(100, TimeUnit.SECONDS)).as(Files.readString(out)).isTrue();
            assertThat(process.exitValue()).as(Files.readString(out)).isZero();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        return sources(logs);
    }

    private static Map<String, String> sources(Path logs) throws IOException {
        Map<String, String> found = new TreeMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(logs)) {
            for (Path file : files) {
                Matcher line = LOADED.matcher(Files.readString(file));
                while (line.find()) {
                    String before = found.put(line.group(1), line.group(2));
                    assertThat(before).as(line.group(1)).isIn(null, line.group(2));
                }
            }
        }
        return found;
    }
}
