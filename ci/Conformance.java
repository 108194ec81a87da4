import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamReader;

/**
 * Writes docs/conformance.md: which test checks which numbered assertion, and how it went. Run from the root as
 * {@code java ci/Conformance.java}.
 *
 * <p>Java tests name their assertions by {@code @Tag("dart-D12")}, found in the sources; results come from the XML
 * reports of Surefire and Failsafe. C tests print {@code ok portals3-27,portals3-28 name}; their lines are taken from
 * target/test-logs/c-*.log. Exit code 1 if the committed assertion-to-test columns differ, a due assertion has no test,
 * or a test that names an assertion did not pass. {@code --names} compares the rows of Java tests only, before anything
 * has run, and writes nothing.
 */
public final class Conformance {
    private static final Pattern TAG = Pattern.compile("@Tag\\(\\s*\"([a-z0-9]+)-([DJNRX]?\\d+)\"\\s*\\)");
    private static final Pattern TYPE =
            Pattern.compile("^\\s*(?:(?:public|protected|private|static|abstract|final|sealed)\\s+)*(?:class|interface|record)\\s+(\\w+)(?:<[^{]*?>)?(?:\\s+extends\\s+([\\w.]+))?");
    private static final Pattern METHOD =
            Pattern.compile("^\\s*(?:(?:public|protected|private|static|final|abstract|default)\\s+)*(?:void|boolean|[A-Z]\\w*(?:<.*>)?)\\s+(\\w+)\\(");
    private static final Pattern C_LINE = Pattern.compile("^(ok|not ok|skip) ([a-z0-9]+-[DJNRX]?\\d+(?:,[a-z0-9]+-[DJNRX]?\\d+)*) (\\S+?)(?::\\s*(.*))?(?:\\s.*)?$");
    private static final String FAULTS = "## Planted faults";

    /** Failed, and passed when it was run once more. */
    private static final String UNSTEADY = "unsteady";

