package dev.verbena.cli.terminal;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.IHelpSectionRenderer;
import picocli.CommandLine.Model.UsageMessageSpec;

/** Text for terminals that are narrower than it: lines break between words and columns. */
public final class Columns {
    /** Where nothing says how wide it is, as in a file. */
    public static final int UNKNOWN = Integer.MAX_VALUE;

    /** Goes to the beginning of a screen, and clears it. */
    public static final String CLEAR = "\u001b[H\u001b[J";

    private static final Path OUTPUT = Path.of("/proc/self/fd/1");
    private static final Path ERRORS = Path.of("/proc/self/fd/2");
    private static final int USAGE = 80;
    private static final int LAID_OUT = 10_000;
    private static final int TEXT_MIN = 24;
    private static final String INDENT = " ".repeat(8);
    private static final String MARGIN = "   ";
    private static final Pattern STYLE = Pattern.compile("\u001b\\[[0-9;]*m");
    private static final Pattern GAP = Pattern.compile("(?<=\\S) {2,}(?=\\S)");

    private Columns() {}

    /** Of COLUMNS if it is set, else of the terminal that is written to. */
    public static int width() {
        return width(isTerminal());
    }

    /** As {@link #width}, of where errors are printed. */
    public static int widthOfErrors() {
        return width(isTerminal(ERRORS));
    }

    private static int width(boolean isTerminal) {
        int asked = number(System.getenv("COLUMNS"));
        if (asked > 0) {
            return asked;
        }
        return isTerminal ? ofTerminal() : UNKNOWN;
    }

    /**
     * Whether a person reads standard output. From Java 22 on there may be a console although the
     * output goes into a file.
     */
    public static boolean isTerminal() {
        return System.console() != null && isTerminal(OUTPUT);
    }

    /** Whether standard output is a terminal that can be cleared. */
    public static boolean isScreen() {
        String terminal = System.getenv().getOrDefault("TERM", "dumb");
        return isTerminal() && !terminal.equals("dumb");
    }

    private static boolean isTerminal(Path stream) {
        try {
            return isTerminal(Files.readSymbolicLink(stream).toString());
        } catch (IOException e) {
            return false;
        }
    }

    static boolean isTerminal(String file) {
        return file.matches("/dev/(pts/\\d+|tty\\w*|console)");
    }

    private static int ofTerminal() {
        ProcessBuilder stty = new ProcessBuilder("stty", "size");
        stty.redirectInput(new File("/dev/tty")).redirectError(ProcessBuilder.Redirect.DISCARD);
        try {
            Process process = stty.start();
            if (process.waitFor(1, TimeUnit.SECONDS)) {
                byte[] text = process.getInputStream().readAllBytes();
                String size = new String(text, StandardCharsets.US_ASCII).strip();
                int columns = number(size.substring(size.indexOf(' ') + 1));
                return columns > 0 ? columns : UNKNOWN;
            }
            process.destroyForcibly();
        } catch (IOException | OutOfMemoryError e) {
            // That memory is short may be what is to be printed.
            return UNKNOWN;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return UNKNOWN;
    }

    private static int number(String text) {
        return text != null && text.matches("\\d{1,6}") ? Integer.parseInt(text) : 0;
    }

    /**
     * Has this command and those below it print their help at this width, 80 where it is unknown.
     * picocli lays it out in one line each: it would break words at any punctuation, and has a
     * least width of 55.
     */
    public static void applyTo(CommandLine line, IntSupplier width) {
        line.setUsageHelpWidth(LAID_OUT);
        Map<String, IHelpSectionRenderer> sections = new HashMap<>(line.getHelpSectionMap());
        IHelpSectionRenderer heading =
                sections.remove(UsageMessageSpec.SECTION_KEY_SYNOPSIS_HEADING);
        IHelpSectionRenderer synopsis = sections.get(UsageMessageSpec.SECTION_KEY_SYNOPSIS);
        sections.put(
                UsageMessageSpec.SECTION_KEY_SYNOPSIS,
                help -> heading.render(help) + synopsis.render(help));
        sections.replaceAll((key, section) -> help -> fold(section.render(help), ofHelp(width)));
        line.setHelpSectionMap(sections);
    }

    private static int ofHelp(IntSupplier width) {
        int columns = width.getAsInt();
        return columns == UNKNOWN ? USAGE : columns;
    }

    /** As this writer, but each whole line is folded to a width. */
    public static PrintWriter folding(PrintWriter out, IntSupplier width) {
        return new PrintWriter(out, true) {
            @Override
            public void println(String line) {
                super.println(fold(line, width.getAsInt()).stripTrailing());
            }
        };
    }

    /** Cells of these widths (negative: to the left), in as many lines as the width asks for. */
    public static List<String> row(int[] widths, int width, Object... cells) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < cells.length; i++) {
            if (line.length() + 1 + Math.abs(widths[i]) > width && !line.isEmpty()) {
                lines.add(line.toString().stripTrailing());
                line.setLength(0);
                line.append(MARGIN);
            }
            line.append(line.isEmpty() ? "" : " ");
            line.append(String.format("%" + widths[i] + "s", cells[i]));
        }
        lines.add(line.toString());
        return lines;
    }

    /** The text, no line longer than this if words allow it; later parts stand under the first. */
    public static String fold(String text, int width) {
        StringBuilder folded = new StringBuilder(text.length() + 64);
        text.lines().forEach(line -> fold(line, width, folded));
        return folded.toString();
    }

    private static void fold(String line, int width, StringBuilder folded) {
        String rest = line.stripTrailing();
        int margined = Math.max(width - TEXT_MIN, width / 3);
        if (rest.length() - rest.stripLeading().length() > margined) {
            rest = INDENT + rest.stripLeading();
        }
        String margin = margin(rest);
        Matcher gap = GAP.matcher(rest);
        boolean isFirst = true;
        while (shown(rest) > width && gap.find()) {
            int column = shown(rest.substring(0, gap.end()));
            if (column <= margined) {
                margin = " ".repeat(column);
            } else if (isFirst) {
                margin = INDENT;
                folded.append(rest, 0, gap.start()).append(System.lineSeparator());
                rest = margin + rest.substring(gap.end());
                break;
            }
            isFirst = false;
        }
        for (int end = end(rest, width); end > 0; end = end(rest, width)) {
            folded.append(rest.substring(0, end).stripTrailing()).append(System.lineSeparator());
            rest = margin + rest.substring(end).stripLeading();
        }
        folded.append(rest).append(System.lineSeparator());
    }

    private static String margin(String line) {
        int spaces = line.length() - line.stripLeading().length();
        if (spaces > 0) {
            return " ".repeat(spaces >= INDENT.length() ? spaces : spaces + 2);
        }
        return line.startsWith("# ") ? "# " : line.startsWith("Usage: ") ? "       " : "";
    }

    /** Of the words of this line that fit; 0 if all do, or if there is but one. */
    private static int end(String line, int width) {
        int start = line.length() - line.stripLeading().length();
        if (line.startsWith("# ")) {
            start = 2;
        }
        int best = 0;
        for (int space = line.indexOf(' ', start);
                space > 0;
                space = line.indexOf(' ', space + 1)) {
            if (best > 0 && shown(line.substring(0, space)) > width) {
                return best;
            }
            best = space;
        }
        return shown(line) > width ? best : 0;
    }

    private static int shown(String text) {
        return STYLE.matcher(text).replaceAll("").length();
    }
}
