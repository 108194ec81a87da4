package dev.verbena.staging.sink;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads {@code create_tar} and {@code load_subtar} as SAVIME writes them (specification, section
 * 8.3), so that a program may say the same to any sink.
 */
public final class TarText {
    /** Answer to a command that defines or loads something. */
    public static final String DONE = "Query executed successfully";

    /** Doubles hold whole numbers to here. */
    private static final double INTEGER_MAX = 1L << 53;

    private static final Pattern QUERY =
            Pattern.compile("verbena_query\\(([1-9][0-9]{0,7})\\)(.*)", Pattern.DOTALL);

    private TarText() {}

    /** Runs a command, as what it is. */
    public static String run(SinkSession session, String command) throws IOException {
        if (isCall(command, "create_tar")) {
            return session.createTar(command);
        }
        if (isCall(command, "load_subtar")) {
            return session.loadSubtar(command);
        }
        Matcher query = QUERY.matcher(command);
        if (query.matches()) {
            String text = query.group(2).strip().replaceFirst(";$", "");
            if (text.indexOf(';') >= 0) {
                throw new SinkRejectedException("a query is one statement, without a semicolon");
            }
            return session.query(text, Integer.parseInt(query.group(1)));
        }
        return session.command(command);
    }

    /** The command that is {@link SinkSession#query}. */
    public static String query(String text, int rowsMax) {
        return "verbena_query(%s) %s".formatted(rowsMax, text);
    }

    private static boolean isCall(String text, String name) {
        return text.strip().toLowerCase(Locale.ROOT).matches("(?s)" + name + "\\s*\\(.*");
    }

    /**
     * An array's definition.
     *
     * @throws SinkRejectedException naming what cannot be read
     */
    public static Tar createTar(String text) throws SinkRejectedException {
        List<String> arguments = arguments(text);
        if (arguments.size() != 4 || !arguments.get(1).strip().equals("*")) {
            throw new SinkRejectedException(
                    "create_tar needs a name, the type \"*\", dimensions and attributes");
        }
        Set<String> names = new HashSet<>();
        List<Tar.Dimension> dimensions = new ArrayList<>();
        for (String[] fields : lists(arguments.get(2))) {
            Tar.Dimension dimension = dimension(fields);
            dimensions.add(dimension);
            unique(names, dimension.name());
        }
        List<Tar.Attribute> attributes = new ArrayList<>();
        for (String[] fields : lists(arguments.get(3))) {
            StagedPiece.Type type = StagedPiece.Type.of(field(fields, 1));
            attributes.add(new Tar.Attribute(name(fields[0]), type.scalar(), type.vector()));
            unique(names, fields[0]);
        }
        return new Tar(name(arguments.get(0).strip()), dimensions, attributes, text.strip());
    }

    private static void unique(Set<String> names, String name) throws SinkRejectedException {
        if (!names.add(name.toLowerCase(Locale.ROOT))) {
            throw new SinkRejectedException("two elements '" + name + "'");
        }
    }

    private static Tar.Dimension dimension(String[] fields) throws SinkRejectedException {
        String name = name(field(fields, 1));
        if (fields[0].toLowerCase(Locale.ROOT).startsWith("e")) {
            return new Tar.Dimension(name, null, name(field(fields, 2)), 0, 0, 1);
        }
        StagedPiece.Scalar type = StagedPiece.Scalar.of(field(fields, 2));
        boolean isEndless = field(fields, 4).equals("*") && type.isInteger();
        double lower = number(field(fields, 3));
        double upper = isEndless ? Double.POSITIVE_INFINITY : number(field(fields, 4));
        double spacing = number(field(fields, 5));
        boolean isWhole = lower == Math.rint(lower) && spacing == Math.rint(spacing);
        if (!(upper > lower) || !(spacing > 0) || type.isInteger() && !isWhole) {
            throw new SinkRejectedException(
                    "dimension %s from %s to %s by %s".formatted(name, lower, upper, spacing));
        }
        return new Tar.Dimension(name, type, null, lower, upper, spacing);
    }

