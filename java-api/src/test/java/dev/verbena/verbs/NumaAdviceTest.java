package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The advice, on machines that are folders. */
class NumaAdviceTest {
    @TempDir private Path root;

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text + "\n");
    }

    private String advice(String node, String allowed) throws IOException {
        write("sys/class/infiniband/mlx5_0/device/numa_node", node);
        write("sys/devices/system/node/node0/cpulist", "0-7,16-23");
        write("proc/thread-self/status", "Name:\tjava\nCpus_allowed_list:\t" + allowed);
        return NumaAdvice.of(root, "mlx5_0");
    }

    @Test
    void shouldSayWhetherTheThreadIsNearTheDevice() throws IOException {
        assertThat(advice("1", "0-31")).isEmpty();
        write("sys/devices/system/node/node1/cpulist", "8-15,24-31");
        assertThat(advice("1", "8-15,24")).endsWith("where this thread runs");
        assertThat(advice("1", "0-31")).contains("WARNING", "may run elsewhere", "--membind=1");
        assertThat(advice("1", "0-31")).contains("verbena --cpus 8-15,24-31 COMMAND");
        assertThat(advice("0", "8,9")).contains("WARNING", "thread runs elsewhere", "node 0");
    }

    @Test
    void shouldSayNothingWhereTheKernelDoesNot() throws IOException {
        write("sys/devices/system/node/node1/cpulist", "8-15");
        assertThat(advice("-1", "0-7")).isEmpty();
        assertThat(advice("7", "0-7")).isEmpty();
        assertThat(advice("0", "nonsense")).isEmpty();
        assertThat(advice("0", "7-2")).isEmpty();
        assertThat(advice("0", "99999999")).isEmpty();
        assertThat(NumaAdvice.of(root, "none")).isEmpty();
    }
}
