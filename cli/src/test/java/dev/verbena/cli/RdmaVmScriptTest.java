package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Parts of the virtual machine's scripts that go wrong seldom: without a virtual machine. */
@Timeout(60)
@Tag("once")
class RdmaVmScriptTest {

    @TempDir private Path folder;

    private void standIn(String name, String line) throws IOException {
        Path script = Files.createDirectories(folder.resolve("bin")).resolve(name);
        Files.writeString(script, "#!/bin/bash\n" + line + "\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @Test
    void shouldLeaveNothingBehindWhenTheMachinesFilesCannotBeMade() throws Exception {
        for (String tool : new String[] {"apt-get", "apt-cache", "dpkg-deb"}) {
            standIn(tool, "echo " + tool + " fails; exit 1");
        }
        Path machine = Files.createDirectories(folder.resolve("target/rdma-vm/packages"));
        Path kernel = Files.writeString(folder.resolve("kernel.deb"), "cut short");
        Files.writeString(machine.resolve("busybox-static.deb"), "cut short");
        String script =
                "VERBENA_HOME="
                        + folder
                        + " VERBENA_VM_KERNEL="
                        + kernel
                        + " PATH="
                        + folder
                        + "/bin:$PATH; . "
                        + Bash.CI
                        + "/setup.sh; . "
                        + Bash.CI
                        + "/rdma-vm/image.sh; make_image; echo went on";
        Bash outcome = Bash.run(folder, script);
        assertThat(outcome.text())
                .contains(
                        "could not make the virtual machine's files; see target/rdma-vm/image.log")
                .doesNotContain("went on");
        assertThat(outcome.code()).isEqualTo(1);
        assertThat(folder.resolve("target/rdma-vm/image.log")).content().contains("dpkg-deb fails");
        assertThat(folder.resolve("target/rdma-vm/kernel")).doesNotExist();
        assertThat(folder.resolve("target/rdma-vm/initrd.gz")).doesNotExist();
        assertThat(machine).as("what was cut short is fetched anew").isEmptyDirectory();
    }

    @Test
    void shouldEndAMachineThatDoesNotHear() throws Exception {
        String script =
                "eval \"$(sed -n '/^end_machines() {/,/^}/p' "
                        + Bash.CI
                        + "/rdma-vm/run)\"; trap '' TERM; sleep 300 & machine=($!); trap - TERM; "
                        + "kill -TERM ${machine[0]}; kill -0 ${machine[0]} && echo deaf; "
                        + "end_machines 2>/dev/null; kill -0 ${machine[0]} 2>/dev/null && echo alive || echo gone";
        Bash outcome = Bash.run(folder, script);
        assertThat(outcome.text()).isEqualTo("deaf\ngone\n");
    }

    @Test
    void shouldSayWhatIsWrongBeforeAMachineBoots() throws Exception {
        Bash alone = Bash.run(folder, "peer=x " + Bash.CI + "/rdma-vm/run --loss=1% true");
        assertThat(alone.text()).as("a variable is no --peer").contains("they need --peer");
        Bash absent = Bash.run(folder, Bash.CI + "/rdma-vm/run --no-build -- no-such-command");
        assertThat(absent.text()).contains("there is no command 'no-such-command' here");
        assertThat(absent.code()).isEqualTo(2);
        Bash small = Bash.run(folder, Bash.CI + "/rdma-vm/run --memory=4K -- true");
        assertThat(small.text()).contains("--memory '4K': a size from 256M");
        assertThat(small.code()).isEqualTo(2);
    }

    @Test
    void shouldRefuseAPrefixBeforeAnythingIsBuilt() throws Exception {
        Files.createFile(folder.resolve("file"));
        for (String library : new String[] {"portals", "gni"}) {
            Bash refused =
                    Bash.run(folder, Bash.CI + "/../verbena " + library + " install PREFIX=file/x");
            assertThat(refused.text())
                    .isEqualTo(
                            "verbena %s install: '%s' is no folder that %s can write to; choose another: PREFIX=DIR\n",
                            library, folder.resolve("file"), System.getProperty("user.name"));
            assertThat(refused.code()).isEqualTo(2);
        }
    }

    private Path report(String module, int tests, int failures, String... reasons)
            throws IOException {
        StringBuilder text = new StringBuilder("<?xml version=\"1.0\"?>\n");
        text.append("<testsuite name=\"JUnit\" tests=\"" + tests + "\" skipped=\"");
        text.append(reasons.length + "\" failures=\"" + failures + "\" errors=\"0\">\n");
        for (String reason : reasons) {
            text.append("<testcase name=\"should\" classname=\"X\">\n<skipped><![CDATA[");
            text.append("org.opentest4j.TestAbortedException: Assumption failed: " + reason);
            text.append("\n\tat org.junit.Assumptions.assumeTrue]]></skipped>\n</testcase>\n");
        }
        Path path = Files.createDirectories(folder.resolve(module)).resolve("TEST-junit.xml");
        Files.writeString(path, text.append("</testsuite>\n"));
        return path.getParent();
    }

    private Bash reports(String where, Path... folders) throws Exception {
        StringBuilder script = new StringBuilder(Bash.CI + "/rdma-vm/reports " + where);
        for (Path reported : folders) {
            script.append(" " + reported);
        }
        return Bash.run(folder, script.toString());
    }

    @Test
    void shouldFailForASkipThatIsNotAllowed() throws Exception {
        Path well = report("well", 5, 0, "with --long only", "with --long only");
        assertThat(reports("vm", well))
                .isEqualTo(
                        new Bash(
                                0,
                                "   well: Tests run: 5, Failures: 0, Errors: 0, Skipped: 2\n"
                                        + "      2 skipped: with --long only\n"));
        Path poor = report("poor", 5, 0, "no librdmacm here", "with --long only");
        Bash outcome = reports("vm", well, poor);
        assertThat(outcome.code()).isEqualTo(1);
        assertThat(outcome.text())
                .contains(
                        "FAILED: skipped for a reason that skips.txt does not allow: no librdmacm");
        assertThat(reports("host", well, poor).code()).as("a card of one's own").isZero();
    }

    @Test
    void shouldFailForFailuresAndForTestsThatDidNotRun() throws Exception {
        assertThat(reports("vm", report("failing", 3, 1)).code()).isEqualTo(1);
        assertThat(reports("vm", report("idle", 1, 0, "with --long only")).code()).isEqualTo(1);
        Bash missing = reports("vm", folder.resolve("missing"), report("well", 1, 0));
        assertThat(missing.code()).isEqualTo(1);
        assertThat(missing.text()).contains("missing: no reports").contains("well: Tests run: 1");
    }
}
