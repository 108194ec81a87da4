package dev.verbena.cli.dart;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.dart.DartMessage;
import dev.verbena.dart.DartMessageHandler;
import dev.verbena.dart.DartMetadata;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Gives files of {@code dart send} their names and folders back. The receiver has stored every
 * message under a flat name before; other messages stay as they are. A message that comes again,
 * after a kill of the receiver or the loss of a server, changes nothing. One thread.
 */
final class ReceivedTree implements DartMessageHandler {
    /** Names that begin so are ours while a file is incomplete. */
    static final String OWN_PREFIX = ".verbena-";

    private static final long SPACE_PAUSE_MS = 500;

    /** Files that are put together at a time without reading again what has come. */
    static final int OPEN_MAX = 256;

    /** So begin the names of a receiver's state: without one, nothing is half received. */
    private static final String STATE_PATTERN = ".receiving-*";

    private final Path folder;
    private final Consumer<String> log;
    private final BooleanSupplier isEnding;
    private final boolean isReplacing;
    private final Map<String, PartFile> open = new OpenFiles();

    /** Only the checksum of one that is forgotten is computed anew. */
    private static final class OpenFiles extends LinkedHashMap<String, PartFile> {
        private static final long serialVersionUID = 1L;

        OpenFiles() {
            super(16, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, PartFile> eldest) {
            return size() > OPEN_MAX;
        }
    }

    /** Where the message went that is being handled; null: it stays where it was stored. */
    private String moved;

    private volatile long fileCount;
    private volatile long damagedCount;

    /**
     * A tree in a folder.
     *
     * @param isEnding asked while waiting for space on the device: true gives up
     */
    ReceivedTree(Path folder, Consumer<String> log, BooleanSupplier isEnding) {
        this(folder, log, isEnding, false);
    }

    /** As above; with isReplacing, files that are there are replaced by others of their names. */
    ReceivedTree(Path folder, Consumer<String> log, BooleanSupplier isEnding, boolean isReplacing) {
        this.isReplacing = isReplacing;
        this.folder = folder;
        this.log = log;
        this.isEnding = isEnding;
        deleteAbandoned();
    }

    /**
     * Parts of files that no sender goes on with. While an earlier receiver's state is there, its
     * servers may still have the rest.
     */
    private void deleteAbandoned() {
        try {
            if (isAny(STATE_PATTERN)) {
                return;
            }
            int count = PartFile.deleteMatching(folder, PartFile.PREFIX + "*");
            if (count > 0) {
                log.accept("deleted " + count + " unfinished files of senders that gave up");
            }
        } catch (IOException e) {
            log.accept("cannot look for unfinished files: " + Messages.of(e));
        }
    }

