package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Nonsense for every option of every command. */
@Timeout(120)
@Tag("once")
class WrongInputTest {
    @Test
    void shouldSayInOneLineWhatIsWrongWithWhichOption() {
        Set<Object> fields = new HashSet<>();
        for (CommandSpec spec : CommandModel.all()) {
            assertRefused("'--none'", CommandModel.words(spec, "--none"));
            for (OptionSpec option : spec.options()) {
                // Many commands share the class that has it.
                if (fields.add(option.userObject())) {
                    refuse(spec, option);
                }
            }
        }
        assertThat(fields).hasSizeGreaterThan(100);
    }

    private static void refuse(CommandSpec spec, OptionSpec option) {
        String name = option.longestName();
        if (option.arity().max() == 0) {
            assertRefused(name, CommandModel.words(spec, name + "=nonsense"));
            return;
        }
        assertRefused(name, CommandModel.words(spec, name));
        List<String> values = nonsense(option);
        // --long: every nonsense for every option instead of another one each day
        boolean isLong = Boolean.getBoolean("verbena.long");
        long day = LocalDate.now(ZoneOffset.UTC).toEpochDay();
        for (int i = 0; i < values.size(); i++) {
            if (isLong || Math.floorMod(day + name.hashCode(), values.size()) == i) {
                assertRefused(name, CommandModel.words(spec, name, values.get(i)));
            }
        }
    }

    private static void assertRefused(String option, String... line) {
        Run run = Run.of(line);
        String asked = String.join(" ", line);
        assertThat(run.err())
                .as(asked)
                .doesNotContain("Exception", "java.", "cannot convert", "not an int", "boolean")
                .contains(option, "--help'.");
        assertThat(run.err().lines()).as(asked).hasSize(2).doesNotHaveDuplicates();
        assertThat(run.code()).as(asked).isEqualTo(2);
        assertThat(run.out()).as(asked).isEmpty();
    }

