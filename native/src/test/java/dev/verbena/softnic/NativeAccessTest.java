package dev.verbena.softnic;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

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

    @Test
    void shouldNotUseAnUnpackedLibraryOfAnotherBuildWithEqualTimeAndLength(@TempDir Path folder)
            throws Exception {
        Path jar = folder.resolve("natives.jar");
        jar(
                jar,
                Path.of(
                        NativeAccess.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .toURI()));
        Path cache = folder.resolve("cache");
        List<String> flags = List.of("-Dorg.bytedeco.javacpp.cachedir=" + cache);
        String classPath = jar + File.pathSeparator + System.getProperty("java.class.path");
        assertThat(java(classPath, flags)).contains("cause: null");
        Path unpacked;
        try (Stream<Path> files = Files.walk(cache)) {
            unpacked = files.filter(f -> f.endsWith("libjnisoftnic.so")).findFirst().orElseThrow();
        }
        FileTime time = Files.getLastModifiedTime(unpacked);
        Files.write(unpacked, new byte[(int) Files.size(unpacked)]);
        Files.setLastModifiedTime(unpacked, time);
        assertThat(java(classPath, flags)).contains("cause: null");
    }

    private static void jar(Path jar, Path classes) throws IOException {
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                JarEntry entry = new JarEntry(classes.relativize(file).toString());
                entry.setTime(1_000_000_000_000L);
                out.putNextEntry(entry);
                Files.copy(file, out);
            }
        }
    }

    private static String java(List<String> flags, String... arguments)
            throws IOException, InterruptedException {
        return java(System.getProperty("java.class.path"), flags, arguments);
    }

    private static String java(String classPath, List<String> flags, String... arguments)
            throws IOException, InterruptedException {
        return TestJvm.run(Child.class, classPath, flags, arguments).output();
    }
}
