package dev.verbena.cli.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.CommandProcess;
import dev.verbena.cli.Run;
import dev.verbena.cli.StagingJob;
import dev.verbena.dart.DartReceiver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What {@code dart ls} says of a folder whose receiver was killed. */
@Timeout(180)
class DartListIT {
    @TempDir private Path folder;

    private static Map<String, Object> states(Path arrived) throws Exception {
        Map<String, Object> states = new HashMap<>();
        for (Map<String, Object> entry : DartList.entries(arrived)) {
            states.put(entry.get("file").toString(), entry.get("state"));
        }
        return states;
    }

    @Test
    void shouldListWhatArrivedBeforeTheReceiverWasKilled() throws Exception {
        Path source = Files.createDirectories(folder.resolve("run"));
        for (int i = 0; i < 200; i++) {
            Files.write(source.resolve("out-" + i), new byte[5_000 + i]);
        }
        try (StagingJob job = new StagingJob(folder)) {
            Path arrived = job.arrived();
            Path single = Files.write(folder.resolve("first"), new byte[70_000_000]);
            assertThat(job.send(single).exitCode()).isZero();
            CommandProcess send = job.send(source);
            job.receiver.awaitOut("stored run/out-");
            job.receiver.handle().destroyForcibly();
            job.receiver.handle().onExit().get();
            send.terminate();
            for (String line : DartList.lines(arrived)) {
                assertThat(JsonLine.parse(line).get("timeMs")).isInstanceOf(Long.class);
            }
            // Whatever was in its place when it was killed is complete or not described yet.
            Map<String, Object> states = states(arrived);
            assertThat(states).containsEntry("first", "complete");
            assertThat(states.keySet()).anyMatch(name -> name.startsWith("run/out-"));
            assertThat(states.values()).isSubsetOf("complete", "unknown", "arriving", "gone");
            Path descriptions = arrived.resolve(DartReceiver.DESCRIPTIONS);
            Files.writeString(descriptions, "no JSON\n{\"file\":1", StandardOpenOption.APPEND);
            Files.write(arrived.resolve("first"), new byte[1]);
            Files.write(arrived.resolve("stranger"), new byte[1]);
            assertThat(states(arrived))
                    .containsEntry("first", "changed")
                    .containsEntry("stranger", "unknown");
            Files.delete(arrived.resolve("first"));
            Run table = Run.of("dart", "ls", arrived.toString());
            assertThat(table.code()).isZero();
            assertThat(table.out().lines().filter(line -> line.startsWith("first")))
                    .singleElement()
                    .asString()
                    .matches("first .* gone");
            Run json = Run.of("dart", "ls", "--json", arrived.toString());
            assertThat(json.out().lines())
                    .anyMatch(line -> line.contains("\"file\": \"stranger\""))
                    .allMatch(line -> line.startsWith("{") && line.endsWith("}"));
        }
    }
}
