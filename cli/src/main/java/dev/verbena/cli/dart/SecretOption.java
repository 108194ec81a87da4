package dev.verbena.cli.dart;

import dev.verbena.agent.SecretFile;
import dev.verbena.cli.terminal.Messages;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** {@code --secret}: the file of the secret that servers and their receiver share. */
final class SecretOption {
    @Option(
            names = "--secret",
            paramLabel = "FILE",
            description = {
                "Secret that servers and receiver prove to each other to know before any data",
                "pass: at least 16 bytes, the file readable by nobody else (mode 0600). The same on",
                "both sides. Make one: (umask 077; openssl rand -hex 32 > FILE)"
            })
    private Path file;

    /** The secret; null if none is wanted. */
    byte[] read() {
        if (file == null) {
            return null;
        }
        try {
            return SecretFile.read(file);
        } catch (IllegalArgumentException e) {
            throw new Messages.Failure(e.getMessage());
        }
    }
}
