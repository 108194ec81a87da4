package dev.verbena.examples.pic;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The input deck of a run: {@code key = value} lines, {@code #} comments. {@code
 * examples/two-stream.conf} documents every key.
 *
 * @param processCount compute processes
 * @param stepCount steps of the whole run
 * @param restartEvery steps between restart files
 * @param restartLength bytes of particles in a restart file of one process
 * @param buffered whether a restart file is one message, or one for each item
 * @param growthTolerance relative, of the growth rate against theory
 * @param energyTolerance relative, of the total energy against its first value
 * @param parameters what is computed
 */
public record PicDeck(
        int processCount,
        long stepCount,
        int restartEvery,
        long restartLength,
        boolean buffered,
        double growthTolerance,
        double energyTolerance,
        PicParameters parameters) {

    private static final long LENGTH_MAX = 64 * 1024;
    private static final int BYTES_PER_PARTICLE = 16;

    /** All defaults. */
    public static PicDeck defaults() {
        return parse("defaults", List.of());
    }

    /**
     * Reads a file.
     *
     * @throws DeckException naming the file, and the line if one is wrong
     */
    public static PicDeck read(Path path) {
        return read(path, List.of());
    }

    /**
     * Reads a file and applies changes to it.
     *
     * @param changes lines that replace those of the same keys, from a command line
     * @throws DeckException naming the file, and the line if one is wrong
     */
    public static PicDeck read(Path path, List<String> changes) {
        try {
            if (Files.isDirectory(path)) {
                throw new DeckException(path + ": this is a directory, not an input deck");
            }
            long size = Files.size(path);
            if (size > LENGTH_MAX) {
                throw new DeckException(
                        path + ": " + size + " bytes; an input deck has at most " + LENGTH_MAX);
            }
            return parse(path.toString(), Files.readAllLines(path), changes);
        } catch (java.nio.file.NoSuchFileException e) {
            throw new DeckException(path + ": there is no such input deck");
        } catch (java.nio.file.AccessDeniedException e) {
            throw new DeckException(path + ": no permission to read this input deck");
        } catch (MalformedInputException e) {
            throw new DeckException(path + ": this is not a text file in UTF-8");
        } catch (IOException e) {
            throw new DeckException(path + ": cannot be read: " + e.getMessage());
        }
    }

    /**
     * Parses lines.
     *
     * @param name of the file, for messages
     * @throws DeckException naming the line
     */
    public static PicDeck parse(String name, List<String> lines) {
        return parse(name, lines, List.of());
    }

    private static PicDeck parse(String name, List<String> lines, List<String> changes) {
        Reader reader = new Reader(name, lines);
        reader.change(changes);
        int processCount = (int) reader.whole("processes", 4, 1, 64);
        long stepCount = reader.whole("steps", 100, 1, 1_000_000);
        double timeStep = reader.real("time.step", 0.2, 0.001, 0.5);
        int cells = (int) reader.whole("cells", 128, 16, 8192);
        double length = reader.real("length", 10.2604, 0.1, 1000);
        double beamSpeed = reader.real("beam.speed", 1.0, 0.01, 10);
        double thermal = reader.real("beam.thermal.speed", 0.05, 0, 0.5 * beamSpeed);
        double perturbation = reader.real("perturbation", 0.004, 1e-6, 0.2);
        long seed = reader.whole("seed", 1, 0, Long.MAX_VALUE);
        int every = (int) reader.whole("restart.every", 4, 1, 1_000_000);
        long restartLength = reader.bytes("restart.size", 8_500_000, 1_000, 1_000_000_000);
        boolean buffered =
                reader.word("restart.mode", "buffered", List.of("buffered", "unbuffered"))
                        .equals("buffered");
        double growth = reader.percent("check.growth", 0.03, 0.001, 1);
        double energy = reader.percent("check.energy", 0.01, 1e-6, 1);
        reader.requireAllUsed();
        double stride = 8 * (beamSpeed + 2 * thermal + 0.1) * timeStep;
        if (stride >= length) {
            throw new DeckException(
                    ("%s: length %s is too short: a fast particle may move %s in "
                                    + "one time step; allowed: more than that")
                            .formatted(reader.where("length"), length, stride));
        }
        long perProcess = restartLength / BYTES_PER_PARTICLE / 2 * 2;
        long particles = perProcess * processCount;
        if (particles < 4L * cells) {
            throw new DeckException(
                    ("%s: restart.size gives %s particles; allowed: at least 4 "
                                    + "for each of the %s cells, that is %s bytes")
                            .formatted(
                                    reader.where("restart.size"),
                                    particles,
                                    cells,
                                    (4L * cells * BYTES_PER_PARTICLE + processCount - 1)
                                            / processCount));
        }
        PicParameters parameters =
                new PicParameters(
                        particles, cells, length, timeStep, beamSpeed, thermal, perturbation, seed);
        return new PicDeck(
                processCount,
                stepCount,
                every,
                restartLength,
                buffered,
                growth,
                energy,
                parameters);
    }

    /** The deck as text that {@link #parse} reads back to an equal deck. */
    public String text() {
        return """
                processes = %s
                steps = %s
                time.step = %s
                cells = %s
                length = %s
                beam.speed = %s
                beam.thermal.speed = %s
                perturbation = %s
                seed = %s
                restart.every = %s
                restart.size = %s B
                restart.mode = %s
                check.growth = %s
                check.energy = %s
                """
                .formatted(
                        processCount,
                        stepCount,
                        parameters.timeStep(),
                        parameters.cellCount(),
                        parameters.length(),
                        parameters.beamSpeed(),
                        parameters.thermalSpeed(),
                        parameters.perturbation(),
                        parameters.seed(),
                        restartEvery,
                        restartLength,
                        buffered ? "buffered" : "unbuffered",
                        percent(growthTolerance),
                        percent(energyTolerance));
    }

    private static String percent(double part) {
        return new java.math.BigDecimal(Double.toString(part)).movePointRight(2).toPlainString()
                + " %";
    }

    /** Lines of a deck, taken key by key. */
    private static final class Reader {
        private final String name;
        private final Map<String, String> values = new TreeMap<>();
        private final Map<String, Integer> lineNumbers = new TreeMap<>();
        private final List<String> known = new java.util.ArrayList<>();

        Reader(String name, List<String> lines) {
            this.name = name;
            for (int i = 0; i < lines.size(); i++) {
                String line = lines.get(i);
                int comment = line.indexOf('#');
                String text = (comment < 0 ? line : line.substring(0, comment)).strip();
                if (!text.isEmpty()) {
                    add(i + 1, text);
                }
            }
        }

        private void add(int lineNumber, String text) {
            String where = name + ":" + lineNumber + ": ";
            int equals = text.indexOf('=');
            if (equals < 0) {
                throw new DeckException(
                        where + "'" + shorten(text) + "' has no '='; allowed: key = value");
            }
            String key = text.substring(0, equals).strip();
            String value = text.substring(equals + 1).strip();
            if (value.isEmpty()) {
                throw new DeckException(where + "'" + shorten(key) + "' has no value");
            }
            Integer earlier = lineNumbers.putIfAbsent(key, lineNumber);
            if (earlier != null) {
                throw new DeckException(
                        where + "'" + key + "' is given a second time, first in line " + earlier);
            }
            values.put(key, value);
        }

        /** Replaces values; they are reported as options of the command. */
        void change(List<String> changes) {
            for (String change : changes) {
                String key = change.substring(0, change.indexOf('=')).strip();
                values.put(key, change.substring(change.indexOf('=') + 1).strip());
                lineNumbers.remove(key);
            }
        }

        String where(String key) {
            Integer line = lineNumbers.get(key);
            return line == null ? name : name + ":" + line;
        }

        private String take(String key) {
            known.add(key);
            return values.remove(key);
        }

        private DeckException bad(String key, String value, String allowed) {
            return new DeckException(
                    where(key) + ": " + key + " = " + shorten(value) + "; allowed: " + allowed);
        }

        long whole(String key, long byDefault, long min, long max) {
            String value = take(key);
            if (value == null) {
                return byDefault;
            }
            String allowed = "a whole number from " + min + " to " + max;
            try {
                long number = Long.parseLong(value);
                if (number >= min && number <= max) {
                    return number;
                }
            } catch (NumberFormatException e) {
                throw bad(key, value, allowed);
            }
            throw bad(key, value, allowed);
        }

        double real(String key, double byDefault, double min, double max) {
            String value = take(key);
            if (value == null) {
                return byDefault;
            }
            return real(key, value, value, 1, min, max, "");
        }

        double percent(String key, double byDefault, double min, double max) {
            String value = take(key);
            if (value == null) {
                return byDefault;
            }
            String number = value.endsWith("%") ? value.substring(0, value.length() - 1) : null;
            return real(key, value, number, 0.01, min, max, " %");
        }

        private double real(
                String key,
                String value,
                String number,
                double unit,
                double min,
                double max,
                String suffix) {
            String allowed =
                    "a number from %s%s to %s%s"
                            .formatted(plain(min / unit), suffix, plain(max / unit), suffix);
            if (number == null || !number.strip().matches("[+-]?[0-9.]+([eE][+-]?[0-9]+)?")) {
                throw bad(key, value, allowed);
            }
            try {
                int places = unit == 1 ? 0 : 2;
                double parsed =
                        new java.math.BigDecimal(number.strip())
                                .movePointLeft(places)
                                .doubleValue();
                if (parsed >= min && parsed <= max) {
                    return parsed;
                }
            } catch (NumberFormatException e) {
                throw bad(key, value, allowed);
            }
            throw bad(key, value, allowed);
        }

        long bytes(String key, long byDefault, long min, long max) {
            String value = take(key);
            if (value == null) {
                return byDefault;
            }
            String allowed = "from 1 kB to 1 GB, for example 8.5 MB (units: B, kB, MB, GB)";
            var matcher =
                    java.util.regex.Pattern.compile(
                                    "([0-9]{1,12}(?:\\.[0-9]{1,6})?)\\s*(B|kB|MB|GB)")
                            .matcher(value);
            if (!matcher.matches()) {
                throw bad(key, value, allowed);
            }
            double factor =
                    switch (matcher.group(2)) {
                        case "kB" -> 1e3;
                        case "MB" -> 1e6;
                        case "GB" -> 1e9;
                        default -> 1;
                    };
            double bytes = Double.parseDouble(matcher.group(1)) * factor;
            if (bytes < min || bytes > max) {
                throw bad(key, value, allowed);
            }
            return Math.round(bytes);
        }

        String word(String key, String byDefault, List<String> words) {
            String value = take(key);
            if (value == null) {
                return byDefault;
            }
            if (!words.contains(value)) {
                throw bad(key, value, String.join(", ", words));
            }
            return value;
        }

        void requireAllUsed() {
            for (String key : values.keySet()) {
                throw new DeckException(
                        "%s: unknown key '%s'; allowed: %s"
                                .formatted(where(key), shorten(key), String.join(", ", known)));
            }
        }

        private static String shorten(String text) {
            String safe = text.replaceAll("\\p{Cntrl}", "?");
            return safe.length() <= 60 ? safe : safe.substring(0, 60) + "...";
        }

        private static String plain(double value) {
            return new java.math.BigDecimal(Double.toString(value))
                    .round(new java.math.MathContext(12))
                    .stripTrailingZeros()
                    .toPlainString();
        }
    }
}
