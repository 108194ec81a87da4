package dev.verbena.ugni;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which library the calls go to is read once in a process: each case is one of its own. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class UgniLibraryTest {
    private static final Path OURS = Path.of("target/c/libugni.so").toAbsolutePath();

    @TempDir Path folder;

    private List<String> run(String library, String... environment)
            throws IOException, InterruptedException {
        return runProgram(UgniLibraryProgram.class, library, environment);
    }

    private List<String> runProgram(Class<?> program, String library, String... environment)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        if (library != null) {
            command.add("-D" + CommunicationDomain.LIBRARY_PROPERTY + "=" + library);
        }
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"));
        command.add(System.getProperty("java.class.path"));
        command.add(program.getName());
        Path output = folder.resolve("output");
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile());
        for (int i = 0; i < environment.length; i += 2) {
            builder.environment().put(environment[i], environment[i + 1]);
        }
        Process process = builder.start();
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        List<String> lines = Files.readAllLines(output);
        assertThat(process.exitValue()).as("%s", lines).isZero();
        // JDK 24 and newer warn of native libraries on the class path.
        lines.removeIf(line -> line.isEmpty() || line.startsWith("WARNING: "));
        return lines;
    }

    /** Compiles a library; every function that the stub lacks is missing in it. */
    private Path compile(String name, String source) throws IOException, InterruptedException {
        Path file = folder.resolve(name + ".c");
        Path made = folder.resolve(name);
        Files.writeString(file, source, StandardCharsets.UTF_8);
        Process compiler =
                new ProcessBuilder(
                                "cc",
                                "-shared",
                                "-fPIC",
                                "-I" + Path.of("src/main/c/include").toAbsolutePath(),
                                "-o",
                                made.toString(),
                                file.toString())
                        .inheritIO()
                        .start();
        assertThat(compiler.waitFor()).isZero();
        return made;
    }

    /** Answers every call, and remembers the last instance it was asked for. */
    private static String recording(int deviceCount) {
        return "#include <gni_pub.h>\n"
                + "static uint32_t instance;\n"
                + "gni_return_t GNI_GetNumLocalDevices(int *n) { *n = "
                + deviceCount
                + "; return GNI_RC_SUCCESS; }\n"
                + "gni_return_t GNI_CdmCreate(uint32_t i, uint8_t p, uint32_t c, uint32_t m,"
                + " gni_cdm_handle_t *h) { instance = i;"
                + " *h = (gni_cdm_handle_t)0x100; return GNI_RC_SUCCESS; }\n"
                + "gni_return_t GNI_CdmDestroy(gni_cdm_handle_t h) {"
                + " return h == (gni_cdm_handle_t)0x100 ? GNI_RC_SUCCESS :"
                + " GNI_RC_INVALID_PARAM; }\n"
                + "gni_return_t GNI_CdmAttach(gni_cdm_handle_t h, uint32_t d, uint32_t *a,"
                + " gni_nic_handle_t *n) { *a = 1000 + instance;"
                + " *n = (gni_nic_handle_t)0x200; return GNI_RC_SUCCESS; }\n"
                + "gni_return_t GNI_EpCreate(gni_nic_handle_t n, gni_cq_handle_t q,"
                + " gni_ep_handle_t *e) { return GNI_RC_ILLEGAL_OP; }\n"
                + "gni_return_t GNI_CqGetEvent(gni_cq_handle_t q, gni_cq_entry_t *e)"
                + " { return GNI_RC_NOT_DONE; }\n"
                + "gni_return_t GNI_PostFma(gni_ep_handle_t e, gni_post_descriptor_t *d)"
                + " { return GNI_RC_ILLEGAL_OP; }\n"
                + "uint64_t gni_cq_get_data(gni_cq_entry_t e) { return e + 1; }\n";
    }

    @Test
    void shouldUseTheBuiltInLibraryUnlessAnotherOneIsThere() throws Exception {
        assertThat(run(null)).contains("library builtin", "put arrived");
        assertThat(run("builtin")).contains("library builtin", "put arrived");
    }

    @Test
    void shouldUseALibraryThatIsGivenByItsPath() throws Exception {
        assertThat(run(OURS.toString()))
                .contains("library " + OURS, "put arrived")
                .contains("transport cause: null", "transport opened at localhost");
    }

    @Test
    void shouldWorkWherePostsAreDoneLater() throws Exception {
        assertThat(run("builtin", "GNI_SHIM_DEFER", "1")).contains("put arrived");
    }

    @Test
    void shouldCarryMessagesBetweenNodesAndReduceOnAries() throws Exception {
        assertThat(
                        runProgram(
                                UgniGroupProgram.class,
                                "builtin",
                                "GNI_SHIM_DEVICE",
                                "aries",
                                "GNI_SHIM_DEVICES",
                                "2"))
                .containsExactly(
                        "aries true",
                        "none false",
                        "sent 0",
                        "too long -10",
                        "taken true",
                        "1 true 3 between nodes",
                        "told 1 7",
                        "silent -2",
                        "joined 0",
                        "waits -1",
                        "joined 0",
                        "sum 42 42",
                        "there 0",
                        "refused");
    }

    @Test
    void shouldCallAForeignLibraryAndNameWhatItLacks() throws Exception {
        Path stub = compile("recording.so", recording(1));
        assertThat(run(stub.toString()))
                .contains("library " + stub, "address 1002", "memory unmapped", "data 42")
                .anyMatch(
                        line ->
                                line.startsWith("failed GNI_CqCreate")
                                        && line.contains("has no GNI_CqCreate"));
    }

    @Test
    void shouldSayThatTheTransportIsUnavailableOverAForeignLibrary() throws Exception {
        Path stub = compile("recording.so", recording(1));
        String cause =
                stub
                        + " has no GNI_ExtMemAlloc: gni:// needs what only Verbena's own libugni has;"
                        + " -Dverbena.ugni.library=builtin uses that";
        assertThat(run(stub.toString()))
                .contains("transport cause: " + cause, "transport refused: open gni: " + cause);
    }

    @Test
    void shouldNameWhatTheTransportMissesInAnOlderLibraryOfOurs() throws Exception {
        // It tells errors, so it is ours, but lacks one of today's functions.
        StringBuilder source = new StringBuilder(recording(1));
        source.append("const char *GNI_ExtError(void) { return \"\"; }\n");
        for (String name :
                List.of("MemAlloc", "MemFree", "Doorbell", "Wait", "Ring", "Incarnation")) {
            source.append("int GNI_Ext").append(name).append("(void) { return 13; }\n");
        }
        Path older = compile("older.so", source.toString());
        assertThat(run(older.toString()))
                .anyMatch(
                        line ->
                                line.startsWith(
                                        "transport cause: " + older + " has no GNI_ExtPeerState"));
    }

    @Test
    void shouldTakeASystemLibraryOnlyWithADevice() throws Exception {
        compile("libugni.so.0", recording(0));
        assertThat(run(null, "LD_LIBRARY_PATH", folder.toString()))
                .contains("library builtin", "put arrived");
        compile("libugni.so.0", recording(1));
        assertThat(run(null, "LD_LIBRARY_PATH", folder.toString()))
                .contains("library libugni.so.0", "address 1002");
    }

    @Test
    void shouldNotBeLedElsewhereByALibraryThatTheProcessHas() throws Exception {
        Path stub = compile("preloaded.so", recording(1));
        assertThat(run("builtin", "LD_PRELOAD", stub.toString()))
                .contains("library builtin", "put arrived");
    }

    @Test
    void shouldSayWhyALibraryCannotBeUsed() throws Exception {
        assertThat(run("/nowhere/libugni.so"))
                .anyMatch(
                        line ->
                                line.startsWith("unavailable: libugni cannot be opened")
                                        && line.contains("/nowhere")
                                        && line.endsWith("uses Verbena's own library"));
        Path other = compile("other.so", "int nothing;\n");
        assertThat(run(other.toString()))
                .anyMatch(line -> line.contains("has no GNI_CdmCreate: it is not a libugni"));
    }
}
