package dev.verbena.dart.config;

import dev.verbena.agent.Environment;
import dev.verbena.dart.DartConfiguration;
import dev.verbena.dart.DartException;
import dev.verbena.staging.bootstrap.ServiceFile;
import java.io.UncheckedIOException;
import java.util.function.UnaryOperator;

/** The configuration in its {@link ServiceFile}: what it says, and whose it is. One thread. */
public final class ConfigurationFile implements AutoCloseable {
    private final ServiceFile file;
    private String whyNot = "";
    private boolean isFromFile;

    public ConfigurationFile(Environment environment, String path) {
        file = new ServiceFile(environment, path, DartConfiguration.LENGTH_MAX + 1);
    }

    public void onReady(Runnable wakeup) {
        file.onReady(wakeup);
    }

    String path() {
        return file.path();
    }

    /** Why {@link #read} found nothing. */
    String whyNot() {
        return whyNot;
    }

    /** What the file says and the environment overrides, or null, see {@link #whyNot}. */
    public DartConfiguration read(UnaryOperator<String> variables) {
        DartConfiguration found = readFile();
        DartConfiguration wins = DartConfiguration.override(found, variables);
        isFromFile = found != null && wins != null && wins.url().equals(found.url());
        return wins;
    }

    private DartConfiguration readFile() {
        String text = file.read();
        whyNot =
                path().isEmpty()
                        ? "no configuration file is named, and no environment variable replaces it"
                        : file.whyNot();
        try {
            return text == null ? null : DartConfiguration.parse(text);
        } catch (DartException e) {
            whyNot = path() + " is not complete: " + e.getMessage();
            return null;
        }
    }

    /** What {@link #read} answered last is the file's address, not one of the environment. */
    boolean isFromFile() {
        return isFromFile;
    }

    /**
     * Claims the file for the server of this id, until {@link #close} or the end of the process: of
     * several masters on one file one gets it.
     *
     * @return false if another server of this id has it
     * @throws DartException {@link DartException.Code#NOT_BOOTSTRAPPED} if the file system cannot
     *     lock
     */
    public boolean claim(int serverId) {
        try {
            return file.claim(serverId);
        } catch (UncheckedIOException e) {
            throw notBootstrapped("cannot claim " + path() + ": " + e.getMessage(), e);
        }
    }

    private static DartException notBootstrapped(String what, Throwable cause) {
        return new DartException(DartException.Code.NOT_BOOTSTRAPPED, what, cause);
    }

    /** Whether a server of whatever id lives that has claimed this file. */
    boolean isServed() {
        return file.isServed();
    }

    /** Whether a master lives that has claimed this file; true also where that cannot be told. */
    boolean isMasterThere() {
        return file.isClaimed(0);
    }

    /**
     * Whether a living master says this, and not a file that was left over: what is read after its
     * lock was seen is its own. Masters that write two lines and no job may be other programs,
     * which lock nothing.
     */
    boolean isCurrent(DartConfiguration found, UnaryOperator<String> variables) {
        return !isFromFile
                || found.job().equals(DartConfiguration.NO_JOB)
                || file.isPublisherAlive() && found.equals(read(variables));
    }

    /**
     * Begins to publish.
     *
     * @throws DartException as {@link #publishStep}
     */
    public void publish(String text, String suffix) {
        try {
            file.publish(text, suffix);
        } catch (UncheckedIOException e) {
            throw notBootstrapped("cannot publish " + path() + ": " + e.getMessage(), e);
        }
    }

    public boolean isPublished() {
        return file.isPublished();
    }

    /**
     * Publishes on; work done.
     *
     * @throws DartException {@link DartException.Code#NOT_BOOTSTRAPPED} naming the file and why it
     *     cannot be written
     */
    public int publishStep() {
        try {
            return file.publishStep();
        } catch (UncheckedIOException e) {
            throw notBootstrapped(e.getCause().getMessage(), e);
        }
    }

    /** Deletes the file if it still says this. */
    public void withdraw(DartConfiguration own) {
        DartConfiguration found = readFile();
        if (found != null && found.url().equals(own.url())) {
            file.delete();
        }
    }

    @Override
    public void close() {
        file.close();
    }
}
