package dev.verbena.nsim.scenario;

import dev.verbena.nsim.program.Rank;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongBinaryOperator;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Expressions of one line of a scenario file: whole numbers, with units; {@code + - * / %}; {@code
 * < <= > >= = <>}, {@code and or not}; variables, {@code name[index]}; a few functions. The rest of
 * a division is never negative: {@code (rank - 1) % p} is the left neighbour.
 */
final class ExpressionParser {
    private static final Pattern TOKEN =
            Pattern.compile(
                    "\\s*(?:([0-9][0-9_]*(?:\\.[0-9]+)?)([A-Za-z]+)?|([A-Za-z][A-Za-z0-9_]*)|(<=|>=|<>|[-+*/%()<>=,\\[\\]]))");
    private static final Map<String, Long> UNITS =
            Map.ofEntries(
                    Map.entry("ps", 1L),
                    Map.entry("ns", 1_000L),
                    Map.entry("us", 1_000_000L),
                    Map.entry("ms", 1_000_000_000L),
                    Map.entry("kb", 1_000L),
                    Map.entry("mb", 1_000_000L),
                    Map.entry("gb", 1_000_000_000L),
                    Map.entry("kib", 1L << 10),
                    Map.entry("mib", 1L << 20),
                    Map.entry("gib", 1L << 30));

    private static final Map<String, LongBinaryOperator> COMPARISONS =
            Map.of(
                    "<", (a, b) -> a < b ? 1 : 0,
                    "<=", (a, b) -> a <= b ? 1 : 0,
                    ">", (a, b) -> a > b ? 1 : 0,
                    ">=", (a, b) -> a >= b ? 1 : 0,
                    "=", (a, b) -> a == b ? 1 : 0,
                    "<>", (a, b) -> a != b ? 1 : 0);
    private static final Map<String, LongBinaryOperator> SUMS =
            Map.of("+", Math::addExact, "-", Math::subtractExact);
    private static final Map<String, LongBinaryOperator> PRODUCTS =
            Map.of("*", Math::multiplyExact, "/", Math::floorDiv, "%", Math::floorMod);

    /** What a name may not be, and what is known everywhere. */
    private static final List<String> FIXED =
            List.of("p", "rank", "bytes", "seed", "any", "and", "or", "not", "all");

    private static final List<String> FUNCTIONS =
            List.of("max", "min", "log2", "pow2", "xor", "random", "shuffle", "place");

    private final Map<String, Integer> slots;
    private final List<String> tokens = new ArrayList<>();
    private int at;

    /**
     * Ready to parse.
     *
     * @param slots the variables that lines before have defined; new ones are added
     */
    ExpressionParser(String text, Map<String, Integer> slots) {
        this.slots = slots;
        Matcher matcher = TOKEN.matcher(text);
        int from = 0;
        while (from < text.stripTrailing().length()) {
            matcher.region(from, text.length());
            if (!matcher.lookingAt()) {
                throw new IllegalArgumentException(
                        "'" + text.substring(from).strip() + "' is not understood");
            }
            tokens.add(
                    matcher.group(1) != null
                            ? Long.toString(number(matcher.group(1), matcher.group(2)))
                            : matcher.group().strip());
            from = matcher.end();
        }
    }

    private static long number(String digits, String unit) {
        Long factor = unit == null ? Long.valueOf(1) : UNITS.get(unit.toLowerCase(Locale.ROOT));
        if (factor == null) {
            throw new IllegalArgumentException(
                    ("%s%s: there is no unit %s; there are ps, ns, us, ms, KB, MB, GB, KiB, MiB,"
                                    + " GiB")
                            .formatted(digits, unit, unit));
        }
        try {
            return new java.math.BigDecimal(digits.replace("_", ""))
                    .multiply(java.math.BigDecimal.valueOf(factor))
                    .longValueExact();
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(
                    digits + (unit == null ? "" : unit) + " is no whole number of 63 bits", e);
        }
    }

    /** Whether the next token is this one; takes it then. */
    boolean accept(String token) {
        if (at < tokens.size() && tokens.get(at).equals(token)) {
            at++;
            return true;
        }
        return false;
    }

    /** The operator that the next token is, if it is one of these; takes it then. */
    private LongBinaryOperator accept(Map<String, LongBinaryOperator> operators) {
        LongBinaryOperator operator = isAtEnd() ? null : operators.get(tokens.get(at));
        at += operator == null ? 0 : 1;
        return operator;
    }

    void expect(String token) {
        if (!accept(token)) {
            throw new IllegalArgumentException(
                    "'" + token + "' is expected " + (isAtEnd() ? "at the end" : before()));
        }
    }

    private String before() {
        return "before '" + String.join(" ", tokens.subList(at, tokens.size())) + "'";
    }

    boolean isAtEnd() {
        return at == tokens.size();
    }

    void end() {
        if (!isAtEnd()) {
            throw new IllegalArgumentException("something is missing, or too much, " + before());
        }
    }

    /** The next token, a word. */
    String word() {
        if (isAtEnd() || !Character.isLetter(tokens.get(at).charAt(0))) {
            throw new IllegalArgumentException(
                    "a name is expected " + (isAtEnd() ? "at the end" : before()));
        }
        return tokens.get(at++);
    }

