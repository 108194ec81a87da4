package dev.verbena.cli.status;

import dev.verbena.agent.CountersFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What all processes of a job, or of all jobs, had counted at one moment.
 *
 * @param timeNs when, of {@link System#nanoTime}
 * @param processes by job, role and number
 */
record TopSample(long timeNs, List<Entry> processes) {
    /**
     * One process.
     *
     * @param key same in the next sample
     * @param counters by label; labels of several objects of one kind are added up
     * @param errorCount how often anything was reported
     */
    record Entry(
            String key,
            String job,
            String role,
            long pid,
            Map<String, Long> counters,
            long errorCount) {

        /** Sum of the counters with this label, whatever the role; -1 if there is none. */
        long get(String label) {
            return counters.getOrDefault(label, -1L);
        }
    }

    static TopSample take(String job) throws IOException {
        List<Entry> entries = new ArrayList<>();
        Jobs.forEach(
                job,
                (name, file) -> {
                    if (file.isAlive()) {
                        entries.add(entry(name, file));
                    }
                },
                (path, error) -> {
                    // Being made, or of another version: the command 'status' tells.
                });
        entries.sort(
                java.util.Comparator.comparing(Entry::job)
                        .thenComparing(Entry::role)
                        .thenComparing(Entry::pid));
        return new TopSample(System.nanoTime(), entries);
    }

    private static Entry entry(String job, CountersFile file) {
        Map<String, Long> counters = new HashMap<>();
        file.counters()
                .forEach((value, id, label) -> counters.merge(suffix(label), value, Long::sum));
        return new Entry(
                file.path().toString(),
                job,
                file.application(),
                file.pid(),
                counters,
                Jobs.errorCount(file));
    }

    /** The label without what is counting: "dart master headers" and "headers" are one. */
    static String suffix(String label) {
        return label.replaceFirst("^dart (master|slave|receiver|client) ", "");
    }

    /** The same process in an earlier sample; null if it was not there. */
    Entry before(Entry entry) {
        return processes.stream()
                .filter(other -> other.key().equals(entry.key()))
                .findFirst()
                .orElse(null);
    }
}
