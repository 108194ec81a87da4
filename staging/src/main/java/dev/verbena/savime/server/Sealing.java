package dev.verbena.savime.server;

import dev.verbena.savime.server.ServerCounts.Count;
import dev.verbena.savime.server.ServerCounts.Step;
import dev.verbena.savime.store.MetaFile;
import dev.verbena.savime.wire.DatasetState;
import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgStatus;
import dev.verbena.savime.wire.StgType;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;

/**
 * The end of a transfer (specification, sections 4.3 and 5.4): once all blocks of a dataset are
 * here its checksum is compared and its file is sealed; then it is queued for the sink.
 */
final class Sealing {
    private final ServerSettings settings;
    private final NanoClock clock;
    private final Registry registry;
    private final StorageJobs jobs;
    private final Ends ends;
    private final ServerCounts counts;
    private final Consumer<Dataset> onReceived;
    private long lastOrder;

    /**
     * @param onReceived takes a dataset that is complete
     */
    Sealing(
            ServerSettings settings,
            Registry registry,
            StorageJobs jobs,
            Ends ends,
            ServerCounts counts,
            Consumer<Dataset> onReceived) {
        this.settings = settings;
        this.clock = settings.environment().nanoClock();
        this.registry = registry;
        this.jobs = jobs;
        this.ends = ends;
        this.counts = counts;
        this.onReceived = onReceived;
    }

    /** Places in the queue go on behind this one. */
    void orderAfter(long order) {
        lastOrder = Math.max(lastOrder, order);
    }

    void onSync(Connection by, StgFlyweight message) {
        if (isAnsweredAgain(by, message)) {
            return;
        }
        Dataset dataset = registry.receiving(by, message.datasetId());
        if (dataset == null || dataset.isSyncing) {
            done(by, message.datasetId(), message.request(), StgStatus.NO_SUCH_DATASET, 0);
        } else if (message.syncBytes() != dataset.length()) {
            done(by, dataset.id(), message.request(), StgStatus.BAD_SIZE, 0);
        } else {
            dataset.sync(message.request(), message.datasetCrc(), clock.nanoTime());
            answer(dataset);
        }
    }

    /** A client that lost its connection asks again for the answer that went with it. */
    private boolean isAnsweredAgain(Connection by, StgFlyweight message) {
        long id = message.datasetId();
        Dataset dataset = registry.dataset(id);
        boolean isKnown =
                dataset == null
                        ? registry.ended(id) == DatasetState.FORWARDED
                        : dataset.isTakenUp && dataset.connection == by;
        if (!isKnown) {
            return false;
        }
        if (dataset != null && dataset.state == DatasetState.RECEIVING) {
            dataset.syncAgain(message.request()); // It is being sealed.
            return true;
        }
        done(by, id, message.request(), StgStatus.OK, message.syncBytes());
        DatasetState state = dataset == null ? DatasetState.FORWARDED : dataset.state;
        if (state == DatasetState.FORWARDED || state == DatasetState.FAILED) {
            // What it was told of the end came before it was told of the beginning.
            boolean isFailed = state == DatasetState.FAILED;
            by.notify(id, state, isFailed ? StgStatus.SINK_REJECTED : StgStatus.OK, "");
        }
        return true;
    }

    private void done(Connection by, long id, long request, int status, long bytes) {
        by.reply(StgType.DATASET_DONE, request, status).done(id, bytes, 0);
    }

    /** Answers a sync that waits, unless a block of the dataset is still being checked. */
    void answer(Dataset dataset) {
        if (!dataset.isSyncing || dataset.hasJobs()) {
            return;
        }
        Connection by = dataset.connection;
        boolean hasCrc = by.has(StgFlags.FEATURE_CRC);
        if (dataset.firstGap() < dataset.length()) {
            dataset.syncAnswered();
            done(by, dataset.id(), dataset.syncRequest, StgStatus.PARTIAL, dataset.firstGap());
        } else if (hasCrc && !dataset.hasClientsCrc()) {
            fail(dataset, StgStatus.CHECKSUM);
        } else {
            seal(dataset, hasCrc);
        }
    }

    private void seal(Dataset dataset, boolean hasCrc) {
        dataset.synced(hasCrc, ++lastOrder);
        // That it may be in the sink already is remembered as of one whose transfer was begun.
        MetaFile content =
                dataset.isRepeated ? dataset.meta.in(DatasetState.FORWARDING) : dataset.meta;
        dataset.jobs(1);
        jobs.submitShort(
                dataset.file.isInMemory(),
                () -> dataset.file.seal(content),
                failure -> {
                    dataset.jobs(-1);
                    if (failure != null) {
                        fail(dataset, StgStatus.IO_ERROR);
                    } else {
                        sealed(dataset);
                    }
                });
    }

    private void sealed(Dataset dataset) {
        counts.add(Count.DATASETS_IN, 1);
        counts.add(Count.BYTES_IN, dataset.length());
        long now = clock.nanoTime();
        counts.took(Step.SYNC, now - dataset.syncNs);
        dataset.done(now);
        dataset.state(DatasetState.RECEIVED);
        onReceived.accept(dataset);
        Connection by = dataset.connection;
        if (by != null) {
            long bytes = dataset.length();
            done(by, dataset.id(), dataset.syncRequest, StgStatus.OK, bytes);
        }
        dataset.syncAnswered();
    }

    /** Nothing of it stays; its client gets the reason. */
    void fail(Dataset dataset, int status) {
        Connection by = dataset.connection;
        if (by != null) {
            long request = dataset.isSyncing ? dataset.syncRequest : 0;
            by.reply(StgType.DATASET_ABORT, request, status).datasetId(dataset.id());
        }
        dataset.failed();
        ends.abort(dataset);
    }
}