    /** The slot of a variable that this line defines. */
    int define(String name) {
        if (FIXED.contains(name) || FUNCTIONS.contains(name)) {
            throw new IllegalArgumentException("'" + name + "' cannot be set; choose another name");
        }
        return slots.computeIfAbsent(name, n -> slots.size());
    }

    /** What has to be between commas. */
    List<Expression> list() {
        List<Expression> all = new ArrayList<>();
        if (isAtEnd()) {
            return all;
        }
        do {
            all.add(expression());
        } while (accept(","));
        return all;
    }

    /** One expression, behind which nothing comes. */
    Expression whole() {
        Expression expression = expression();
        end();
        return expression;
    }

    Expression expression() {
        Expression left = conjunction();
        while (accept("or")) {
            Expression a = left;
            Expression b = conjunction();
            left = f -> a.of(f) != 0 || b.of(f) != 0 ? 1 : 0;
        }
        return left;
    }

    private Expression conjunction() {
        Expression left = comparison();
        while (accept("and")) {
            Expression a = left;
            Expression b = comparison();
            left = f -> a.of(f) != 0 && b.of(f) != 0 ? 1 : 0;
        }
        return left;
    }

    private Expression comparison() {
        if (accept("not")) {
            Expression a = comparison();
            return f -> a.of(f) == 0 ? 1 : 0;
        }
        Expression left = sum();
        LongBinaryOperator operator = accept(COMPARISONS);
        return operator == null ? left : apply(operator, left, sum());
    }

    private Expression sum() {
        return chain(this::product, SUMS);
    }

    private Expression product() {
        return chain(this::unary, PRODUCTS);
    }

    private static Expression apply(LongBinaryOperator operator, Expression a, Expression b) {
        return f -> operator.applyAsLong(a.of(f), b.of(f));
    }

    /** Operands with operators of one rank between them, taken from left to right. */
    private Expression chain(
            Supplier<Expression> operand, Map<String, LongBinaryOperator> operators) {
        Expression left = operand.get();
        for (LongBinaryOperator operator = accept(operators);
                operator != null;
                operator = accept(operators)) {
            left = apply(operator, left, operand.get());
        }
        return left;
    }

    private Expression unary() {
        if (accept("-")) {
            Expression a = unary();
            return f -> -a.of(f);
        }
        if (accept("(")) {
            Expression inside = expression();
            expect(")");
            return inside;
        }
        if (!isAtEnd() && Character.isDigit(tokens.get(at).charAt(0))) {
            long number = Long.parseLong(tokens.get(at++));
            return f -> number;
        }
        String name = word();
        if (accept("(")) {
            List<Expression> arguments = list();
            expect(")");
            return function(name, arguments);
        }
        return value(name);
    }

    private Expression value(String name) {
        switch (name) {
            case "p":
                return f -> f.processes;
            case "bytes":
                return f -> f.bytes;
            case "seed":
                return f -> f.seed;
            case "any":
                return f -> Rank.ANY;
            case "rank":
                return ExpressionParser::rank;
            default:
                Integer slot = slots.get(name);
                if (slot == null) {
                    throw new IllegalArgumentException(
                            "'%s' is not known here; there are p, rank, bytes, seed and %s"
                                    .formatted(name, slots.keySet()));
                }
                int number = slot;
                if (accept("[")) {
                    Expression index = expression();
                    expect("]");
                    return f -> f.variable(number, index.of(f));
                }
                return f -> f.variable(number, 0);
        }
    }

    private static long rank(Frame frame) {
        if (frame.rank == null) {
            throw new IllegalArgumentException("'rank' is known in the program only");
        }
        return frame.rank.rank();
    }

    private static Expression function(String name, List<Expression> arguments) {
        int wanted =
                switch (name) {
                    case "max", "min", "xor", "shuffle", "place" -> 2;
                    case "log2", "pow2", "random" -> 1;
                    default ->
                            throw new IllegalArgumentException(
                                    "there is no function '" + name + "'; there are " + FUNCTIONS);
                };
        if (arguments.size() != wanted) {
            throw new IllegalArgumentException(
                    name + " takes " + wanted + " numbers, not " + arguments.size());
        }
        Expression a = arguments.get(0);
        Expression b = arguments.get(wanted - 1);
        return switch (name) {
            case "max" -> f -> Math.max(a.of(f), b.of(f));
            case "min" -> f -> Math.min(a.of(f), b.of(f));
            case "xor" -> f -> a.of(f) ^ b.of(f);
            case "shuffle" -> f -> f.shuffled(a.of(f), b.of(f), false);
            case "place" -> f -> f.shuffled(a.of(f), b.of(f), true);
            case "random" -> f -> f.random(a.of(f));
            case "log2" -> f -> log2(a.of(f));
            default -> f -> pow2(a.of(f));
        };
    }

    private static long log2(long value) {
        if (value < 1) {
            throw new IllegalArgumentException("log2(" + value + ") does not exist");
        }
        return 63 - Long.numberOfLeadingZeros(value);
    }

    private static long pow2(long value) {
        if (value < 0 || value > 62) {
            throw new IllegalArgumentException("pow2(" + value + ") is outside 0 to 62");
        }
        return 1L << value;
    }
}
