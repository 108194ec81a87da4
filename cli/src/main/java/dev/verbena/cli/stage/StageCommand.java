package dev.verbena.cli.stage;

import dev.verbena.cli.stage.demo.StageDemo;
import dev.verbena.cli.stage.experiment.ExperimentClient;
import dev.verbena.cli.stage.experiment.StageExperiment;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code verbena stage}: data on their way from a simulation to an analysis database. */
@Command(
        name = "stage",
        description = {
            "Stage datasets on their way to a database.",
            "",
            "  verbena stage server --listen 127.0.0.1:3221 --memory /dev/shm/stage:2g --disk"
                    + " spilled --sink file:arrived"
        },
        mixinStandardHelpOptions = true,
        subcommands = {
            StageServe.class,
            StageSql.class,
            StageVerify.class,
            StageDemo.class,
            StageExperiment.class,
            ExperimentClient.class
        })
public final class StageCommand implements Runnable {
    @Spec private CommandSpec spec;

    /** For picocli. */
    public StageCommand() {}

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(),
                "which program? There are server, sql, verify, demo and experiment");
    }
}
