package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class VerbenaCommandTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "--help",
                "demo --help",
                "dart --help",
                "dart master --help",
                "dart slave --help",
                "dart receive --help",
                "dart send --help",
                "sim --help",
                "lat --help",
                "bw --help",
                "status --help",
                "top --help",
                "errors --help",
                "doctor --help",
                "devices --help",
                "version --help",
                "completion --help",
            })
    void shouldHelpEverywhere(String line) {
        Run run = Run.of(line.split(" "));
        assertThat(run.code()).isZero();
        assertThat(run.out()).startsWith("Usage: verbena");
        assertThat(run.out().lines()).allMatch(text -> text.length() <= 120);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nonsense | there is no command 'nonsense'",
                "lta | there is no command 'lta'; did you mean 'lat'?",
                "gnirun | there is no command 'gnirun'; did you mean 'gni-run'?",
                "--hlep | Unknown option: '--hlep'",
                "sim compare --transport pigeon | there are [",
                "sim /tmp | /tmp is a folder, no file",
                "lat --iterations 0 | --iterations 0 is outside 1 to",
                "lat --start-timeout 0 | --start-timeout 0 is outside 1 to",
                "demo --colour blue | Unknown options: '--colour', 'blue'",
                "demo --ranks 0 | --ranks 0 is outside 1 to 64",
                "demo --ranks many | Invalid value for option '--ranks'",
                "demo --servers 17 | --servers 17 is outside 1 to 16",
                "demo --timeout 1 | --timeout 1 is outside 5 to 3600",
                "demo --buffered --unbuffered | exclude each other",
                "demo --transport pigeon | there is no such transport",
                "dart | which program?",
                "dart master --config x | either --receiver HOST:PORT or --sink",
                "dart master --config x --receiver h:1 --sink file:y | either --receiver",
                "dart master --config x --sink y | --sink y is not file:DIR",
                "dart master --config x --receiver h:1 --spill y | is not DIR,LIMIT",
                "dart master --config x --receiver here | is not HOST:PORT",
                "dart receive --listen :1 --directory x | is not HOST:PORT",
                "dart receive --listen h:70000 --directory x | is not HOST:PORT",
                "dart send --config x | Missing required parameter: 'PATH'",
                "dart receive --listen h:1 --directory x --servers 0 | --servers 0 is less than 1",
                "lat --connect nonsense | nonsense is no address",
                "top --interval 0 | --interval 0.0 is outside 0.1 to 3600",
                "top --count 0 | --count 0 is below 1",
                "lat --size 0 | outside 1 to",
                "lat --size 1x | allowed are bytes",
                "lat --all --size 8 | exclude each other",
                "lat --op send --size 128k | outside 1 to 65536",
                "lat --op shout | Invalid value for option '--op'",
                "bw --iterations -1 | outside 1 to",
                "version --cpus 3-1 | the range 3-1 ends before it begins",
                "--cpus all version | Invalid value for option '--cpus': 'all' is no list",
                "version --cpus 0,60000 | --cpus 0,60000: this process may not run on processor 60000",
                "lat --listen --connect shm://x/y | exclude each other",
            })
    void shouldExitWith2ForWrongArguments(String line, String message) {
        Run run =
                Run.of(
                        line.replace("demo ", "demo --deck ../examples/two-stream.conf ")
                                .split(" "));
        assertThat(run.err()).contains(message).contains("--help'.").doesNotContain("\tat ");
        assertThat(run.code()).isEqualTo(2);
    }

    @Test
    void shouldNameTheLineOfABadDeck(@TempDir Path folder) throws Exception {
        Path deck = folder.resolve("bad.conf");
        Files.write(deck, List.of("steps = 10", "cells = lots"));
        Run run = Run.of("demo", "--deck", deck.toString());
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err())
                .contains("bad.conf:2: cells = lots; allowed: a whole number from 16 to 8192");
    }

    @Test
    void shouldNameWhatIsMissing(@TempDir Path folder) {
        Path deck = folder.resolve("absent.conf");
        Run run = Run.of("demo", "--deck", deck.toString());
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("absent.conf: there is no such input deck");
        Run send = Run.of("dart", "send", "--config", "x", folder.resolve("none").toString());
        assertThat(send.code()).isEqualTo(1);
        assertThat(send.err()).contains("none: there is no such file or folder");
    }

    @Test
    void shouldRefuseADirectoryThatIsAFile(@TempDir Path folder) throws Exception {
        Path file = Files.createFile(folder.resolve("file"));
        Run run =
                Run.of(
                        "dart",
                        "receive",
                        "--listen",
                        "127.0.0.1:0",
                        "--directory",
                        file.toString());
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("is a file, not a folder");
    }

    @Test
    void shouldPrintVersionAndCompletion() {
        Run version = Run.of("version");
        assertThat(version.code()).isZero();
        assertThat(version.out()).startsWith("verbena ").doesNotContain("${");
        Run completion = Run.of("completion");
        assertThat(completion.out()).contains("verbena Bash Completion", "--transport");
    }

    @Test
    void shouldPrintAStackTraceOnlyWhenAsked() {
        assertThat(Run.of("dart", "send", "--config", "x", "/none/such").err())
                .doesNotContain("\tat ");
        assertThat(Run.of("--verbose", "dart", "send", "--config", "x", "/none/such").err())
                .contains("\tat ");
    }
}
