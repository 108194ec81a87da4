package dev.verbena.cli.demo.transit;

import dev.verbena.examples.pic.RestartFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Files that come item by item: keeps account of the items, each stored as {@code NAME.NUMBER}, and
 * makes one file of them. One thread.
 */
final class ItemFiles {
    private static final Pattern ITEM = Pattern.compile("(.+\\.vpic)\\.([0-9]{1,4})");

    private final Path folder;
    private final Map<String, List<Path>> items = new HashMap<>();

    ItemFiles(Path folder) {
        this.folder = folder;
    }

    /** True if every file that was begun is complete. */
    boolean isEmpty() {
        return items.isEmpty();
    }

    /**
     * Finds the items that a receiver before this one stored. Where the whole file is there, it was
     * ended while it deleted the items.
     *
     * @return names of files of which every item is there
     */
    List<String> recover() {
        Map<String, TreeMap<Integer, Path>> found = new HashMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.vpic.*")) {
            for (Path path : files) {
                Matcher matcher = ITEM.matcher(path.getFileName().toString());
                if (matcher.matches() && Files.exists(folder.resolve(matcher.group(1)))) {
                    Files.deleteIfExists(path);
                } else if (matcher.matches()) {
                    found.computeIfAbsent(matcher.group(1), name -> new TreeMap<>())
                            .put(Integer.valueOf(matcher.group(2)), path);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(folder + ": cannot be read: " + e.getMessage(), e);
        }
        List<String> complete = new ArrayList<>();
        found.forEach(
                (name, parts) -> {
                    items.put(name, new ArrayList<>(parts.values()));
                    if (parts.size() == RestartFile.ITEM_COUNT) {
                        complete.add(name);
                    }
                });
        return complete;
    }

    /**
     * Takes an item; those of a file come in order, some perhaps twice.
     *
     * @return false if another one was due
     */
    boolean add(String name, int number, Path item) {
        List<Path> parts = items.computeIfAbsent(name, key -> new ArrayList<>());
        if (number < parts.size()) {
            return true;
        }
        parts.add(item);
        return number == parts.size() - 1;
    }

    /**
     * Makes one file of all its items, durable before they are deleted.
     *
     * @return its bytes
     */
    long join(String name) {
        List<Path> parts = items.remove(name);
        Path whole = folder.resolve(name);
        Path fresh = folder.resolve(name + ".new");
        try (FileChannel out =
                FileChannel.open(
                        fresh,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.TRUNCATE_EXISTING,
                        StandardOpenOption.WRITE)) {
            for (Path part : parts) {
                ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(part));
                while (bytes.hasRemaining()) {
                    out.write(bytes);
                }
            }
            out.force(true);
            long length = out.size();
            Files.move(fresh, whole, StandardCopyOption.ATOMIC_MOVE);
            for (Path part : parts) {
                Files.deleteIfExists(part);
            }
            return length;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + whole + ": " + e.getMessage(), e);
        }
    }
}
