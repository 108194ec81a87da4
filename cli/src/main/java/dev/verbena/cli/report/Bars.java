package dev.verbena.cli.report;

import java.util.ArrayList;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;

/** Horizontal bars with intervals, as SVG text in the page's colours. One thread. */
public final class Bars {
    private static final int WIDTH = 560;
    private static final int LEFT = 210;
    private static final int RIGHT = 110;
    private static final int ROW = 30;
    private static final int HEIGHT = 18;

    private final String title;
    private final String unit;
    private final List<Bar> bars = new ArrayList<>();

    private record Bar(String name, boolean isOther, double value, double half) {}

    /** No bars yet. */
    public Bars(String title, String unit) {
        this.title = title;
        this.unit = unit;
    }

    /**
     * Adds one.
     *
     * @param isOther in the second colour
     * @param half of its interval; NaN: none
     */
    public Bars bar(String name, boolean isOther, double value, double half) {
        bars.add(new Bar(name, isOther, value, half));
        return this;
    }

    /** As one SVG element. */
    public String svg() {
        double most = 0;
        for (Bar bar : bars) {
            most = Math.max(most, bar.value + (Double.isFinite(bar.half) ? bar.half : 0));
        }
        double scale = (WIDTH - LEFT - RIGHT) / (most > 0 ? most : 1);
        Formatter out = new Formatter(Locale.ROOT);
        out.format(
                "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">",
                WIDTH, ROW * bars.size() + 8, Html.escape(title));
        for (int i = 0; i < bars.size(); i++) {
            draw(out, bars.get(i), ROW * i + 6, scale);
        }
        return out.format("</svg>").toString();
    }

    private void draw(Formatter out, Bar bar, int top, double scale) {
        double end = LEFT + bar.value * scale;
        double reach = Double.isFinite(bar.half) ? bar.half * scale : 0;
        int middle = top + HEIGHT / 2;
        out.format(
                "<text class=\"legend\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>"
                        + "<g class=\"%s\"><rect x=\"%d\" y=\"%d\" width=\"%.1f\""
                        + " height=\"%d\"/></g>",
                LEFT - 8,
                middle + 4,
                Html.escape(bar.name),
                bar.isOther ? "two" : "one",
                LEFT,
                top,
                bar.value * scale,
                HEIGHT);
        out.format(
                "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>"
                        + "<text class=\"tick\" x=\"%.1f\" y=\"%d\">%.3g %s</text>",
                Math.max(LEFT, end - reach),
                end + reach,
                middle,
                middle,
                end + reach + 6,
                middle + 4,
                bar.value,
                Html.escape(unit));
    }
}
