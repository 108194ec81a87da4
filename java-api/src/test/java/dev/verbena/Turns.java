package dev.verbena;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;

/** Slow tests that are alike, of which each day another one runs. */
public final class Turns {
    private Turns() {}

    /** Skips the test unless it is this one's turn among all. */
    public static void assume(String one, String... all) {
        // --long: all alike slow tests, by transport, operation or process, instead of one a day
        long day = LocalDate.now(ZoneOffset.UTC).toEpochDay();
        boolean isToday = List.of(all).indexOf(one) == Math.floorMod(day, all.length);
        assumeTrue(isToday || Boolean.getBoolean("verbena.long"), "the turn of the others today");
    }
}
