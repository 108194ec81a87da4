package dev.verbena.cli.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.CommandProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code --secret}, with every role a process of its own. */
@Timeout(300)
class DartSecretIT {
    @TempDir private Path folder;

    private Path secret(String name, String content) throws Exception {
        Path file = Files.writeString(folder.resolve(name), content);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    private CommandProcess start(String... arguments) throws Exception {
        return CommandProcess.start(folder, arguments);
    }

    private static String address(CommandProcess receiver) throws Exception {
        receiver.awaitOut("listening on");
        String line =
                receiver.out().lines().filter(l -> l.startsWith("listening on")).findFirst().get();
        return "127.0.0.1:" + line.substring(line.lastIndexOf(':') + 1).strip();
    }

    @Test
    void shouldStageOnlyThroughServersThatKnowTheSecret() throws Exception {
        Path right = secret("right", "0123456789abcdef0123456789abcdef\n");
        Path wrong = secret("wrong", "0123456789abcdef0123456789abcdeF\n");
        Path sent = Files.write(folder.resolve("sent.bin"), new byte[300_000]);
        Path arrived = folder.resolve("arrived");
        try (CommandProcess receiver =
                start(
                        "dart",
                        "receive",
                        "--listen=127.0.0.1:0",
                        "--directory=" + arrived,
                        "--secret=" + right)) {
            String receiverAddress = address(receiver);
            String[][] strangers = {
                {"start the server with --secret FILE"},
                {"is not that of this receiver", "--secret=" + wrong}
            };
            for (String[] stranger : strangers) {
                try (CommandProcess master = master("stranger.conf", receiverAddress, stranger)) {
                    master.awaitOut(stranger[0]);
                    receiver.awaitOut(stranger[0]);
                }
            }
            assertThat(Files.exists(arrived.resolve("sent.bin"))).isFalse();
            String[] friend = {"", "--secret=" + right};
            try (CommandProcess master = master("job.conf", receiverAddress, friend);
                    CommandProcess slave =
                            start(
                                    "dart",
                                    "slave",
                                    "--transport=shm",
                                    "--config=" + folder.resolve("job.conf"),
                                    "--secret=" + right)) {
                master.awaitOut("ready");
                slave.awaitOut("ready");
                try (CommandProcess send =
                        start(
                                "dart",
                                "send",
                                "--transport=shm",
                                "--config=" + folder.resolve("job.conf"),
                                sent.toString())) {
                    assertThat(send.exitCode()).as(send.out()).isZero();
                }
            }
            assertThat(Files.readAllBytes(arrived.resolve("sent.bin"))).hasSize(300_000);
        }
    }

    private CommandProcess master(String config, String receiver, String[] options)
            throws Exception {
        String servers = config.equals("job.conf") ? "2" : "1";
        String option = options.length > 1 ? options[1] : "--timeout=20";
        return start(
                "dart",
                "master",
                "--transport=shm",
                "--config=" + folder.resolve(config),
                "--receiver=" + receiver,
                "--servers=" + servers,
                option);
    }

    @Test
    void shouldRefuseSecretFilesThatOthersCanRead() throws Exception {
        Path open = secret("open", "0123456789abcdef");
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));
        Path arrived = folder.resolve("arrived");
        String[][] roles = {
            {"receive", "--listen=127.0.0.1:0", "--directory=" + arrived},
            {"master", "--config=" + folder.resolve("job.conf"), "--receiver=127.0.0.1:1"},
            {"slave", "--config=" + folder.resolve("job.conf"), "--receiver=127.0.0.1:1"}
        };
        for (String[] role : roles) {
            try (CommandProcess command =
                    start("dart", role[0], role[1], role[2], "--secret=" + open)) {
                assertThat(command.exitCode()).isEqualTo(1);
                assertThat(command.out()).contains("chmod 600 " + open);
            }
        }
        assertThat(Files.exists(arrived)).isFalse();
    }
}
