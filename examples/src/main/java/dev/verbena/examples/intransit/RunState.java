package dev.verbena.examples.intransit;

/**
 * What the database knows of a run: the answer to {@link FieldQueries#state}.
 *
 * @param steps that it has
 * @param time of the last one
 * @param growth rate of the amplitude; NaN: not known yet
 * @param energyChange largest relative change of the total energy
 */
public record RunState(
        long steps, double time, double growth, double energyChange, boolean isSaturated) {
    /** Reads the answer: a line of names, a line of values. */
    static RunState parse(String answer) {
        String[] values = answer.lines().skip(1).findFirst().orElseThrow().split("\t", -1);
        return new RunState(
                Long.parseLong(values[0]),
                number(values[1]),
                number(values[2]),
                number(values[3]),
                Boolean.parseBoolean(values[4]));
    }

    private static double number(String text) {
        return text.matches("[-+0-9.eE]+") ? Double.parseDouble(text) : Double.NaN;
    }
}
