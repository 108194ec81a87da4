package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the test command's scripts conclude from what they find. */
@Timeout(60)
@Tag("once")
class TestScriptsTest {
    private static final String PLANTED = ". " + Bash.CI + "/planted-faults/run; ";

    @TempDir private Path folder;

    private String printed(String script) throws Exception {
        return Bash.run(folder, script).text().strip();
    }

    private Path write(String name, String text) throws Exception {
        Path path = folder.resolve(name);
        Files.createDirectories(path.getParent());
        return Files.writeString(path, text);
    }

    @Test
    void shouldTryTwelvePlantedFaultsEachDayAndAllWithinThreeWeeks() throws Exception {
        String script = Bash.CI + "/planted-faults/run --list ";
        Set<String> seen = new HashSet<>();
        for (int day = 20_780; day < 20_780 + 21; day++) {
            Set<String> ofDay = Set.of(printed(script + day).split("\n"));
            assertThat(ofDay).hasSizeGreaterThanOrEqualTo(12);
            seen.addAll(ofDay);
        }
        assertThat(seen).containsExactlyInAnyOrder(printed(script + "--all").split("\n"));
    }

    /**
     * An edit of a type may break those that use it, of the same kind of source, in every module.
     */
    @Test
    void shouldCompileWhatNamesAnEditedTypeToo() throws Exception {
        write("a/src/main/java/p/Edited.java", "class Edited {}");
        write("a/src/main/java/p/User.java", "class User { Edited edited; }");
        write("a/src/main/java/p/Other.java", "class Other { EditedToo edited; }");
        write("b/src/main/java/q/User.java", "class User extends p.Edited {}");
        write("b/src/test/java/q/UserTest.java", "class UserTest { Edited edited; }");
        write("b/src/test/java/q/HeirTest.java", "class HeirTest extends UserTest {}");
        write("b/target/test-classes/q/HeirTest$1.class", "(p/Edited edited) in a constant");
        write("b/target/test-classes/q/GoneTest.class", "p/Edited");
        write("b/src/main/java/module-info.java", "module b { uses p.Edited; }");
        write("b/target/classes/module-info.class", "p/Edited");
        String script = ". " + Bash.CI + "/edits.sh; cd " + folder + "; naming ";
        assertThat(printed(script + "main a/src/main/java/p/Edited.java | sort -u").split("\n"))
                .containsExactly(
                        "a/src/main/java/p/Edited.java",
                        "a/src/main/java/p/User.java",
                        "b/src/main/java/q/User.java");
        assertThat(printed(script + "test a/src/main/java/p/Edited.java | sort -u").split("\n"))
                .containsExactly(
                        "b/src/test/java/q/HeirTest.java", "b/src/test/java/q/UserTest.java");
    }

    @Test
    void shouldTestTheClassesAndNotTheJarsWhateverTheFolderIsCalled() throws Exception {
        String tree = folder.resolve("a+b (c) [d] e.f").toString();
        String jars = "T/b/target/verbena-b-1.jar:T/b/target/verbena-b-1-tests.jar:/x.jar";
        String folders = "T/a/target/test-classes:T/a/target/classes:T/b/target/classes";
        write(tree + "/a/target/test-class-path.txt", jars.replace("T", tree));
        assertThat(printed(". " + Bash.CI + "/edits.sh; test_path '" + tree + "' a"))
                .isEqualTo((folders + ":T/b/target/test-classes:/x.jar").replace("T", tree));
    }

    /** A launcher may start it several times at once. */
    @Test
    void shouldBuildOneAtATimeWhatSeveralProcessesRun() throws Exception {
        Bash.run(folder, "cp -r " + Bash.CI + " " + Bash.CI + "/../verbena .");
        write("bin/make", "#!/bin/bash\nmkdir busy || echo both >both; sleep 0.5; rmdir busy");
        write("gni-shim/target/c/gni-run", "#!/bin/bash\necho runs >>run");
        String script =
                "chmod +x bin/* gni-shim/target/c/*; PATH=$PWD/bin:$PATH; ./verbena gni-run & ./verbena gni-run & wait; cat run; ls both";
        assertThat(printed(script)).startsWith("runs\nruns\n").contains("No such file");
    }

