package dev.verbena.savime.forward;

import dev.verbena.savime.store.MetaFile;
import dev.verbena.savime.store.StagedFile;
import dev.verbena.savime.wire.DatasetState;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.SinkSession;
import dev.verbena.staging.sink.TarText;
import java.io.IOException;

/** One try to hand a dataset over, or to run a command. Its result is read after it has ended. */
public final class ForwardTask {
    /** How a try ended. */
    public enum Result {
        /** The sink has it, or has run it. */
        OK,
        /** The sink refuses it. */
        REJECTED,
        /** The sink cannot be reached; nothing was begun. */
        UNREACHABLE,
        /** The sink was lost meanwhile: it may have it. */
        UNKNOWN
    }

    private final Object owner;
    private final StagedFile file;
    private final MetaFile meta;
    private final String command;
    private final boolean isRepeated;
    private Result result = Result.UNREACHABLE;
    private String text = "";

    private ForwardTask(
            Object owner, StagedFile file, MetaFile meta, String command, boolean isRepeated) {
        this.owner = owner;
        this.file = file;
        this.meta = meta;
        this.command = command;
        this.isRepeated = isRepeated;
    }

    /** Of a dataset. */
    public static ForwardTask dataset(
            Object owner, StagedFile file, MetaFile meta, boolean isRepeated) {
        return new ForwardTask(owner, file, meta, null, isRepeated);
    }

    /** Of a command. */
    public static ForwardTask command(Object owner, String text) {
        return new ForwardTask(owner, null, null, text, false);
    }

    /** Who asked for it. */
    public Object owner() {
        return owner;
    }

    public Result result() {
        return result;
    }

    /** The sink's text, or why it cannot be reached. */
    public String text() {
        return text;
    }

    /** On a sender's thread; true: the session can be used again. */
    boolean run(SinkSession session) {
        try {
            if (command != null) {
                text = TarText.run(session, command);
            } else {
                file.writeMeta(meta.in(DatasetState.FORWARDING));
                session.transfer(
                        new SinkDataset(
                                meta.name(),
                                meta.type(),
                                meta.totalBytes(),
                                meta.elementSize(),
                                meta.piece(),
                                isRepeated),
                        file.open());
            }
            result = Result.OK;
            return true;
        } catch (SinkRejectedException e) {
            end(Result.REJECTED, e);
            return true;
        } catch (IOException | RuntimeException e) {
            end(Result.UNKNOWN, e);
            return false;
        }
    }

    void unreachable(Exception why) {
        end(Result.UNREACHABLE, why);
    }

    private void end(Result how, Exception why) {
        result = how;
        text = why.getMessage() == null ? why.toString() : why.getMessage();
    }
}
