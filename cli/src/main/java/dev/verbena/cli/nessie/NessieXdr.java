package dev.verbena.cli.nessie;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.nessie.xdr.compiler.XdrCompiler;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code nessie xdr}: Java classes from a {@code .x} file. */
@Command(
        name = "xdr",
        description = {
            "Write a Java class for each type and program of a .x file (RFC 4506, rpcgen).",
            "A file that it wrote before is replaced, any other is refused."
        },
        sortOptions = false)
public final class NessieXdr extends CliCommand {
    private static final long SOURCE_MAX = 16 << 20;

    @Parameters(paramLabel = "FILE", description = "The .x file.")
    private Path file;

    @Option(
            names = "--package",
            paramLabel = "NAME",
            required = true,
            description = "Package of the classes.")
    private String packageName;

    @Option(
            names = "--output",
            paramLabel = "DIR",
            required = true,
            description = "Folder of the sources, such as src/main/java.")
    private Path output;

    @Option(
            names = "--max",
            paramLabel = "COUNT",
            description = {
                "Most elements or bytes of what declares no bound.",
                "Default: ${DEFAULT-VALUE}."
            })
    private int lengthMax = XdrCompiler.LENGTH_MAX_DEFAULT;

    @Option(
            names = "--depth",
            paramLabel = "COUNT",
            description = {
                "How deep arrays and optional values may be nested in a value; a list that the"
                        + " last field of its struct links takes one.",
                "Default: ${DEFAULT-VALUE}."
            })
    private int depthMax = XdrCompiler.DEPTH_DEFAULT;

    @Override
    public Integer call() throws IOException {
        inRange("--max", lengthMax, 1, Integer.MAX_VALUE);
        inRange("--depth", depthMax, 1, XdrCompiler.DEPTH_MAX);
        Map<String, String> files =
                XdrCompiler.compile(
                        file.toString(),
                        source(),
                        new XdrCompiler.Options(packageName, lengthMax, depthMax));
        Path folder = output.resolve(packageName.replace('.', '/'));
        for (String name : files.keySet()) {
            checkReplaced(folder.resolve(name));
        }
        OutputFolder.write(
                "--output",
                folder,
                () -> {
                    Files.createDirectories(folder);
                    for (Map.Entry<String, String> each : files.entrySet()) {
                        Files.writeString(folder.resolve(each.getKey()), each.getValue());
                    }
                });
        say("%d classes in %s".formatted(files.size(), folder));
        return 0;
    }

    private String source() throws IOException {
        if (!Files.isReadable(file) || Files.isDirectory(file)) {
            throw new Messages.WrongPath("%s is no file that can be read", file);
        }
        if (Files.size(file) > SOURCE_MAX) {
            throw new Messages.WrongPath("%s is longer than 16 MiB", file);
        }
        try {
            return Files.readString(file);
        } catch (CharacterCodingException e) {
            throw new Messages.WrongPath("%s is no text in UTF-8", file);
        }
    }

    private static void checkReplaced(Path target) throws IOException {
        if (Files.exists(target)) {
            boolean isOurs =
                    Files.size(target) < SOURCE_MAX
                            && new String(Files.readAllBytes(target))
                                    .startsWith(XdrCompiler.MARKER);
            if (!isOurs) {
                throw new Messages.Failure(
                        "--output: %s exists and was not written by this command", target);
            }
        }
    }
}