    private final Path root = Path.of("").toAbsolutePath();
    private final Path page = root.resolve("docs/conformance.md");
    private final Map<String, int[]> all = new LinkedHashMap<>();
    private final Map<String, String> notDue = new HashMap<>();
    /** Assertion to what its tests do not check. */
    private final Map<String, String> partly = new HashMap<>();
    /** Assertion ("dart-D12") to the tests that name it ("DartClientTest.shouldX"). */
    private final Map<String, TreeSet<String>> tests = new HashMap<>();
    private final Map<String, String> superTypes = new HashMap<>();
    /** Test to its results: passed, unsteady, failed, skipped: reason. */
    private final Map<String, List<String>> results = new HashMap<>();
    private final List<String> complaints = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        System.exit(args.length > 0 && args[0].equals("--names") ? new Conformance().compareNames() : new Conformance().run());
    }

    private int compareNames() throws Exception {
        scanTests();
        TreeSet<String> found = new TreeSet<>();
        tests.forEach((assertion, names) -> names.forEach(name -> found.add(assertion.replaceFirst("-", " ") + " " + name)));
        TreeSet<String> committed = columns(Files.readAllLines(page));
        committed.removeIf(row -> row.endsWith(" -") || row.contains(" C "));
        compare(committed, found, "add the row");
        complaints.forEach(c -> System.out.println("conformance: " + c));
        return complaints.isEmpty() ? 0 : 1;
    }

    private void scanTests() throws IOException {
        try (Stream<Path> files = walk()) {
            for (Path file : (Iterable<Path>) files.filter(f -> f.toString().contains("/src/test/java/") && f.toString().endsWith(".java"))::iterator) {
                scan(file);
            }
        }
    }

    private int run() throws Exception {
        readNotDue();
        scanTests();
        int reports = 0;
        try (Stream<Path> files = reports()) {
            for (Path file : (Iterable<Path>) files::iterator) {
                readReport(file);
                reports++;
            }
        }
        readCLogs();
        List<String> rows = rows();
        String before = Files.exists(page) ? Files.readString(page) : "";
        compare(columns(before.lines().toList()), columns(rows), "this run has written it: commit the page");
        if (reports > 0) {
            Files.createDirectories(page.getParent());
            Files.writeString(page, text(rows, before));
        }
        complaints.forEach(c -> System.out.println("conformance: " + c));
        long named = rows.stream().filter(r -> r.endsWith("| passed |")).map(r -> r.split("\\|")[1] + r.split("\\|")[2]).distinct().count();
        System.out.println("conformance: " + named + " assertions with passing tests that check all of it, " + partly.size() + " checked in part, " + complaints.size() + " complaints");
        return complaints.isEmpty() ? 0 : 1;
    }

    private Stream<Path> walk() throws IOException {
        List<Path> found = new ArrayList<>();
        try (Stream<Path> modules = Files.list(root)) {
            for (Path module : modules.filter(m -> Files.exists(m.resolve("pom.xml"))).sorted().toList()) {
                Path source = module.resolve("src");
                if (Files.isDirectory(source)) {
                    try (Stream<Path> files = Files.walk(source)) {
                        files.filter(Files::isRegularFile).sorted().forEach(found::add);
                    }
                }
            }
        }
        return found.stream();
    }

    private Stream<Path> reports() throws IOException {
        List<Path> found = new ArrayList<>();
        try (Stream<Path> modules = Files.list(root)) {
            for (Path module : modules.filter(m -> Files.exists(m.resolve("pom.xml"))).sorted().toList()) {
                for (String folder : List.of("surefire-reports", "surefire-reports-seeds", "failsafe-reports")) {
                    Path reports = module.resolve("target").resolve(folder);
                    if (Files.isDirectory(reports)) {
                        try (Stream<Path> files = Files.list(reports)) {
                            files.filter(f -> f.getFileName().toString().matches("TEST-.*\\.xml")).sorted().forEach(found::add);
                        }
                    }
                }
            }
        }
        Path besideADevice = root.resolve("target/test-logs/vm");
        if (Files.isDirectory(besideADevice)) {
            try (Stream<Path> modules = Files.list(besideADevice)) {
                modules.map(m -> m.resolve("TEST-junit-jupiter.xml")).filter(Files::exists).sorted().forEach(found::add);
            }
        }
        return found.stream();
    }

    private void readNotDue() throws IOException {
        for (String line : Files.readAllLines(root.resolve("ci/not-due.txt"))) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            if (line.startsWith("partly ")) {
                String[] words = line.split("\\s+", 4);
                partly.put(words[1] + "-" + words[2], words[3]);
                continue;
            }
            String[] words = line.trim().split("\\s+", 3);
            boolean isAll = words[0].equals("all");
            String spec = isAll ? words[1] : words[0];
            String[] range = (isAll ? words[2] : words[1]).split("-");
            String letter = range[0].replaceAll("\\d", "");
            int first = Integer.parseInt(range[0].substring(letter.length()));
            int last = Integer.parseInt(range[range.length - 1].substring(letter.length()));
            if (isAll) {
                all.put(spec + "-" + letter, new int[] {first, last});
            } else {
                for (int i = first; i <= last; i++) {
                    notDue.put(spec + "-" + letter + i, words[2]);
                }
            }
        }
    }

    private void scan(Path file) throws IOException {
        List<String> tags = new ArrayList<>();
        // The types around a line, innermost last, by indentation: the formatter sees to it.
        List<Map.Entry<Integer, String>> types = new ArrayList<>();
        boolean inComment = false;
        for (String line : Files.readAllLines(file)) {
            String code = line.strip();
            if (code.startsWith("/*") || inComment) {
                inComment = !code.contains("*/");
                continue;
            }
            if (code.startsWith("//") || code.startsWith("*")) {
                continue;
            }
            Matcher tag = TAG.matcher(line);
            while (tag.find()) {
                tags.add(tag.group(1) + "-" + tag.group(2));
            }
            Matcher declaration = TYPE.matcher(line);
            Matcher method = METHOD.matcher(line);
            if (declaration.find()) {
                if (declaration.group(2) != null) {
                    superTypes.put(declaration.group(1), declaration.group(2));
                }
                types.removeIf(t -> t.getKey() >= indent(line));
                types.add(Map.entry(indent(line), declaration.group(1)));
                if (!tags.isEmpty()) {
                    complaints.add(root.relativize(file) + ": @Tag of an assertion on type " + declaration.group(1) + "; put it on methods");
                    tags.clear();
                }
            } else if (!tags.isEmpty() && method.find() && !code.startsWith("return")) {
                types.removeIf(t -> t.getKey() >= indent(line));
                String name = types.get(types.size() - 1).getValue() + "." + method.group(1);
                tags.forEach(t -> tests.computeIfAbsent(t, k -> new TreeSet<>()).add(name));
                tags.clear();
            }
        }
    }

    private static int indent(String line) {
        return line.length() - line.stripLeading().length();
    }

    private void readReport(Path file) throws Exception {
        try (InputStream in = Files.newInputStream(file)) {
            XMLStreamReader xml = XMLInputFactory.newFactory().createXMLStreamReader(in);
            String test = null;
            String result = null;
            while (xml.hasNext()) {
                int event = xml.next();
                if (event == XMLStreamConstants.START_ELEMENT) {
                    switch (xml.getLocalName()) {
                        case "testcase" -> {
                            String type = xml.getAttributeValue(null, "classname").replaceAll(".*[.$]", "");
                            String method = xml.getAttributeValue(null, "name").replaceAll("[({\\[ :].*", "");
                            test = type + "." + method;
                            result = "passed";
                        }
                        case "failure", "error" -> result = "failed";
                        case "flakyFailure", "flakyError" -> result = UNSTEADY;
                        case "skipped" -> {
                            String message = xml.getAttributeValue(null, "message");
                            String text = message == null ? xml.getElementText() : message;
                            result = "skipped: " + oneLine(text.strip().replaceFirst("^.*?Exception: ", "").lines().findFirst().orElse(null));
                        }
                        default -> {}
                    }
                } else if (event == XMLStreamConstants.END_ELEMENT && xml.getLocalName().equals("testcase")) {
                    addResult(test, result);
                }
            }
        }
    }

    /** A test inherited from an abstract suite counts for the suite too. */
    private void addResult(String test, String result) {
        String method = test.substring(test.indexOf('.'));
        String type = test.substring(0, test.indexOf('.'));
        for (int depth = 0; type != null && depth < 8; depth++) {
            results.computeIfAbsent(type + method, k -> new ArrayList<>()).add(result);
            type = superTypes.get(type);
        }
    }

    private void readCLogs() throws IOException {
        Path logs = root.resolve("target/test-logs");
        if (!Files.isDirectory(logs)) {
            return;
        }
        List<Path> found;
        try (Stream<Path> files = Files.list(logs)) {
            found = files.filter(f -> f.getFileName().toString().matches("c-.*\\.log")).sorted().toList();
        }
        for (Path log : found) {
            for (String line : Files.readString(log, java.nio.charset.StandardCharsets.ISO_8859_1).lines().toList()) {
                Matcher m = C_LINE.matcher(line.strip());
                if (m.matches()) {
                    String test = "C " + m.group(3);
                    for (String assertion : m.group(2).split(",")) {
                        tests.computeIfAbsent(assertion, k -> new TreeSet<>()).add(test);
                    }
                    String result = switch (m.group(1)) {
                        case "ok" -> "passed";
                        case "skip" -> "skipped: " + oneLine(m.group(4));
                        default -> "failed";
                    };
                    results.computeIfAbsent(test, k -> new ArrayList<>()).add(result);
                }
            }
        }
    }

    private static String oneLine(String text) {
        return text == null ? "no reason given" : text.replaceAll("[|\\s]+", " ").strip();
    }

    private List<String> rows() {
        List<String> rows = new ArrayList<>();
        TreeSet<String> unknown = new TreeSet<>(tests.keySet());
        for (Map.Entry<String, int[]> spec : all.entrySet()) {
            for (int i = spec.getValue()[0]; i <= spec.getValue()[1]; i++) {
                String assertion = spec.getKey() + i;
                unknown.remove(assertion);
                rows.addAll(rowsOf(assertion));
            }
        }
        partly.keySet().stream().filter(a -> !tests.containsKey(a)).forEach(a -> complaints.add("ci/not-due.txt: " + a + " is tested in part, and no test names it"));
        unknown.forEach(a -> complaints.add("a test names " + a + ", which does not exist: " + tests.get(a)));
        return rows;
    }

    private List<String> rowsOf(String assertion) {
        String lead = "| " + assertion.replaceFirst("-", " | ") + " | ";
        Collection<String> naming = tests.getOrDefault(assertion, new TreeSet<>());
        if (naming.isEmpty()) {
            String reason = notDue.get(assertion);
            if (reason == null) {
                complaints.add(assertion + " is due and no test names it");
                reason = "missing";
            }
            return List.of(lead + "- | not tested: " + reason + " |");
        }
        return naming.stream().map(t -> lead + t + " | " + result(assertion, t) + part(assertion) + " |").collect(Collectors.toList());
    }

    private String part(String assertion) {
        String rest = partly.get(assertion);
        return rest == null ? "" : ", partly: " + rest;
    }

    private String result(String assertion, String test) {
        List<String> seen = results.getOrDefault(test, List.of());
        String result;
        if (seen.isEmpty()) {
            result = "not run";
        } else if (seen.contains("failed")) {
            result = "failed";
        } else if (seen.contains(UNSTEADY)) {
            result = UNSTEADY;
        } else if (seen.contains("passed")) {
            result = "passed";
        } else {
            result = seen.get(0);
        }
        boolean isExcused = result.startsWith("skipped") && "1".equals(System.getenv("VERBENA_SKIP_MISSING"));
        // How many may be unsteady is judged with the tier that ran them (docs/decisions/0134).
        if (!result.equals("passed") && !result.equals(UNSTEADY) && !isExcused) {
            complaints.add(assertion + " " + test + ": " + result);
        }
        return result;
    }

    private static TreeSet<String> columns(Collection<String> lines) {
        TreeSet<String> columns = new TreeSet<>();
        for (String line : lines) {
            String[] cells = line.split("\\s*\\|\\s*");
            if (cells.length >= 5 && cells[2].matches("[DJNRX]?\\d+")) {
                columns.add(cells[1] + " " + cells[2] + " " + cells[3]);
            }
        }
        return columns;
    }

    private void compare(TreeSet<String> committed, TreeSet<String> found, String whatToDo) {
        for (String row : committed) {
            if (!found.contains(row)) {
                complaints.add("docs/conformance.md has, and the tests have not: " + row);
            }
        }
        for (String row : found) {
            if (!committed.contains(row)) {
                complaints.add("docs/conformance.md lacks: " + row + " (" + whatToDo + ")");
            }
        }
    }

    private String text(List<String> rows, String before) {
        int faults = before.indexOf(FAULTS);
        return "# Conformance\n\n"
                + "Which test checks which numbered assertion of the specifications, and how it went in the last run of\n"
                + "`./verbena test`, which writes this page. A row is one assertion and one test; `C name` is a case of the C\n"
                + "tests; `partly` says what the test does not check; `unsteady` failed and passed when it was run once more. A due\n"
                + "assertion without a test, a test that did not pass, or a difference in the first three columns fails the run.\n\n"
                + "| specification | assertion | test | result |\n|---|---|---|---|\n"
                + String.join("\n", rows)
                + "\n\n"
                + (faults < 0 ? "" : before.substring(faults));
    }
}
