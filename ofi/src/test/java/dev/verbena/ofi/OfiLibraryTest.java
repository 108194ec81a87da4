package dev.verbena.ofi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Libraries that cannot be used are named, with the reason and the package. */
@Timeout(120)
class OfiLibraryTest {
    private static final List<String> FUNCTIONS =
            List.of("fi_getinfo", "fi_freeinfo", "fi_dupinfo", "fi_fabric", "fi_strerror");

    /** Prints why the library of the property cannot be used. */
    public static void main(String[] arguments) {
        System.out.println("cause: " + OfiLibrary.unavailabilityCause());
    }

    @TempDir Path folder;

    /** A library that has these functions, and says that it is libfabric 1.14. */
    private Path library(List<String> functions) throws Exception {
        StringBuilder source = new StringBuilder("unsigned fi_version(void){return 1<<16|14;}\n");
        functions.forEach(name -> source.append("void ").append(name).append("(void){}\n"));
        Path file = Files.writeString(folder.resolve("stub.c"), source);
        Path made = folder.resolve("libstub.so");
        List<String> command = List.of("gcc", "-shared", "-fPIC", "-o", made + "", file + "");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "no gcc to build a library with");
        assertThat(run(command)).isEmpty();
        return made;
    }

    private static String run(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return output;
    }

    private static String causeOf(Path library) throws Exception {
        return run(
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-D" + OfiLibrary.PROPERTY + "=" + library,
                        OfiLibraryTest.class.getName()));
    }

    @Test
    void shouldNameTheVersionThatIsTooOld() throws Exception {
        assertThat(causeOf(library(FUNCTIONS)))
                .contains("libstub.so has version 1.14", "1.17 or newer", "libfabric1");
    }

    @Test
    void shouldNameTheFunctionThatIsMissing() throws Exception {
        assertThat(causeOf(library(FUNCTIONS.subList(1, FUNCTIONS.size()))))
                .contains("libstub.so has no fi_getinfo", "libfabric1");
    }
}
