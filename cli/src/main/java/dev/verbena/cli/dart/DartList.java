package dev.verbena.cli.dart;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Columns;
import dev.verbena.cli.terminal.Json;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.dart.DartReceiver;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code dart ls}: what is stored in a folder, by its descriptions and its files. */
@Command(
        name = "ls",
        description = {
            "List what a receiver, or a server with --sink, has stored in a folder: name, rank,",
            "step, element type, shape, bytes, time, and a state: complete; corrupt (its sender's",
            "checksum differs); changed (another size than it had); gone (described, and no longer",
            "there); arriving (not yet complete); unknown (not described: not of a receiver, or of",
            "one that was killed)."
        },
        sortOptions = false)
public final class DartList extends CliCommand {
    private static final int[] WIDTHS = {-30, 7, 8, 8, 14, 14, 20, 9};
    private static final Object[] HEAD = {
        "name", "rank", "step", "type", "shape", "bytes", "time", "state"
    };

    @Option(names = "--json", description = "One JSON object a line, with everything known.")
    private boolean isJson;

    @Parameters(paramLabel = "FOLDER", description = "Folder of a receiver or of a sink.")
    private Path folder;

    @Override
    public Integer call() throws IOException {
        if (!Files.isDirectory(folder)) {
            boolean isFile = Files.exists(folder);
            throw new Messages.WrongPath(
                    folder + (isFile ? " is a file, not a folder" : ": there is no such folder"));
        }
        PrintWriter out = out();
        List<Map<String, Object>> entries = entries(folder);
        int width = Columns.width();
        if (!isJson) {
            Columns.row(WIDTHS, width, HEAD).forEach(out::println);
        }
        for (Map<String, Object> entry : entries) {
            if (isJson) {
                out.println(Json.of(entry));
            } else {
                Columns.row(WIDTHS, width, cells(entry)).forEach(out::println);
            }
        }
        out.flush();
        return 0;
    }

    /** Everything that is there or described, by name. The last description of a file counts. */
    static List<Map<String, Object>> entries(Path folder) throws IOException {
        Map<String, Map<String, Object>> byName = new TreeMap<>();
        for (String line : lines(folder)) {
            try {
                Map<String, Object> entry = new TreeMap<>();
                JsonLine.parse(line).forEach((key, value) -> entry.put(key.toString(), value));
                byName.put(entry.get("file").toString(), entry);
            } catch (RuntimeException e) {
                // Damaged, or the receiver is just writing it: the file itself is listed.
                continue;
            }
        }
        byName.values().forEach(entry -> entry.put("state", "gone"));
        Files.walkFileTree(
                folder,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                        if (attributes.isRegularFile()) {
                            String name = folder.relativize(file).toString();
                            look(byName, name, attributes.size());
                        }
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path file, IOException error)
                            throws IOException {
                        // A receiver that runs gives files their names meanwhile.
                        if (error instanceof NoSuchFileException && !file.equals(folder)) {
                            return FileVisitResult.CONTINUE;
                        }
                        throw error;
                    }
                });
        return new ArrayList<>(byName.values());
    }

    /** Whole lines only. */
    static List<String> lines(Path folder) throws IOException {
        Path file = folder.resolve(DartReceiver.DESCRIPTIONS);
        if (!Files.exists(file)) {
            return List.of();
        }
        String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
    }

    private static void look(Map<String, Map<String, Object>> byName, String name, long length) {
        boolean isPart = name.startsWith(".receiving-") && name.matches("[^/]*-\\d+-\\d+-\\d+");
        boolean isOwn = name.startsWith(".receiving-") || name.startsWith(ReceivedTree.OWN_PREFIX);
        isPart |= name.startsWith(PartFile.PREFIX);
        if (isOwn && !isPart && !byName.containsKey(name)) {
            return;
        }
        Map<String, Object> entry = byName.computeIfAbsent(name, key -> new TreeMap<>());
        String state = isPart ? "arriving" : "unknown";
        if (entry.get("bytes") instanceof Long) {
            boolean isSame = length == wholeLength(entry);
            boolean isCorrupt = Boolean.TRUE.equals(entry.get("isCorrupt"));
            state = isCorrupt ? "corrupt" : isSame ? "complete" : "changed";
        }
        entry.put("file", name);
        entry.put("bytes", length);
        entry.put("state", state);
    }

    /** Of a file that came in parts, the last one is described. */
    private static long wholeLength(Map<String, Object> entry) {
        Object total =
                entry.get("properties") instanceof Map<?, ?> properties
                        ? properties.get("total")
                        : null;
        boolean isSent =
                SentFile.VARIABLE.equals(entry.get("variable"))
                        && total != null
                        && total.toString().matches("\\d{1,18}");
        return isSent ? Long.parseLong(total.toString()) : (Long) entry.get("bytes");
    }

    private static Object[] cells(Map<String, Object> entry) {
        boolean isSent = SentFile.VARIABLE.equals(entry.get("variable"));
        Object time = entry.get("timeMs");
        return new Object[] {
            entry.get("file").toString().replaceAll("\\p{Cntrl}", "?"),
            entry.getOrDefault("rank", "-"),
            isSent ? "-" : entry.getOrDefault("step", "-"),
            isSent ? "-" : entry.getOrDefault("type", "-"),
            entry.get("shape") instanceof List<?> shape && !shape.isEmpty()
                    ? shape.toString().replaceAll("[\\[\\] ]", "").replace(',', 'x')
                    : "-",
            entry.get("bytes"),
            time instanceof Long ms
                    ? Instant.ofEpochMilli(ms).truncatedTo(ChronoUnit.SECONDS)
                    : "-",
            entry.get("state")
        };
    }
}