    /** What a shell has in the background does not notice Ctrl-C. */
    @Test
    void shouldEndAllThatItHasStartedAndNotItself() throws Exception {
        String script =
                ". %s/tiers.sh; (sleep 40 & echo $! >of-lane; timeout 40 sleep 40; echo more) & echo $! >lane; until [ -s of-lane ] && pgrep -P $(cat lane) timeout >timeout; do sleep 0.1; done; end_tree $$; for i in $(seq 100); do kill -0 $(cat lane of-lane timeout) 2>/dev/null || break; sleep 0.1; done; kill -0 $(cat lane of-lane timeout) 2>&1 | grep -c 'No such'";
        assertThat(printed("cd " + folder + "; " + String.format(script, Bash.CI))).isEqualTo("3");
    }

    @ParameterizedTest
    @CsvSource({"HUP, 129", "INT, 130", "TERM, 143"})
    void shouldLeaveNoTemporaryFolderWhenItIsEndedBySignal(String signal, int code)
            throws Exception {
        String run =
                "VERBENA_HOME=.; . %s/tiers.sh; catch_signals; tier() { (trap 'sleep 0.5; touch $TMPDIR/late; exit' TERM; touch $TMPDIR/early ready; sleep 40 & wait) & wait; }; with_own_tmp tier";
        write("run", String.format(run, Bash.CI));
        String script =
                "TMPDIR=$PWD env --default-signal bash run & until [ -e ready ]; do sleep 0.1; done; kill -%s $!; wait $!; echo $?; ls -d vtest-*";
        assertThat(printed(String.format(script, signal)))
                .startsWith(code + "\n")
                .contains("No such file");
    }

    /** A command after the edit of a test leaves that test to be compiled by who runs tests. */
    @Test
    void shouldCompileAnEditedTestAfterACommandThatNeedsNone() throws Exception {
        write("built", "");
        write("java-api/src/main/java/p/Edited.java", "class Edited {}");
        write("java-api/src/test/java/p/EditedTest.java", "class EditedTest {}");
        String script =
                "VERBENA_HOME=. DIST=.; . %s/edits.sh; compile_sources() { :; }; touch -d '1 hour ago' built; compile_edits main; touch -r target/edits/began built; compile_sources() { echo \"$@\"; }; compile_edits main test";
        assertThat(printed("cd " + folder + "; " + String.format(script, Bash.CI)))
                .isEqualTo(". java-api/src/test/java/p/EditedTest.java");
    }

    /** Types of one name in a package and in one below it each stay with their own nested types. */
    @Test
    void shouldReplaceClassesOfEditedTypesInFoldersAndJars() throws Exception {
        write(
                "a/pom.xml",
                "<artifactId>verbena-parent</artifactId><artifactId>verbena-a</artifactId>");
        write("a/src/main/java/p/package-info.java", "/** Documented. */ package p;");
        write("a/src/main/java/p/Edited.java", "package p; class Edited { class Own {} }");
        write("a/src/test/java/p/EditedTest.java", "package p; class EditedTest {}");
        write("a/target/classes/p/Edited$Gone.class", "");
        write("a/target/classes/p/q/Edited$Other.class", "");
        write("cli/target/dist/lib/empty", "");
        String run =
                "cd %s; jar -c -f cli/target/dist/lib/verbena-a-1.jar -C a/target/classes .; java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC %s/CompileEdits.java . $(find a/src -name '*.java'); jar -t -f cli/target/dist/lib/verbena-a-1.jar | grep class";
        assertThat(printed(String.format(run, folder, Bash.CI)).split("\n"))
                .containsExactlyInAnyOrder(
                        "p/Edited.class", "p/Edited$Own.class", "p/q/Edited$Other.class");
        assertThat(folder.resolve("a/target/classes/p").toFile().list())
                .containsExactlyInAnyOrder("Edited.class", "Edited$Own.class", "q");
        assertThat(folder.resolve("a/target/test-classes/p/EditedTest.class")).exists();
    }

