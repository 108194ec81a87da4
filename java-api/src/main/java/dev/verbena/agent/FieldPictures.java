package dev.verbena.agent;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The newest picture of each field that this process makes pictures of, for people who watch it: a
 * small PNG file for each field, in the folder {@code <pid>-<n>.pictures} beside the counters file.
 *
 * <p>A file is replaced as a whole, and holds the time step that it shows: a reader finds the old
 * picture or the new one. The files of a killed process stay until its counters file goes. Bounded:
 * {@link #FIELDS_MAX} files of {@link #LENGTH_MAX} bytes and a step; the field that was shown
 * longest ago goes first. Made by {@link RealEnvironment#pictures}, and removed when that closes.
 * Thread-safe; a call writes a file in shared memory.
 */
public final class FieldPictures {
    /** Fields that have a picture at the same time. */
    public static final int FIELDS_MAX = 8;

    /** Longest picture, bytes. */
    public static final int LENGTH_MAX = 256 << 10;

    private static final int FILE_MAX = LENGTH_MAX + PngStep.ADDED_MAX;

    private static final String FOLDER_SUFFIX = ".pictures";
    private static final String FILE_SUFFIX = ".png";
    private static final String UNFINISHED_SUFFIX = ".new";

    /** No dot and no slash: a name cannot leave the folder. */
    private static final Pattern FIELD = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_ -]{0,62}");

    private final Path folder;
    private final Map<String, Path> files = new LinkedHashMap<>();
    private boolean isClosed;

    /** Of the process with this counters file; removes what another one of its number left. */
    FieldPictures(Path countersFile) {
        folder = folder(countersFile);
        removeOwn();
    }

    /**
     * A picture as it was read.
     *
     * @param step of the simulation
     * @param png a PNG file that says its step itself, too
     */
    @SuppressWarnings("ArrayRecordComponent")
    public record Picture(String field, long step, int width, int height, byte[] png) {}

    /**
     * Shows a picture in place of the field's last one. After the environment's close it does
     * nothing.
     *
     * @param field 1 to 63 letters, digits, blanks, dashes and underscores, the first a letter, a
     *     digit or an underscore
     * @param step 0 or more
     * @param png a PNG file of at most {@link #LENGTH_MAX} bytes, 1024 by 1024 dots; copied
     * @throws IllegalArgumentException for anything else
     * @throws IOException if it cannot be written; the last one stays
     */
    public synchronized void show(String field, long step, byte[] png) throws IOException {
        if (!FIELD.matcher(field).matches()) {
            throw new IllegalArgumentException("'" + field + "' is no name of a field");
        }
        byte[] withStep = PngStep.add(png, step);
        if (png.length > LENGTH_MAX) {
            throw new IllegalArgumentException(
                    "the picture of %s has %s bytes, above %s"
                            .formatted(field, png.length, LENGTH_MAX));
        }
        if (isClosed) {
            return;
        }
        CountersFile.privateDirectory(folder);
        Path unfinished = folder.resolve(field + UNFINISHED_SUFFIX);
        Path file = folder.resolve(field + FILE_SUFFIX);
        Files.write(unfinished, withStep);
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
        files.remove(field);
        files.put(field, file);
        if (files.size() > FIELDS_MAX) {
            String oldest = files.keySet().iterator().next();
            Files.deleteIfExists(files.remove(oldest));
        }
    }

    synchronized void close() {
        isClosed = true;
        removeOwn();
    }

    private void removeOwn() {
        try {
            removeFolder(folder);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove " + folder + ": " + e, e);
        }
    }

    private static Path folder(Path countersFile) {
        String name = countersFile.getFileName().toString();
        String process =
                name.endsWith(CountersFile.SUFFIX)
                        ? name.substring(0, name.length() - CountersFile.SUFFIX.length())
                        : name;
        return countersFile.resolveSibling(process + FOLDER_SUFFIX);
    }

    /**
     * Pictures of the process with this counters file, by name of the field; empty if there are
     * none. What is no such picture is left out.
     *
     * @throws IOException if the folder cannot be read
     */
    public static List<Picture> read(Path countersFile) throws IOException {
        List<Picture> found = new ArrayList<>();
        try (DirectoryStream<Path> paths =
                Files.newDirectoryStream(folder(countersFile), "*" + FILE_SUFFIX)) {
            for (Path path : paths) {
                Picture picture = found.size() < FIELDS_MAX ? picture(path) : null;
                if (picture != null) {
                    found.add(picture);
                }
            }
        } catch (NoSuchFileException | NotDirectoryException e) {
            return found;
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        found.sort(Comparator.comparing(Picture::field));
        return found;
    }

    /** Null: it is none, or went meanwhile. */
    private static Picture picture(Path path) throws IOException {
        String name = path.getFileName().toString();
        String field = name.substring(0, name.length() - FILE_SUFFIX.length());
        boolean isOurs =
                FIELD.matcher(field).matches()
                        && Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS);
        if (!isOurs) {
            return null;
        }
        try (var in = Files.newInputStream(path, LinkOption.NOFOLLOW_LINKS)) {
            byte[] png = in.readNBytes(FILE_MAX + 1);
            long step = png.length > FILE_MAX ? -1 : PngStep.read(png);
            return step < 0
                    ? null
                    : new Picture(field, step, PngStep.width(png), PngStep.height(png), png);
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /**
     * Removes what a process left, whose counters file is about to be removed.
     *
     * @throws IOException naming what cannot be removed
     */
    public static void remove(Path countersFile) throws IOException {
        removeFolder(folder(countersFile));
    }

    private static void removeFolder(Path folder) throws IOException {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try (DirectoryStream<Path> paths = Files.newDirectoryStream(folder)) {
            for (Path path : paths) {
                Files.deleteIfExists(path);
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        Files.deleteIfExists(folder);
    }
}
