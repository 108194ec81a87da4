package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the set-up decides on a Linux machine that lacks packages. The machine is a PATH of our own:
 * package manager, sudo and id are scripts that write down how they were called, so nothing is
 * installed. One test runs everything real as another user.
 */
@Timeout(60)
@Tag("once")
class SetupTest {
    private static final Path HOME = Path.of(System.getProperty("verbena.home", ".."));
    private static final List<String> ORDINARY_TOOLS =
            List.of(
                    "awk",
                    "bash",
                    "cat",
                    "chmod",
                    "dirname",
                    "env",
                    "head",
                    "ls",
                    "readlink",
                    "rm",
                    "sed",
                    "sort",
                    "tr",
                    "true",
                    "uname");

    @TempDir private Path folder;
    private Path tools;
    private Path calls;

    /**
     * A machine with JDK, gcc and make; without Maven and g++. The user is neither root nor may
     * sudo.
     */
    @BeforeEach
    void makeMachine() throws Exception {
        tools = Files.createDirectory(folder.resolve("bin"));
        calls = Files.createFile(folder.resolve("calls"));
        for (String tool : ORDINARY_TOOLS) {
            Files.createSymbolicLink(tools.resolve(tool), Path.of("/usr/bin", tool));
        }
        standIn("gcc", "cat >/dev/null");
        standIn("make", "exit 0");
        standIn("id", "echo 1000");
        standIn("sudo", "echo \"sudo $*\" >>" + calls, "exit 1");
        standIn(
                "apt-cache",
                "for name; do :; done",
                "case $name in maven) size=2278476 ;; g++) size=8508 ;; *) size=1000000 ;; esac",
                "printf 'Package: %s\\nInstalled-Size: 3100\\nSize: %s\\n' \"$name\" $size");
        standIn(
                "apt-get",
                "echo \"apt-get $*\" >>" + calls,
                "case $* in *--print-uris*) echo \"'http://debian/a.deb' a.deb 5000000 SHA256:0\"; exit 0 ;; update) exit 0 ;; esac",
                "for name; do case $name in",
                "maven) printf '#!/bin/bash\\necho Apache Maven 3.8.7\\n' >"
                        + tools
                        + "/mvn; chmod +x "
                        + tools
                        + "/mvn ;;",
                "g++) printf '#!/bin/bash\\n' >" + tools + "/g++; chmod +x " + tools + "/g++ ;;",
                "esac; done");
    }

    @Test
    void shouldListSizesAndPrintTheLineWhenUserMayNotInstall() throws Exception {
        Outcome outcome = command("demo");
        assertThat(outcome.text).contains("Missing Debian packages:");
        assertThat(outcome.text).contains("  maven: 2 MB to download, 3 MB on disk");
        assertThat(outcome.text).contains("  g++: 9 kB to download, 3 MB on disk");
        assertThat(outcome.text)
                .contains("  with all that they need: 1 packages, 5 MB to download");
        assertThat(outcome.text.lines())
                .endsWith("  sudo apt-get install -y --no-install-recommends maven g++");
        assertThat(outcome.code).isEqualTo(3);
        assertThat(installations()).isEmpty();
    }

    @Test
    void shouldPrintTheLineWhenTestsLackWhatIsNotOptional() throws Exception {
        Outcome outcome = command("test", "--skip-missing");
        assertThat(outcome.text).contains("git: 1 MB to download");
        assertThat(outcome.text.lines().reduce("", (first, last) -> last))
                .startsWith("  sudo apt-get install -y --no-install-recommends maven g++ git ");
        assertThat(outcome.code).isEqualTo(3);
        assertThat(installations()).isEmpty();
    }

    @Test
    void shouldTellToUpdateFirstWhenPackageListsAreMissing() throws Exception {
        standIn("apt-cache", "exit 100");
        Outcome outcome = command("demo");
        assertThat(outcome.text).contains("maven: size not known before apt-get update");
        assertThat(outcome.text.lines())
                .endsWith(
                        "  sudo apt-get update && sudo apt-get install -y --no-install-recommends maven g++");
        assertThat(outcome.code).isEqualTo(3);
        assertThat(installations()).isEmpty();
    }

