package dev.verbena.cli.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.Run;
import dev.verbena.cli.VerbenaCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The command over the libibverbs that needs no device, in a process of its own: a JVM opens one
 * libibverbs and keeps it.
 */
@Timeout(120)
class DevicesCommandTest {
    private static final Path SOURCE =
            Path.of(System.getProperty("verbena.home", ".."))
                    .resolve("java-api/src/test/c/ibverbs_stub.c");

    @TempDir private static Path folder;
    private static Path library;

    @BeforeAll
    static void compile() throws Exception {
        library = folder.resolve("libibverbs_stub.so");
        Process compiler =
                new ProcessBuilder(
                                "cc",
                                "-std=gnu11",
                                "-fPIC",
                                "-shared",
                                "-fvisibility=hidden",
                                "-o",
                                library.toString(),
                                SOURCE.toString())
                        .inheritIO()
                        .start();
        assertThat(compiler.waitFor(100, TimeUnit.SECONDS)).isTrue();
        assertThat(compiler.exitValue()).isZero();
    }

    private static Run devices(String... arguments) throws Exception {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin/java").toString());
        line.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        line.add("--enable-native-access=ALL-UNNAMED"); // JDK 24 and newer warn without it
        line.addAll(List.of("-Dverbena.ibverbs=" + library, "-cp"));
        line.add(System.getProperty("java.class.path"));
        line.addAll(List.of(VerbenaCommand.class.getName(), "devices"));
        line.addAll(List.of(arguments));
        Path out = Files.createTempFile(folder, "out", "");
        Path err = Files.createTempFile(folder, "err", "");
        Process process =
                new ProcessBuilder(line)
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile())
                        .start();
        try {
            assertThat(process.waitFor(100, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        return new Run(process.exitValue(), Files.readString(out), Files.readString(err));
    }

    @Test
    void shouldShowWhatIbvDevinfoShowsAndTheAddressItWouldUse() throws Exception {
        Run run = devices("stub0");
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .startsWith("stub0")
                .doesNotContain("nothing0")
                .containsPattern("fw_ver: +1\\.2\\.3")
                .containsPattern("max_qp_wr: +16384")
                .containsPattern("device_cap_flags: +0xfedcba98")
                .containsPattern("state: +PORT_ACTIVE")
                .containsPattern("active_mtu: +1024")
                .containsPattern("max_ee_rd_atom: +41\\n")
                .containsPattern("max_ee_init_rd_atom: +42\\n")
                .containsPattern("max_ee: +43\\n")
                .containsPattern("max_rdd: +44\\n")
                .containsPattern("max_raw_ipv6_qp: +45\\n")
                .containsPattern("max_raw_ethy_qp: +46\\n")
                .containsPattern("max_fmr: +47\\n")
                .containsPattern("max_map_per_fmr: +48\\n")
                .containsPattern("max_vl_num: +4\\n")
                .containsPattern("bad_pkey_cntr: +74565\\n")
                .containsPattern("qkey_viol_cntr: +77\\n")
                .containsPattern("sm_sl: +9\\n")
                .containsPattern("subnet_timeout: +18\\n")
                .containsPattern("init_type_reply: +5\\n")
                .containsPattern("GID\\[3\\]: +0000:.*ffff:0a63:0001, RoCE v2, 10\\.99\\.0\\.1")
                .containsPattern("chosen: +GID index 3 of 4, 10\\.99\\.0\\.1: RoCE v2")
                .contains("fork: unneeded");
        assertThat(devices().out()).contains("stub0", "nothing0");
    }

    @Test
    void shouldNameTheDevicesThereAre() throws Exception {
        Run run = devices("mlx5_0");
        assertThat(run.code()).isNotZero();
        assertThat(run.err()).contains("mlx5_0", "[stub0, nothing0]");
    }

    @Test
    void shouldSayWhatToDoWithoutADevice() {
        StringWriter text = new StringWriter();
        DevicesCommand.printNone(new PrintWriter(text), null, 80);
        assertThat(text.toString())
                .startsWith("There is no RDMA device here.")
                .contains("modprobe rdma_rxe", "--device=/dev/infiniband", "./verbena rdma-vm");
    }

    @ParameterizedTest
    @ValueSource(ints = {40, 60, 80})
    void shouldFitNarrowTerminals(int width) {
        Run.assertFits(withoutDevice(width), width, withoutDevice(1_000));
    }

    private static String withoutDevice(int width) {
        StringWriter text = new StringWriter();
        DevicesCommand.printNone(new PrintWriter(text), null, width);
        return text.toString();
    }
}