    @Test
    void shouldAskForTheModuleOfATestThatTwoModulesHave() throws Exception {
        Bash both = Bash.run(folder, Bash.CI + "/only ArchitectureTest");
        assertThat(both.text()).contains("is in several modules", " staging/ArchitectureTest");
        assertThat(both.code()).isEqualTo(2);
        Bash neither = Bash.run(folder, Bash.CI + "/only staging/NoSuchTest");
        assertThat(neither.text()).contains("no test 'staging/NoSuchTest'");
        assertThat(neither.code()).isEqualTo(2);
    }

    private String endOfC(String log, int code) throws Exception {
        Path file = write("c.log", log);
        return printed(PLANTED + "end_of_c " + file + " " + code);
    }

    @Test
    void shouldTellCrashesAndTimeOutsOfCTestsFromFailedAssertions() throws Exception {
        assertThat(endOfC("ok portals3-27 put\n1 passed, 0 failed, 0 skipped\n", 0))
                .isEqualTo("passed");
        assertThat(endOfC("not ok portals3-27 put: test_put.c:12: a == b\n", 1))
                .isEqualTo("assertion");
        assertThat(endOfC("not ok put: line 12: GNI_RC_TIMEOUT\n", 1)).isEqualTo("assertion");
        assertThat(endOfC("not ok - put: signal 11\n", 1)).isEqualTo("crash (signal 11)");
        assertThat(endOfC("not ok - put: time limit of 60 s\n", 1)).isEqualTo("time-out");
        assertThat(endOfC("", 124)).isEqualTo("time-out");
        assertThat(endOfC("", 139)).startsWith("crash");
        assertThat(endOfC("0 passed, 0 failed, 1 skipped\n", 0)).isEqualTo("did not run");
    }

    private String endOfJava(String log) throws Exception {
        Path file = write("java.log", log);
        return printed(PLANTED + "end_of_java " + file + " XTest#shouldHold");
    }

    @Test
    void shouldTellCrashesAndTimeOutsOfJavaTestsFromFailedAssertions() throws Exception {
        assertThat(endOfJava("result XTest#shouldHold passed: \n")).isEqualTo("passed");
        assertThat(endOfJava("result XTest#shouldHold assertion: expected: 1\n"))
                .isEqualTo("assertion");
        assertThat(endOfJava("result XTest#shouldHold time-out: after 60 seconds\n"))
                .isEqualTo("time-out");
        assertThat(endOfJava("result XTest#shouldHold exception NullPointerException: null\n"))
                .isEqualTo("exception NullPointerException");
        assertThat(endOfJava("result YTest#shouldHold passed: \nJVM crash (134)\n"))
                .isEqualTo("crash (134)");
        assertThat(endOfJava("JVM time-out\n")).isEqualTo("time-out");
        assertThat(endOfJava("")).isEqualTo("did not run");
    }

    private String verdict(String green, String red, String listed) throws Exception {
        write("ends/green/java m XTest#shouldHold", green + "\n");
        write("ends/fault", red + "\n");
        String line = "'fault|java m XTest#shouldHold|a rule|" + listed + "'";
        return printed(PLANTED + "ends=" + folder + "/ends; verdict " + line);
    }

    @Test
    void shouldCallAFaultCaughtWhenItsTestPassesWithoutItAndEndsAsListed() throws Exception {
        assertThat(verdict("passed", "assertion", "assertion")).isEqualTo("caught");
        assertThat(verdict("assertion", "assertion", "assertion"))
                .isEqualTo("assertion without the fault");
        assertThat(verdict("passed", "passed", "assertion")).isEqualTo("not caught: passed");
        assertThat(verdict("passed", "crash (134)", "assertion"))
                .isEqualTo("not caught: crash (134)");
        assertThat(verdict("passed", "crash (134)", "crash")).isEqualTo("caught: crash (134)");
        assertThat(verdict("passed", "exception DartException", "assertion"))
                .isEqualTo("caught: exception DartException");
        assertThat(verdict("passed", "time-out", "assertion")).isEqualTo("not caught: time-out");
        assertThat(verdict("passed", "time-out", "time-out")).isEqualTo("caught: time-out");
        assertThat(verdict("passed", "assertion", "crash")).isEqualTo("not caught: assertion");
    }

