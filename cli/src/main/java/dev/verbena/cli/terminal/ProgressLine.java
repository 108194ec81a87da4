package dev.verbena.cli.terminal;

import java.io.PrintWriter;

/** Progress for people: one line that is rewritten on a terminal, a line now and then elsewhere. */
public final class ProgressLine {
    private static final int WIDTH = 24;
    private static final int LINES_ELSEWHERE = 10;

    private final PrintWriter out;
    private final boolean isTerminal;
    private final int width;
    private String last = "";
    private long lastPart = -1;

    /** Shows nothing yet. */
    public ProgressLine(PrintWriter out) {
        this(out, Columns.isTerminal(), Columns.width());
    }

    /** Shows nothing yet. */
    public ProgressLine(PrintWriter out, boolean isTerminal, int width) {
        this.out = out;
        this.isTerminal = isTerminal;
        this.width = width;
    }

    /** Shows how many steps are done. */
    public void progress(long done, long total, String text) {
        progress("step", done, total, text);
    }

    /** As {@link #progress(long, long, String)}, of other things than steps. */
    public void progress(String what, long done, long total, String text) {
        show(done, total, String.format("%s %d/%d, %s", what, done, total, text));
    }

    /** As {@link #progress}, in per cent. */
    public void percent(long done, long total, String text) {
        show(done, total, String.format("%3d %%, %s", 100 * done / Math.max(1, total), text));
    }

    private void show(long done, long total, String text) {
        if (isTerminal) {
            int filled = (int) (WIDTH * done / Math.max(1, total));
            String bar = "#".repeat(filled) + ".".repeat(WIDTH - filled);
            String whole = String.format("[%s] %s", bar, text);
            show(whole.length() < width ? whole : text);
        } else {
            long part = LINES_ELSEWHERE * done / Math.max(1, total);
            if (part != lastPart) {
                lastPart = part;
                out.println("  " + text);
                out.flush();
            }
        }
    }

    /** A line that fills a terminal to its end has left it: "\r" goes back no further. */
    private void show(String text) {
        String shown = text.length() < width ? text : text.substring(0, width - 1);
        if (!shown.equals(last)) {
            out.print("\r" + shown + " ".repeat(Math.max(0, last.length() - shown.length())));
            out.flush();
            last = shown;
        }
    }

    /** Leaves the line. */
    public void end() {
        if (!last.isEmpty()) {
            out.println();
            out.flush();
            last = "";
        }
    }
}
