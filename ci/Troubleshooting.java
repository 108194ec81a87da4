import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Writes docs/troubleshooting.md from the sources: every message that says what to do. Such a
 * message is a string that reaches a user (an exception, a finding of {@code doctor}, what a script
 * says) and of which a part begins with an imperative after a semicolon, a colon, a full stop or a
 * bracket. {@code --check}: compares instead, exit code 1.
 */
public final class Troubleshooting {
    private static final List<String> MODULES =
            List.of(
                    "native", "java-api", "portals-emul", "gni-shim", "ofi", "staging",
                    "sink-postgres", "sink-duckdb", "sink-hdf5", "nsim", "examples", "cli", "jmh");
    private static final Path PAGE = Path.of("docs/troubleshooting.md");
    private static final String LITERAL = "\"(?:[^\"\\\\\\n]|\\\\.)*\"";

    /** Literals that are added up; a value between them is shown as an ellipsis. */
    private static final Pattern TEXT =
            Pattern.compile(
                    LITERAL + "(?:\\s*\\+\\s*(?:" + LITERAL + "|[\\w.()\\[\\]]{1,60}?(?=\\s*[+,);])))*");

    private static final Pattern QUOTED = Pattern.compile(LITERAL + "|'(?:[^'\\\\\\n]|\\\\.)+'");

    private static final Pattern PIECE = Pattern.compile(LITERAL + "|[^\\s+\"][^+\"]*");
    private static final Pattern REMEDY =
            Pattern.compile(
                    "(?:[;:.(]|, or|\\.\\.\\.|,(?= (?:close|make|raise|install|choose|set|run the)\\b)) +"
                            + "(?:(?:or|then|please|Remedy:) )?(?i:use|set|give|raise|install|call|run|choose|unset"
                            + "|restart (?:it|them|the|with)|start|stop|close|remove|delete|make|lower|increase|move"
                            + "|mount|add|reserve|enable|correct|retry|let|free|allow|pass|name (?:a|an|it|the|one|another)"
                            + "|end|see|check|tell|put|try|poll|declare|rename|copy|send|write|take|ask|wait|apt-get)\\b [^ ]");

    private Troubleshooting() {}

    public static void main(String[] args) throws IOException {
        Map<String, TreeSet<String>> messages = new TreeMap<>();
        for (String module : MODULES) {
            collect(Path.of(module, "src/main/java"), module, ".java", messages);
        }
        for (String script : List.of("ci/setup.sh", "ci/build.sh", "verbena")) {
            add(Files.readString(Path.of(script)), "script", messages);
        }
        String page = page(messages);
        if (args.length == 0) {
            Files.writeString(PAGE, page);
        } else if (!Files.exists(PAGE) || !Files.readString(PAGE).equals(page)) {
            System.out.println("   " + PAGE + " is not what java ci/Troubleshooting.java writes: run it, and commit");
            System.exit(1);
        }
    }

