package dev.verbena.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.rdma.calls.HotCalls;
import java.io.File;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which way the hot calls take, in JVMs of their own, because it is chosen once in a JVM. */
@Timeout(120)
class HotCallsTest {
    private static final int FIRST_JDK = 22;
    private static final String ENABLED = "--enable-native-access=ALL-UNNAMED";

    /** What the child JVMs run. */
    static final class Child {
        private Child() {}

        public static void main(String[] arguments) {
            VerbsAccess.open();
            System.out.println("critical: " + HotCalls.areCritical());
        }
    }

    @Test
    void shouldBeCriticalCallsFromJdk22On() throws Exception {
        boolean isNew = Runtime.version().feature() >= FIRST_JDK;
        List<String> flags = isNew ? List.of(ENABLED) : List.of();
        assertThat(run(flags)).contains("critical: " + isNew).doesNotContain("WARNING");
    }

    @Test
    void shouldNotMakeTheJvmWarnMoreThanTheLibraryDoes() throws Exception {
        assertThat(run(List.of())).doesNotContain("java.lang.foreign");
    }

    @Test
    void shouldBeJniCallsIfAskedFor() throws Exception {
        assertThat(run(List.of("-D" + HotCalls.PROPERTY + "=false"))).contains("critical: false");
    }

    private static String run(List<String> flags) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + "/bin/java");
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add(Child.class.getName());
        File output = File.createTempFile("verbena", ".txt");
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output)
                        .start();
        try {
            assertThat(process.waitFor(90, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(Files.readString(output.toPath())).isZero();
            return Files.readString(output.toPath());
        } finally {
            process.destroyForcibly();
            Files.delete(output.toPath());
        }
    }
}
