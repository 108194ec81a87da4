package dev.verbena.savime.server;

import dev.verbena.savime.store.StagedFile;
import dev.verbena.savime.wire.DatasetState;
import dev.verbena.savime.wire.StgStatus;
import dev.verbena.staging.sink.StagedArrays;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** How a dataset leaves: blocks are revoked, files removed, and then its bytes are given back. */
final class Ends {
    private final Registry registry;
    private final StorageJobs jobs;
    private final ServerSettings settings;
    private final ServerCounts counts;
    private final BounceBuffers bounce;
    private final StagedArrays arrays;
    private final List<Kept> kept = new ArrayList<>();
    private Admission admission;

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
    }

    /** No peer reaches its blocks any more. */
    void revoke(Dataset dataset) {
        for (Block block = dataset.anyBlock(); block != null; block = dataset.anyBlock()) {
            dataset.revoked(block.number());
            revokeOnly(block);
            if (block.isBounce()) {
                bounce.drop(block.memory());
            }
        }
    }

    void revokeOnly(Block block) {
        block.revoke();
        block.connection().granted(-1);
        counts.pinned(-block.length());
    }

    /** It was not complete, or must not be sent: nothing of it stays. */
    void abort(Dataset dataset) {
        counts.aborted();
        revoke(dataset);
        remove(dataset, DatasetState.ABORTED);
    }

    /** Deletes its files, once; then its bytes are free, and its client is notified. */
    void remove(Dataset dataset, DatasetState how) {
        if (!dataset.leave()) {
            return;
        }
        dataset.state(how);
        StagedFile file = dataset.file();
        BooleanSupplier isRead = arrays.left(dataset.name());
        boolean mayKeep = how == DatasetState.FORWARDED && isRead == null && !dataset.wasRevoked();
        boolean isKept = mayKeep && admission.mayKeep(file);
        if (isKept) {
            jobs.submitShort(
                    true,
                    file::removeMeta,
                    failure -> {
                        report(failure);
                        admission.keep(file);
                        removed(dataset, how);
                    });
        } else {
            // Its pages are given back, which takes as long as a copy of them.
            jobs.submit(
                    file.isInMemory(),
                    () -> file.remove(isRead != null),
                    failure -> {
                        report(failure);
                        kept.add(new Kept(isRead, file));
                        expire();
                        removed(dataset, how);
                    });
        }
    }

    /** Whether there is space, of files that are deleted or in memory, which others have still. */
    boolean hasKept() {
        return !kept.isEmpty() || bounce.hasHeld();
    }

    /** Gives the space back that nobody has any more. */
    int expire() {
        bounce.dropAgain();
        int before = kept.size();
        kept.removeIf(
                each -> {
                    boolean isFree = !each.isInUse();
                    if (isFree) {
                        admission.release(each.file.isInMemory(), each.file.length());
                    }
                    return isFree;
                });
        return before - kept.size();
    }

    private void removed(Dataset dataset, DatasetState how) {
        registry.remove(dataset, how);
        boolean wasReplaced = how == DatasetState.ABORTED && dataset.meta().syncedOrder() > 0;
        if (how == DatasetState.FORWARDED || wasReplaced) {
            tell(dataset, wasReplaced ? "another one has its name" : "");
        }
    }

    private void report(Exception failure) {
        if (failure != null) {
            settings.environment().errorHandler().onError(failure);
        }
    }

    /** Deletes a file that no dataset has, and whose bytes were given back. */
    void discard(StagedFile file) {
        jobs.submit(
                file.isInMemory(),
                () -> file.remove(false),
                failure -> {
                    report(failure);
                    if (file.isHeld()) {
                        admission.charge(file);
                        kept.add(new Kept(null, file));
                    }
                });
    }

    /** Tells its client, if that is there, what has become of it. */
    void tell(Dataset dataset, String text) {
        Connection to = dataset.connection();
        if (to == null || !dataset.session().isConnected(to)) {
            to = dataset.session().connection();
        }
        if (to == null || dataset.meta().type().equals(Openings.COMMAND)) {
            return;
        }
        int code = dataset.state() == DatasetState.FAILED ? StgStatus.SINK_REJECTED : StgStatus.OK;
        to.notify(dataset.id(), dataset.state(), code, text);
    }
}
