package dev.verbena.softnic;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Loading native code in JVMs of their own, because it happens once in a JVM. */
@Timeout(60)
class NativeAccessTest {
    /** What the child JVMs run. */
    static final class Child {
        private Child() {}

        public static void main(String[] arguments) {
            if (arguments.length > 0) {
                NativeAccess.open();
            }
            System.out.println("cause: " + NativeAccess.unavailabilityCause());
            System.out.println("agrona: " + new UnsafeBuffer(new byte[8]).capacity());
        }
    }

    @Test
    void shouldLoadAndLetAgronaWorkWithoutAnyFlag() throws Exception {
        String output = java(List.of());
        assertThat(output).contains("cause: null").contains("agrona: 8");
    }

    @Test
    void shouldNameTheFlagWhenOpeningIsForbidden() throws Exception {
        String output = java(List.of("-Dverbena.open.jdk.internal=false"));
        assertThat(output)
                .contains("--add-opens java.base/jdk.internal.misc=ALL-UNNAMED")
                .contains("-Dverbena.open.jdk.internal=false")
                .doesNotContain("agrona: 8");
    }

    @Test
    void shouldWorkWithTheFlagWhenOpeningIsForbidden() throws Exception {
        String output =
                java(
                        List.of(
                                "-Dverbena.open.jdk.internal=false",
                                "--add-opens",
                                "java.base/jdk.internal.misc=ALL-UNNAMED"));
        assertThat(output).contains("cause: null").contains("agrona: 8");
    }

    @Test
    void shouldSayWhatToDoWhenTheLibraryCannotBeUnpacked() throws Exception {
        String output = java(List.of("-Dorg.bytedeco.javacpp.platform=linux-none"), "open");
        assertThat(output)
                .contains("linux-none")
                .contains("verbena-native")
                .contains("IllegalStateException");
    }

    private static String java(List<String> flags, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new java.util.ArrayList<>();
        command.add(System.getProperty("java.home") + "/bin/java");
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add(Child.class.getName());
        command.addAll(List.of(arguments));
        File output = File.createTempFile("verbena", ".txt");
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output)
                        .start();
        try {
            assertThat(process.waitFor(50, TimeUnit.SECONDS)).isTrue();
            return new String(
                    java.nio.file.Files.readAllBytes(output.toPath()), StandardCharsets.UTF_8);
        } finally {
            process.destroyForcibly();
            java.nio.file.Files.delete(output.toPath());
        }
    }
}
