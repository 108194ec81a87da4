package dev.verbena.nsim.scenario;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.internal.Suggestions;
import dev.verbena.nsim.program.Program;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A program together with the machine that it is usually run on, parsed from lines of text that
 * docs/nsim.md explains. Errors name file, line and what to do. Immutable once parsed.
 */
public final class Scenario {
    private static final Pattern INSERTED = Pattern.compile("\\{([^}]*)}");
    private static final String WORDS =
            "scenario, says, like, set, param, bytes, per-node, needs, shows, figure, curve, program";

    private final Map<String, Integer> slots = new LinkedHashMap<>();
    private final Map<String, Expression> parameters = new LinkedHashMap<>();
    private final Map<String, ScenarioLine> settings = new LinkedHashMap<>();
    private final List<ScenarioLine> needs = new ArrayList<>();
    private final List<Curve> curves = new ArrayList<>();
    private final List<Integer> figure = new ArrayList<>();
    private List<ScenarioLine> programLines = List.of();
    private ScenarioLine programLine;
    private String name;
    private String description = "";
    private Measure measure = Measure.TIME;
    private Expression bytes = f -> 8;
    private int perNode = 1;
    private Statement program;

    private Scenario() {}

    /**
     * Reads a scenario.
     *
     * @param file its name, for errors
     * @throws IllegalArgumentException if it is wrong; names file, line and what to do
     */
    public static Scenario parse(String file, String text) {
        Scenario scenario = new Scenario();
        scenario.name = file.replaceFirst("^.*[/\\\\]", "").replaceFirst("\\.[a-z]+$", "");
        List<ScenarioLine> lines = lines(file, text);
        scenario.read(lines);
        if (scenario.programLine == null) {
            throw new ScenarioLine.Wrong(
                    file + ": there is no line 'program', behind which what a rank does begins");
        }
        scenario.curves();
        scenario.program = new ProgramParser(scenario.programLines, scenario.slots).parse();
        return scenario;
    }

    private static List<ScenarioLine> lines(String file, String text) {
        List<ScenarioLine> lines = new ArrayList<>();
        String[] all = text.split("\\r?\\n", -1);
        for (int i = 0; i < all.length; i++) {
            String line = all[i].replaceFirst("#.*", "").strip().replaceAll("\\s+", " ");
            if (!line.isEmpty()) {
                lines.add(new ScenarioLine(file, i + 1, line));
            }
        }
        return lines;
    }

    private void read(List<ScenarioLine> lines) {
        for (int i = 0; i < lines.size(); i++) {
            ScenarioLine line = lines.get(i);
            if (line.isWord("program")) {
                programLine = line;
                List<ScenarioLine> mine = lines.subList(i + 1, lines.size());
                programLines = mine.isEmpty() ? programLines : mine;
                return;
            }
            try {
                head(line);
            } catch (IllegalArgumentException | StackOverflowError e) {
                throw line.wrong(e);
            }
        }
    }

    private void head(ScenarioLine line) {
        String rest = line.rest();
        switch (line.word()) {
            case "scenario" -> name = rest;
            case "says" -> description = rest;
            case "like" -> read(lines(rest, Scenarios.text(rest)));
            case "set" -> {
                String[] pair = pair(rest);
                new Machine().checkKey(pair[0]);
                settings.put(pair[0], line);
            }
            case "param" -> {
                String[] pair = pair(rest);
                new ExpressionParser("", slots).define(pair[0]);
                parameters.put(pair[0], located(line, expression(pair[1])));
            }
            case "bytes" -> bytes = located(line, expression(rest));
            case "per-node" -> perNode = positive(rest);
            case "needs" -> {
                expression(rest);
                needs.add(line);
            }
            case "shows" -> measure = measure(rest);
            case "figure" -> {
                figure.clear();
                for (String number : rest.split(",")) {
                    figure.add(positive(number));
                }
            }
            case "curve" -> curves.add(curve(rest));
            default ->
                    throw new IllegalArgumentException(
                            "there is no '%s' before the program; there are %s%s"
                                    .formatted(
                                            line.word(),
                                            WORDS,
                                            Suggestions.hint(
                                                    line.word(), List.of(WORDS.split(", ")))));
        }
    }

    private static String[] pair(String text) {
        int equals = text.indexOf('=');
        if (equals < 1) {
            throw new IllegalArgumentException("'=' is missing, as in: set node.overhead = 800ns");
        }
        return new String[] {text.substring(0, equals).strip(), text.substring(equals + 1).strip()};
    }

    private static int positive(String text) {
        if (!text.strip().matches("[1-9][0-9]{0,6}")) {
            throw new IllegalArgumentException("'" + text.strip() + "' is no number from 1 on");
        }
        return Integer.parseInt(text.strip());
    }

    private static Measure measure(String text) {
        try {
            return Measure.valueOf(text.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "it shows one of " + Arrays.toString(Measure.values()).toLowerCase(Locale.ROOT),
                    e);
        }
    }

