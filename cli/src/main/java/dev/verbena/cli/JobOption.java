package dev.verbena.cli;

import picocli.CommandLine.Option;

/** {@code --job}, of the commands that look at running processes. */
final class JobOption {
    @Option(
            names = "--job",
            paramLabel = "JOB",
            description = "Only processes of this job. Default: of all jobs.")
    private String job;

    /** The job, null for all. */
    String job() {
        return job;
    }
}
