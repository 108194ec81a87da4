package dev.verbena.agent;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * Where the processes of a job leave lines for each other: texts under a folder and a name. A text
 * appears complete. One thread.
 */
interface RendezvousStore extends AutoCloseable {
    /**
     * Longest text, in bytes: {@link JobGroup#exchange}'s of 1,000 characters, of which each has up
     * to nine when URL-encoded, and the mark of its process.
     */
    int TEXT_MAX = 10 * 1024;

    /** Names of all folders. */
    List<String> folders() throws IOException;

    /** All texts of a folder by name; empty if there is no such folder. */
    Map<String, String> read(String folder) throws IOException;

    /** Writes or replaces a text. */
    void put(String folder, String name, String text) throws IOException;

    /** As {@link #put}; a store that notices the end of this process takes it away then. */
    void publish(String folder, String name, String text) throws IOException;

    /** Whether it is one that takes away what a process published when that process ends. */
    boolean forgetsTheDead();

    /** Removes a text if it is there, and its folder if that is empty then. */
    void remove(String folder, String name) throws IOException;

    /** For messages. */
    @Override
    String toString();

    @Override
    void close() throws IOException;
}