    /** {@code curve 16 nodes, to 32, shows time: topology=...; node.overhead=...}. */
    private static Curve curve(String text) {
        int colon = text.indexOf(':');
        String head = (colon < 0 ? text : text.substring(0, colon)).strip();
        Measure shown = null;
        Matcher shows = Pattern.compile("(.*), *shows ([a-z]+)").matcher(head);
        if (shows.matches()) {
            head = shows.group(1).strip();
            shown = measure(shows.group(2));
        }
        Matcher limit = Pattern.compile("(.*), *to ([0-9]{1,7})").matcher(head);
        int most = Integer.MAX_VALUE;
        if (limit.matches()) {
            head = limit.group(1).strip();
            most = positive(limit.group(2));
        }
        List<String> changes = new ArrayList<>();
        if (colon >= 0) {
            for (String change : text.substring(colon + 1).split(";")) {
                String[] pair = pair(change);
                changes.add(pair[0] + "=" + pair[1]);
            }
        }
        return new Curve(head, most, shown, List.copyOf(changes));
    }

    private Expression expression(String text) {
        return new ExpressionParser(text, slots).whole();
    }

    /** As the command line names it. */
    public String name() {
        return name;
    }

    /** One sentence. */
    public String description() {
        return description;
    }

    /** How many processes share a node. */
    public int perNode() {
        return perNode;
    }

    /** What a person wants to know of a run. */
    public Measure measure() {
        return measure;
    }

    /** Numbers of processes that its figure shows; may be empty. */
    public List<Integer> figure() {
        return List.copyOf(figure);
    }

    /** The curves of its figure; one without settings if the scenario names none. */
    public List<Curve> curves() {
        return curves.isEmpty()
                ? List.of(new Curve(name, Integer.MAX_VALUE, measure, List.of()))
                : curves.stream().map(this::measured).toList();
    }

    private Curve measured(Curve curve) {
        Measure shown = curve.measure() == null ? measure : curve.measure();
        if (!shown.unit().equals(measure.unit())) {
            throw new IllegalArgumentException(
                    "curve %s shows %s, and scenario %s shows %s: a figure has one unit"
                            .formatted(curve.name(), shown.unit(), name, measure.unit()));
        }
        return new Curve(curve.name(), curve.processesMax(), shown, curve.settings());
    }

    /** Whether a setting is a parameter of this scenario, and not of the machine. */
    public boolean isParameter(String key) {
        return parameters.containsKey(key);
    }

    private void fill(Frame frame, ScenarioOptions options) {
        parameters.forEach(
                (key, usual) -> {
                    Long value = options.parameters().get(key);
                    frame.variable(slots.get(key), 0, value == null ? usual.of(frame) : value);
                });
    }

    /**
     * Sets what differs from Table 1, and the topology for a number of processes.
     *
     * @throws IllegalArgumentException if it cannot have so many processes; says what it needs
     */
    public void prepare(Machine machine, int processes, ScenarioOptions options) {
        Frame frame = Frame.ofMachine(processes, options.seed(), slots.size());
        fill(frame, options);
        for (ScenarioLine line : needs) {
            if (valueOf(line, expression(line.rest()), frame) == 0) {
                throw line.wrong(name + " cannot have " + processes + " processes");
            }
        }
        machine.set("topology", "switch(" + processes + ")");
        settings.forEach(
                (key, line) -> {
                    try {
                        machine.set(key, inserted(pair(line.rest())[1], frame));
                    } catch (IllegalArgumentException
                            | ArithmeticException
                            | StackOverflowError e) {
                        throw line.wrong(e);
                    }
                });
    }

    /** An expression whose errors name its line. */
    private static Expression located(ScenarioLine line, Expression expression) {
        return frame -> valueOf(line, expression, frame);
    }

    private static long valueOf(ScenarioLine line, Expression expression, Frame frame) {
        try {
            return expression.of(frame);
        } catch (IllegalArgumentException | ArithmeticException | StackOverflowError e) {
            throw line.wrong(e);
        }
    }

    private String inserted(String text, Frame frame) {
        return INSERTED.matcher(text)
                .replaceAll(match -> Long.toString(expression(match.group(1)).of(frame)));
    }

    /** The program. */
    public Program program(int processes, ScenarioOptions options) {
        Frame machine = Frame.ofMachine(processes, options.seed(), slots.size());
        fill(machine, options);
        long size = options.bytes() >= 0 ? options.bytes() : bytes.of(machine);
        Map<Integer, int[]> orders = new HashMap<>();
        return rank -> {
            Frame frame = new Frame(processes, size, options.seed(), rank, slots.size(), orders);
            fill(frame, options);
            try {
                program.run(frame);
            } catch (StackOverflowError e) {
                throw programLine.wrong(e);
            }
        };
    }
}