    private boolean isAny(String pattern) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, pattern)) {
            return files.iterator().hasNext();
        }
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
            String what = message.isCorrupt() ? "damaged on the way: " : "stored ";
            log.accept(what + message.fileName() + ", " + message.length() + " bytes");
            return;
        }
        moved = null;
        take(message, metadata);
        if (moved != null) {
            message.movedTo(moved);
        }
    }

    private void take(DartMessage message, DartMetadata metadata) {
        Path stored = folder.resolve(message.fileName());
        String path = SentFile.path(metadata);
        if (message.isCorrupt()) {
            refuse(path + ": damaged on the way; left as " + stored);
            return;
        }
        try {
            Path target = SentFile.resolve(folder, path);
            if ("folder".equals(metadata.property("kind"))) {
                whenPossible(path, () -> makeFolder(target));
                Files.deleteIfExists(stored);
                moved = "";
                fileCount++;
                return;
            }
            long offset = Long.parseLong(metadata.property("offset"));
            long total = Long.parseLong(metadata.property("total"));
            accept(path, stored, target, offset, total, metadata);
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
                PartFile.forceFolder(place.getParent());
            }
        }
    }

    private void accept(
            String path, Path stored, Path target, long offset, long total, DartMetadata metadata)
            throws IOException {
        whenPossible(path, () -> makeFolder(target.getParent()));
        long length = Files.size(stored);
        if (total < 0 || offset < 0 || offset > total - length) {
            refuse(
                    "%s: a part outside the file, at %s of %s; left as %s"
                            .formatted(path, offset, total, stored));
            return;
        }
        String wanted = metadata.property("crc");
        String attempt = SentFile.attempt(metadata);
        if (offset == 0 && length == total) {
            place(path, attempt, stored, target, PartFile.checksum(stored), wanted);
            return;
        }
        PartFile part =
                open.computeIfAbsent(
                        attempt + ":" + path, key -> new PartFile(folder, path, attempt));
        if (part.length() < offset) {
            open.remove(attempt + ":" + path);
            if (isInPlace(target, total, stored, offset, wanted)) {
                Files.delete(stored);
                moved = "";
            } else {
                refuse(
                        "%s: a part for offset %s is out of order; left as %s"
                                .formatted(path, offset, stored));
            }
            return;
        }
        appendWhenThereIsSpace(path, part, stored, offset);
        Files.delete(stored);
        moved = "";
        if (offset + length == total) {
            open.remove(attempt + ":" + path);
            place(path, attempt, part.path(), target, part.checksum(), wanted);
        }
    }

    /**
     * The whole file came before, maybe beside another of its name; its parts come again after a
     * kill. Only the last one has the checksum; of others the bytes are compared.
     */
    private static boolean isInPlace(
            Path target, long total, Path stored, long offset, String wanted) throws IOException {
        Path place = target;
        for (int i = 1; Files.isRegularFile(place, LinkOption.NOFOLLOW_LINKS); i++) {
            boolean isIt =
                    Files.size(place) == total
                            && (wanted == null
                                    ? PartFile.holds(place, offset, stored)
                                    : wanted.equals(
                                            String.format("%08x", PartFile.checksum(place))));
            if (isIt) {
                return true;
            }
            place = numbered(target, i);
        }
        return false;
    }

    /** Something that a full or sick device may refuse now, and take later. */
    private interface Step {
        void run() throws IOException;
    }

    /**
     * Does it when the folder takes it. An error that stays although the folder takes another name
     * is one of this file: waiting would keep everybody from being served.
     */
    private void whenPossible(String path, Step step) throws IOException {
        for (int tries = 0; ; tries++) {
            boolean isFolderWell = tries > 0 && isFolderWell();
            try {
                step.run();
                return;
            } catch (IOException e) {
                if (isEnding.getAsBoolean() || isFolderWell) {
                    throw e;
                }
                if (tries == 1) {
                    log.accept("waiting, cannot place " + path + ": " + Messages.of(e));
                }
            }
            if (tries > 0) {
                pause();
            }
        }
    }

    private boolean isFolderWell() {
        try {
            Path probe = folder.resolve(OWN_PREFIX + "probe");
            Files.deleteIfExists(probe);
            Files.createDirectory(probe);
            Files.delete(probe);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Nothing is confirmed to the sender meanwhile; servers hold what they have. */
    private void appendWhenThereIsSpace(String path, PartFile part, Path stored, long offset)
            throws IOException {
        for (int tries = 0; ; tries++) {
            try {
                part.append(stored, offset);
                return;
            } catch (IOException e) {
                if (isEnding.getAsBoolean() || isHopeless(e, part, stored, offset)) {
                    throw e;
                }
                if (tries == 0) {
                    log.accept("waiting, cannot store " + path + ": " + Messages.of(e));
                }
                pause();
            }
        }
    }

    /** The folder is well, and this file cannot be put together however long one waits. */
    private boolean isHopeless(IOException e, PartFile part, Path stored, long offset)
            throws IOException {
        return isFolderWell()
                && (part.isOther()
                        || part.length() < offset
                        || !Files.isRegularFile(stored, LinkOption.NOFOLLOW_LINKS)
                        || Messages.of(e).endsWith("File too large"));
    }

    private static void pause() throws IOException {
        try {
            Thread.sleep(SPACE_PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for space", e);
        }
    }

    private void place(String path, String attempt, Path from, Path target, int crc, String wanted)
            throws IOException {
        String found = String.format("%08x", crc);
        if (!found.equals(wanted)) {
            // No longer named like a part: whoever starts next deletes abandoned parts.
            String name =
                    from.getFileName().toString().replace(PartFile.PREFIX, PartFile.REFUSED_PREFIX);
            Path left = folder.resolve(name);
            Files.move(from, left, StandardCopyOption.REPLACE_EXISTING);
            moved = name;
            refuse(
                    path
                            + (": checksum " + found + ", the sender says " + wanted)
                            + ("; left as " + left));
            return;
        }
        Path free = isReplacing ? target : free(target, from);
        whenPossible(path, () -> Files.move(from, free, StandardCopyOption.ATOMIC_MOVE));
        whenPossible(path, () -> PartFile.forceFolder(free.getParent()));
        PartFile.deleteAll(folder, path, attempt);
        fileCount++;
        String name = free.equals(target) ? path : folder.relativize(free).toString();
        moved = name;
        log.accept(String.format("stored %s, %d bytes, crc %s", name, Files.size(free), found));
        if (!free.equals(target)) {
            log.accept("kept " + path + ", which was there with other bytes; see " + name);
        }
    }

    /**
     * The place itself, or one beside it with a number where another file lies. The same bytes may
     * be its own, from before a kill: they may be replaced.
     */
    private static Path free(Path target, Path from) throws IOException {
        Path place = target;
        for (int i = 1; Files.isRegularFile(place, LinkOption.NOFOLLOW_LINKS); i++) {
            if (Files.mismatch(place, from) < 0) {
                return place;
            }
            place = numbered(target, i);
        }
        return place;
    }

    private static Path numbered(Path target, int number) {
        return target.resolveSibling(target.getFileName() + "." + number);
    }
}
