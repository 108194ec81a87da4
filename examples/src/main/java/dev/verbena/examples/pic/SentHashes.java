package dev.verbena.examples.pic;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Fingerprints (SHA-256) of what a process is about to send, noted in a file that the tool {@code
 * sha256sum --check} understands. One thread.
 */
final class SentHashes {
    private final Path list;
    private final ByteBuffer scratch;
    private final MessageDigest digest;

    /**
     * A fresh list.
     *
     * @param list file to write
     * @param scratch borrowed; see {@link RestartFile#writePieces}
     */
    SentHashes(Path list, ByteBuffer scratch) {
        this.list = list;
        this.scratch = scratch;
        try {
            digest = MessageDigest.getInstance("SHA-256");
            Files.writeString(list, "");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java has no SHA-256", e);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + list + ": " + e.getMessage(), e);
        }
    }

    /** Notes a file under one name or several. */
    void add(RestartFile file, Iterable<String> names) {
        digest.reset();
        file.writePieces((item, bytes) -> digest.update(bytes.duplicate()), scratch);
        String hash = HexFormat.of().formatHex(digest.digest());
        StringBuilder lines = new StringBuilder();
        names.forEach(name -> lines.append(hash).append("  ").append(name).append('\n'));
        try {
            Files.writeString(list, lines, StandardCharsets.UTF_8, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + list + ": " + e.getMessage(), e);
        }
    }
}
