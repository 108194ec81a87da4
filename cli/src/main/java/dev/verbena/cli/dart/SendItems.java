package dev.verbena.cli.dart;

import dev.verbena.cli.terminal.Messages;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The files and folders that {@code dart send} sends, each under the name that it gets at the
 * receiver: its path from the folder of the argument that it was found below. One thread.
 */
final class SendItems {
    private final Consumer<String> faults;
    private final List<SendQueue.Item> items = new ArrayList<>();
    private final Map<String, Path> sources = new HashMap<>();

    /**
     * @param faults takes what is left out, and why
     */
    SendItems(Consumer<String> faults) {
        this.faults = faults;
    }

    /**
     * Looks through all arguments.
     *
     * @throws Messages.WrongPath for an argument that names nothing, or if one name would stand for
     *     two sources, of which the receiver could keep one only
     */
    List<SendQueue.Item> collect(List<Path> paths) throws IOException {
        for (Path path : paths) {
            if (path.toString().isEmpty()) {
                throw new Messages.WrongPath("an empty path: name a file or a folder");
            }
            if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
                throw new Messages.WrongPath(path + ": there is no such file or folder");
            }
            Path whole = path.toAbsolutePath().normalize();
            Path base = whole.getParent() == null ? whole : whole.getParent();
            Files.walkFileTree(whole, new Visitor(base));
        }
        return items;
    }

    private void add(Path source, Path relative, boolean isFolder) {
        String name = relative.toString();
        if (!isName(relative)) {
            faults.accept(
                    ("%s: its name has bytes that are no characters in this locale, set "
                                    + "LC_ALL=C.UTF-8 or rename it; left out")
                            .formatted(source));
            return;
        }
        Path other = sources.putIfAbsent(name, source);
        if (source.equals(other)) {
            throw new Messages.WrongPath(source + " is named twice; nothing was sent");
        }
        if (other != null) {
            throw new Messages.WrongPath(
                    "%s and %s would both be stored as %s; nothing was sent. Rename "
                            + "one of them, or send the folders that they are in",
                    other, source, name);
        }
        items.add(new SendQueue.Item(source, name, isFolder));
    }

    /** Whether the text of a path stands for this path and no other. */
    private static boolean isName(Path path) {
        try {
            return Path.of(path.toString()).equals(path);
        } catch (InvalidPathException e) {
            return false;
        }
    }

    private final class Visitor extends SimpleFileVisitor<Path> {
        private final Path base;

        Visitor(Path base) {
            this.base = base;
        }

        @Override
        public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            add(folder, base.relativize(folder), true);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (attributes.isRegularFile()) {
                add(file, base.relativize(file), false);
            } else {
                faults.accept(file + ": not an ordinary file (a link, device or pipe); left out");
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException error) {
            faults.accept(Messages.of(error) + "; left out");
            return FileVisitResult.CONTINUE;
        }
    }
}