    @Test
    void shouldUseSudoWhenItAsksForNoPassword() throws Exception {
        standIn(
                "sudo",
                "echo \"sudo $*\" >>" + calls,
                "[ \"$1\" = -n ] || exit 1",
                "shift",
                "exec \"$@\"");
        Outcome outcome = setUp("build");
        assertThat(outcome.text)
                .contains("  maven: 2 MB to download", "Installing: apt-get install");
        assertThat(outcome.text.lines()).endsWith("ready");
        assertThat(Files.readAllLines(calls))
                .contains(
                        "sudo -n env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends maven g++");
        assertThat(installations())
                .containsExactly(
                        "apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends maven g++");
        assertThat(outcome.code).isZero();
    }

    @Test
    void shouldInstallWithoutSudoWhenRoot() throws Exception {
        standIn("id", "echo 0");
        Outcome outcome = setUp("build");
        assertThat(outcome.text.lines()).endsWith("ready");
        assertThat(Files.readAllLines(calls)).noneMatch(line -> line.startsWith("sudo"));
        assertThat(installations())
                .containsExactly(
                        "apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends maven g++");
    }

    @Test
    void shouldFetchThePackageListsWhenTheyAreMissingAndUserIsRoot() throws Exception {
        standIn("id", "echo 0");
        standIn("apt-cache", "grep -q update " + calls + " || exit 100", "echo Package: some");
        Files.createSymbolicLink(tools.resolve("grep"), Path.of("/usr/bin/grep"));
        assertThat(setUp("build").text).contains("the package lists are missing: apt-get update");
        assertThat(installations()).hasSize(1);
        assertThat(Files.readAllLines(calls).get(0)).isEqualTo("apt-get update");
    }

    @Test
    void shouldEndWithThreeAndTheRemedyWhenInstallationFails() throws Exception {
        standIn("id", "echo 0");
        standIn("apt-get", "echo \"apt-get $*\" >>" + calls, "exit 100");
        Outcome outcome = setUp("build");
        assertThat(outcome.text.lines().reduce("", (first, last) -> last))
                .contains(
                        "could not install them",
                        "apt-get update && apt-get install -y --no-install-recommends maven g++");
        assertThat(outcome.code).isEqualTo(3);
    }

    @Test
    void shouldSayWhatIsStillNotUsableAfterInstallation() throws Exception {
        standIn("id", "echo 0");
        standIn("apt-get", "echo \"apt-get $*\" >>" + calls);
        Outcome outcome = setUp("build");
        assertThat(outcome.text).contains("installed, but still not usable: maven g++");
        assertThat(outcome.code).isEqualTo(3);
    }

    /** What installing prints when apt-get sends its parent this signal. */
    private String installed(String signal) throws Exception {
        standIn("as_root", "exec \"${@//\\/usr\\/sbin/$PWD}\"");
        standIn("apt-get", "cat policy-rc.d", "kill -" + signal + " $PPID");
        String script =
                ". "
                        + HOME.resolve("ci/setup.sh").toAbsolutePath()
                        + "; POLICY=$PWD/policy-rc.d; install_packages as_root 'apt-get install x'"
                        + "; echo ended $?";
        // Whoever runs the tests may ignore some, and then no shell can catch them.
        List<String> asUsual = List.of("/usr/bin/env", "--default-signal=INT,TERM,HUP");
        return run(tools, asUsual, "-c", script).text.strip();
    }

    @Test
    void shouldLetServicesStartAgainHoweverInstallingPackagesEnds() throws Exception {
        Path policy = folder.resolve("policy-rc.d");
        assertThat(installed("0")).contains("exit 101\n").endsWith("ended 0");
        assertThat(policy).doesNotExist();
        assertThat(installed("INT")).contains("exit 101\n").contains("ended 130");
        assertThat(policy).doesNotExist();
        assertThat(installed("TERM")).contains("ended 143");
        assertThat(policy).doesNotExist();
        assertThat(installed("HUP")).contains("ended 129");
        assertThat(policy).doesNotExist();
        // What nobody could remove goes the next time; what another program needs stays.
        assertThat(installed("KILL")).contains("exit 101");
        assertThat(policy).exists();
        assertThat(installed("0")).contains("exit 101\n").endsWith("ended 0");
        assertThat(policy).doesNotExist();
        Files.writeString(policy, "exit 7\n");
        assertThat(installed("0")).isEqualTo("exit 7\nended 0");
        assertThat(policy).hasContent("exit 7\n");
    }

