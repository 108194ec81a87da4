package dev.verbena.cli.status;

import dev.verbena.cli.terminal.CliCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code --job}, of the commands that look at running processes. */
final class JobOption {
    @Option(
            names = "--job",
            paramLabel = "JOB",
            description = "Only processes of this job. Default: of all jobs.")
    private String job;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /**
     * The job, null for all.
     *
     * @throws ParameterException for a name that cannot be a job's
     */
    String job() {
        if (job != null && !job.matches("[A-Za-z0-9_-][A-Za-z0-9._-]{0,62}")) {
            throw CliCommand.wrong(
                    command, "--job '%s': letters, digits, dots, dashes, underscores", job);
        }
        return job;
    }
}
