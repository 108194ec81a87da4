package dev.verbena.cli.stage.demo;

import dev.verbena.cli.report.Png;
import java.util.ArrayList;
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
        double most = Double.MIN_NORMAL;
        for (double[] step : steps) {
            for (double value : step) {
                most = Math.max(most, Math.abs(value));
            }
        }
        int each = Math.max(1, Math.min(4, HEIGHT_MAX / Math.max(1, steps.size())));
        int height = Math.max(1, each * steps.size());
        byte[] raw = new byte[height * (1 + 3 * WIDTH)];
        int at = 0;
        for (int y = 0; y < each * steps.size(); y++) {
            double[] step = steps.get(y / each);
            at++;
            for (int x = 0; x < WIDTH; x++) {
                double part = step[(int) ((long) x * step.length / WIDTH)] / most;
                for (int colour = 0; colour < NONE.length; colour++) {
                    int full = (part > 0 ? RIGHT : LEFT)[colour];
                    // The root shows the beginning, where the field is small.
                    double strength = Math.sqrt(Math.abs(part));
                    raw[at++] = (byte) Math.round(NONE[colour] + strength * (full - NONE[colour]));
                }
            }
        }
        return Png.encode(WIDTH, height, raw);
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