    /** Comparisons need no peers: they say what they leave out. */
    @Test
    void shouldGoOnWithoutPeersThatCannotBeInstalled() throws Exception {
        String offer = ". " + HOME.resolve("ci/setup.sh").toAbsolutePath() + "; offer_peers";
        String going = "what is measured beside them is left out";
        Outcome ordinary = run(tools, List.of(), "-c", offer + "; echo on");
        assertThat(ordinary.text).contains("ucx-utils", going).endsWith("on\n");
        standIn("id", "echo 0");
        standIn("apt-get", "echo \"apt-get $*\" >>" + calls, "exit 100");
        Outcome offline = run(tools, List.of(), "-c", offer + "; echo on");
        assertThat(offline.text).contains("Installing: apt-get", going).endsWith("on\n");
        Files.delete(tools.resolve("apt-get"));
        Outcome other = run(tools, List.of(), "-c", offer + "; echo on");
        assertThat(other.text).contains("missing here: ucx-utils", going).endsWith("on\n");
    }

    @Test
    void shouldNamePackagesWhereThereIsNoPackageManager() throws Exception {
        Files.delete(tools.resolve("apt-get"));
        Outcome outcome = command("demo");
        assertThat(outcome.text).contains("missing here: maven g++", "this system has no apt-get");
        assertThat(outcome.code).isEqualTo(3);
    }

    @Test
    void shouldAskForNothingWhenEverythingIsThere() throws Exception {
        standIn("mvn", "echo Apache Maven 3.8.7");
        standIn("g++", "exit 0");
        assertThat(setUp("build").text.strip()).isEqualTo("ready");
        assertThat(calls).isEmptyFile();
    }

    @Test
    void shouldNameMavensVersionWhenItIsTooOld() throws Exception {
        standIn("mvn", "echo Apache Maven 3.5.4");
        standIn("g++", "exit 0");
        Outcome outcome = setUp("build");
        assertThat(outcome.text).contains("Maven 3.5.4 is too old; 3.6.3 or newer is needed.");
        assertThat(outcome.code).isEqualTo(3);
    }

    @Test
    void shouldListWhatTheVirtualMachineLacks() throws Exception {
        assumeTrue("amd64".equals(System.getProperty("os.arch")), "the machine is for x86-64");
        Outcome outcome = command("rdma-vm", "--no-build", "--", "true");
        assertThat(outcome.text).contains("  qemu-system-x86: 1 MB to download, 3 MB on disk");
        assertThat(outcome.text.lines().reduce("", (first, last) -> last))
                .startsWith("  sudo apt-get install -y --no-install-recommends qemu-system-x86 ")
                .endsWith("ibverbs-utils rdmacm-utils perftest");
        assertThat(outcome.code).isEqualTo(3);
        assertThat(installations()).isEmpty();
    }

    @Test
    void shouldNameToolsForBuildAndVirtualMachineInOneLine() throws Exception {
        assumeTrue("amd64".equals(System.getProperty("os.arch")), "the machine is for x86-64");
        assertThat(command("rdma-vm", "--", "true").text.lines().reduce("", (first, last) -> last))
                .startsWith(
                        "  sudo apt-get install -y --no-install-recommends maven g++ qemu-system-x86 ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "--",
                "--bogus -- true",
                "--memory 3 -- true",
                "--memory 9m -- true",
                "--cpus 0 -- true",
                "--limit soon -- true",
                "--write no/such/folder -- true",
                "--env 1A=b -- true",
                "--accel fast -- true",
                "--peer",
                "--loss 1% -- true",
                "--peer true --loss 1 -- true",
                "--peer true --delay 1;reboot -- true"
            })
    void shouldRefuseWrongArgumentsOfTheVirtualMachine(String arguments) throws Exception {
        String[] words = ("rdma-vm " + arguments).strip().split(" ");
        Outcome outcome = command(words);
        assertThat(outcome.code).as(outcome.text).isEqualTo(2);
        assertThat(outcome.text).startsWith("verbena rdma-vm: ").endsWith("--help\n");
    }

