package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.verbena.cli.terminal.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Model.CommandSpec;

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
                "rping --help",
                "pingpong --help",
                "help",
                "help lat",
                "help dart",
                "help help",
            })
    void shouldHelpEverywhere(String line) {
        Run run = Run.of(line.split(" "));
        assertThat(run.code()).isZero();
        assertThat(run.out()).startsWith("Usage: verbena");
        assertThat(run.out().lines()).allMatch(text -> text.length() <= 120);
    }

    @Test
    void shouldHelpTheSameBeforeAndAfterEveryCommand() {
        for (CommandSpec spec : CommandModel.all()) {
            Run after = Run.of(CommandModel.words(spec, "--help"));
            String before = "help" + spec.qualifiedName().substring("verbena".length());
            assertThat(Run.of(before.split(" "))).isEqualTo(after);
        }
    }

    /** Picocli formats what a command does, and warns on the terminal if it cannot. */
    @Test
    void shouldHaveDescriptionsThatCanBeFormatted() {
        for (CommandSpec spec : CommandModel.all()) {
            assertThat(spec.usageMessage().description())
                    .as(spec.qualifiedName())
                    .allSatisfy(
                            text ->
                                    assertThatCode(() -> String.format(text))
                                            .as(text)
                                            .doesNotThrowAnyException());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nonsense | there is no command 'nonsense'",
                "lta | there is no command 'lta'; did you mean 'lat'?",
                "gnirun | there is no command 'gnirun'; did you mean 'gni-run'?",
                "help dart snd | there is no command 'dart snd'; did you mean 'send'?",
                "--hlep | verbena has no option '--hlep'; did you mean '--help'?",
                "sim compare --transport pigeon | there are [",
                "sim /tmp | /tmp is a folder, no file",
                "lat --iterations 0 | --iterations 0 is outside 1 to",
                "lat --start-timeout 0 | --start-timeout 0 is outside 1 to",
                "demo --colour blue | verbena demo has no option '--colour'",
                "demo --ranks 0 | --ranks 0 is outside 1 to 64",
                "demo --ranks many | option '--ranks': 'many' is no whole number",
                "top --interval x | option '--interval': 'x' is no number",
                "dart experiment e9 | e1|e2|e3|e4: 'e9' is none of e1, e2, e3, e4",
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
                "lat --op shout | option '--op': 'shout' is none of put, get, send",
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
        assertThat(send.code()).isEqualTo(2);
        assertThat(send.err()).contains("none: there is no such file or folder");
    }

    /** It would be written beside a folder, or into one that is made for it. */
    @ParameterizedTest
    @CsvSource({
        "dart master --sink file:FOLDER/sink --config FOLDER/there, is a folder",
        "dart master --sink file:FOLDER/sink --config FOLDER/no/job.conf, there is no folder",
        "dart slave --config FOLDER/there, is a folder",
        "dart send --config FOLDER/no/job.conf FOLDER/there, there is no folder",
        "dart stop --config FOLDER/there, is a folder",
    })
    void shouldRefuseAConfigurationThatCanBeNoFile(
            String line, String message, @TempDir Path folder) throws Exception {
        Path there = Files.createDirectory(folder.resolve("there"));
        Run run = Run.of(line.replace("FOLDER", folder.toString()).split(" "));
        assertThat(run.err()).contains("--config " + folder, message);
        assertThat(run.code()).isEqualTo(2);
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left).containsExactly(there);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "dart slave --config nowhere.conf --sink file:FOLDER/a/b --timeout 1, 1",
        "dart slave --config nowhere.conf --receiver h:1 --spill FOLDER/a/b;1m --timeout 1, 1",
        "dart master --config nowhere.conf --sink file:FOLDER/a/b --servers 0, 2",
        "sim ring-barrier --output FOLDER/out --set none=1, 2",
        "sim compare --output FOLDER/out FOLDER/none, 2",
        "sim ring-barrier --trace FOLDER/trace --events FOLDER/events --set none=1, 2",
    })
    void shouldLeaveNothingWhereItIsRefused(String line, int code, @TempDir Path folder) {
        String here = line.replace("FOLDER", folder.toString()).replace(';', ',');
        Run run = Run.of(here.split(" "));
        assertThat(run.code()).isEqualTo(code);
        assertThat(run.err().lines()).hasSize(code);
        assertThat(folder).isEmptyDirectory();
    }

    @ParameterizedTest
    @CsvSource({
        "--sink file:FILE, --sink FILE is a file",
        "--receiver h:1 --spill FILE;1m, --spill FILE is a file",
    })
    void shouldSayWhyAFolderCannotBeMade(String options, String message, @TempDir Path folder)
            throws Exception {
        String file = Files.createFile(folder.resolve("file")).toString();
        String line = "dart master --config nowhere.conf " + options;
        Run run = Run.of(line.replace("FILE", file).replace(';', ',').split(" "));
        assertThat(run.err()).contains(message.replace("FILE", file)).doesNotContain("java.");
    }

    @Test
    void shouldTakeAwayTheFolderOfAReceiverThatCannotListen(@TempDir Path folder) throws Exception {
        String[] line = "dart receive --listen 192.0.2.1:7000 --directory".split(" ");
        String[] arguments = Arrays.copyOf(line, line.length + 1);
        arguments[line.length] = folder.resolve("a/b").toString();
        Run run = Run.of(arguments);
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("cannot listen on 192.0.2.1:7000");
        assertThat(folder).isEmptyDirectory();
        Files.createDirectory(folder.resolve("a"));
        assertThat(Run.of(arguments).code()).isEqualTo(1);
        assertThat(folder.resolve("a")).isEmptyDirectory();
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
        assertThat(run.code()).isEqualTo(2);
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

    @Test
    void shouldBeWhatChildProcessesRun() {
        assertThat(ChildProcess.MAIN).isEqualTo(VerbenaCommand.class.getName());
    }
}
