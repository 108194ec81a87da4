package dev.verbena.cli.demo.transit;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * Compares stored files with the fingerprints (SHA-256) that the compute processes took before they
 * sent them. The lists have the form of the tool {@code sha256sum}.
 *
 * @param expectedCount files that stand in the lists
 * @param equalCount of them, those that are there with the same bytes
 * @param faults each of the others, for people
 */
record HashCheck(int expectedCount, int equalCount, List<String> faults) {
    private static final int HASH_LENGTH = 64;
    private static final int SEPARATOR_LENGTH = 2;

    /**
     * Reads all lists and all files.
     *
     * @param lists folder of the lists
     * @param kind what their names begin with, for example {@code sent}
     * @param files folder of the files
     */
    static HashCheck of(Path lists, String kind, Path files) {
        int expected = 0;
        int equal = 0;
        List<String> faults = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(lists, kind + "-*.sha256")) {
            for (Path list : found) {
                for (String line : Files.readAllLines(list)) {
                    expected++;
                    String fault = fault(line, files);
                    if (fault == null) {
                        equal++;
                    } else {
                        faults.add(fault);
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(lists + ": cannot be read: " + e.getMessage(), e);
        }
        return new HashCheck(expected, equal, faults);
    }

    /** What is wrong with a file; null if it is as it was sent. */
    private static String fault(String line, Path files) {
        if (line.length() <= HASH_LENGTH + SEPARATOR_LENGTH) {
            return "no line of sha256sum: '" + line + "'";
        }
        String name = line.substring(HASH_LENGTH + SEPARATOR_LENGTH);
        Path file = files.resolve(Path.of(name).getFileName());
        if (!Files.exists(file)) {
            return name + " was sent and is not there";
        }
        if (!line.startsWith(hash(file))) {
            return name + " differs from what was sent";
        }
        return null;
    }

    /** SHA-256 of a file, in small hexadecimal letters. */
    private static String hash(Path path) {
        try (InputStream file = Files.newInputStream(path)) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            new DigestInputStream(file, digest).transferTo(OutputStream.nullOutputStream());
            return HexFormat.of().formatHex(digest.digest());
        } catch (IOException e) {
            throw new UncheckedIOException(path + ": cannot be read: " + e.getMessage(), e);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java has no SHA-256", e);
        }
    }

    /** The outcome, for the report. */
    Check check(String name, int fileCount) {
        return Check.of(
                name,
                equalCount == fileCount && expectedCount == fileCount && faults.isEmpty(),
                ("%s of %s files have the SHA-256 that was taken before they left "
                                + "the simulation%s")
                        .formatted(
                                equalCount,
                                fileCount,
                                faults.isEmpty() ? "" : "; " + String.join("; ", faults)));
    }
}
