package dev.verbena.memory.chronicle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.shm.ShmTesting;
import dev.verbena.transport.Transport;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where the JDK denies what Chronicle needs, Chronicle says so and the toolkit works. */
class ChronicleDeniedTest {
    private static final int OPTION_SINCE = 24;

    @TempDir Path directory;

    /** The child: what the views say, and whether a region can be used. */
    public static final class Child {
        private Child() {}

        /** No arguments. */
        public static void main(String[] args) {
            System.out.println("cause " + ChronicleViews.unavailabilityCause());
            try (Transport transport = ShmTesting.open("denied");
                    RegisteredRegion region = transport.allocate(64, 0)) {
                region.buffer(0, 64).putLong(0, 42);
                System.out.println("value " + region.buffer(0, 8).getLong(0));
            }
        }
    }

    @Test
    void shouldSayWhyAndLeaveTheToolkitAloneWhenUnsafeIsDenied() throws Exception {
        Assumptions.assumeTrue(
                Runtime.version().feature() >= OPTION_SINCE,
                () -> "JDK " + Runtime.version().feature() + " cannot deny Unsafe memory access");
        List<String> lines =
                run(System.getProperty("java.class.path"), "--sun-misc-unsafe-memory-access=deny");
        assertThat(lines).anyMatch(line -> line.startsWith("cause Chronicle Bytes does not work"));
        assertThat(lines).contains("value 42");
    }

    @Test
    void shouldSayWhyAndLeaveTheToolkitAloneWithoutTheLibrary() throws Exception {
        StringBuilder without = new StringBuilder();
        for (String entry : System.getProperty("java.class.path").split(":")) {
            if (!Path.of(entry).getFileName().toString().startsWith("chronicle-")) {
                without.append(entry).append(':');
            }
        }
        List<String> lines = run(without.toString(), "-Xshare:auto");
        assertThat(lines).anyMatch(line -> line.contains("is not on the class path"));
        assertThat(lines).contains("value 42");
    }

    private List<String> run(String classPath, String option) throws Exception {
        Path output = directory.resolve("output");
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                option,
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-Xmx128m",
                                "-cp",
                                classPath,
                                Child.class.getName())
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("ends").isTrue();
        } finally {
            process.destroyForcibly();
        }
        List<String> lines = Files.readAllLines(output);
        assertThat(process.exitValue()).as("%s", lines).isZero();
        return lines;
    }
}
