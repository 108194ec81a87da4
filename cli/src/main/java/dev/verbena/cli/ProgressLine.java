package dev.verbena.cli;

import java.io.PrintWriter;

/** Progress for people: one line that is rewritten on a terminal, a line now and then elsewhere. */
final class ProgressLine {
    private static final int WIDTH = 24;
    private static final int LINES_ELSEWHERE = 10;

    private final PrintWriter out;
    private final boolean isTerminal = System.console() != null;
    private String last = "";
    private long lastPart = -1;

    ProgressLine(PrintWriter out) {
        this.out = out;
    }

    void progress(long done, long total, String text) {
        show(done, total, String.format("step %d/%d, %s", done, total, text));
    }

    /** As {@link #progress}, in per cent. */
    void percent(long done, long total, String text) {
        show(done, total, String.format("%3d %%, %s", 100 * done / Math.max(1, total), text));
    }

    private void show(long done, long total, String text) {
        if (isTerminal) {
            int filled = (int) (WIDTH * done / Math.max(1, total));
            String bar = "#".repeat(filled) + ".".repeat(WIDTH - filled);
            show(String.format("[%s] %s", bar, text));
        } else {
            long part = LINES_ELSEWHERE * done / Math.max(1, total);
            if (part != lastPart) {
                lastPart = part;
                out.println("  " + text);
                out.flush();
            }
        }
    }

    void show(String text) {
        if (isTerminal && !text.equals(last)) {
            out.print("\r" + text + " ".repeat(Math.max(0, last.length() - text.length())));
            out.flush();
            last = text;
        }
    }

    /** Leaves the line. */
    void end() {
        if (!last.isEmpty()) {
            out.println();
            out.flush();
            last = "";
        }
    }
}