    /**
     * What is to be loaded.
     *
     * @throws SinkRejectedException naming what cannot be read
     */
    public static Subtar loadSubtar(String text) throws SinkRejectedException {
        List<String> arguments = arguments(text);
        if (arguments.size() != 3) {
            throw new SinkRejectedException("load_subtar needs a name, ranges and attributes");
        }
        List<Subtar.Range> ranges = new ArrayList<>();
        for (String[] fields : lists(arguments.get(1))) {
            ranges.add(range(fields));
        }
        List<Subtar.Column> columns = new ArrayList<>();
        for (String[] fields : lists(arguments.get(2))) {
            columns.add(new Subtar.Column(name(fields[0]), name(field(fields, 1))));
        }
        return new Subtar(name(arguments.get(0).strip()), ranges, columns, text.strip());
    }

    private static Subtar.Range range(String[] fields) throws SinkRejectedException {
        Subtar.Kind kind =
                switch (fields[0].toLowerCase(Locale.ROOT)) {
                    case "ordered" -> Subtar.Kind.ORDERED;
                    case "partial" -> Subtar.Kind.PARTIAL;
                    case "total" -> Subtar.Kind.TOTAL;
                    default -> throw new SinkRejectedException("ranges '" + fields[0] + "'");
                };
        return new Subtar.Range(
                kind,
                name(field(fields, 1)),
                bound(field(fields, 2)),
                bound(field(fields, 3)),
                kind == Subtar.Kind.ORDERED ? null : name(field(fields, 4)));
    }

    private static Subtar.Bound bound(String text) throws SinkRejectedException {
        boolean isValue = text.startsWith("#");
        return new Subtar.Bound(number(isValue ? text.substring(1) : text), isValue);
    }

    private static String name(String text) throws SinkRejectedException {
        if (!StagedPiece.isName(text)) {
            throw new SinkRejectedException("'" + text + "' is no name");
        }
        return text;
    }

    private static double number(String text) throws SinkRejectedException {
        double number = Double.NaN;
        if (text.matches("[-+0-9.eE]{1,40}")) {
            try {
                number = Double.parseDouble(text);
            } catch (NumberFormatException e) {
                // Refused below.
            }
        }
        if (!(Math.abs(number) <= INTEGER_MAX)) {
            throw new SinkRejectedException("'" + text + "' is no number that can be used");
        }
        return number;
    }

    private static String field(String[] fields, int index) throws SinkRejectedException {
        if (index >= fields.length) {
            throw new SinkRejectedException("'%s' is cut".formatted(String.join(",", fields)));
        }
        return fields[index];
    }

    /** Lists of fields, which bars divide. */
    private static List<String[]> lists(String text) {
        List<String[]> lists = new ArrayList<>();
        for (String list : text.split("\\|", -1)) {
            String[] fields = list.split(",", -1);
            for (int i = 0; i < fields.length; i++) {
                fields[i] = fields[i].strip();
            }
            lists.add(fields);
        }
        return lists;
    }

    /** The strings between the brackets. */
    private static List<String> arguments(String text) throws SinkRejectedException {
        List<String> arguments = new ArrayList<>();
        int at = text.indexOf('(') + 1;
        while (true) {
            at = blank(text, at);
            char quote = at < text.length() ? text.charAt(at) : ')';
            int end = quote == '"' || quote == '\'' ? text.indexOf(quote, at + 1) : -1;
            if (end < 0) {
                throw new SinkRejectedException("a string is wanted at position " + at);
            }
            arguments.add(text.substring(at + 1, end));
            at = blank(text, end + 1);
            char next = at < text.length() ? text.charAt(at++) : ' ';
            if (next == ')' && text.substring(at).strip().matches(";?")) {
                return arguments;
            }
            if (next != ',') {
                throw new SinkRejectedException("what stands at position " + (at - 1) + "?");
            }
        }
    }

    private static int blank(String text, int from) {
        int at = from;
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return at;
    }
}
