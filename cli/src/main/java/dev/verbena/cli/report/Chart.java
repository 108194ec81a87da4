package dev.verbena.cli.report;

import dev.verbena.cli.terminal.Text;
import java.util.ArrayList;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/** A line chart as SVG text that takes its colours from the page's style sheet. One thread. */
public final class Chart {
    private static final int WIDTH = 560;
    private static final int HEIGHT = 300;
    private static final int LEFT = 64;
    private static final int RIGHT = 16;
    private static final int TOP = 34;
    private static final int LEGEND_ROW = 18;
    private static final double LETTER = 7.2;
    private static final int BOTTOM = 44;

    private static final List<String> STYLES =
            List.of("one", "two", "three", "four", "five", "six", "dash");

    private final String title;
    private final String xTitle;
    private final String yTitle;
    private final boolean isLogarithmic;
    private final List<Line> lines = new ArrayList<>();
    private boolean isDoubling;
    private boolean isBytes;
    private int top = TOP;
    private double bandFrom = Double.NaN;
    private double bandTo = Double.NaN;

    @SuppressWarnings("ArrayRecordComponent")
    private record Line(
            String name,
            String style,
            double[] xs,
            double[] ys,
            double[] halves,
            boolean hasDots) {}

    /** An empty chart; logarithmic: the y axis is. */
    public Chart(String title, String xTitle, String yTitle, boolean isLogarithmic) {
        this.title = title;
        this.xTitle = xTitle;
        this.yTitle = yTitle;
        this.isLogarithmic = isLogarithmic;
    }

    /** Adds a line in the style of its place among the lines. */
    public Chart line(String name, double[] xs, double[] ys, boolean hasDots) {
        return line(name, STYLES.get(lines.size() % STYLES.size()), xs, ys, hasDots);
    }

    /** Adds a line; style is a class of the style sheet. */
    public Chart line(String name, String style, double[] xs, double[] ys, boolean hasDots) {
        lines.add(new Line(name, style, xs, ys, new double[ys.length], hasDots));
        return this;
    }

    /** Adds a line with dots that have intervals; halves of them, NaN or 0 for none. */
    public Chart line(String name, String style, double[] xs, double[] ys, double[] halves) {
        lines.add(new Line(name, style, xs, ys, halves, true));
        return this;
    }

    /** Adds a line of a value for each of so many processes, in the style of its place. */
    public Chart line(String name, int processes, IntToDoubleFunction value, boolean hasDots) {
        double[] xs = IntStream.range(0, processes).asDoubleStream().toArray();
        double[] ys = IntStream.range(0, processes).mapToDouble(value).toArray();
        return line(name, xs, ys, hasDots);
    }

    /** Each doubling of x takes the same width; x is above 0. */
    public Chart doubling() {
        isDoubling = true;
        return this;
    }

    /** As {@link #doubling}; x is a number of bytes. */
    public Chart bytes() {
        isBytes = true;
        return doubling();
    }

    /** Shades a range of x. */
    public Chart band(double from, double to) {
        bandFrom = from;
        bandTo = to;
        return this;
    }

    /** The chart as one SVG element. */
    public String svg() {
        top = TOP + LEGEND_ROW * legend(new Formatter(Locale.ROOT));
        double[] x = range(true);
        double[] y = range(false);
        if (isLogarithmic) {
            y[0] = Math.max(Math.floor(y[0]), Math.ceil(y[1]) - 10);
            y[1] = Math.ceil(y[1]);
        } else {
            y[0] = Math.min(0, y[0]);
            y[1] = y[1] + 0.06 * (y[1] - y[0]);
        }
        if (!(x[1] > x[0])) {
            x[1] = x[0] + 1;
        }
        if (!(y[1] > y[0])) {
            y[1] = y[0] + 1;
        }
        Formatter out = new Formatter(Locale.ROOT);
        out.format(
                "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">",
                WIDTH, HEIGHT, Html.escape(title));
        if (!Double.isNaN(bandFrom)) {
            double from = px(bandFrom, x);
            out.format(
                    "<rect class=\"band\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
                    from, top, px(bandTo, x) - from, HEIGHT - top - BOTTOM);
        }
        axes(out, x, y);
        for (Line line : lines) {
            draw(out, line, x, y);
        }
        legend(out);
        return out.format("</svg>").toString();
    }

    private double[] range(boolean isX) {
        double min = Double.POSITIVE_INFINITY;
        double max = Double.NEGATIVE_INFINITY;
        for (Line line : lines) {
            for (double value : isX ? line.xs : line.ys) {
                double v = isX ? scaleX(value) : scale(value);
                if (Double.isFinite(v)) {
                    min = Math.min(min, v);
                    max = Math.max(max, v);
                }
            }
            for (int i = 0; !isX && i < line.ys.length; i++) {
                double v = scale(line.ys[i] + line.halves[i]);
                max = Double.isFinite(v) ? Math.max(max, v) : max;
            }
        }
        return Double.isFinite(min) ? new double[] {min, max} : new double[] {0, 1};
    }

