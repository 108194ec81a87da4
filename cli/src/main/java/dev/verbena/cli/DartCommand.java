package dev.verbena.cli;

import dev.verbena.cli.dart.DartList;
import dev.verbena.cli.dart.DartReceive;
import dev.verbena.cli.dart.DartSend;
import dev.verbena.cli.dart.DartServe;
import dev.verbena.cli.dart.DartStop;
import dev.verbena.cli.experiment.DartExperiment;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code verbena dart}: the programs of the staging service. */
@Command(
        name = "dart",
        description = {
            "Stage data out of processes: receiver first, then master, slaves, senders.",
            "",
            "  verbena dart receive --listen 127.0.0.1:7000 --directory arrived",
            "  verbena dart master --config job.conf --receiver 127.0.0.1:7000",
            "  verbena dart send --config job.conf results/"
        },
        mixinStandardHelpOptions = true,
        subcommands = {
            DartServe.Master.class,
            DartServe.Slave.class,
            DartReceive.class,
            DartSend.class,
            DartList.class,
            DartStop.class,
            DartExperiment.class
        })
final class DartCommand implements Runnable {
    @Spec private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(),
                "which program? There are master, slave, receive, send, ls, stop and experiment");
    }
}
