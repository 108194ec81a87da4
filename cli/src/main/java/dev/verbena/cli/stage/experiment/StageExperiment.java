package dev.verbena.cli.stage.experiment;

import dev.verbena.agent.CountersFile;
import dev.verbena.cli.report.ResultReport;
import dev.verbena.cli.terminal.ByteSize;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Columns;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.OwnedFolder;
import dev.verbena.cli.terminal.ProgressLine;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.cli.terminal.ThisMachine;
import dev.verbena.cli.terminal.TransportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code verbena stage experiment}: the measurements of the staging paper. */
@Command(
        name = "experiment",
        description = {
            "Measure what the staging paper measured, and draw its figures 3 to 6 again: datasets"
                    + " from one mapped source into a staging server, beside scp and two ssh -L"
                    + " through an OpenSSH server of its own on loopback.",
            "",
            "Each method also shows what it costs the client (processor seconds, context switches)"
                    + " and how much it slows a computing loop beside it. Means have 95 %% confidence"
                    + " intervals. The default takes about an hour. Ctrl-C ends it in order."
        },
        sortOptions = false)
public final class StageExperiment extends CliCommand {
    private static final String OUTPUT = "experiment-output";

    @Option(
            names = "--runs",
            paramLabel = "N",
            defaultValue = "10",
            description = "Runs of each point, 2 to 1000. Default: 10.")
    private int runs;

    @Option(
            names = "--datasets",
            paramLabel = "N",
            defaultValue = "17",
            description = "Datasets of a run, 1 to 1000. Default: 17, of one node in the paper.")
    private int datasets;

    @Option(
            names = "--bytes",
            paramLabel = "N",
            defaultValue = "250000000",
            description = "Length of a dataset, 8192 to 1073741824. Default: 250000000.")
    private long bytes;

    @Option(
            names = "--blocks",
            paramLabel = "MIB[,MIB...]",
            split = ",",
            defaultValue = "2,8,32,128,256,1024",
            description = "Block sizes in MiB, 1 to 1024. Default: ${DEFAULT-VALUE}.")
    private List<Integer> blocks;

    @Option(
            names = "--transport",
            paramLabel = "SCHEME",
            defaultValue = "shm",
            description = "Of staging: ${COMPLETION-CANDIDATES}. Default: shm.",
            completionCandidates = TransportOption.Schemes.class)
    private String transport;

    @Option(
            names = "--memory",
            paramLabel = "DIR",
            description = "Folder of a memory file system. Default: /dev/shm.")
    private Path memory;

    @Option(
            names = "--disk",
            paramLabel = "DIR",
            defaultValue = "/var/tmp",
            description = "Folder on a disk, which every user may enter. Default: /var/tmp.")
    private Path disk;

    @Option(names = "--no-ssh", description = "Leave out what needs an OpenSSH server.")
    private boolean isWithoutSsh;

    @Option(
            names = "--output",
            paramLabel = "DIR",
            description =
                    "Folder for report.html, results.json and points.csv; absent or empty."
                            + " Default: the next free experiment-output/run-N.")
    private Path output;

    /** For picocli. */
    public StageExperiment() {}

    @Override
    public Integer call() throws Exception {
        check();
        String scheme = TransportOption.require(spec, transport);
        Path inMemory = memory == null ? CountersFile.defaultShmDirectory() : memory;
        OwnedFolder.removeLeft(inMemory);
        OwnedFolder.removeLeft(disk);
        requireRoom(inMemory);
        requireRoom(disk);
        Path folder = OutputFolder.prepareOrNext(output, OUTPUT);
        ExperimentPlan plan = new ExperimentPlan(blocks, bytes, !isWithoutSsh);
        try (Termination termination = new Termination(60_000);
                Transfers transfers =
                        new Transfers(scheme, inMemory, disk, datasets, termination::isAsked)) {
            try {
                transfers.start(bytes, !isWithoutSsh);
                measure(plan, transfers);
            } catch (InterruptedException e) {
                throw new Messages.Failure("interrupted; nothing was written");
            }
        }
        ResultReport report = new ExperimentReport(plan, datasets, runs).report();
        report.write(folder, environment(scheme, inMemory));
        report.summary()
                .forEach(
                        (name, value) ->
                                out().print(Columns.fold(name + ": " + value, Columns.width())));
        say("report: " + folder.resolve("report.html"));
        return 0;
    }

    private void check() {
        inRange("--runs", runs, 2, 1000);
        inRange("--datasets", datasets, 1, 1000);
        inRange("--bytes", bytes, 8192, 1 << 30);
        blocks.forEach(each -> inRange("--blocks", each, 1, 1024));
        String missing = isWithoutSsh ? null : Sshd.missing();
        if (missing != null) {
            throw new Messages.Failure(
                    "there is no OpenSSH here to compare with; on Debian: apt-get install %s; or"
                            + " leave it out: --no-ssh",
                    missing);
        }
    }

    /** The source, what arrives, and some. */
    private void requireRoom(Path folder) {
        if (!Files.isDirectory(folder)) {
            throw wrong("%s: no such folder", folder);
        }
        long needed = (datasets + 2) * bytes + (32L << 20);
        long usable = folder.toFile().getUsableSpace();
        if (usable < needed) {
            throw new Messages.Failure(
                    "%s has %s free, and %s datasets need %s; fewer --datasets, or less --bytes",
                    folder, ByteSize.text(usable), datasets, ByteSize.text(needed));
        }
    }

    /** Each point once, then all again: what changes on the machine meets all of them. */
    private void measure(ExperimentPlan plan, Transfers transfers)
            throws IOException, InterruptedException {
        ProgressLine line = new ProgressLine(out());
        long done = 0;
        long total = (long) runs * plan.trials().size();
        try {
            transfers.warmUp(plan.trials().get(0));
            for (int run = 1; run <= runs; run++) {
                for (Trial trial : plan.trials()) {
                    line.percent(done, total, "run " + run + ": " + trial.text());
                    transfers.measure(trial);
                    done++;
                }
            }
            line.percent(total, total, "measured");
        } finally {
            line.end();
        }
    }

    private Map<String, Object> environment(String scheme, Path inMemory) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("processor", ThisMachine.processor());
        fields.put("processors", Runtime.getRuntime().availableProcessors());
        fields.put("kernel", System.getProperty("os.version"));
        fields.put("java", System.getProperty("java.vm.version"));
        fields.put("transport", scheme);
        fields.put("memory", ThisMachine.fileSystem(inMemory));
        fields.put("disk", ThisMachine.fileSystem(disk));
        fields.put("date", LocalDate.now(ZoneOffset.UTC).toString());
        fields.put("command", commandLine());
        return fields;
    }
}