    private double scale(double y) {
        return isLogarithmic ? Math.log10(y) : y;
    }

    private double scaleX(double x) {
        return isDoubling ? Math.log(x) / Math.log(2) : x;
    }

    private double px(double value, double[] range) {
        double part = (scaleX(value) - range[0]) / (range[1] - range[0]);
        return LEFT + part * (WIDTH - LEFT - RIGHT);
    }

    private double py(double value, double[] range) {
        double part = (value - range[0]) / (range[1] - range[0]);
        return HEIGHT - BOTTOM - part * (HEIGHT - top - BOTTOM);
    }

    private void axes(Formatter out, double[] x, double[] y) {
        double yStep = isLogarithmic ? Math.ceil((y[1] - y[0]) / 6) : tick(y[1] - y[0]);
        for (double v = Math.ceil(y[0] / yStep) * yStep; v <= y[1] + 1e-9; v += yStep) {
            String label = isLogarithmic ? power(v) : number(v);
            double at = py(v, y);
            out.format(
                    "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                            + "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>",
                    LEFT, WIDTH - RIGHT, at, at, LEFT - 8, at + 4, label);
        }
        double xStep = isDoubling ? Math.ceil((x[1] - x[0]) / 12) : tick(x[1] - x[0]);
        for (double at = Math.ceil(x[0] / xStep - 1e-9) * xStep; at <= x[1] + 1e-9; at += xStep) {
            double v = isDoubling ? Math.pow(2, at) : at;
            out.format(
                    "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>",
                    px(v, x), HEIGHT - BOTTOM + 18, isBytes ? bytes(v) : number(v));
        }
        out.format(
                "<line class=\"axis\" x1=\"%s\" x2=\"%s\" y1=\"%s\" y2=\"%s\"/>",
                LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM, HEIGHT - BOTTOM);
        out.format(
                "<text class=\"name\" x=\"%s\" y=\"%s\" text-anchor=\"middle\">%s</text>",
                (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, Html.escape(xTitle));
        out.format(
                "<text class=\"name\" transform=\"translate(14 %s) rotate(-90)\""
                        + " text-anchor=\"middle\">%s</text>",
                (top + HEIGHT - BOTTOM) / 2, Html.escape(yTitle));
    }

    private void draw(Formatter out, Line line, double[] x, double[] y) {
        StringJoiner points = new StringJoiner(" ");
        Formatter dots = new Formatter(Locale.ROOT);
        Formatter intervals = new Formatter(Locale.ROOT);
        for (int i = 0; i < line.xs.length; i++) {
            double at = px(line.xs[i], x);
            if (line.halves[i] > 0) {
                double low = Math.max(y[0], scale(line.ys[i] - line.halves[i]));
                double high = scale(line.ys[i] + line.halves[i]);
                intervals.format(
                        "<polyline points=\"%.1f,%.1f %.1f,%.1f\"/>",
                        at, py(low, y), at, py(high, y));
            }
            double v = scale(line.ys[i]);
            if (Double.isFinite(v) && v >= y[0] - 1e-9 && v <= y[1] + 1e-9) {
                points.add(Text.format("%.1f,%.1f", at, py(v, y)));
                dots.format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\"/>", at, py(v, y));
            }
        }
        out.format("<g class=\"%s\"><polyline points=\"%s\"/>", line.style, points);
        out.format("%s%s</g>", line.hasDots ? dots : "", intervals);
    }

    /** Answers how many rows it takes more than one. */
    private int legend(Formatter out) {
        int at = LEFT;
        int row = 0;
        for (Line line : lines) {
            int width = 44 + (int) (LETTER * line.name.length());
            if (at > LEFT && at + width > WIDTH) {
                at = LEFT;
                row++;
            }
            int y = 14 + LEGEND_ROW * row;
            out.format(
                    "<g class=\"%s\"><polyline points=\"%s,%s %s,%s\"/></g>"
                            + "<text class=\"legend\" x=\"%s\" y=\"%s\">%s</text>",
                    line.style, at, y, at + 18, y, at + 24, y + 4, Html.escape(line.name));
            at += width;
        }
        return row;
    }

    private static double tick(double span) {
        double power = Math.pow(10, Math.floor(Math.log10(span)));
        double part = span / power;
        return power * (part < 1.5 ? 0.25 : part < 3 ? 0.5 : part < 7 ? 1 : 2);
    }

    private static String number(double value) {
        double clean = Math.abs(value) < 1e-12 ? 0 : value;
        return new java.math.BigDecimal(clean)
                .round(new java.math.MathContext(4))
                .stripTrailingZeros()
                .toPlainString();
    }

    /** As options spell it: 8, 64k, 4m. */
    private static String bytes(double value) {
        int power = value < 1 << 10 ? 0 : value < 1 << 20 ? 1 : value < 1 << 30 ? 2 : 3;
        return number(value / (1L << 10 * power)) + List.of("", "k", "m", "g").get(power);
    }

    private static String power(double exponent) {
        return "10<tspan dy=\"-5\" font-size=\"9\">" + Math.round(exponent) + "</tspan>";
    }
}
