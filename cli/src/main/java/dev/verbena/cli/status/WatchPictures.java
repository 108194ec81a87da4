package dev.verbena.cli.status;

import dev.verbena.agent.CountersFile;
import dev.verbena.agent.FieldPictures;
import dev.verbena.agent.FieldPictures.Picture;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The pictures of the newest two samples, each under a name that is computed from its bytes: a
 * reader of the sample before can still load what that names, and a name that a reader makes up
 * finds no file. {@link #begin}, {@link #take} and {@link #publish} are called by one thread,
 * {@link #get} by any.
 */
final class WatchPictures {
    /** Pictures of one sample; those of further processes are left out. */
    static final int PICTURES_MAX = 64;

    private static final int ID_BYTES = 16;

    private Map<String, byte[]> last = Map.of();
    private Map<String, byte[]> next = new HashMap<>();
    private volatile Map<String, byte[]> shown = Map.of();

    /** Begins a sample. */
    void begin() {
        next = new HashMap<>();
    }

    /**
     * Reads the pictures of one process, for the sample that was begun.
     *
     * @return what the page gets of each; empty if the process makes none, or they cannot be read
     */
    List<Map<String, Object>> take(CountersFile file) {
        List<Map<String, Object>> told = new ArrayList<>();
        try {
            for (Picture picture : FieldPictures.read(file.path())) {
                if (next.size() < PICTURES_MAX) {
                    told.add(told(picture));
                }
            }
        } catch (IOException e) {
            return List.of(); // The process is removing them.
        }
        return told;
    }

    private Map<String, Object> told(Picture picture) {
        String id = id(picture.png());
        next.put(id, last.getOrDefault(id, picture.png()));
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("field", picture.field());
        told.put("step", picture.step());
        told.put("width", picture.width());
        told.put("height", picture.height());
        told.put("id", id);
        return told;
    }

    private static String id(byte[] png) {
        try {
            byte[] sum = MessageDigest.getInstance("SHA-256").digest(png);
            return HexFormat.of().formatHex(sum, 0, ID_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }

    /** Lets readers load the pictures of the sample that was begun, before they are told of it. */
    void publish() {
        Map<String, byte[]> both = new HashMap<>(last);
        both.putAll(next);
        shown = both;
        last = next;
    }

    /** The picture with this name; null: there is none, or no longer. */
    byte[] get(String id) {
        return shown.get(id);
    }
}
