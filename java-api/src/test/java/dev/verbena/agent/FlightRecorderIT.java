package dev.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A JVM without the module of the flight recorder, and one that records from its start. */
@Tag("each-jdk")
@Timeout(120)
class FlightRecorderIT {
    @TempDir Path folder;

    /** The other JVM's program. */
    public static final class Main {
        private Main() {}

        public static void main(String[] arguments) {
            try (RealEnvironment environment =
                    RealEnvironment.builder()
                            .shmDirectory(Path.of(arguments[0]))
                            .errorHandler(e -> {})
                            .build()) {
                environment.events().registered(3, 1);
                environment.errorHandler().onError(new IllegalStateException("as planned"));
                System.out.println(
                        "events are off: " + (environment.events() == StagingEvents.NONE));
            }
        }
    }

    private String run(String... options) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(Main.class.getName(), folder.toString()));
        Path log = folder.resolve("log.txt");
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        String out = Files.readString(log);
        assertThat(process.exitValue()).as("%s", out).isZero();
        return out;
    }

    @Test
    void shouldWorkWithoutTheModuleOfTheRecorder() throws Exception {
        String modules = "--limit-modules=java.base,java.logging,java.xml,jdk.unsupported";
        assertThat(run(modules)).contains("events are off: true");
    }

    @Test
    void shouldRecordFromTheStartOfTheJvm() throws Exception {
        Path file = folder.resolve("all.jfr");
        assertThat(run("-XX:StartFlightRecording=filename=" + file)).contains("off: false");
        List<String> names = new ArrayList<>();
        try (var recording = new jdk.jfr.consumer.RecordingFile(file)) {
            while (recording.hasMoreEvents()) {
                names.add(recording.readEvent().getEventType().getName());
            }
        }
        assertThat(names).contains("dev.verbena.Registered", "dev.verbena.Error");
    }
}
