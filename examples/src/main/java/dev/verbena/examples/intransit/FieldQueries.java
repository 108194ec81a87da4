package dev.verbena.examples.intransit;

import dev.verbena.examples.pic.PicParameters;
import dev.verbena.savime.query.SavimeQueries;
import java.util.Locale;

/**
 * What is asked of the staged fields, in SQL and in SAVIME's language. Immutable.
 *
 * <p>The variable {@code field} has the field's values at the grid points of each step, {@code
 * kinetic} the energy of the particles at the same time.
 */
public final class FieldQueries {
    /** Variable of the field; also SAVIME's array. */
    public static final String FIELD = "field";

    /** Variable of the particles' energy. */
    public static final String KINETIC = "kinetic";

    private static final String TIME = "t";
    private static final String PLACE = "x";
    private static final String VALUE = "value";

    private final int cells;
    private final double cellLength;
    private final double timeStep;

    /** For a run of these parameters. */
    public FieldQueries(PicParameters parameters) {
        cells = parameters.cellCount();
        cellLength = parameters.length() / cells;
        timeStep = parameters.timeStep();
    }

    /** Energies of the steps of which the database has both variables. */
    private String energies() {
        return String.format(
                Locale.ROOT,
                """
                WITH energy AS (
                  SELECT f.step, f.step * %s AS t, f.e AS field, k.e AS kinetic
                  FROM (SELECT step, %s * sum(value * value) AS e FROM field GROUP BY step) f
                  JOIN (SELECT step, sum(value) AS e FROM kinetic GROUP BY step) k USING (step))
                """,
                timeStep,
                0.5 * cellLength);
    }

    /** A row for each step: step, time, energy of the field, energy of the particles. */
    public String energyByStep() {
        return energies() + "SELECT step, t, field, kinetic FROM energy ORDER BY step";
    }

    /**
     * One row: steps, last time, growth rate of the field's amplitude, largest relative change of
     * the total energy, and whether growth has ended. The rate is half the slope of the energy's
     * logarithm where the energy is 0.1 % to 4 % of its top; null before there are four such steps.
     * Growth has ended when the field, having held 1 % of all energy, lost a tenth of its own.
     */
    public String state() {
        return energies()
                + """
                , top AS (SELECT max(field) AS field, arg_max(t, field) AS t FROM energy),
                growing AS (SELECT e.t, ln(e.field) AS logarithm FROM energy e, top
                  WHERE e.t < top.t AND e.field BETWEEN 0.001 * top.field AND 0.04 * top.field)
                SELECT count(*) AS steps, max(e.t) AS t,
                  (SELECT CASE WHEN count(*) >= 4 THEN regr_slope(logarithm, t) / 2 END
                   FROM growing) AS growth,
                  max(abs((e.field + e.kinetic) / (SELECT arg_min(field + kinetic, t) FROM energy) - 1))
                    AS energy_change,
                  max(top.field) > 0.01 * max(e.field + e.kinetic)
                    AND arg_max(e.field, e.t) < 0.9 * max(top.field) AS saturated
                FROM energy e, top""";
    }

    /** Values of the field, a row for each step and grid point. */
    public String fieldValues() {
        return "SELECT step, i0, value FROM field ORDER BY step, i0";
    }

    /** SAVIME's array of the field. */
    public String savimeArray() {
        return new SavimeQueries.CreateTar(FIELD)
                .unbounded(TIME, "int", 0, 1)
                .dimension(PLACE, "int", 0, cells - 1, 1)
                .attribute(VALUE, "double")
                .text();
    }

    /** Makes a dataset the field of a step. */
    public String savimeLoad(long step, String dataset) {
        return new SavimeQueries.LoadSubtar(FIELD, TIME, PLACE)
                .ordered(TIME, step, step)
                .ordered(PLACE, 0, cells - 1)
                .attribute(VALUE, dataset)
                .text();
    }

    /** The field's energy by step, in SAVIME's language; {@link #savimeScale} times the answer. */
    public String savimeEnergyByStep() {
        return "aggregate(derive(%s, square, %s * %s), sum, square, energy, %s);"
                .formatted(FIELD, VALUE, VALUE, TIME);
    }

    /** Half a cell's length. */
    public double savimeScale() {
        return 0.5 * cellLength;
    }
}
