package dev.verbena.cli.stage;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code verbena stage verify}. */
@Command(
        name = "verify",
        description =
                "Read the datasets in the folder of --sink file:DIR and compare each with its"
                        + " description: its length and, if it was sent with a checksum, its CRC-32C."
                        + " Names those that differ; exit code 1 if there are any.",
        sortOptions = false)
final class StageVerify extends CliCommand {
    private static final int PIECE = 1 << 20;
    private static final String DESCRIPTION = ".json";
    private static final Pattern BYTES = Pattern.compile("\"bytes\":([0-9]{1,18})[,}]");
    private static final Pattern CRC = Pattern.compile("\"crc32c\":\"([0-9a-f]{8})\"");

    @Parameters(paramLabel = "DIR", description = "Folder of the sink.")
    private Path folder;

    private int sameCount;
    private int unknownCount;
    private int wrongCount;

    @Override
    public Integer call() throws Exception {
        if (!Files.isDirectory(folder)) {
            throw new Messages.WrongPath(folder + " is no folder");
        }
        for (Path description : descriptions()) {
            verify(description);
        }
        if (sameCount + unknownCount + wrongCount == 0) {
            throw new Messages.WrongPath(
                    folder + " has no datasets: NAME.raw and NAME.json, of --sink file:DIR");
        }
        say(
                "%d as they were sent, %d of the right length (sent without a checksum), %d wrong"
                        .formatted(sameCount, unknownCount, wrongCount));
        return wrongCount == 0 ? 0 : 1;
    }

    private List<Path> descriptions() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(each -> each.toString().endsWith(DESCRIPTION)).sorted().toList();
        }
    }

    private void verify(Path description) throws IOException {
        String file = description.getFileName().toString();
        String name = file.substring(0, file.length() - DESCRIPTION.length());
        String text = Files.readString(description);
        Matcher bytes = BYTES.matcher(text);
        Matcher crc = CRC.matcher(text);
        Path data = folder.resolve(name + ".raw");
        if (!bytes.find()) {
            wrong(file, "is no description of a dataset");
        } else if (!Files.isRegularFile(data)) {
            wrong(name + ".raw", "is not there; it comes after its description");
        } else if (Files.size(data) != Long.parseLong(bytes.group(1))) {
            wrong(name + ".raw", "has %d bytes, not %s", Files.size(data), bytes.group(1));
        } else if (!crc.find()) {
            unknownCount++;
        } else if (sum(data) != Integer.parseUnsignedInt(crc.group(1), 16)) {
            wrong(name + ".raw", "has other bytes than were sent");
        } else {
            sameCount++;
        }
    }

    private void wrong(String file, String what, Object... values) {
        wrongCount++;
        say(file + " " + what.formatted(values));
    }

    private static int sum(Path data) throws IOException {
        CRC32C crc = new CRC32C();
        ByteBuffer piece = ByteBuffer.allocateDirect(PIECE);
        try (FileChannel channel = FileChannel.open(data)) {
            while (channel.read(piece.clear()) >= 0) {
                crc.update(piece.flip());
            }
        }
        return (int) crc.getValue();
    }
}
