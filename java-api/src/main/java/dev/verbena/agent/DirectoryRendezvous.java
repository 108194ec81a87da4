package dev.verbena.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Files in a directory that all processes share, written under another name and renamed. */
final class DirectoryRendezvous implements RendezvousStore {
    private static final String TEMPORARY = ".tmp-";
    private static final int ATTEMPTS_MAX = 100;

    private final Path directory;

    DirectoryRendezvous(Path directory) {
        this.directory = directory;
    }

    Path file(String folder, String name) {
        return directory.resolve(folder).resolve(name);
    }

    @Override
    public List<String> folders() throws IOException {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
            found.forEach(path -> names.add(path.getFileName().toString()));
        }
        return names;
    }

    @Override
    public Map<String, String> read(String folder) throws IOException {
        Map<String, String> texts = new TreeMap<>();
        try (DirectoryStream<Path> files =
                Files.newDirectoryStream(directory.resolve(folder), "[!.]*")) {
            for (Path file : files) {
                String text = read(file);
                if (text != null) {
                    texts.put(file.getFileName().toString(), text);
                }
            }
        } catch (NoSuchFileException | NotDirectoryException e) {
            return texts;
        }
        return texts;
    }

    /** The text, as much of it as a text can have; null if the file is no more, or a folder. */
    private static String read(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            return null;
        }
        try (java.io.InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(TEXT_MAX + 1), UTF_8);
        } catch (NoSuchFileException e) {
            // Its process took it away meanwhile.
            return null;
        }
    }

    @Override
    public void put(String folder, String name, String text) throws IOException {
        for (int attempts = 0; !putOnce(file(folder, name), text); attempts++) {
            if (attempts == ATTEMPTS_MAX) {
                throw new NoSuchFileException(file(folder, name).toString());
            }
        }
    }

    /** False if another process took the empty folder away meanwhile. */
    private static boolean putOnce(Path path, String text) throws IOException {
        String name = TEMPORARY + path.getFileName() + "-" + ProcessHandle.current().pid();
        Path temporary = path.resolveSibling(name);
        try {
            Files.createDirectories(path.getParent());
            Files.writeString(temporary, text);
            Files.move(
                    temporary,
                    path,
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
            return true;
        } catch (NoSuchFileException e) {
            return false;
        } catch (FileAlreadyExistsException e) {
            // It was there, and was no folder any more when Java looked.
            if (Files.isRegularFile(path.getParent())) {
                throw e;
            }
            return false;
        }
    }

    @Override
    public void publish(String folder, String name, String text) throws IOException {
        put(folder, name, text);
    }

    @Override
    public boolean forgetsTheDead() {
        return false;
    }

    @Override
    public void remove(String folder, String name) throws IOException {
        Files.deleteIfExists(file(folder, name));
        try {
            Files.deleteIfExists(directory.resolve(folder));
        } catch (DirectoryNotEmptyException e) {
            // Somebody else's text is in it; the last one takes it away.
            return;
        }
    }

    @Override
    public String toString() {
        return directory.toString();
    }

    @Override
    public void close() {}
}
