package dev.verbena.cli.doctor;

import dev.verbena.agent.CountersFile;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Columns;
import dev.verbena.cli.terminal.Json;
import dev.verbena.cli.terminal.Version;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code verbena doctor}. */
@Command(
        name = "doctor",
        description = {
            "Look at this machine: what is wrong, what it costs, the command that mends it, and which"
                    + " transports work.",
            "Limits are read; transports, attach and TCP are tried, between two processes.",
            "Exit code 0: nothing is wrong; 1: something is (with --strict also for warnings)."
        })
public final class DoctorCommand extends CliCommand {
    private static final int WIDTH = 100;
    private static final String INDENT = " ".repeat(8);

    @Option(names = "--json", description = "Print JSON instead of text.")
    private boolean isJson;

    @Option(names = "--strict", description = "Exit with 1 for warnings too.")
    private boolean isStrict;

    @Option(names = "--all", description = "What is well, and notes that cost nothing, in full.")
    private boolean isAll;

    @Override
    public Integer call() {
        Machine machine = Machine.real();
        List<Finding> findings = new ArrayList<>();
        findings.addAll(new DoctorJava().findings());
        findings.addAll(new DoctorLimits(machine).findings(CountersFile.defaultShmDirectory()));
        findings.addAll(new DoctorKernel(machine).findings());
        findings.addAll(new DoctorDevices(machine).findings());
        DoctorTransports transports = new DoctorTransports();
        List<Finding> trials = transports.findings();
        boolean isAttachFine =
                trials.stream()
                        .filter(trial -> trial.name().endsWith(" attach"))
                        .allMatch(trial -> trial.level() == Finding.Level.OK);
        if (isAttachFine && !transports.working().isEmpty()) {
            // Capabilities may allow what the setting forbids; what was tried counts.
            findings.replaceAll(
                    finding -> finding.name().equals("Yama") ? finding.asNote() : finding);
        }
        findings.addAll(trials);
        PrintWriter out = out();
        if (isJson) {
            printJson(out, findings, transports.working());
        } else {
            printText(out, findings, transports.working(), isAll, Columns.width());
        }
        out.flush();
        Finding.Level worst = worst(findings);
        boolean isIll = worst == Finding.Level.WRONG || isStrict && worst == Finding.Level.WARNING;
        return isIll ? 1 : 0;
    }

    static Finding.Level worst(List<Finding> findings) {
        return findings.stream()
                .map(Finding::level)
                .max(Finding.Level::compareTo)
                .orElse(Finding.Level.OK);
    }

    static void printText(
            PrintWriter out,
            List<Finding> findings,
            List<String> working,
            boolean isAll,
            int width) {
        for (Finding finding : findings) {
            String level = finding.level().text;
            String line = String.format("%-8s%-22s%s", level, finding.name(), finding.found());
            out.print(Columns.fold(line, width));
            boolean isShort = !isAll && finding.level() == Finding.Level.NOTE;
            if (!isShort) {
                printWrapped(out, "costs:  ", finding.cost(), width);
                printWrapped(out, "mend:   ", finding.remedy(), width);
            }
        }
        long wrong = count(findings, Finding.Level.WRONG);
        long warnings = count(findings, Finding.Level.WARNING);
        String all =
                wrong + warnings == 0
                        ? "Nothing is wrong; --all explains the notes."
                        : "%s wrong, %s warnings; --all explains the notes too."
                                .formatted(wrong, warnings);
        String works = working.isEmpty() ? "none" : String.join(", ", working);
        out.print(Columns.fold("\nTransports that work now: " + works + "\n" + all, width));
    }

    private static long count(List<Finding> findings, Finding.Level level) {
        return findings.stream().filter(finding -> finding.level() == level).count();
    }

    private static void printWrapped(PrintWriter out, String title, String text, int width) {
        if (!text.isEmpty()) {
            String line = INDENT + title + text.replaceAll("\\s+", " ");
            out.print(Columns.fold(line, Math.min(WIDTH, width)));
        }
    }

    private static void printJson(PrintWriter out, List<Finding> findings, List<String> working) {
        List<Map<String, Object>> list = new ArrayList<>();
        for (Finding finding : findings) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("name", finding.name());
            fields.put("level", finding.level().name().toLowerCase(java.util.Locale.ROOT));
            fields.put("found", finding.found());
            fields.put("cost", finding.cost());
            fields.put("remedy", finding.remedy());
            list.add(fields);
        }
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("version", Version.text());
        report.put("worst", worst(findings).name().toLowerCase(java.util.Locale.ROOT));
        report.put("transports", working);
        report.put("findings", list);
        out.println(Json.of(report));
    }
}
