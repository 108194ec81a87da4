package dev.verbena.savime.forward;

import dev.verbena.savime.store.MetaFile;
import dev.verbena.savime.store.StagedFile;
import dev.verbena.savime.wire.DatasetState;
import dev.verbena.staging.forward.SinkTask;
import dev.verbena.staging.sink.SinkSession;
import dev.verbena.staging.sink.TarText;
import java.io.IOException;

/** One try to hand a dataset over, or to run a command. */
public final class ForwardTask extends SinkTask {
    private final StagedFile file;
    private final MetaFile meta;
    private final String command;
    private final boolean isRepeated;

    private ForwardTask(
            Object owner, StagedFile file, MetaFile meta, String command, boolean isRepeated) {
        super(owner);
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

    /** Whoever finds the file later is to know that a transfer may have been begun. */
    @Override
    protected void prepare() throws IOException {
        if (command == null) {
            file.writeMeta(meta.in(DatasetState.FORWARDING));
            file.open();
        }
    }

    @Override
    protected String perform(SinkSession session) throws IOException {
        if (command != null) {
            return TarText.run(session, command);
        }
        session.transfer(meta.toSink(isRepeated), file.open());
        return "";
    }
}
