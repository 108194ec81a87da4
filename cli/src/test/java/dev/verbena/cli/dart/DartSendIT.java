package dev.verbena.cli.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.CommandProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code dart send} to {@code dart receive} through a master and a slave, all own processes. */
@Timeout(180)
class DartSendIT {
    @TempDir private Path folder;

    private static int port(String out) {
        String line = out.lines().filter(l -> l.startsWith("listening on")).findFirst().get();
        return Integer.parseInt(line.substring(line.lastIndexOf(':') + 1).strip());
    }

    private List<String> tree(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.map(path -> root.relativize(path).toString()).sorted().toList();
        }
    }

    private void makeTree(Path root) throws IOException {
        Random random = new Random(7);
        Files.createDirectories(root.resolve("deep/er/and deeper"));
        Files.createDirectories(root.resolve("empty"));
        for (int length : new int[] {0, 1, 4096, 1_000_001}) {
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            Files.write(root.resolve("deep/file-" + length), bytes);
        }
        Files.writeString(root.resolve("deep/er/and deeper/naïve ☃ name.txt"), "text");
        byte[] big = new byte[SentFile.PART_LENGTH + 12_345];
        random.nextBytes(big);
        Files.write(root.resolve("big"), big);
    }

    @Tag("each-jdk")
    @Test
    void shouldSendATreeByteForByte() throws Exception {
        Path source = folder.resolve("source");
        makeTree(source);
        Path arrived = folder.resolve("arrived");
        String config = folder.resolve("job.conf").toString();
        try (CommandProcess receiver =
                CommandProcess.start(
                        folder,
                        "dart",
                        "receive",
                        "--listen=127.0.0.1:0",
                        "--directory=" + arrived)) {
            String address = "127.0.0.1:" + port(receiver.awaitOut("listening on"));
            try (CommandProcess master =
                            CommandProcess.start(
                                    folder,
                                    "dart",
                                    "master",
                                    "--config=" + config,
                                    "--receiver=" + address,
                                    "--servers=2");
                    CommandProcess slave =
                            CommandProcess.start(folder, "dart", "slave", "--config=" + config)) {
                // Nobody names a transport: the master has its default, all others the job's.
                assertThat(master.awaitOut("ready")).contains(": shm://");
                slave.awaitOut("ready");
                CommandProcess other =
                        CommandProcess.start(
                                folder,
                                "dart",
                                "send",
                                "--transport=portals",
                                "--config=" + config,
                                source.toString());
                long begin = System.nanoTime();
                assertThat(other.exitCode()).isEqualTo(1);
                assertThat(System.nanoTime() - begin).isLessThan(20_000_000_000L);
                assertThat(other.out())
                        .containsOnlyOnce("verbena dart send: ")
                        .contains("is of transport 'shm', but this process uses 'portals'");
                CommandProcess send =
                        CommandProcess.run(
                                folder, "dart", "send", "--config=" + config, source.toString());
                assertThat(send.exitCode()).as("%s", send.out()).isZero();
                assertThat(send.out()).contains("confirmed by the receiver");
                Path got = arrived.resolve("source");
                assertThat(tree(got)).isEqualTo(tree(source));
                for (String name : tree(source)) {
                    if (Files.isRegularFile(source.resolve(name))) {
                        assertThat(Files.mismatch(source.resolve(name), got.resolve(name)))
                                .as("%s", name)
                                .isEqualTo(-1);
                    }
                }
                assertThat(tree(arrived)).noneMatch(name -> name.contains(".verbena-part"));
                slave.terminate();
                master.terminate();
                assertThat(master.exitCode()).isZero();
                assertThat(master.out()).contains("master stopped:", ", 0 failed");
            }
            receiver.terminate();
            receiver.exitCode();
            assertThat(receiver.out()).contains("0 damaged").contains("big, ");
        }
    }

    @Test
    void shouldHandMessagesToASink() throws Exception {
        Path source = Files.writeString(folder.resolve("small"), "small");
        Path arrived = folder.resolve("arrived");
        Path sunk = folder.resolve("sunk");
        String config = "--config=" + folder.resolve("job.conf");
        try (CommandProcess receiver =
                CommandProcess.start(
                        folder,
                        "dart",
                        "receive",
                        "--listen=127.0.0.1:0",
                        "--directory=" + arrived,
                        "--sink=file:" + sunk)) {
            String to = "--receiver=127.0.0.1:" + port(receiver.awaitOut("listening on"));
            try (CommandProcess master =
                    CommandProcess.start(folder, "dart", "master", config, to)) {
                master.awaitOut("ready");
                CommandProcess send =
                        CommandProcess.run(folder, "dart", "send", config, source.toString());
                assertThat(send.exitCode()).as("%s", send.out()).isZero();
                List<String> names = tree(sunk);
                String raw = names.stream().filter(each -> each.endsWith(".raw")).findAny().get();
                assertThat(sunk.resolve(raw)).hasContent("small");
                master.terminate();
                assertThat(master.exitCode()).isZero();
            }
            receiver.terminate();
            assertThat(receiver.exitCode()).as("%s", receiver.out()).isZero();
            assertThat(receiver.out()).contains("1 in the sink, 0 refused by it, 0 wait");
        }
    }

    /** The slave learns from the master's file that the receiver is not reached by TCP. */
    @Test
    void shouldSendToAReceiverThatATransportReaches() throws Exception {
        Path source = Files.createDirectories(folder.resolve("source"));
        Files.writeString(source.resolve("small"), "small");
        Path arrived = folder.resolve("arrived");
        String config = "--config=" + folder.resolve("job.conf");
        String address = "shm://send-" + ProcessHandle.current().pid() + "/receiver";
        String[] receive = {"dart", "receive", "--listen=" + address, "--directory=" + arrived};
        String[] serve = {"dart", "master", config, "--receiver=" + address, "--servers=2"};
        try (CommandProcess receiver = CommandProcess.start(folder, receive);
                CommandProcess master = CommandProcess.start(folder, serve);
                CommandProcess slave = CommandProcess.start(folder, "dart", "slave", config)) {
            assertThat(receiver.awaitOut("listening on")).contains("listening on " + address);
            master.awaitOut("ready");
            slave.awaitOut("ready");
            for (int i = 0; i < 2; i++) {
                CommandProcess send =
                        CommandProcess.run(folder, "dart", "send", config, source.toString());
                assertThat(send.exitCode()).as("%s", send.out()).isZero();
            }
            assertThat(arrived.resolve("source/small")).hasContent("small");
            slave.terminate();
            master.terminate();
            assertThat(master.exitCode()).isZero();
        }
    }

    @Test
    void shouldNameAFileThatCannotBeReadAndSendTheRest() throws Exception {
        Path source = Files.createDirectories(folder.resolve("source"));
        Files.writeString(source.resolve("good"), "good");
        Files.writeString(source.resolve("taken"), "cannot be placed");
        Files.createSymbolicLink(source.resolve("link"), source.resolve("good"));
        Path arrived = folder.resolve("arrived");
        Files.createDirectories(arrived.resolve("source/taken/by a folder"));
        String config = folder.resolve("job.conf").toString();
        try (CommandProcess receiver =
                CommandProcess.start(
                        folder,
                        "dart",
                        "receive",
                        "--listen=127.0.0.1:0",
                        "--directory=" + arrived)) {
            String address = "127.0.0.1:" + port(receiver.awaitOut("listening on"));
            try (CommandProcess master =
                    CommandProcess.start(
                            folder,
                            "dart",
                            "master",
                            "--transport=portals",
                            "--config=" + config,
                            "--receiver=" + address)) {
                master.awaitOut("ready");
                CommandProcess send =
                        CommandProcess.run(
                                folder,
                                "dart",
                                "send",
                                "--transport=portals",
                                "--config=" + config,
                                source.toString());
                assertThat(send.exitCode()).isEqualTo(1);
                assertThat(send.out()).contains("link: not an ordinary file").contains("left out");
                assertThat(arrived.resolve("source/good")).hasContent("good");
            }
            receiver.terminate();
            // The sender was told that its bytes are safe; only here one sees where they are.
            assertThat(receiver.exitCode()).isEqualTo(1);
            assertThat(receiver.out())
                    .contains("refused: source/taken: ")
                    .contains("1 damaged")
                    .contains("left as ");
        }
    }

    @Test
    void shouldSayThatThereIsNoService() throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "x");
        CommandProcess send =
                CommandProcess.run(
                        folder,
                        "dart",
                        "send",
                        "--transport=shm",
                        "--timeout=1",
                        "--config=" + folder.resolve("absent.conf"),
                        file.toString());
        assertThat(send.exitCode()).isEqualTo(1);
        assertThat(send.out()).contains("absent.conf").doesNotContain("\tat ");
    }
}
