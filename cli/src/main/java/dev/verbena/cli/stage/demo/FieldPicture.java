package dev.verbena.cli.stage.demo;

import dev.verbena.cli.report.Png;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The field in place and time: place to the right, time downwards. Blue is left, amber right. */
final class FieldPicture {
    private static final int WIDTH = 768;
    private static final int HEIGHT_MAX = 1024;
    private static final int[] RIGHT = {255, 176, 59};
    private static final int[] LEFT = {70, 160, 255};
    private static final int[] NONE = {10, 14, 26};

    private FieldPicture() {}

    /**
     * As a PNG file.
     *
     * @param rows answer of the database: a line of names, then step, place and value, in order
     */
    static byte[] png(String rows) {
        List<double[]> steps = steps(rows);
        double most =
                steps.stream()
                        .flatMapToDouble(Arrays::stream)
                        .map(Math::abs)
                        .reduce(Double.MIN_NORMAL, Math::max);
        int each = Math.max(1, Math.min(4, HEIGHT_MAX / Math.max(1, steps.size())));
        int height = Math.max(1, each * steps.size());
        return Png.encode(
                WIDTH,
                height,
                (x, y) -> steps.isEmpty() ? NONE : colour(steps.get(y / each), x, most));
    }

    private static int[] colour(double[] step, int x, double most) {
        double part = step[(int) ((long) x * step.length / WIDTH)] / most;
        // The root shows the beginning, where the field is small.
        double strength = Math.sqrt(Math.abs(part));
        return Png.between(NONE, part > 0 ? RIGHT : LEFT, strength);
    }

    private static List<double[]> steps(String rows) {
        List<double[]> steps = new ArrayList<>();
        List<Double> values = new ArrayList<>();
        String last = "";
        for (String line : rows.lines().skip(1).toList()) {
            String[] fields = line.split("\t");
            if (!fields[0].equals(last) && !values.isEmpty()) {
                steps.add(values.stream().mapToDouble(Double::doubleValue).toArray());
                values.clear();
            }
            last = fields[0];
            values.add(Double.valueOf(fields[2]));
        }
        if (!values.isEmpty()) {
            steps.add(values.stream().mapToDouble(Double::doubleValue).toArray());
        }
        return steps;
    }
}
