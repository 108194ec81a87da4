package dev.verbena.cli.terminal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Folders and files that a command writes: looked at before it begins, and errors that name the
 * option, the path and the reason.
 */
public final class OutputFolder {
    private OutputFolder() {}

    /** Something that writes. */
    public interface Writing {
        /** Writes. */
        void run() throws IOException;
    }

    /**
     * A folder that is empty and can be written to; makes it if it is absent.
     *
     * @param option as the user wrote it, for errors
     */
    public static Path prepare(String option, Path folder) {
        if (Files.exists(folder) && !Files.isDirectory(folder)) {
            throw new Messages.Failure(option + " " + folder + " is a file, not a folder");
        }
        try {
            Files.createDirectories(folder);
            try (var files = Files.list(folder)) {
                if (files.findAny().isPresent()) {
                    throw new Messages.Failure(
                            option + " " + folder + " is not empty; choose a folder that is");
                }
            }
            Files.delete(Files.createTempFile(folder, ".probe", null));
        } catch (IOException e) {
            throw failure(option, folder, e, "; choose a folder that can be written to");
        }
        return folder;
    }

    /**
     * As {@link #prepare} of {@code --output}; the next free folder run-N of a parent if the user
     * named none.
     */
    public static Path prepareOrNext(Path folder, String parent) throws IOException {
        if (folder != null) {
            return prepare("--output", folder.toAbsolutePath().normalize());
        }
        Path all = Files.createDirectories(Path.of(parent).toAbsolutePath());
        for (int number = 1; ; number++) {
            try {
                return Files.createDirectory(all.resolve("run-" + number));
            } catch (FileAlreadyExistsException e) {
                continue; // Perhaps of a run that began at the same time.
            }
        }
    }

    /** Which of a folder and those around it are absent, innermost first. */
    public static List<Path> absent(Path folder) {
        List<Path> absent = new ArrayList<>();
        Path at = folder.toAbsolutePath();
        // A link to what is absent is there, and the user's.
        while (!Files.exists(at, LinkOption.NOFOLLOW_LINKS)) {
            absent.add(at);
            at = at.getParent();
        }
        return absent;
    }

    /**
     * Makes a folder for what will come, if it is absent.
     *
     * @return what was made for it, innermost first
     */
    public static List<Path> make(String option, Path folder) {
        if (Files.exists(folder) && !Files.isDirectory(folder)) {
            throw new Messages.WrongPath(option + " " + folder + " is a file, not a folder");
        }
        List<Path> made = absent(folder);
        try {
            Files.createDirectories(folder);
            return made;
        } catch (IOException e) {
            removeEmpty(made);
            throw failure(option, folder, e, "; choose a folder that can be written to");
        }
    }

    /** Takes away again what was made for a command that was refused; full folders stay. */
    public static void removeEmpty(List<Path> made) {
        made.forEach(path -> path.toFile().delete());
    }

    /**
     * How to open a new file, or what is no file: a pipe, a device.
     *
     * @throws Messages.Failure if there is such a file
     */
    public static OpenOption newOrPipe(String option, Path file) {
        if (!Files.exists(file)) {
            return StandardOpenOption.CREATE_NEW;
        }
        if (Files.isRegularFile(file) || Files.isDirectory(file)) {
            throw new Messages.Failure(option + " " + file + " exists; choose another name");
        }
        return StandardOpenOption.WRITE;
    }

    /** Writes; the failure names what could not be written. */
    public static void write(String option, Path path, Writing writing) {
        try {
            writing.run();
        } catch (UncheckedIOException e) {
            throw incomplete(option, path, e.getCause());
        } catch (IOException e) {
            throw incomplete(option, path, e);
        }
    }

    /** What was written until an error is a part only. */
    public static Messages.Failure incomplete(String option, Path path, IOException error) {
        return failure(option, path, error, "; what is there is incomplete");
    }

    /** A file or folder that cannot be used. */
    public static Messages.Failure failure(
            String option, Path path, IOException error, String advice) {
        String reason = reason(error);
        return new Messages.Failure(option + " " + path + ": " + reason + advice);
    }

    private static String reason(IOException error) {
        if (error instanceof FileAlreadyExistsException file) {
            return file.getFile() + " exists already";
        }
        if (error instanceof NoSuchFileException) {
            return "there is no such file or folder";
        }
        if (error instanceof FileSystemException file && file.getReason() != null) {
            return file.getReason();
        }
        return Messages.of(error);
    }
}
