package dev.verbena.agent;

import java.util.Map;
import java.util.TreeMap;

/** What the processes of one job left at a rendezvous server. One thread. */
final class JobTexts {
    private static final long BYTES_MAX = 64L << 20;

    /** What the maps take for a text beside its characters. */
    private static final int ENTRY_BYTES = 200;

    private final String name;
    private final Map<String, Map<String, String>> folders = new TreeMap<>();

    /** Who published a text, by its path. */
    private final Map<String, Object> publishers = new TreeMap<>();

    private int connections;
    private long bytes;

    JobTexts(String name) {
        this.name = name;
    }

    String name() {
        return name;
    }

    long bytes() {
        return bytes;
    }

    void enter() {
        connections++;
    }

    /** How many connections are left. */
    int leave() {
        return --connections;
    }

    Iterable<String> folders() {
        return folders.keySet();
    }

    int folderCount() {
        return folders.size();
    }

    Map<String, String> read(String folder) {
        return folders.getOrDefault(folder, Map.of());
    }

    /** Whether there was room. */
    boolean put(String folder, String text, String value) {
        if (bytes + size(folder, text, value) > BYTES_MAX) {
            return false;
        }
        String old = folders.computeIfAbsent(folder, key -> new TreeMap<>()).put(text, value);
        bytes += size(folder, text, value) - (old == null ? 0 : size(folder, text, old));
        return true;
    }

    private static long size(String folder, String text, String value) {
        return ENTRY_BYTES + folder.length() + text.length() + value.length();
    }

    /** Whether nobody else's text has this name. */
    boolean claim(String folder, String text, Object publisher) {
        Object holder = publishers.putIfAbsent(folder + "/" + text, publisher);
        return holder == null || holder == publisher;
    }

    void remove(String folder, String text) {
        publishers.remove(folder + "/" + text);
        Map<String, String> texts = folders.get(folder);
        if (texts != null) {
            String old = texts.remove(text);
            bytes -= old == null ? 0 : size(folder, text, old);
            if (texts.isEmpty()) {
                folders.remove(folder);
            }
        }
    }

    /** Forgets what this one published. */
    void removeAll(Object publisher) {
        for (String path : new java.util.ArrayList<>(publishers.keySet())) {
            if (publishers.get(path) == publisher) {
                int slash = path.lastIndexOf('/');
                remove(path.substring(0, slash), path.substring(slash + 1));
            }
        }
    }
}
