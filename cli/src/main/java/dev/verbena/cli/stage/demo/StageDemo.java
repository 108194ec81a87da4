package dev.verbena.cli.stage.demo;

import dev.verbena.agent.CountersFile;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Columns;
import dev.verbena.cli.terminal.HostPort;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.OwnedFolder;
import dev.verbena.cli.terminal.ProgressLine;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.examples.intransit.FieldQueries;
import dev.verbena.examples.intransit.RunState;
import dev.verbena.examples.intransit.SteeredRun;
import dev.verbena.examples.pic.PicParameters;
import dev.verbena.examples.pic.TwoStreamTheory;
import dev.verbena.savime.StagingServer;
import dev.verbena.savime.query.SavimeClient;
import dev.verbena.savime.query.SavimeResult;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.TreeMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code verbena stage demo}: a simulation, a staging server, a database, an answer. */
@Command(
        name = "demo",
        description = {
            "Simulate two beams of electrons and stage the field of every step; a staging server"
                    + " hands it to DuckDB. While the simulation runs it asks that database, in SQL,"
                    + " how fast the field grows, and ends when it no longer grows.",
            "",
            "At the end there are the SQL answer and pictures; the same question in SAVIME's language"
                    + " is printed, and asked if there is a server (--savime)."
        },
        sortOptions = false)
public final class StageDemo extends CliCommand {
    private static final String OUTPUT = "demo-output";
    private static final double LENGTH = 10.2604;
    private static final double TIME_STEP = 0.1;
    private static final double THERMAL_SPEED = 0.05;
    private static final double PERTURBATION = 0.004;
    private static final int CELLS = 128;
    private static final int ROWS_SHOWN = 5;
    private static final long CLOSE_MS = 100_000;

    @Option(
            names = "--particles",
            paramLabel = "N",
            defaultValue = "400000",
            description = "Particles, even, 1000 to 100000000. Default: 400000.")
    private long particles;

    @Option(
            names = "--steps",
            paramLabel = "N",
            defaultValue = "1000",
            description =
                    "Steps if the database does not end the run, 10 to 100000. Default: 1000.")
    private long steps;

    @Option(
            names = "--ask-every",
            paramLabel = "N",
            defaultValue = "10",
            description = "Steps between two questions, 1 to 1000. Default: 10.")
    private int askEvery;

    @Option(
            names = "--savime",
            paramLabel = "HOST:PORT",
            converter = HostPort.Converter.class,
            description = "Stage the field to this SAVIME, too, and ask it the same.")
    private HostPort savime;

    @Option(
            names = "--output",
            paramLabel = "DIR",
            description =
                    "Folder for report.html, points.csv, field.png, the database and logs; absent"
                            + " or empty. Default: the next free demo-output/run-N.")
    private Path output;

    /** For picocli. */
    public StageDemo() {}

    @Override
    public Integer call() throws Exception {
        inRange("--particles", particles, 1000, 100_000_000);
        inRange("--steps", steps, 10, 100_000);
        inRange("--ask-every", askEvery, 1, 1000);
        if (particles % 2 != 0) {
            throw wrong("--particles %s is odd: half of them are in each beam", particles);
        }
        PicParameters parameters =
                new PicParameters(
                        particles, CELLS, LENGTH, TIME_STEP, 1, THERMAL_SPEED, PERTURBATION, 1);
        Path folder = OutputFolder.prepareOrNext(output, OUTPUT);
        Path shared = CountersFile.defaultShmDirectory();
        OwnedFolder.removeLeft(shared);
        Path memory = OwnedFolder.create(shared);
        SteeredRun.Outcome outcome;
        try (Termination termination = new Termination(CLOSE_MS)) {
            outcome = run(parameters, folder, memory, termination);
        } finally {
            OwnedFolder.delete(memory);
        }
        FieldQueries queries = new FieldQueries(parameters);
        new DemoReport(parameters, queries, outcome, commandLine()).write(folder);
        tell(parameters, queries, outcome);
        say("report: " + folder.resolve("report.html"));
        return 0;
    }

    private SteeredRun.Outcome run(
            PicParameters parameters, Path folder, Path memory, Termination termination)
            throws Exception {
        Path base = folder.resolve("fields.duckdb");
        Path near = Files.createDirectory(memory.resolve("duckdb"));
        Path far = Files.createDirectory(memory.resolve("savime"));
        say("SQL, asked every " + askEvery + " steps:");
        say(new FieldQueries(parameters).state().indent(2).stripTrailing());
        ProgressLine line = new ProgressLine(out());
        try (DemoServer server = new DemoServer("duckdb", folder, near, "duckdb:" + base);
                DemoServer other =
                        savime == null
                                ? null
                                : new DemoServer("savime", folder, far, "savime://" + savime);
                StagingServer client = StagingServer.connect(server.address());
                StagingServer mirror =
                        other == null ? null : StagingServer.connect(other.address())) {
            return new SteeredRun(parameters, steps, askEvery)
                    .run(client, mirror, (done, state) -> show(line, done, state, termination));
        } finally {
            line.end();
        }
    }

    private void show(ProgressLine line, long done, RunState state, Termination termination) {
        if (termination.isAsked()) {
            throw new Messages.Failure("interrupted after step %s; there is no report", done);
        }
        String growth =
                Double.isNaN(state.growth())
                        ? "not known yet"
                        : String.format(Locale.ROOT, "%.4f", state.growth());
        String known =
                "after %s steps SQL says: %s, growth rate %s"
                        .formatted(
                                state.steps(),
                                state.isSaturated() ? "saturated" : "growing",
                                growth);
        line.progress(done, steps, known);
    }

    private void tell(PicParameters parameters, FieldQueries queries, SteeredRun.Outcome outcome)
            throws IOException {
        say(
                outcome.isSteered()
                        ? "ended by the database's answer after step " + outcome.steps()
                        : "all " + outcome.steps() + " steps were computed");
        say("SQL answer of all of them:");
        out().print(outcome.stateText());
        say(
                String.format(
                        Locale.ROOT,
                        "growth rate by SQL %.4f, by linear theory %.4f",
                        outcome.state().growth(),
                        TwoStreamTheory.growthRate(parameters)));
        say(
                String.format(
                        Locale.ROOT,
                        "energy of the field by step in SAVIME's language (times %.6g):",
                        queries.savimeScale()));
        out().print(Columns.fold("  " + queries.savimeEnergyByStep(), Columns.width()));
        out().flush();
        if (savime != null) {
            askSavime(queries);
        }
    }

    private void askSavime(FieldQueries queries) throws IOException {
        TreeMap<Long, Double> energies = new TreeMap<>();
        try (SavimeClient client =
                        SavimeClient.connect(
                                savime.host(), savime.port(), SavimeClient.Limits.DEFAULT);
                SavimeResult result = client.execute(queries.savimeEnergyByStep())) {
            while (result.next()) {
                for (int i = 0; i < result.cells(); i++) {
                    energies.put(
                            (long) result.column("t").getInt(4 * i, ByteOrder.LITTLE_ENDIAN),
                            queries.savimeScale()
                                    * result.column("energy")
                                            .getDouble(8 * i, ByteOrder.LITTLE_ENDIAN));
                }
            }
        }
        say("SAVIME's answer has " + energies.size() + " steps; the last ones:");
        energies.descendingMap().entrySet().stream()
                .limit(ROWS_SHOWN)
                .forEach(
                        each ->
                                say(
                                        String.format(
                                                Locale.ROOT,
                                                "  step %d: %.6g",
                                                each.getKey(),
                                                each.getValue())));
    }
}