    @Test
    void shouldNotCallCaughtWhatWasCaughtLongAgo() throws Exception {
        String recent = LocalDate.now(ZoneOffset.UTC).minusDays(20).toString();
        String old = LocalDate.now(ZoneOffset.UTC).minusDays(22).toString();
        Path page =
                write(
                        "page.md",
                        "# Page\n\n## Planted faults\n\n"
                                + "| new-one | T#x | a rule | caught | 2020-01-01 | abc |\n"
                                + ("| recent | T#x | a rule | caught | " + recent + " | abc |\n")
                                + ("| old | T#x | a rule | caught | " + old + " | abc |\n")
                                + ("| other | T#x | a rule | caught | " + recent + " | abc |\n")
                                + "| never | T#x | a rule | not tried yet | - | - |\n"
                                + "| undated | T#x | a rule | caught |\n");
        write("ends/green/java m T#x", "passed\n");
        write("ends/new-one", "assertion\n");
        StringBuilder list = new StringBuilder();
        for (String name : new String[] {"new-one", "recent", "old", "never", "undated"}) {
            list.append(name + "|java m T#x|a rule|assertion\n");
        }
        list.append("other|java m T#another|a rule|assertion");
        String files = "page=" + page + "; ends=" + folder + "/ends; ";
        printed(PLANTED + files + "list='" + list + "'; write_table");
        assertThat(Files.readString(page))
                .startsWith("# Page\n")
                .containsPattern("new-one \\| T#x \\| a rule \\| caught \\| (?!2020)")
                .contains("| recent | T#x | a rule | caught | " + recent + " | abc |\n")
                .contains("| old | T#x | a rule | not tried lately | " + old + " | abc |\n")
                .contains("| other | T#another | a rule | not tried yet | - | - |\n")
                .contains("| never | T#x | a rule | not tried yet | - | - |\n")
                .contains("| undated | T#x | a rule | not tried yet | - | - |\n");
    }

    @Test
    void shouldNameATestThatPassedOnlyTheSecondTimeUnsteady() throws Exception {
        write("ci/not-due.txt", "all dart D1-D1\n");
        write("m/pom.xml", "");
        write(
                "m/src/test/java/XTest.java",
                "class XTest {\n    @Test\n    @Tag(\"dart-D1\")\n    void shouldHold() {}\n}\n");
        write(
                "m/target/surefire-reports/TEST-XTest.xml",
                "<testsuite><testcase name=\"shouldHold\" classname=\"XTest\">"
                        + "<flakyFailure message=\"once\"/></testcase></testsuite>");
        write("docs/conformance.md", "| dart | D1 | XTest.shouldHold | passed |\n");
        String java =
                Path.of(System.getProperty("java.home"), "bin", "java")
                        + " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC ";
        Bash run = Bash.run(folder, java + Bash.CI + "/Conformance.java");
        assertThat(run.code()).as(run.text()).isZero();
        assertThat(Files.readString(folder.resolve("docs/conformance.md")))
                .contains("| dart | D1 | XTest.shouldHold | unsteady |");
        assertThat(run.text()).contains("0 assertions with passing tests");
    }

