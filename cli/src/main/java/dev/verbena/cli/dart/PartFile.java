package dev.verbena.cli.dart;

import dev.verbena.cli.terminal.Messages;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.CRC32C;

/**
 * A file that has come in part, under a name of our own in the receiver's folder. What it holds
 * follows from its length, so that a receiver that was killed goes on with it; a part that comes
 * again replaces itself. One thread.
 */
final class PartFile {
    private static final int COPY_LENGTH = 1 << 20;
    static final String PREFIX = ReceivedTree.OWN_PREFIX + "part-";

    /** What came in parts and is not what its sender says. */
    static final String REFUSED_PREFIX = ReceivedTree.OWN_PREFIX + "refused-";

    private final Path path;
    private CRC32C crc = new CRC32C();
    private long crcLength;

    /** The file, not yet opened, of one attempt of a sender to send a path. */
    PartFile(Path folder, String name, String attempt) {
        this.path = folder.resolve(PREFIX + begin(name, attempt) + rest(attempt));
    }

    /** Names of all parts of a path that one sender has sent begin so, behind the prefix. */
    private static String begin(String name, String attempt) {
        return digest(name) + "-" + digest(SentFile.sender(attempt));
    }

    private static String rest(String attempt) {
        return attempt.equals(SentFile.sender(attempt)) ? "" : "-" + digest(attempt);
    }

    private static String digest(String text) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] bytes = digest.digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(bytes, 0, 12);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /**
     * Deletes what other attempts of its sender, too, have left of a path that is in place now.
     * Other senders may still go on with a file of this path.
     */
    static void deleteAll(Path folder, String name, String attempt) throws IOException {
        deleteMatching(folder, PREFIX + begin(name, attempt) + "*");
        deleteMatching(folder, REFUSED_PREFIX + begin(name, attempt) + "*");
    }

    /** Deletes files with such names; how many. */
    static int deleteMatching(Path folder, String pattern) throws IOException {
        int count = 0;
        try (DirectoryStream<Path> parts = Files.newDirectoryStream(folder, pattern)) {
            for (Path part : parts) {
                Files.deleteIfExists(part);
                count++;
            }
        }
        return count;
    }

    Path path() {
        return path;
    }

    /** Bytes that are there; 0 if the file is not. */
    long length() throws IOException {
        try {
            return Files.size(path);
        } catch (NoSuchFileException e) {
            return 0;
        }
    }

    /** Whether something that is no file is there. */
    boolean isOther() {
        return Files.exists(path, LinkOption.NOFOLLOW_LINKS)
                && !Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS);
    }

    /** Checksum of the whole file, without reading again what was appended in this life. */
    int checksum() throws IOException {
        long length = length();
        if (crcLength != length) {
            crc = new CRC32C();
            crcLength = 0;
            copy(path, null, length);
        }
        return (int) crc.getValue();
    }

    /**
     * Appends a part at its offset, and forces it to the device; bytes from there on, of a part
     * that was interrupted or comes again, are cut off before. After an error the file ends at the
     * offset.
     */
    void append(Path part, long offset) throws IOException {
        try (FileChannel out =
                FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            out.truncate(offset).position(offset);
            if (crcLength != offset) {
                crc = new CRC32C();
                crcLength = 0;
                copy(path, null, offset);
            }
            try {
                copy(part, out, Files.size(part));
                out.force(true);
                if (offset == 0) {
                    forceFolder(path.getParent());
                }
            } catch (IOException e) {
                // The checksum has taken bytes that are not in the file: it is computed anew.
                crcLength = -1;
                out.truncate(offset);
                throw new IOException(path + ": " + Messages.of(e), e);
            }
        }
    }

    /** Reads so many bytes into the checksum and, if there is one, the channel. */
    private void copy(Path from, FileChannel out, long length) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect((int) Math.min(length, COPY_LENGTH));
        try (FileChannel in = FileChannel.open(from, StandardOpenOption.READ)) {
            for (long left = length; left > 0; ) {
                buffer.clear().limit((int) Math.min(left, buffer.capacity()));
                int n = in.read(buffer);
                if (n < 0) {
                    throw new IOException(from + " became shorter while it was read");
                }
                left -= n;
                crcLength += n;
                crc.update(buffer.flip());
                buffer.rewind();
                while (out != null && buffer.hasRemaining()) {
                    out.write(buffer);
                }
            }
        }
    }

    /** Forces the entries of a folder to the device. */
    static void forceFolder(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Whether a file has the bytes of a part at its offset. */
    static boolean holds(Path file, long offset, Path part) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
                InputStream there = Channels.newInputStream(channel.position(offset));
                InputStream wanted = Files.newInputStream(part)) {
            byte[] bytes;
            do {
                bytes = wanted.readNBytes(COPY_LENGTH);
                if (!Arrays.equals(bytes, there.readNBytes(bytes.length))) {
                    return false;
                }
            } while (bytes.length > 0);
            return true;
        }
    }

    /** Checksum of a file. */
    static int checksum(Path file) throws IOException {
        PartFile whole = new PartFile(file);
        return whole.checksum();
    }

    private PartFile(Path path) {
        this.path = path;
    }
}
