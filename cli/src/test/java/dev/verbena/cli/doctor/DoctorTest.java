package dev.verbena.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.Run;
import dev.verbena.cli.terminal.Json;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the doctor says of machines that this one cannot be made into: their files are faked. */
@Timeout(60)
class DoctorTest {
    @TempDir private Path root;

    private Machine machine(String... environment) {
        return environment.length == 0
                ? new Machine(root, Map.of())
                : new Machine(root, Map.of(environment[0], environment[1]));
    }

    private void write(String path, String text) throws IOException {
        Path file = root.resolve(path.substring(1));
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private static void assertComplete(Finding finding) {
        if (finding.level() == Finding.Level.WARNING || finding.level() == Finding.Level.WRONG) {
            assertThat(finding.cost()).as("cost of %s", finding.name()).isNotEmpty();
            assertThat(finding.remedy()).as("remedy of %s", finding.name()).isNotEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, OK, may attach",
        "1, WARNING, only to descendants",
        "2, WARNING, CAP_SYS_PTRACE",
        "3, WARNING, until the next boot",
    })
    void shouldExplainYama(String scope, Finding.Level level, String text) throws Exception {
        write("/proc/sys/kernel/yama/ptrace_scope", scope + "\n");
        Finding finding = new DoctorKernel(machine()).yama();
        assertThat(finding.level()).isEqualTo(level);
        assertThat(finding.found()).contains(text);
        assertComplete(finding);
        if (level == Finding.Level.WARNING) {
            assertThat(finding.remedy()).contains("kernel.yama.ptrace_scope=0");
        }
    }

    @Test
    void shouldAcceptAKernelWithoutYama() {
        assertThat(new DoctorKernel(machine()).yama().level()).isEqualTo(Finding.Level.OK);
    }

    @Test
    void shouldRecogniseContainers() throws Exception {
        assertThat(machine().containerKind()).isEmpty();
        assertThat(machine("KUBERNETES_SERVICE_HOST", "10.0.0.1").containerKind())
                .isEqualTo("Kubernetes");
        assertThat(machine("container", "systemd-nspawn").containerKind())
                .isEqualTo("systemd-nspawn");
        write("/proc/1/cgroup", "0::/system.slice/docker-abc.scope\n");
        assertThat(machine().containerKind()).isEqualTo("docker");
        write("/run/.containerenv", "");
        assertThat(machine().containerKind()).isEqualTo("Podman");
        write("/proc/self/uid_map", "         0       1000          1\n");
        Finding finding = new DoctorKernel(machine()).container();
        assertThat(finding.found()).isEqualTo("Podman, rootless");
        assertThat(finding.remedy()).contains("--ipc=container:");
    }

    @Test
    void shouldNameTheRemedyThatFitsTheContainer() throws Exception {
        Path shm = Path.of("/dev/shm");
        long small = 64L << 20;
        Finding bare = new DoctorLimits(machine()).sharedMemory(shm, "tmpfs", small, small, true);
        assertThat(bare.level()).isEqualTo(Finding.Level.WARNING);
        assertThat(bare.remedy()).contains("mount -o remount,size=1g /dev/shm");
        write("/.dockerenv", "");
        Finding inDocker =
                new DoctorLimits(machine()).sharedMemory(shm, "tmpfs", small, small, true);
        assertThat(inDocker.remedy()).contains("--shm-size=1g");
        Machine pod = machine("KUBERNETES_SERVICE_HOST", "10.0.0.1");
        Finding inChroot =
                new DoctorLimits(machine()).sharedMemory(shm, "unknown", 1L << 40, 1L << 40, true);
        assertThat(inChroot.level()).isEqualTo(Finding.Level.OK);
        Finding inPod = new DoctorLimits(pod).sharedMemory(shm, "tmpfs", 0, small, true);
        assertThat(inPod.level()).isEqualTo(Finding.Level.WRONG);
        assertThat(inPod.remedy()).contains("medium: Memory");
        Finding locked =
                new DoctorLimits(pod).sharedMemory(shm, "tmpfs", 1L << 40, 1L << 40, false);
        assertThat(locked.level()).isEqualTo(Finding.Level.WRONG);
        assertThat(locked.found()).contains("not writable");
        Finding disk = new DoctorLimits(pod).sharedMemory(shm, "ext4", 1L << 40, 1L << 40, true);
        assertThat(disk.level()).isEqualTo(Finding.Level.WARNING);
        List.of(bare, inDocker, inPod, locked, disk).forEach(DoctorTest::assertComplete);
    }

    @Test
    void shouldExplainTheLockedMemoryLimit() throws Exception {
        String limits = "Limit            Soft Limit  Hard Limit  Units\nMax locked memory    ";
        write("/proc/self/limits", limits + "65536     unlimited     bytes\n");
        Finding raisable = new DoctorLimits(machine()).lockedMemory();
        assertThat(raisable.level()).isEqualTo(Finding.Level.NOTE);
        assertThat(raisable.found()).contains("64 KiB", "unlimited");
        assertThat(raisable.remedy()).isEqualTo("ulimit -l unlimited");
        write("/sys/class/infiniband/mlx5_0/node_guid", "");
        write("/proc/self/limits", limits + "65536     65536     bytes\n");
        Finding withCard = new DoctorLimits(machine()).lockedMemory();
        assertThat(withCard.level()).isEqualTo(Finding.Level.WARNING);
        assertThat(withCard.cost()).contains("ENOMEM");
        assertThat(withCard.remedy()).contains("prlimit --memlock=unlimited");
        write("/.dockerenv", "");
        assertThat(new DoctorLimits(machine()).lockedMemory().remedy())
                .contains("--ulimit memlock=-1");
        write("/proc/self/limits", limits + "unlimited     unlimited     bytes\n");
        assertThat(new DoctorLimits(machine()).lockedMemory().level()).isEqualTo(Finding.Level.OK);
    }

    @Test
    void shouldReadControlGroups() throws Exception {
        write("/proc/meminfo", "MemTotal:  8000000 kB\nMemAvailable:  6000000 kB\n");
        write("/sys/fs/cgroup/memory.max", "268435456\n");
        write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
        write("/sys/fs/cgroup/pids.max", "100\n");
        DoctorLimits limits = new DoctorLimits(machine());
        assertThat(limits.memory().level()).isEqualTo(Finding.Level.WARNING);
        assertThat(limits.memory().found()).contains("control group allows 256 MiB");
        assertThat(limits.processes().level()).isEqualTo(Finding.Level.WARNING);
        assertThat(limits.cores().found()).contains("quota 150000 100000");
        assertThat(limits.cores().remedy()).contains("--cpus");
    }

    @Test
    void shouldListPortsOfRdmaDevices() throws Exception {
        assertThat(new DoctorDevices(machine()).cards().get(0).found()).startsWith("none");
        String port = "/sys/class/infiniband/mlx5_0/ports/1/";
        write(port + "state", "1: DOWN\n");
        write(port + "link_layer", "InfiniBand\n");
        write(port + "rate", "200 Gb/sec (4X HDR)\n");
        Finding down = new DoctorDevices(machine()).cards().get(0);
        assertThat(down.level()).isEqualTo(Finding.Level.WARNING);
        assertThat(down.found()).isEqualTo("port 1 DOWN InfiniBand 200 Gb/sec (4X HDR)");
        write(port + "state", "4: ACTIVE\n");
        Finding locked = new DoctorDevices(machine()).cards().get(0);
        assertThat(locked.found()).contains("no /dev/infiniband/uverbs");
        write("/dev/infiniband/uverbs0", "");
        Finding open = new DoctorDevices(machine()).cards().get(0);
        assertThat(open.level()).isEqualTo(Finding.Level.NOTE);
        assertThat(open.cost()).contains("verbs:// can use it");
        List.of(down, locked, open).forEach(DoctorTest::assertComplete);
    }

    @Test
    void shouldFindLibrariesWhereTheLoaderLooks() throws Exception {
        assertThat(library().found()).contains("not installed");
        write("/etc/ld.so.conf.d/own.conf", "# a comment\n/opt/own/lib\n");
        write("/opt/own/lib/libibverbs.so.1", "not a library");
        assertThat(library().level()).isEqualTo(Finding.Level.WARNING);
        assertThat(library().found()).endsWith("libibverbs.so.1: no library");
        write("/opt/own/lib/libibverbs.so.1", "\u007fELF\u0001");
        assertThat(library().found()).endsWith("not for 64 bits");
        write("/opt/own/lib/libibverbs.so.1", "\u007fELF\u0002");
        assertThat(library().level()).isEqualTo(Finding.Level.OK);
    }

    @Test
    void shouldSayWhatNeedsLibfabric() {
        assertThat(new DoctorDevices(machine()).findings())
                .filteredOn(finding -> finding.name().equals("libfabric"))
                .singleElement()
                .extracting(Finding::cost)
                .asString()
                .contains("ofi://", "auto://");
    }

    private Finding library() {
        return new DoctorDevices(machine())
                .library("libibverbs", "libibverbs.so.1", "cost", "install it");
    }

    @Test
    void shouldExplainForkBeforeLinux512() throws Exception {
        write("/sys/class/infiniband/mlx5_0/node_guid", "");
        write("/proc/sys/kernel/osrelease", "5.4.0-100-generic\n");
        assertThat(new DoctorKernel(machine()).fork().remedy()).contains("IBV_FORK_SAFE=1");
        write("/proc/sys/kernel/osrelease", "5.14.0\n");
        assertThat(new DoctorKernel(machine()).fork().level()).isEqualTo(Finding.Level.OK);
    }

    @Test
    void shouldReadTheHugePagePool() throws Exception {
        write("/proc/meminfo", "HugePages_Total:      16\nHugePages_Free:       16\n");
        assertThat(new DoctorKernel(machine()).hugePages().level()).isEqualTo(Finding.Level.OK);
        write("/proc/meminfo", "HugePages_Total:      0\nHugePages_Free:       0\n");
        assertThat(new DoctorKernel(machine()).hugePages().remedy()).contains("vm.nr_hugepages");
    }

    @Test
    void shouldSayThatTheHostWakesHaltedProcessors() throws Exception {
        assertThat(new DoctorKernel(machine()).idle().found()).isEqualTo("not virtual");
        write("/proc/cpuinfo", "flags : fpu vme hypervisor\n");
        assertThat(new DoctorKernel(machine()).idle().remedy()).contains("the parameter haltpoll");
        String parameter = "/sys/module/haltpoll/parameters/guest_halt_poll_ns";
        write(parameter, "0\n");
        assertThat(new DoctorKernel(machine()).idle().remedy()).contains("echo 200000 >");
        write(parameter, "200000\n");
        assertThat(new DoctorKernel(machine()).idle().level()).isEqualTo(Finding.Level.OK);
    }

    @Test
    void shouldWriteJsonThatProgramsCanRead() {
        Map<String, Object> inner = new java.util.LinkedHashMap<>();
        inner.put("text", "a \"quoted\"\nline\\");
        inner.put("numbers", List.of(1, 2.5, true));
        inner.put("none", null);
        assertThat(Json.of(inner))
                .isEqualTo(
                        "{\"text\": \"a \\\"quoted\\\"\\u000aline\\\\\", \"numbers\": [1, 2.5, true],"
                                + " \"none\": null}");
    }

    @ParameterizedTest
    @ValueSource(ints = {40, 60, 80})
    void shouldFitNarrowTerminals(int width) {
        List<Finding> findings =
                List.of(
                        Finding.ok("shared memory", "/dev/shm (tmpfs), 6.0 GiB of 6.0 GiB free"),
                        new Finding(
                                "locked memory",
                                Finding.Level.WARNING,
                                "limit 8 MiB",
                                "an RDMA NIC registers locked memory: more than this fails with"
                                        + " ENOMEM. shm:// locks none, no loss now",
                                "start the container with --ulimit memlock=-1:-1"));
        Run.assertFits(text(findings, width), width, text(findings, 1_000));
    }

    private static String text(List<Finding> findings, int width) {
        StringWriter text = new StringWriter();
        DoctorCommand.printText(new PrintWriter(text), findings, List.of("shm"), true, width);
        return text.toString();
    }
}