    @Test
    void shouldNameTheModuleOfASumOfTestsWhenModulesAreBuiltAtTheSameTime() throws Exception {
        write(
                "maven.txt",
                "[BuilderThread 0] [INFO] Building Verbena Portals 0.1.0   [6/15]\n"
                        + "[BuilderThread 1] [INFO] Building Verbena uGNI 0.1.0   [7/15]\n"
                        + "[INFO] Tests run: 5, Time elapsed: 1 s -- in XTest\n"
                        + "[BuilderThread 0] [WARNING] Tests run: 5, Skipped: 2\n"
                        + "[main] [ERROR] Failed to execute goal\n");
        String script = "VERBENA_HOME=" + Bash.CI.getParent() + "; . $VERBENA_HOME/ci/build.sh; ";
        assertThat(printed(script + "name_modules <maven.txt | maven_progress").split(" *\n *"))
                .containsExactly(
                        "[6/15] Verbena Portals 0.1.0",
                        "[7/15] Verbena uGNI 0.1.0",
                        "Tests run: 5, Skipped: 2 (Verbena Portals)",
                        "[ERROR] Failed to execute goal");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "couple --help",
                "couple -h",
                "help couple",
                "compare --help",
                "jmh --help",
                "gni-run --help",
                "help gni",
                "portals --help",
                "test --help",
                "help test",
                "rdma-vm --help"
            })
    void shouldHelpWithoutBuilding(String line) throws Exception {
        Bash.run(folder, "cp -r " + Bash.CI + " " + Bash.CI + "/../verbena .");
        Bash help = Bash.run(folder, "./verbena " + line);
        assertThat(help.code()).as(help.text()).isZero();
        assertThat(help.text())
                .containsIgnoringCase(
                        "usage: ./verbena " + line.replaceAll("help| ?--?h\\w*", "").strip());
        assertThat(folder.resolve("target")).doesNotExist();
    }

    @Test
    void shouldFailATierThatLeavesFilesInItsTemporaryFolder() throws Exception {
        String tier =
                "VERBENA_HOME=. TMPDIR=$PWD; . "
                        + Bash.CI
                        + "/tiers.sh; SKIPPED_TIER() { return 77; }; with_own_tmp ";
        assertThat(Bash.run(folder, tier + "true").code()).isZero();
        assertThat(Bash.run(folder, tier + "false").code()).isEqualTo(1);
        assertThat(Bash.run(folder, tier + "SKIPPED_TIER").code()).isEqualTo(77);
        String ofJvm = "eval 'mkdir $TMPDIR/hsperfdata_me; touch $TMPDIR/.java_pid7'";
        assertThat(Bash.run(folder, tier + ofJvm).code()).isZero();
        Bash careless = Bash.run(folder, tier + "eval 'touch \"$(mktemp -d)/a file\" $TMPDIR/b'");
        assertThat(careless.code()).isEqualTo(1);
        assertThat(careless.text()).contains("left in the temporary folder").contains("      b\n");
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left).containsExactly(folder.resolve("out.txt"));
        }
    }

    @Test
    void shouldNameAllThatOnlyALongRunDoes() throws Exception {
        Bash ours = Bash.run(folder, Bash.CI + "/long-only");
        assertThat(ours.code()).as(ours.text()).isZero();
        assertThat(ours.text()).contains("PerftestIT: all lengths");
        write("ci/tiers.sh", "# --long: more seeds\n[ \"${VERBENA_LONG-}\" = 1 ]\n");
        write("m/src/test/java/XTest.java", "Boolean.getBoolean(\"verbena.long\")\n");
        Bash made = Bash.run(folder, Bash.CI + "/long-only " + folder);
        assertThat(made.code()).isEqualTo(1);
        assertThat(made.text())
                .contains("tiers: more seeds\n")
                .contains("./m/src/test/java/XTest.java asks for a long run");
    }

    @Test
    void shouldWarnOfPathsThatAScriptDoesNotQuote() throws Exception {
        assumeThat(Bash.run(folder, "command -v shellcheck").code()).isZero();
        String check =
                "VERBENA_HOME=$PWD; mkdir -p target/test-logs; git init -q; git add -A; . "
                        + Bash.CI
                        + "/tiers.sh; check_scripts";
        write("ci/good", "#!/bin/sh\ncd \"$1\" || exit\n");
        write("notes.md", "#!/bin/bash\ncd $(pwd)\n");
        assertThat(Bash.run(folder, check).code()).isZero();
        write("ci/careless", "#!/usr/bin/env bash\ncd $(pwd) || exit\n");
        Bash made = Bash.run(folder, check);
        assertThat(made.code()).isEqualTo(1);
        assertThat(made.text()).contains("ci/careless:2").doesNotContain("good", "notes");
    }
}
