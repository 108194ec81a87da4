package dev.verbena.cli.dart;

import dev.verbena.dart.DartMetadata;
import java.nio.file.Path;

/**
 * How {@code dart send} describes a file in the metadata of its messages. A long file is sent in
 * several messages, in order; the last one has the checksum of the whole. Parts with different
 * attempts do not belong together: a sender that lost its server begins the file anew. The attempts
 * of a sender are SENDER-1, SENDER-2, and so on.
 */
final class SentFile {
    /** Variable of the messages. */
    static final String VARIABLE = "verbena-file";

    /** Longest payload of one message. */
    static final int PART_LENGTH = 64 << 20;

    private static final int PATH_PARTS_MAX = 64;

    private SentFile() {}

    /** Fills the metadata of one part. */
    static void describe(
            DartMetadata metadata,
            String path,
            String attempt,
            long offset,
            long total,
            boolean isFolder) {
        metadata.clear().variable(VARIABLE).name(shortName(path, offset) + "-" + attempt);
        metadata.property("attempt", attempt);
        int piece = 0;
        for (int at = 0; at < path.length(); piece++) {
            int end = Math.min(path.length(), at + 60);
            if (end < path.length() && Character.isHighSurrogate(path.charAt(end - 1))) {
                end--;
            }
            metadata.property("path" + piece, path.substring(at, end));
            at = end;
        }
        metadata.property("offset", Long.toString(offset));
        metadata.property("total", Long.toString(total));
        metadata.property("kind", isFolder ? "folder" : "file");
    }

    /** Begins with what the sender calls the file: people see it where something goes wrong. */
    private static String shortName(String path, long offset) {
        String end = "@" + offset + "-" + Integer.toHexString(path.hashCode());
        String tail = path.length() > 60 ? path.substring(path.length() - 60) : path;
        if (!tail.isEmpty() && Character.isLowSurrogate(tail.charAt(0))) {
            tail = tail.substring(1);
        }
        return tail + end;
    }

    /** The path that a message names, relative, with slashes. */
    static String path(DartMetadata metadata) {
        StringBuilder path = new StringBuilder();
        for (int piece = 0; metadata.property("path" + piece) != null; piece++) {
            path.append(metadata.property("path" + piece));
        }
        return path.toString();
    }

    /** Which attempt of its sender a message belongs to; never null. */
    static String attempt(DartMetadata metadata) {
        String attempt = metadata.property("attempt");
        return attempt == null ? "" : attempt;
    }

    /** What the attempts of one sender have in common. */
    static String sender(String attempt) {
        int end = attempt.indexOf('-');
        return end < 0 ? attempt : attempt.substring(0, end);
    }

    /**
     * A place below a folder for a path that may come from anywhere.
     *
     * @throws IllegalArgumentException naming what the path must not contain
     */
    static Path resolve(Path folder, String path) {
        String[] parts = path.split("/", -1);
        if (path.isEmpty() || parts.length > PATH_PARTS_MAX) {
            throw new IllegalArgumentException("the path '" + path + "' is empty or too deep");
        }
        Path place = folder;
        for (String part : parts) {
            boolean isBad =
                    part.isEmpty()
                            || part.equals(".")
                            || part.equals("..")
                            || part.indexOf('\0') >= 0
                            || part.startsWith(ReceivedTree.OWN_PREFIX);
            if (isBad) {
                throw new IllegalArgumentException(
                        "the path '" + path + "' has the element '" + part + "'");
            }
            place = place.resolve(part);
        }
        return place;
    }
}
