package dev.verbena.nsim.scenario;

import dev.verbena.nsim.internal.Suggestions;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The scenarios that come with the simulator; each is a file. */
public final class Scenarios {
    private static final List<String> NAMES =
            List.of(
                    "random-ring",
                    "random-ring-get",
                    "ring-barrier",
                    "recursive-doubling",
                    "particle-exchange",
                    "particle-exchange-late",
                    Calibration.BARRIER,
                    Calibration.RING);

    private Scenarios() {}

    /** All of them. */
    public static List<Scenario> all() {
        return NAMES.stream().map(Scenarios::named).toList();
    }

    /**
     * One by its name.
     *
     * @throws IllegalArgumentException if there is none; names those that there are
     */
    public static Scenario named(String name) {
        return Scenario.parse(name, text(name));
    }

    /**
     * The file of one, as an example for one's own.
     *
     * @throws IllegalArgumentException if there is none; names those that there are
     */
    public static String text(String name) {
        if (!NAMES.contains(name)) {
            throw new IllegalArgumentException(
                    "there is no scenario '%s'; there are %s%s"
                            .formatted(name, NAMES, Suggestions.hint(name, NAMES)));
        }
        try (InputStream in = Scenarios.class.getResourceAsStream(name + ".scenario")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
