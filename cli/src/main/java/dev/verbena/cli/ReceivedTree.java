package dev.verbena.cli;

import dev.verbena.dart.DartMessage;
import dev.verbena.dart.DartMessageHandler;
import dev.verbena.dart.DartMetadata;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * Gives files of {@code dart send} their names and folders back. The receiver has stored every
 * message under a flat name before; other messages stay as they are. One thread.
 */
final class ReceivedTree implements DartMessageHandler {
    /** Names that begin so are ours while a file is incomplete. */
    static final String OWN_PREFIX = ".verbena-";

    private static final int COPY_LENGTH = 1 << 20;

    private final Path folder;
    private final Consumer<String> log;
    private final Map<String, Part> open = new HashMap<>();
    private volatile long fileCount;
    private volatile long damagedCount;

    /** A file that came in part. */
    private record Part(Path path, long length, CRC32C crc) {}

    ReceivedTree(Path folder, Consumer<String> log) {
        this.folder = folder;
        this.log = log;
    }

    /** Files and folders in place. Any thread. */
    long fileCount() {
        return fileCount;
    }

    /** Files that were refused. Any thread. */
    long damagedCount() {
        return damagedCount;
    }

    private void refuse(String what) {
        damagedCount++;
        log.accept("refused: " + what);
    }

    @Override
    public void onMessage(DartMessage message) {
        DartMetadata metadata = message.metadata();
        if (!metadata.variable().equals(SentFile.VARIABLE)) {
            log.accept("stored " + message.fileName() + ", " + message.length() + " bytes");
            return;
        }
        Path stored = folder.resolve(message.fileName());
        String path = SentFile.path(metadata);
        if (message.isCorrupt()) {
            refuse(path + ": damaged on the way; left as " + stored);
            return;
        }
        try {
            Path target = SentFile.resolve(folder, path);
            if ("folder".equals(metadata.property("kind"))) {
                makeFolder(target);
                Files.deleteIfExists(stored);
                fileCount++;
                return;
            }
            long offset = Long.parseLong(metadata.property("offset"));
            long total = Long.parseLong(metadata.property("total"));
            accept(message.clientId() + ":" + path, path, stored, target, offset, total, metadata);
        } catch (IllegalArgumentException e) {
            refuse(e.getMessage() + "; left as " + stored);
        } catch (IOException e) {
            refuse(path + ": " + Messages.of(e) + "; left as " + stored);
        }
    }

    private void makeFolder(Path target) throws IOException {
        Path place = folder;
        for (Path part : folder.relativize(target)) {
            place = place.resolve(part);
            if (!Files.isDirectory(place, LinkOption.NOFOLLOW_LINKS)) {
                Files.createDirectory(place);
            }
        }
    }

    private void accept(
            String key,
            String path,
            Path stored,
            Path target,
            long offset,
            long total,
            DartMetadata metadata)
            throws IOException {
        makeFolder(target.getParent());
        long length = Files.size(stored);
        if (offset == 0 && length == total) {
            place(path, stored, target, total, crc(stored), metadata);
            return;
        }
        Part part = open.get(key);
        if (offset == 0) {
            Path own = folder.resolve(OWN_PREFIX + "part-" + Integer.toHexString(key.hashCode()));
            Files.deleteIfExists(own);
            part = new Part(own, 0, new CRC32C());
        }
        if (part == null || part.length() != offset || offset + length > total) {
            refuse(path + ": a part for offset " + offset + " is out of order");
            return;
        }
        Part longer = new Part(part.path(), offset + length, part.crc());
        append(stored, part.path(), part.crc());
        Files.delete(stored);
        open.put(key, longer);
        if (longer.length() == total) {
            open.remove(key);
            place(path, longer.path(), target, total, (int) longer.crc().getValue(), metadata);
        }
    }

    private void place(
            String path, Path from, Path target, long total, int crc, DartMetadata metadata)
            throws IOException {
        String wanted = metadata.property("crc");
        if (wanted == null || !wanted.equals(String.format("%08x", crc))) {
            refuse(
                    path
                            + ": checksum "
                            + String.format("%08x", crc)
                            + ", the sender says "
                            + wanted);
            return;
        }
        Files.move(from, target, StandardCopyOption.ATOMIC_MOVE);
        fileCount++;
        log.accept(String.format("stored %s, %d bytes, crc %08x", path, total, crc));
    }

    private static int crc(Path file) throws IOException {
        CRC32C crc = new CRC32C();
        ByteBuffer buffer = ByteBuffer.allocateDirect(COPY_LENGTH);
        try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
            while (in.read(buffer.clear()) >= 0) {
                crc.update(buffer.flip());
            }
        }
        return (int) crc.getValue();
    }

    private static void append(Path from, Path to, CRC32C crc) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(COPY_LENGTH);
        try (FileChannel in = FileChannel.open(from, StandardOpenOption.READ);
                FileChannel out =
                        FileChannel.open(
                                to, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            while (in.read(buffer.clear()) >= 0) {
                buffer.flip();
                crc.update(buffer.duplicate());
                while (buffer.hasRemaining()) {
                    out.write(buffer);
                }
            }
            out.force(true);
        } catch (IOException e) {
            throw new UncheckedIOException(to + ": " + e.getMessage(), e);
        }
    }
}
