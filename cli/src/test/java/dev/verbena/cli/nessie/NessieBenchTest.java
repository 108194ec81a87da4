package dev.verbena.cli.nessie;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.SampledByDay;
import dev.verbena.cli.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One round of the benchmark: that it runs, not what it finds. Each day some of the parts. */
@Timeout(180)
@Tag("once")
@SampledByDay(parts = 3, daily = "shouldRefuseWrongOptions")
class NessieBenchTest {
    @TempDir Path folder;

    private Run bench(String... more) {
        String[] all = new String[2 + more.length];
        all[0] = "nessie";
        all[1] = "bench";
        System.arraycopy(more, 0, all, 2, more.length);
        return Run.of(1000, all);
    }

    @Test
    void shouldWriteATableAndAPicture() throws IOException {
        Path output = folder.resolve("bench");
        Run run = bench("--quick", "--rounds=1", "--only=null,write,torus", "--output=" + output);
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .containsPattern("null RPC +[0-9.,]+ ns +[0-9.,]+ +[0-9.]+")
                .containsPattern("pulled by the server, 8 outstanding +[0-9.,]+ MB/s +[0-9.,]+")
                .containsPattern("torus, read, clients: 64 +[0-9.,]+ MB/s")
                .containsPattern("torus, write of each, clients: 64 +[0-9.,]+ MB/s");
        assertThat(Files.readString(output.resolve("report.html")))
                .contains("null RPC")
                .contains("<svg class=\"chart\"");
        assertThat(output.resolve("results.json")).exists();
    }

    @Test
    void shouldMeasureTransfersBesideMpi() throws IOException {
        Path output = folder.resolve("bench");
        Run run = bench("--quick", "--rounds=1", "--only=mpi", "--output=" + output);
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .containsPattern("write_rdma_push, bytes: 1024 +[0-9.,]+ MB/s")
                .containsPattern(
                        "MPI_Put, bytes: 1024 +[0-9.,]+ MB/s|without the lines of MPI: mpi");
        assertThat(Files.readString(output.resolve("report.html"))).contains("To the server");
        assertThat(output.resolve("mpi_yardstick")).doesNotExist();
    }

    @Test
    void shouldCountClientProcesses() throws IOException {
        Path output = folder.resolve("bench");
        Run run = bench("--quick", "--rounds=1", "--only=clients", "--output=" + output);
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .containsPattern("RPC of 16 B, clients: 2 +[0-9.,]+ /s")
                .containsPattern("client processes +write_rdma, MB/s +read_rdma, MB/s +calls/s")
                .containsPattern("(?m)^ +1( +[0-9.,]+){3}$")
                .containsPattern("(?m)^ +2( +[0-9.,]+){3}$");
        assertThat(Files.readString(output.resolve("report.html"))).contains("Client processes");
    }

    @Test
    void shouldRefuseWrongOptions() {
        assertThat(bench("--only=all").err()).contains("--only all is none of null, write");
        assertThat(bench("--rounds=0").code()).isEqualTo(2);
    }
}
