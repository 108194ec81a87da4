package dev.verbena.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is measured leaves neither files nor programs behind when a signal ends it. */
@Timeout(60)
class EndingTest {
    private static final long PATIENCE_NS = 10_000_000_000L;

    @TempDir private Path folder;

    /** Runs a program of others, in another JVM. */
    public static void main(String[] arguments) throws Exception {
        List<String> command = List.of("bash", "-c", arguments[0]);
        new Contestant("other", command, Map.of(), Pattern.compile("x"), 1).output();
    }

    private Process java(Class<?> type, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(Contestants.JAVA, "-XX:+UseSerialGC"));
        command.addAll(List.of("-cp", Contestants.CLASS_PATH, type.getName()));
        command.addAll(List.of(arguments));
        return started(command);
    }

    private Process started(List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.redirectOutput(folder.resolve("log").toFile());
        builder.environment().put("VERBENA_SHM_DIR", folder.toString());
        builder.environment().merge("PATH", folder.toString(), (path, first) -> first + ":" + path);
        return builder.start();
    }

    private static boolean isSoon(Process process, Callable<Boolean> condition) throws Exception {
        long endNs = System.nanoTime() + PATIENCE_NS;
        while (!condition.call() && System.nanoTime() - endNs < 0) {
            process.waitFor(20, TimeUnit.MILLISECONDS);
        }
        return condition.call();
    }

    private boolean isSoonThere(Process process, String file) throws Exception {
        return isSoon(process, () -> Files.exists(folder.resolve(file)));
    }

    /** A program that says in files that it has begun, and that it has been asked to end. */
    private String server() {
        return "trap 'touch FOLDER/ended; exit' TERM; touch FOLDER/begun; for i in $(seq 300); do sleep 0.1; done"
                .replace("FOLDER", folder.toString());
    }

    private Path program(String name, String script) throws IOException {
        Path program = folder.resolve(name);
        Files.writeString(program, "#!/bin/bash\n" + script + "\n");
        assertThat(program.toFile().setExecutable(true)).isTrue();
        return program;
    }

    private long folders() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(Files::isDirectory).count();
        }
    }

    @Test
    void shouldLeaveNoFilesInMemory() throws Exception {
        Process process = java(StagingFigures.class, "copy", "written");
        assertThat(isSoon(process, () -> folders() == 1)).isTrue();
        process.destroy();
        process.waitFor();
        assertThat(folders()).isZero();
    }

    @Test
    void shouldEndTheProgramThatIsBeingMeasured() throws Exception {
        Path server = program("server", server());
        Process process = java(EndingTest.class, server + " & wait");
        assertThat(isSoonThere(process, "begun")).isTrue();
        process.destroy();
        assertThat(isSoonThere(process, "ended")).isTrue();
    }

    /** As a terminal does it: what a shell has in the background does not notice. */
    private void assertServerEnds(String script) throws Exception {
        Process process =
                started(List.of("setsid", "env", "--default-signal=INT", "bash", "-c", script));
        assertThat(isSoonThere(process, "begun")).isTrue();
        List<String> kill = List.of("kill", "-INT", "--", "-" + process.pid());
        assertThat(new ProcessBuilder(kill).start().waitFor()).isZero();
        assertThat(isSoonThere(process, "ended")).isTrue();
    }

    @Test
    void shouldEndTheServerOfUcx() throws Exception {
        program("ucx_perftest", "case \"$*\" in *127.0.0.1*) exec sleep 30;; esac; " + server());
        assertServerEnds(Contestants.ucx("tag_lat", 8, 1).command().get(2));
        Files.delete(folder.resolve("begun"));
        Files.delete(folder.resolve("ended"));
        assertServerEnds(Contestants.ucxWithTail("tag_lat", 8).command().get(2));
    }

    @Test
    void shouldEndTheServerOfPerftest() throws Exception {
        assertServerEnds(VerbsContestants.pair(program("server", server()).toString(), 1));
    }
}