    private static void collect(
            Path folder, String module, String ending, Map<String, TreeSet<String>> messages)
            throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(f -> f.toString().endsWith(ending)).sorted().toList()) {
                String text = Files.readString(file).replaceAll("(?m)^\\s*(//|\\*|/\\*).*$", "");
                // What help and tables of options say is no message.
                text = text.replaceAll("(?s)@(Command|Option|Parameters)\\(.*?\\n    (?=\\w|@(?!Mixin|Option))", "");
                add(text, module, messages);
            }
        }
    }

    private static void add(String text, String module, Map<String, TreeSet<String>> messages) {
        boolean[] isQuoted = new boolean[text.length()];
        QUOTED.matcher(text).results().forEach(each -> Arrays.fill(isQuoted, each.start(), each.end(), true));
        Matcher found = TEXT.matcher(text);
        while (found.find()) {
            String message = plain(before(text, isQuoted, found.start()) + found.group());
            if (REMEDY.matcher(message).find() && message.length() > 20 && !message.contains("<")) {
                messages.computeIfAbsent(message, key -> new TreeSet<>()).add(module);
            }
        }
    }

    /** What is added up to the left of a literal, also where the literal is a choice in a bracket of the sum. */
    private static String before(String text, boolean[] isQuoted, int at) {
        StringBuilder sum = new StringBuilder();
        int end = at;
        while (true) {
            int last = lastBefore(text, end);
            char c = last < 0 ? ';' : text.charAt(last);
            if (c == '+') {
                int start = operand(text, isQuoted, last);
                String part = text.substring(start, last).strip();
                if (part.isEmpty()) {
                    return sum.toString();
                }
                Matcher literal = QUOTED.matcher(part);
                sum.insert(0, (literal.lookingAt() ? literal.group() : "value") + " + ");
                end = start;
            } else if (c == '(' || c == '?' || c == ':') {
                int open = c == '(' ? last : opening(text, isQuoted, last);
                int plus = lastBefore(text, open);
                if (plus < 0 || text.charAt(plus) != '+') {
                    return sum.toString();
                }
                end = open;
            } else {
                return sum.toString();
            }
        }
    }

    /** Start of what ends before an index: a literal, a bracket, a name, a chain of calls, or a product of these. */
    private static int operand(String text, boolean[] isQuoted, int end) {
        int start = end;
        int at = lastBefore(text, end);
        while (at >= 0) {
            char c = text.charAt(at);
            if (isQuoted[at]) {
                while (at > 0 && isQuoted[at - 1]) {
                    at--;
                }
            } else if (c == ')' || c == ']') {
                at = opening(text, isQuoted, at);
            } else if (!Character.isJavaIdentifierPart(c) && "./*".indexOf(c) < 0) {
                return start;
            }
            boolean isWhole = text.charAt(Math.max(0, at - 1)) == ' ' && "./*".indexOf(c) < 0;
            start = at;
            at = lastBefore(text, at);
            if (isWhole && at >= 0 && "./*".indexOf(text.charAt(at)) < 0) {
                return start;
            }
        }
        return start;
    }

    /** The bracket that is open at an index, or -1. */
    private static int opening(String text, boolean[] isQuoted, int at) {
        int depth = 1;
        for (int i = at - 1; i >= 0; i--) {
            char c = isQuoted[i] ? ' ' : text.charAt(i);
            depth += c == ')' || c == ']' || c == '}' ? 1 : c == '(' || c == '[' || c == '{' ? -1 : 0;
            if (depth == 0) {
                return i;
            }
        }
        return -1;
    }

    private static int lastBefore(String text, int end) {
        int at = end - 1;
        while (at >= 0 && Character.isWhitespace(text.charAt(at))) {
            at--;
        }
        return at;
    }

    /** As a user reads it, values left out. */
    private static String plain(String expression) {
        StringBuilder text = new StringBuilder();
        Matcher piece = PIECE.matcher(expression);
        while (piece.find()) {
            String part = piece.group();
            text.append(part.startsWith("\"") ? part.substring(1, part.length() - 1) : "…");
        }
        return text.toString()
                .replaceAll("%[-,0-9.]*[a-zA-Z]|\\$\\{[^}]*}|\\$\\w+|\\$\\([^)]*\\)", "…")
                .replace("\\n", " ")
                .replace("\\\"", "\"")
                .replace("\\\\", "\\")
                .replace("%%", "%")
                .replace("|", "\\|")
                .replaceAll(" +", " ")
                .strip();
    }

    private static String page(Map<String, TreeSet<String>> messages) {
        StringBuilder page = new StringBuilder();
        page.append("# Troubleshooting\n\nEvery message that says what to do, by its first words; … stands for a value.");
        page.append(" Written by `java ci/Troubleshooting.java` from the sources. What is wrong with a machine: `verbena doctor`.\n");
        page.append("\n| message | module |\n|---|---|\n");
        messages.forEach(
                (message, modules) ->
                        page.append("| ")
                                .append(message.replace("`", "'"))
                                .append(" | ")
                                .append(String.join(", ", modules))
                                .append(" |\n"));
        return page.toString();
    }
}
