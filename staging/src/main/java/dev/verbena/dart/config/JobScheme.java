package dev.verbena.dart.config;

import dev.verbena.agent.Environment;
import dev.verbena.dart.DartConfiguration;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.agrona.concurrent.NanoClock;

/**
 * Which transport a slave or a client opens: the one that it was told, otherwise the one that the
 * job's configuration names, as soon as it does. One thread.
 */
public final class JobScheme implements AutoCloseable {
    private static final long RETRY_NS = 20_000_000;

    private final NanoClock clock;
    private final String told;
    private final ConfigurationFile file;
    private final UnaryOperator<String> variables;
    private final UUID wantedJob;
    private final long timeoutNs;
    private final long startNs;
    private long nextTryNs;

    /**
     * @param variables null: the environment's
     * @param wantedJob null: any
     */
    public JobScheme(ServiceSettings service, UnaryOperator<String> variables, UUID wantedJob) {
        Environment environment = service.environment();
        this.clock = environment.nanoClock();
        this.told = service.transport();
        this.file =
                told.isEmpty()
                        ? new ConfigurationFile(environment, service.configurationFile())
                        : null;
        this.variables = variables == null ? environment::variable : variables;
        this.wantedJob = wantedJob;
        this.timeoutNs = service.bootTimeoutNs();
        this.startNs = clock.nanoTime();
        this.nextTryNs = startNs;
    }

    /**
     * The scheme, or null while it is not known.
     *
     * @throws DartException {@link DartException.Code#NOT_BOOTSTRAPPED} when the time is over
     */
    public String find() {
        if (file == null) {
            return told;
        }
        long now = clock.nanoTime();
        if (now - nextTryNs < 0) {
            return null;
        }
        nextTryNs = now + RETRY_NS;
        DartConfiguration found = file.read(variables);
        String reason = found == null ? file.whyNot() : whyUnusable(found);
        if (!reason.isEmpty() && now - startNs - timeoutNs >= 0) {
            throw Code.NOT_BOOTSTRAPPED.because(
                    "gave up after " + timeoutNs / 1_000_000 + " ms: " + reason);
        }
        return reason.isEmpty() ? found.transport() : null;
    }

    /** The next master may choose another transport than a file that was left over says. */
    private String whyUnusable(DartConfiguration found) {
        if (wantedJob != null && !wantedJob.equals(found.job())) {
            return file.path() + " belongs to service " + found.job() + ", not to " + wantedJob;
        }
        return file.isCurrent(found, variables)
                ? ""
                : ("no master of %s lives: the file is stale, or its locks do not reach "
                                + "this machine. Start a master, or name the transport here")
                        .formatted(file.path());
    }

    /** What is left of the time to register. */
    public long leftNs() {
        return Math.max(0, timeoutNs - (clock.nanoTime() - startNs));
    }

    public long nextDeadlineNs() {
        return nextTryNs;
    }

    @Override
    public void close() {
        if (file != null) {
            file.close();
        }
    }
}