    @Test
    void shouldExplainTheVirtualMachineWithoutSettingUpAnything() throws Exception {
        Outcome outcome = command("rdma-vm", "--help");
        assertThat(outcome.code).isZero();
        assertThat(outcome.text).contains("10.99.0.1", "--peer COMMANDS");
        assertThat(calls).isEmptyFile();
    }

    /**
     * Nothing stands in for anything here: another user, the system's own tools, of which one
     * cannot be found.
     */
    @Test
    void shouldPrintTheLineToARealUserWithoutRights() throws Exception {
        assumeTrue(
                "root".equals(System.getProperty("user.name")),
                "only root can become another user");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")), "no setpriv here");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/apt-get")), "no apt-get here");
        Path few = Files.createDirectory(folder.resolve("few"));
        try (Stream<Path> system = Files.list(Path.of("/usr/bin"))) {
            for (Path tool : (Iterable<Path>) system::iterator) {
                if (!"make".equals(tool.getFileName().toString())) {
                    Files.createSymbolicLink(few.resolve(tool.getFileName()), tool);
                }
            }
        }
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Outcome outcome =
                run(
                        few,
                        List.of(
                                "/usr/bin/setpriv",
                                "--reuid=nobody",
                                "--regid=nogroup",
                                "--clear-groups"),
                        copiedCommand(),
                        "demo");
        assertThat(outcome.text).containsPattern("(?m)^  make: .*(on disk|before apt-get update)$");
        assertThat(outcome.text.lines().reduce("", (first, last) -> last))
                .startsWith("  sudo apt-get ")
                .endsWith("apt-get install -y --no-install-recommends make");
        assertThat(outcome.code).isEqualTo(3);
    }

    private record Outcome(int code, String text) {}

    private void standIn(String name, String... lines) throws Exception {
        Path script = tools.resolve(name);
        Files.writeString(script, "#!/bin/bash\n" + String.join("\n", lines) + "\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** What the package manager was asked to do to the machine. */
    private List<String> installations() throws Exception {
        try (Stream<String> lines = Files.lines(calls)) {
            return lines.filter(
                            line ->
                                    line.startsWith("apt-get")
                                            && line.contains(" install ")
                                            && !line.contains("--print-uris"))
                    .toList();
        }
    }

    /** The user's command in a folder where nothing was built. */
    private Outcome command(String... arguments) throws Exception {
        return run(tools, List.of(), copiedCommand(), arguments);
    }

    private String copiedCommand() throws Exception {
        Path copy = Files.createDirectories(folder.resolve("clone/ci"));
        Path command = Files.copy(HOME.resolve("verbena"), copy.resolveSibling("verbena"));
        Files.createDirectory(copy.resolve("rdma-vm"));
        for (String part :
                List.of(
                        "setup.sh",
                        "build.sh",
                        "edits.sh",
                        "tiers.sh",
                        "test",
                        "rdma-vm/run",
                        "rdma-vm/image.sh")) {
            Files.copy(HOME.resolve("ci").resolve(part), copy.resolve(part));
        }
        return command.toString();
    }

    /** The set-up alone, which goes on to build when it has what it needs. */
    private Outcome setUp(String what) throws Exception {
        String script =
                ". "
                        + HOME.resolve("ci/setup.sh").toAbsolutePath()
                        + "; setup_for "
                        + what
                        + "; echo ready";
        return run(tools, List.of(), "-c", script);
    }

    private Outcome run(Path path, List<String> before, String script, String... arguments)
            throws Exception {
        List<String> line = new ArrayList<>(before);
        line.addAll(List.of("/bin/bash", script));
        line.addAll(List.of(arguments));
        Path out = folder.resolve("out.txt");
        ProcessBuilder builder =
                new ProcessBuilder(line).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().clear();
        builder.environment()
                .putAll(
                        Map.of(
                                "PATH",
                                path.toString(),
                                "JAVA_HOME",
                                System.getProperty("java.home")));
        Process process = builder.redirectOutput(out.toFile()).start();
        boolean isEnded = process.waitFor(45, TimeUnit.SECONDS);
        if (!isEnded) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        assertThat(isEnded).as("it does not end: %s", Files.readString(out)).isTrue();
        return new Outcome(process.exitValue(), Files.readString(out));
    }
}
