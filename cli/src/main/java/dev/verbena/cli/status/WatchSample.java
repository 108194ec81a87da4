package dev.verbena.cli.status;

import dev.verbena.agent.CountersFile;
import dev.verbena.cli.terminal.Json;
import dev.verbena.cli.terminal.Messages;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the page shows of one moment, as JSON: every process, running or killed, with its counters
 * by label, its distinct errors and the pictures of its newest fields. A process that ended in
 * order took its files away.
 */
final class WatchSample {
    /** Longest text of an error that the page gets, its stack included. */
    private static final int ERROR_LENGTH_MAX = 4_000;

    private WatchSample() {}

    /**
     * Reads all files.
     *
     * @param job null: of all jobs
     * @param intervalS time to the next sample, seconds
     * @param pictures gets the pictures that the processes show
     */
    static String json(String job, double intervalS, WatchPictures pictures) throws IOException {
        pictures.begin();
        List<Map<String, Object>> processes = new ArrayList<>();
        List<String> unreadable = new ArrayList<>();
        Jobs.forEach(
                job,
                (name, file) -> processes.add(process(name, file, pictures)),
                (path, error) -> unreadable.add(path.getFileName() + ": " + Messages.of(error)));
        pictures.publish();
        Map<String, Object> sample = new LinkedHashMap<>();
        sample.put("timeNs", System.nanoTime());
        sample.put("intervalS", intervalS);
        sample.put("job", job);
        sample.put("processes", processes);
        sample.put("unreadable", unreadable);
        return Json.of(sample);
    }

    private static Map<String, Object> process(
            String job, CountersFile file, WatchPictures pictures) {
        Map<String, Long> counters = new TreeMap<>();
        file.counters()
                .forEach(
                        (value, id, label) ->
                                counters.merge(TopSample.suffix(label), value, Long::sum));
        Map<String, Object> process = new LinkedHashMap<>();
        process.put("key", file.path().getFileName().toString() + " " + job);
        process.put("job", job);
        process.put("role", file.application());
        process.put("pid", file.pid());
        process.put("isAlive", file.isAlive());
        process.put("counters", counters);
        process.put("errors", errors(file));
        process.put("pictures", pictures.take(file));
        return process;
    }

    private static List<Map<String, Object>> errors(CountersFile file) {
        List<Map<String, Object>> errors = new ArrayList<>();
        try {
            file.errors((count, first, last, text) -> errors.add(error(count, first, last, text)));
        } catch (IOException e) {
            errors.add(error(1, 0, 0, Messages.of(e)));
        }
        return errors;
    }

    private static Map<String, Object> error(int count, long first, long last, String text) {
        Map<String, Object> error = new LinkedHashMap<>();
        error.put("count", count);
        error.put("firstMs", first);
        error.put("lastMs", last);
        error.put("text", text.substring(0, Math.min(text.length(), ERROR_LENGTH_MAX)).strip());
        return error;
    }
}
