package dev.verbena.agent;

import java.util.Map;

/**
 * Who this process is within a launched job, from what its launcher left in the environment.
 *
 * <p>First that is present: {@code mpi-hold} (whose commands are a job of their own beside programs
 * that know MPI only), PMIx, Slurm (a step started by {@code srun}: the batch script itself is no
 * rank, though Slurm sets a rank there too), Open MPI, PMI, the properties {@code verbena.rank},
 * {@code verbena.size} and {@code verbena.job}, else a job of one process. PMIx variables carry no
 * size; it comes from the variables of the launcher around it, else from {@code verbena.size}.
 *
 * @param launcher which of these it was
 * @param jobId tells this job from others that use the same rendezvous directory
 * @param rank in the whole job, from 0
 * @param size processes of the whole job
 * @param application name of the program that this process runs
 * @param colour CRC-32 of the name: processes of one colour form one application
 */
public record JobIdentity(
        String launcher, String jobId, int rank, int size, String application, int colour) {
    private static final int SIZE_MAX = 1 << 22;

    /** From the environment and the system properties of this process. */
    public static JobIdentity discover() {
        return discover(System.getenv(), propertiesOf());
    }

    private static Map<String, String> propertiesOf() {
        Map<String, String> properties = new java.util.HashMap<>();
        for (String name : System.getProperties().stringPropertyNames()) {
            properties.put(name, System.getProperty(name));
        }
        return properties;
    }

    /**
     * From given variables and properties.
     *
     * @throws JobGroupException naming the variable that is missing, no number or out of range
     */
    public static JobIdentity discover(
            Map<String, String> environment, Map<String, String> properties) {
        Source source = new Source(environment, properties);
        if (source.hasAll("VERBENA_HELD_RANK", "VERBENA_HELD_JOB")) {
            String id = source.value("VERBENA_HELD_JOB");
            String size = source.need("VERBENA_HELD_SIZE");
            return source.identity("held", id, "VERBENA_HELD_RANK", size);
        }
        if (source.hasAll("PMIX_RANK", "PMIX_NAMESPACE")) {
            String size =
                    source.first(
                            "OMPI_COMM_WORLD_SIZE",
                            "SLURM_STEP_NUM_TASKS",
                            "SLURM_NTASKS",
                            "PMI_SIZE",
                            "verbena.size");
            if (size == null) {
                throw new JobGroupException(
                        "PMIX_RANK is set, but nothing tells the number of processes: set"
                                + " -Dverbena.size=N");
            }
            String id = source.value("PMIX_NAMESPACE");
            return source.identity("PMIx", id, "PMIX_RANK", size);
        }
        if (source.hasAll("SLURM_PROCID", "SLURM_JOB_ID", "SLURM_STEP_ID")) {
            String size = source.first("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS");
            String id = source.value("SLURM_JOB_ID") + "." + source.value("SLURM_STEP_ID");
            return source.identity("Slurm", id, "SLURM_PROCID", source.need(size));
        }
        if (source.hasAll("OMPI_COMM_WORLD_RANK")) {
            String id = source.first("OMPI_MCA_ess_base_jobid", "verbena.job", "VERBENA_JOB");
            return source.identity(
                    "Open MPI",
                    id == null ? "ompi" : id,
                    "OMPI_COMM_WORLD_RANK",
                    source.need("OMPI_COMM_WORLD_SIZE"));
        }
        if (source.hasAll("PMI_RANK")) {
            String id =
                    source.first(
                            "PMI_JOBID",
                            "SLURM_JOB_ID",
                            "verbena.job",
                            "VERBENA_JOB",
                            "VERBENA_PMI_FILE"); // gni-run
            return source.identity(
                    "PMI", id == null ? "pmi" : id, "PMI_RANK", source.need("PMI_SIZE"));
        }
        if (source.hasAll("verbena.rank")) {
            String id = source.first("verbena.job", "VERBENA_JOB");
            return source.identity(
                    "properties",
                    id == null ? "default" : id,
                    "verbena.rank",
                    source.need("verbena.size"));
        }
        return source.identity("none", "single-" + ProcessHandle.current().pid(), 0, 1);
    }

    /** Property, variable, else what the JVM was started with: its jar or main class. */
    private static String application(Source source) {
        String name = source.first("verbena.app", "VERBENA_APP");
        if (name == null) {
            String command = source.first("sun.java.command");
            name = command == null ? "java" : command.split(" ", 2)[0];
        }
        if (name.length() > 200 || name.chars().anyMatch(Character::isISOControl)) {
            throw new JobGroupException(
                    "the application's name has more than 200 or control characters; set"
                            + " -Dverbena.app=NAME");
        }
        return name;
    }

    /** Variables first, then properties. */
    private record Source(Map<String, String> environment, Map<String, String> properties) {
        String value(String name) {
            Map<String, String> map = name.indexOf('.') >= 0 ? properties : environment;
            String value = map.get(name);
            return value == null || value.isEmpty() ? null : value;
        }

        boolean hasAll(String... names) {
            for (String name : names) {
                if (value(name) == null) {
                    return false;
                }
            }
            return true;
        }

        /** The first of these that is set, or null. */
        String first(String... names) {
            for (String name : names) {
                if (value(name) != null) {
                    return value(name);
                }
            }
            return null;
        }

        /** A value that was found, or the value of a variable of this name. */
        String need(String valueOrName) {
            String value = valueOrName == null ? null : value(valueOrName);
            if (value != null) {
                return value;
            }
            if (valueOrName != null && !valueOrName.isEmpty() && valueOrName.charAt(0) <= '9') {
                return valueOrName;
            }
            throw new JobGroupException(
                    "the launcher told a rank but no number of processes: %s is not set"
                            .formatted(valueOrName == null ? "SLURM_NTASKS" : valueOrName));
        }

        JobIdentity identity(String launcher, String jobId, String rankName, String size) {
            int count = number("number of processes of " + launcher, size, 1, SIZE_MAX);
            int rank = number(rankName, value(rankName), 0, count - 1);
            return identity(launcher, launcher + ":" + jobId, rank, count);
        }

        JobIdentity identity(String launcher, String jobId, int rank, int size) {
            String name = application(this);
            return new JobIdentity(launcher, jobId, rank, size, name, JobColour.of(name));
        }

        private static int number(String what, String text, int min, int max) {
            int value;
            try {
                value = Integer.parseInt(text.trim());
            } catch (NumberFormatException e) {
                throw new JobGroupException(what + " is '" + text + "', no number", e);
            }
            if (value < min || value > max) {
                throw new JobGroupException(
                        what + " is " + value + ", outside " + min + " to " + max);
            }
            return value;
        }
    }
}
