package dev.verbena.savime.server;

import dev.verbena.savime.server.ServerCounts.Count;
import dev.verbena.savime.store.StagedFile;
import dev.verbena.savime.wire.DatasetState;
import dev.verbena.savime.wire.StgStatus;
import dev.verbena.staging.sink.StagedArrays;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** How a dataset leaves: blocks are revoked, files removed, and then its bytes are given back. */
final class Ends {
    private static final long LOOK_EVERY_NS = 1_000_000_000L;

    private final Registry registry;
    private final StorageJobs jobs;
    private final ServerSettings settings;
    private final ServerCounts counts;
    private final BounceBuffers bounce;
    private final StagedArrays arrays;
    private final List<Kept> kept = new ArrayList<>();
    private Admission admission;
    private long nextLookNs;

    /** A deleted file that has its space still: somebody reads it, or may write to it. */
    private record Kept(BooleanSupplier isRead, StagedFile file) {
        boolean isInUse() {
            return isRead != null && isRead.getAsBoolean() || file.isHeld();
        }
    }

    Ends(
            ServerSettings settings,
            Registry registry,
            StorageJobs jobs,
            ServerCounts counts,
            BounceBuffers bounce,
            StagedArrays arrays) {
        this.settings = settings;
        this.registry = registry;
        this.jobs = jobs;
        this.counts = counts;
        this.bounce = bounce;
        this.arrays = arrays;
    }

    /** Before anything ends. */
    void admission(Admission of) {
        admission = of;
        nextLookNs = settings.environment().nanoClock().nanoTime();
    }

    /** No peer reaches its blocks any more. */
    void revoke(Dataset dataset) {
        for (Block block = dataset.anyBlock(); block != null; block = dataset.anyBlock()) {
            dataset.revoked(block.number);
            revokeOnly(block);
            if (block.isBounce) {
                bounce.drop(block.memory);
            }
        }
    }

    void revokeOnly(Block block) {
        block.revoke();
        block.connection.granted(-1);
        counts.add(Count.PINNED, -block.length);
    }

    /** It was not complete, or must not be sent: nothing of it stays. */
    void abort(Dataset dataset) {
        counts.add(Count.ABORTED, 1);
        revoke(dataset);
        remove(dataset, DatasetState.ABORTED);
    }

    /** Deletes its files, once; then its bytes are free, and its client is notified. */
    void remove(Dataset dataset, DatasetState how) {
        if (!dataset.leave()) {
            return;
        }
        dataset.state(how);
        StagedFile file = dataset.file;
        BooleanSupplier isRead = arrays.left(dataset.name());
        boolean mayKeep = how == DatasetState.FORWARDED && isRead == null && !dataset.wasRevoked;
        boolean isKept = mayKeep && admission.mayKeep(file);
        if (isKept) {
            jobs.submitShort(
                    true,
                    file::removeMeta,
                    failure -> {
                        admission.keep(file);
                        removed(dataset, how);
                    });
        } else {
            // Its pages are given back, which takes as long as a copy of them.
            jobs.submit(
                    file.isInMemory(),
                    () -> file.remove(isRead != null),
                    failure -> {
                        if (!keepIfInUse(isRead, file)) {
                            release(file);
                        }
                        removed(dataset, how);
                    });
        }
    }

    /** Whether others have the space of a deleted file still: then it is looked at again later. */
    private boolean keepIfInUse(BooleanSupplier isRead, StagedFile file) {
        Kept each = new Kept(isRead, file);
        return each.isInUse() && kept.add(each);
    }

    /** When it is looked next whether others have space still, of files or in memory. */
    long nextDeadlineNs() {
        return kept.isEmpty() && !bounce.hasHeld() ? Long.MAX_VALUE : nextLookNs;
    }

    /** Gives the space back that nobody has any more, once a second: who has it may take long. */
    int expire(long nowNs) {
        if (nowNs - nextLookNs < 0) {
            return 0;
        }
        nextLookNs = nowNs + LOOK_EVERY_NS;
        bounce.dropAgain();
        int before = kept.size();
        kept.removeIf(
                each -> {
                    boolean isFree = !each.isInUse();
                    if (isFree) {
                        release(each.file);
                    }
                    return isFree;
                });
        return before - kept.size();
    }

    private void release(StagedFile file) {
        admission.release(file.isInMemory(), file.length());
    }

    private void removed(Dataset dataset, DatasetState how) {
        registry.remove(dataset, how);
        boolean wasReplaced = how == DatasetState.ABORTED && dataset.meta.syncedOrder() > 0;
        if (how == DatasetState.FORWARDED || wasReplaced) {
            tell(dataset, wasReplaced ? "another one has its name" : "");
        }
    }

    /** Deletes a file that no dataset has, and whose bytes were given back. */
    void discard(StagedFile file) {
        jobs.submit(
                file.isInMemory(),
                () -> file.remove(false),
                failure -> {
                    if (keepIfInUse(null, file)) {
                        admission.charge(file);
                    }
                });
    }

    /** Tells its client, if that is there, what has become of it. */
    void tell(Dataset dataset, String text) {
        Connection to = dataset.connection;
        if (to == null || !dataset.session.isConnected(to)) {
            to = dataset.session.connection();
        }
        if (to == null || dataset.meta.type().equals(Openings.COMMAND)) {
            return;
        }
        int code = dataset.state == DatasetState.FAILED ? StgStatus.SINK_REJECTED : StgStatus.OK;
        to.notify(dataset.id(), dataset.state, code, text);
    }
}