    /** What the parser refuses; of other texts the command itself says which it takes. */
    private static List<String> nonsense(OptionSpec option) {
        Class<?> type = option.auxiliaryTypes()[0];
        if (type == String.class) {
            return List.of();
        }
        if (type == Path.class) {
            return List.of("");
        }
        return type == URI.class
                ? List.of("no address", "shm://%zz")
                : List.of("nonsense", "", "99999999999999999999", "-");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "dart master --confg x | verbena dart master has no option '--confg'; did you mean '--config'?",
                "dart snd | there is no command 'dart snd'; did you mean 'send'?",
                "lat x | there is no command 'lat x'",
                "doctor x | 'x' is nothing that verbena doctor takes",
                "compare | 'compare' is a command of the script: ./verbena compare",
                "pingpong xx | TYPE: 'xx' is none of rc, uc, ud, srq",
                "rping | verbena: Missing required argument (specify one of these): (-s | -c)",
                "sim --threads 99999999999 | '99999999999' is too large a number",
                "status --job a/b | --job 'a/b': letters, digits",
                "bw --window 0 | --window 0 is outside 1 to 1024",
                "mpi-hold | 'mpi-hold' is a command of the script: ./verbena mpi-hold",
                "rendezvous --listen 127.0.0.1:70000 | is not HOST:PORT with a port from 0 to 65535",
                "stage server --webhook ftp://host/x --sink file:x | --webhook ftp://host/x is not http",
                "stage server --webhook localhost:80 --sink file:x | --webhook localhost:80 is not http",
                "stage server --http 3221 --sink file:x | '3221' is not HOST:PORT",
                "stage experiment --disk /no/such | /no/such: no such folder",
                "dart receive --listen foo://x/y --directory F | no transport provider 'foo'",
                "dart receive --listen shm://j/n?foo=1 --directory F | is not of the form shm://job/name",
                "dart receive --listen ofi://[::1]:0?provder=tcp --directory F | is not of the form ofi:",
                "dart receive --listen ofi://[::1]:70000 --directory F | is not of the form ofi://host:port",
                "dart receive --listen gni://h:0?tag=1 --directory F | is not of the form gni://host:port",
                "dart master --config F --receiver ofi://h:70000 | port 70000 does not fit",
                "help dart send x | 'x' is nothing that verbena dart send takes",
                "lat --connect foo://x | --connect foo://x: there is no such transport",
                "lat --connect shm://x | is not of the form shm://job/name?incarnation=hex, which",
                "sim --print | --print: of which scenario?",
                "sim ring-barrier --per-node 0 | --per-node 0 is less than 1",
                "sim ring-barrier --level flit --threads 4 | --threads 4: only the packet level can be divided",
                "sim dart --nodes 0 | --nodes 0 is outside 1 to",
                "dart receive --listen 127.0.0.1:0 --directory x --pictures | --pictures needs --sink",
            })
    void shouldSayWhatItTakes(String line, String message) {
        Run run = Run.of(line.split(" "));
        assertThat(run.err()).contains(message);
        assertThat(run.code()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bw write --size abc | --size",
                "bw write -s abc | -s",
                "bw write -sabc | -s",
                "bw write --size 0 | --size 0 is outside",
                "bw write --size=0 | --size 0 is outside",
                "bw write -s 0 | -s 0 is outside",
                "lat write --all -s 8 | --all and -s exclude each other",
                "lat read --bidirectional | --bidirectional is for bw",
                "bw send --duration 9 --iters 5 | --duration excludes --iters, -a and -e",
                "bw read --port 0 host | --port 0 lets a server choose",
                "bw read --connection UD | --connection UD cannot do",
                "lat -s x | -s x: allowed are bytes",
                "lat -n 0 | -n 0 is outside",
            })
    void shouldNameTheOptionAsItWasTyped(String line, String message) {
        Run run = Run.of(line.split(" "));
        String first = run.err().lines().findFirst().orElseThrow();
        assertThat(first).contains(message);
        for (String other : new String[] {"-s", "--size"}) {
            assertThat(message.contains(other) || !first.matches(".*\\W" + other + "\\b.*"))
                    .as(first)
                    .isTrue();
        }
        assertThat(run.code()).isEqualTo(2);
    }

    /** A folder, a file: whatever is named "F" below lies in it. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "dart ls F/none | F/none: there is no such folder",
                "dart ls F/file | F/file is a file, not a folder",
                "dart send --config F/conf F/none | F/none: there is no such file or folder",
                "dart send --config F/conf F/file F/../F/file | F/file is named twice",
                "dart receive --listen 127.0.0.1:0 --directory F/file | is a file, not a folder",
                "sim ring-barrier --trace F/new --events F/new | are the same file",
                "sim events F/none | FILE F/none: there is no such file",
                "dart stop --config F/none | F/none: there is no such file; nothing runs",
            })
    void shouldNameThePathThatIsWrong(String line, String message, @TempDir Path folder)
            throws Exception {
        Path file = Files.createFile(folder.resolve("file"));
        Path up = folder.resolve("..").resolve(folder.getFileName());
        String[] words = line.replace("F/../F", up.toString()).split(" ");
        Arrays.setAll(words, i -> words[i].replaceFirst("^F/", folder + "/"));
        Run run = Run.of(words);
        assertThat(run.err()).contains(message.replace("F/", folder + "/"));
        assertThat(run.err().lines()).doesNotHaveDuplicates();
        assertThat(run.code()).isEqualTo(2);
        assertThat(folder).isDirectoryContaining(file::equals);
        assertThat(folder.toFile().list()).containsExactly("file");
    }

    @Test
    void shouldNameTheOptionOfAFolderThatCannotBeMade(@TempDir Path folder) throws Exception {
        Path below = Files.createFile(folder.resolve("file")).resolve("a");
        Run run = Run.of("dart", "receive", "--listen=127.0.0.1:0", "--directory=" + below);
        assertThat(run.err()).contains("--directory " + below + ": Not a directory; choose");
        Path conf = folder.resolve("conf");
        Run send =
                Run.of("dart", "send", "--timeout=1", "--config=" + conf, below.getParent() + "");
        assertThat(send.err()).contains("Is a master running with this --config?");
    }

    @Test
    void shouldLeaveNoFolderBehindWhenAnotherFileIsThere(@TempDir Path folder) throws Exception {
        Path there = Files.writeString(folder.resolve("there"), "of somebody");
        for (String option : new String[] {"--trace", "--events"}) {
            Run run =
                    Run.of(
                            "sim",
                            "ring-barrier",
                            option + "=" + there,
                            (option.equals("--events") ? "--trace=" : "--events=")
                                    + folder.resolve("new"),
                            "--output=" + folder.resolve("a/b"));
            assertThat(run.err()).contains(option + " " + there + " exists; choose another name");
            assertThat(folder.toFile().list()).containsExactly("there");
        }
    }

    @Test
    void shouldRefuseASizeOfNothing() {
        assertRefused("--size", "lat", "--size", "");
        assertRefused("--size", "bw", "--size", "k");
    }
}
