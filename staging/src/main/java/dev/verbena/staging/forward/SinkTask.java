package dev.verbena.staging.forward;

import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.SinkSession;
import java.io.IOException;
import java.io.UncheckedIOException;

/** One try to hand something to a sink. Its result is read after it has ended. */
public abstract class SinkTask {
    /** How a try ended. */
    public enum Result {
        /** The sink has it, or has run it. */
        OK,
        /** The sink refuses it. */
        REJECTED,
        /** The sink cannot be reached; nothing was begun. */
        UNREACHABLE,
        /** What comes before failed; the sink was not asked, and may well be there. */
        NOT_BEGUN,
        /** The sink was lost meanwhile: it may have it. */
        UNKNOWN
    }

    private final Object owner;
    private Result result = Result.UNREACHABLE;
    private String text = "";

    protected SinkTask(Object owner) {
        this.owner = owner;
    }

    /** Who asked for it. */
    public final Object owner() {
        return owner;
    }

    public final Result result() {
        return result;
    }

    /** The sink's text, or why it cannot be reached. */
    public final String text() {
        return text;
    }

    /**
     * What comes before the sink is asked for anything.
     *
     * @throws IOException if it cannot be done now: nothing was begun
     */
    protected void prepare() throws IOException {}

    /**
     * Does it, on a sender's thread; the sink's text.
     *
     * @throws SinkRejectedException if the sink refuses it
     * @throws IOException if the sink was lost
     */
    protected abstract String perform(SinkSession session) throws IOException;

    /** On a sender's thread; true: the session can be used again. */
    public final boolean run(SinkSession session) {
        try {
            if (!isPrepared()) {
                return true;
            }
            text = perform(session);
            result = Result.OK;
            return true;
        } catch (SinkRejectedException e) {
            end(Result.REJECTED, e);
            return true;
        } catch (IOException | UncheckedIOException | VirtualMachineError e) {
            end(Result.UNKNOWN, e);
            return false;
        } catch (RuntimeException | Error e) {
            // A fault in the sink's code, which another try would meet again.
            end(Result.REJECTED, e);
            return false;
        }
    }

    private boolean isPrepared() {
        try {
            prepare();
            return true;
        } catch (IOException | UncheckedIOException e) {
            end(Result.NOT_BEGUN, e);
            return false;
        }
    }

    /** There was no session for it. */
    public final void unreachable(Throwable why) {
        end(Result.UNREACHABLE, why);
    }

    private void end(Result how, Throwable why) {
        result = how;
        text = why.getMessage() == null ? why.toString() : why.getMessage();
    }
}
