package dev.verbena.agent;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * Reads a secret that processes share from a file that nobody but its owner can read or replace.
 */
public final class SecretFile {
    /** Fewest bytes of a secret. */
    public static final int LENGTH_MIN = 16;

    /** Most bytes of a secret. */
    public static final int LENGTH_MAX = 4096;

    private static final Set<PosixFilePermission> OF_OTHERS =
            EnumSet.complementOf(
                    EnumSet.of(
                            PosixFilePermission.OWNER_READ,
                            PosixFilePermission.OWNER_WRITE,
                            PosixFilePermission.OWNER_EXECUTE));

    private SecretFile() {}

    /**
     * The content of the file, without one line end at its end. The caller owns the array.
     *
     * @param file a regular file, or a link to one, of this user, with no permission for anybody
     *     else (mode 0600 or less), of {@link #LENGTH_MIN} to {@link #LENGTH_MAX} bytes
     * @throws IllegalArgumentException if it is not so; the message names the file and what to do
     */
    public static byte[] read(Path file) {
        try {
            Path real = file.toRealPath();
            Object key = check(file, real);
            byte[] content = content(file, real);
            if (!key.equals(check(file, real))) {
                throw refused(file, "it was replaced while it was read");
            }
            return content;
        } catch (NoSuchFileException e) {
            throw refused(
                    file,
                    "there is no such file; make one: (umask 077; openssl rand -hex 32 > %s)"
                            .formatted(file));
        } catch (IOException | UnsupportedOperationException e) {
            throw refused(file, "it cannot be read: " + e);
        }
    }

    /** Owner, kind and permissions; which file it is. */
    private static Object check(Path file, Path real) throws IOException {
        Map<String, Object> is =
                Files.readAttributes(
                        real,
                        "unix:uid,permissions,isRegularFile,fileKey",
                        LinkOption.NOFOLLOW_LINKS);
        if (!Boolean.TRUE.equals(is.get("isRegularFile"))) {
            throw refused(file, "it is not a regular file");
        }
        Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        if (!user.equals(is.get("uid"))) {
            throw refused(file, "it belongs to user id " + is.get("uid") + ", not to " + user);
        }
        @SuppressWarnings("unchecked")
        Set<PosixFilePermission> permissions = (Set<PosixFilePermission>) is.get("permissions");
        for (PosixFilePermission permission : permissions) {
            if (OF_OTHERS.contains(permission)) {
                throw refused(
                        file,
                        "its permissions are %s; nobody else may have any: chmod 600 %s"
                                .formatted(PosixFilePermissions.toString(permissions), file));
            }
        }
        return is.get("fileKey");
    }

    private static byte[] content(Path file, Path real) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(LENGTH_MAX + 3);
        try (SeekableByteChannel channel =
                Files.newByteChannel(
                        real, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
            while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
                // until it is full or the file ends
            }
        }
        int length = bytes.position();
        if (length > 0 && bytes.get(length - 1) == '\n') {
            length--;
        }
        if (length > 0 && bytes.get(length - 1) == '\r') {
            length--;
        }
        if (length < LENGTH_MIN || length > LENGTH_MAX) {
            throw refused(
                    file,
                    ("a secret has %s to %s bytes; make a new one: openssl rand -hex 32" + " > %s")
                            .formatted(LENGTH_MIN, LENGTH_MAX, file));
        }
        byte[] secret = Arrays.copyOf(bytes.array(), length);
        Arrays.fill(bytes.array(), (byte) 0);
        return secret;
    }

    private static IllegalArgumentException refused(Path file, String why) {
        return new IllegalArgumentException("secret file " + file + ": " + why);
    }
}
