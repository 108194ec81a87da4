package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.CpuSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code --cpus}, in the eyes of the kernel. */
@Timeout(120)
class CpusIT {
    @TempDir private Path folder;

    /** Where each thread of a process may run, by name. */
    private static Map<String, String> allowed(long process) throws IOException {
        Map<String, String> lists = new TreeMap<>();
        try (Stream<Path> tasks = Files.list(Path.of("/proc/" + process + "/task"))) {
            for (Path task : tasks.toList()) {
                note(task, lists);
            }
        }
        return lists;
    }

    private static void note(Path task, Map<String, String> lists) throws IOException {
        try {
            String name = Files.readString(task.resolve("comm")).strip();
            for (String line : Files.readAllLines(task.resolve("status"))) {
                if (line.startsWith("Cpus_allowed_list:")) {
                    lists.put(name, line.substring(line.indexOf(':') + 1).strip());
                }
            }
        } catch (NoSuchFileException e) {
            return; // the thread has ended meanwhile
        } catch (IOException e) {
            if (!String.valueOf(e.getMessage()).contains("No such process")) {
                throw e;
            }
        }
    }

    @Test
    void shouldRunTheCommandAndItsAgentsOnTheseProcessorsOnly() throws Exception {
        CpuSet all = CpuSet.ofThread();
        int last = CpuSet.CPUS_MAX - 1;
        while (!all.contains(last)) {
            last--;
        }
        String cpu = Integer.toString(last);
        String[] line = {"dart", "receive", "--listen=127.0.0.1:0", "--directory=" + folder};
        String[] bound =
                Stream.concat(Stream.of(line), Stream.of("--cpus", cpu)).toArray(String[]::new);
        try (CommandProcess receiver = CommandProcess.start(folder, bound)) {
            receiver.awaitOut("listening on");
            assertThat(allowed(receiver.handle().pid()))
                    .containsEntry("dart-receiver", cpu)
                    .containsEntry("VM Thread", all.toString());
        }
    }
}
