package dev.verbena.cli.demo.transit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;

/**
 * When which restart file arrived, in a file, so that a receiver that was killed and started again
 * knows what the one before it saw. One thread.
 */
final class ArrivalJournal {
    private final Path path;

    ArrivalJournal(Path path) {
        this.path = path;
    }

    /** What stands in it, by name of the file; a line that was cut off is left out. */
    Map<String, StagingRecord.Arrival> read() {
        Map<String, StagingRecord.Arrival> found = new HashMap<>();
        if (!Files.exists(path)) {
            return found;
        }
        try {
            for (String line : Files.readAllLines(path)) {
                String[] parts = line.split(",", -1);
                if (parts.length != 7 || !parts[6].equals("end")) {
                    continue;
                }
                found.put(
                        parts[0],
                        new StagingRecord.Arrival(
                                Integer.parseInt(parts[1]),
                                Long.parseLong(parts[2]),
                                Long.parseLong(parts[3]),
                                Integer.parseInt(parts[4]),
                                Long.parseLong(parts[5])));
            }
            return found;
        } catch (IOException | NumberFormatException e) {
            throw new UncheckedIOException(new IOException(path + ": cannot be read: " + e, e));
        }
    }

    /** Notes an arrival; it outlives this process, though not the machine. */
    void add(String name, StagingRecord.Arrival arrival) {
        String line =
                "%s,%s,%s,%s,%s,%s,end\n"
                        .formatted(
                                name,
                                arrival.rank(),
                                arrival.step(),
                                arrival.length(),
                                arrival.serverId(),
                                arrival.timeNs());
        try {
            Files.writeString(path, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + path + ": " + e.getMessage(), e);
        }
    }
}
