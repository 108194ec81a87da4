package dev.verbena.dart.config;

import dev.verbena.agent.Environment;
import dev.verbena.dart.DartConfiguration;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlResult;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Finds the master and connects to it, for slaves and clients: reads the configuration file until
 * it is there, connects, and begins anew when that fails, until the time is over. Driven by its
 * owner, who registers once {@link #isConnected()}. One thread.
 */
public final class MasterLink implements AutoCloseable {
    private static final long RETRY_NS = 20_000_000;

    /** Each try takes a number of this process at its master: not too often. */
    private static final long INCOMPLETE_RETRY_NS = 100_000_000;

    private static final long CONNECT_TIMEOUT_NS = 2_000_000_000L;
    private static final int LOOKING = 0;
    private static final int CONNECTING = 1;
    private static final int CONNECTED = 2;

    private final Environment environment;
    private final Transport transport;
    private final ConfigurationFile file;
    private final UnaryOperator<String> variables;
    private final UUID wantedJob;
    private final long startNs;
    private final long timeoutNs;
    private final UnsafeBuffer noData = new UnsafeBuffer(new byte[0]);
    private int state = LOOKING;
    private long connection;
    private long nextTryNs;
    private DartConfiguration found;
    private Code code = Code.NOT_BOOTSTRAPPED;
    private String reason = "";
    private final long wantedEpochMs;
    private boolean hasBeenRefused;

    /** Why it was refused, as it was said last. */
    private int toldResult = ControlFlyweight.RESULT_OK;

    /** Nobody was there to answer. */
    private boolean isUnanswered;

    /** No wait can help: the master that knows this process is gone for good. */
    private boolean isHopeless;

    public MasterLink(
            Environment environment,
            Transport transport,
            String path,
            UnaryOperator<String> variables,
            UUID wantedJob,
            long wantedEpochMs,
            long timeoutNs) {
        this.environment = environment;
        this.transport = transport;
        this.file = new ConfigurationFile(environment, path);
        this.variables = variables == null ? environment::variable : variables;
        this.wantedJob = wantedJob;
        this.wantedEpochMs = wantedEpochMs;
        this.startNs = environment.nanoClock().nanoTime();
        this.nextTryNs = startNs;
        this.timeoutNs = timeoutNs;
    }

    public boolean isConnected() {
        return state == CONNECTED;
    }

    public long connection() {
        return connection;
    }

    public UUID job() {
        return found.job();
    }

    /** When the master that was found started, ms; 0 if the file does not say. */
    public long epochMs() {
        return found == null ? wantedEpochMs : found.epochMs();
    }

    /** The file does not say which job it is of; the master's answer does. */
    public boolean isAnyJob() {
        return found != null && found.job().equals(DartConfiguration.NO_JOB);
    }

    public boolean isTimeOver(long nowNs) {
        return nowNs - startNs - timeoutNs >= 0;
    }

    public long nextDeadlineNs() {
        long end = startNs + timeoutNs;
        return state == LOOKING && nextTryNs - end < 0 ? nextTryNs : end;
    }

    /** Looks and connects; the context is given to the connection. */
    public int doWork(long nowNs, long context) {
        if (state != LOOKING || nowNs - nextTryNs < 0) {
            return 0;
        }
        nextTryNs = nowNs + RETRY_NS;
        found = file.read(variables);
        if (found == null) {
            code = Code.NOT_BOOTSTRAPPED;
            reason = file.whyNot();
            lookForMaster();
            return 0;
        }
        if (wantedJob != null && !wantedJob.equals(found.job())) {
            code = Code.NOT_BOOTSTRAPPED;
            reason = what() + " belongs to service " + found.job() + ", not to " + wantedJob;
            return 0;
        }
        if (wantedEpochMs != 0 && found.epochMs() != 0 && found.epochMs() != wantedEpochMs) {
            code = Code.SERVER_UNREACHABLE;
            isUnanswered = false;
            isHopeless = true;
            reason =
                    ("%s is of a master that was started anew; it does not know who "
                                    + "registered with the one before")
                            .formatted(what());
            return 0;
        }
        String scheme = transport.uri().getScheme();
        if (!found.transport().equals(scheme)) {
            code = Code.INCOMPATIBLE;
            isUnanswered = false;
            // A file that was left over may be replaced by one that fits.
            isHopeless = file.isCurrent(found, variables);
            reason =
                    ("%s is of transport '%s', but this process uses '%s'. Name no transport "
                                    + "here, or '%s'")
                            .formatted(what(), found.transport(), scheme, found.transport());
            return 0;
        }
        connection = transport.connect(found.url(), noData, 0, 0, context, CONNECT_TIMEOUT_NS);
        if (connection > 0) {
            state = CONNECTING;
            return 1;
        }
        return 0;
    }

    public void onConnected() {
        state = CONNECTED;
        isUnanswered = false;
        if (!hasBeenRefused) {
            reason = what() + " was found, but the master did not answer";
            code = Code.NOT_BOOTSTRAPPED;
        }
    }

    public void onConnectFailed(long nowNs, int status, String why) {
        isUnanswered = true;
        code = Code.SERVER_UNREACHABLE;
        reason =
                "no connection to the master of %s: %s, %s"
                        .formatted(what(), Status.name(status), why);
        lookForMaster();
        again(nowNs);
    }

    /**
     * Whoever is known to a master needs that very one: where it holds its lock no more, it has
     * ended, and one that comes after it knows nobody. A frozen one still holds it.
     */
    private void lookForMaster() {
        boolean isByFile = found == null || file.isFromFile();
        if (wantedEpochMs == 0 || !isByFile || file.isMasterThere()) {
            return;
        }
        isHopeless = true;
        code = Code.SERVER_UNREACHABLE;
        isUnanswered = false;
        reason =
                ("the master of %s has ended, and only it could name another server to "
                                + "this process (%s). Start the service and this process anew")
                        .formatted(file.path(), reason);
    }

    /** Whether waiting on is of no use, although time is left. */
    public boolean isHopeless() {
        return isHopeless;
    }

    /** The master refused for a reason that a newer file may cure. */
    public void onRefused(long nowNs, int result) {
        hasBeenRefused = true;
        isUnanswered = false;
        code = ControlResult.code(result);
        reason = "the master of " + what() + " answered: " + ControlResult.name(result);
        boolean isServiceIncomplete =
                result == ControlFlyweight.RESULT_RECEIVER_UNREACHABLE
                        || result == ControlFlyweight.RESULT_FULL;
        if (isServiceIncomplete && result != toldResult) {
            // It may take a while: said once, so that somebody can do something about it.
            toldResult = result;
            environment.errorHandler().onError(new DartException(code, reason + "; waiting"));
        }
        again(nowNs);
        nextTryNs = isServiceIncomplete ? nowNs + INCOMPLETE_RETRY_NS : nextTryNs;
    }

    /** The master went away before it answered. */
    public void onLost(long nowNs, String why) {
        isUnanswered = true;
        code = Code.SERVER_UNREACHABLE;
        reason = "the master of " + what() + " was lost before it answered: " + why;
        again(nowNs);
    }

    private void again(long nowNs) {
        state = LOOKING;
        nextTryNs = nowNs + RETRY_NS;
    }

    /** Marks that the slave of this id lives, see {@link ConfigurationFile#claim}. */
    public boolean claim(int slaveId) {
        return file.claim(slaveId);
    }

    private String what() {
        if (found == null) {
            return file.path();
        }
        String age =
                found.epochMs() == 0
                        ? "of unknown age"
                        : (environment.epochClock().time() - found.epochMs()) / 1000 + " s old";
        return file.path() + " (" + age + ", " + found.url() + ")";
    }

    /**
     * What to tell when the time is over. Where nobody answers, the service may have lost its
     * master, or the file may be left over from one that is gone altogether: servers that live hold
     * a lock.
     */
    public DartException failure() {
        long waitedNs = isHopeless ? environment.nanoClock().nanoTime() - startNs : timeoutNs;
        String text = "gave up after " + waitedNs / 1_000_000 + " ms: " + reason;
        boolean isStale =
                isUnanswered && wantedEpochMs == 0 && file.isFromFile() && !file.isServed();
        if (isStale) {
            return Code.NOT_BOOTSTRAPPED.because(
                    "%s; no server of it lives: the file is stale. Start a master, or "
                            + "remove the file",
                    text);
        }
        return new DartException(code, text);
    }

    @Override
    public void close() {
        file.close();
    }
}
