package dev.verbena.cli.demo.transit;

/**
 * Something that was checked about a run.
 *
 * @param name short, for tables and programs
 * @param outcome what came out
 * @param detail for people: found and expected
 */
public record Check(String name, Outcome outcome, String detail) {
    /** What came out of a check. */
    public enum Outcome {
        /** As it should be. */
        PASSED,
        /** Not as it should be: the run as a whole has failed. */
        FAILED,
        /** Could not be judged; the detail says why. */
        NOT_JUDGED
    }

    static Check of(String name, boolean isGood, String detail) {
        return new Check(name, isGood ? Outcome.PASSED : Outcome.FAILED, detail);
    }

    static Check notJudged(String name, String why) {
        return new Check(name, Outcome.NOT_JUDGED, why);
    }
}
