package dev.verbena.savime.server;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.savime.server.Connection.Asked;
import dev.verbena.savime.server.ServerCounts.Count;
import dev.verbena.savime.server.ServerCounts.Step;
import dev.verbena.savime.store.BackgroundWork;
import dev.verbena.savime.wire.DatasetState;
import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgStatus;
import dev.verbena.savime.wire.StgType;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportException;
import java.io.UncheckedIOException;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.NanoClock;

/**
 * Blocks (specification, sections 4.4 and 5.4): a block is mapped and registered when it is
 * granted, and checked, and on disk written, when it is released.
 */
final class Reception {
    /**
     * Blocks in memory up to this are summed up by the engine's own thread, in less than half a
     * millisecond: one more thread would take turns with the client's on two processors.
     */
    private static final int SUMMED_AT_ONCE = 8 << 20;

    private final ServerSettings settings;
    private final NanoClock clock;
    private final Registry registry;
    private final StorageJobs jobs;
    private final BounceBuffers bounce;
    private final Ends ends;
    private final ServerCounts counts;
    private final Sealing sealing;
    private final RemoteDescriptor descriptor = new RemoteDescriptor();
    private Transport transport;

    Reception(
            ServerSettings settings,
            Registry registry,
            StorageJobs jobs,
            BounceBuffers bounce,
            Ends ends,
            ServerCounts counts,
            Sealing sealing) {
        this.settings = settings;
        this.clock = settings.environment().nanoClock();
        this.registry = registry;
        this.jobs = jobs;
        this.bounce = bounce;
        this.ends = ends;
        this.counts = counts;
        this.sealing = sealing;
    }

    /** Registers with this one; null: TCP only. */
    void transport(Transport of) {
        transport = of;
    }

    // ---- requests and grants

    void onBlockRequest(Connection by, StgFlyweight message) {
        Asked asked =
                new Asked(
                        message.request(),
                        message.datasetId(),
                        message.blockOffset(),
                        message.blockLength(),
                        message.blockNo(),
                        clock.nanoTime());
        Dataset dataset = registry.receiving(by, asked.dataset());
        if (dataset == null) {
            refuse(by, asked, StgStatus.NO_SUCH_DATASET, 0);
            return;
        }
        if (asked.length() > by.blockMax
                || !dataset.isGrantable(asked.offset(), asked.length(), asked.blockNo())) {
            refuse(by, asked, StgStatus.BAD_RANGE, 0);
            return;
        }
        long limit = settings.pinMax() & -StgFlyweight.BLOCK_ALIGNMENT;
        if (!dataset.file.isInMemory()) {
            limit = Math.min(limit, bounce.length);
        }
        if (asked.length() > limit) {
            refuse(by, asked, StgStatus.PIN_LIMIT, (int) limit);
            return;
        }
        dataset.claim(asked.offset(), asked.length(), asked.blockNo());
        by.ask(asked);
        grantWaiting(by);
    }

    private void refuse(Connection by, Asked asked, int status, int length) {
        by.reply(StgType.BLOCK_GRANT, asked.request(), status)
                .block(asked.dataset(), asked.offset(), length, asked.blockNo());
    }

    /** Grants what this connection has asked for, as far as there is room; work done. */
    int grantWaiting(Connection by) {
        int work = 0;
        while (!by.asked.isEmpty() && by.mayGrant()) {
            Asked asked = by.asked.peek();
            Dataset dataset = registry.receiving(by, asked.dataset());
            if (dataset == null) {
                by.asked.remove();
                continue;
            }
            OffHeapMemory bounced = null;
            if (counts.get(Count.PINNED) > settings.pinMax() - asked.length()) {
                return work;
            }
            if (!dataset.file.isInMemory()) {
                bounced = bounce.take();
                if (bounced == null) {
                    return work;
                }
            }
            by.asked.remove();
            by.granted(1);
            counts.add(Count.PINNED, asked.length());
            work++;
            if (bounced == null) {
                map(by, dataset, asked);
            } else {
                grant(new Block(dataset, by, asked, bounced, true), asked);
            }
        }
        return work;
    }

    private void map(Connection by, Dataset dataset, Asked asked) {
        OffHeapMemory before = dataset.file.mapped(asked.offset(), asked.length());
        if (before != null) {
            grant(new Block(dataset, by, asked, before, false), asked);
            return;
        }
        OffHeapMemory[] mapped = new OffHeapMemory[1];
        if (by.isOneSided && !dataset.hasJobs()) {
            dataset.file.share(transport);
        }
        dataset.jobs(1);
        jobs.submit(
                true,
                () -> mapped[0] = dataset.file.map(asked.offset(), asked.length()),
                failure -> {
                    dataset.jobs(-1);
                    Block block = new Block(dataset, by, asked, mapped[0], false);
                    if (failure != null) {
                        notGranted(block, asked, failure);
                    } else if (registry.receiving(by, asked.dataset()) == dataset) {
                        grant(block, asked);
                    } else {
                        by.granted(-1);
                        counts.add(Count.PINNED, -asked.length());
                    }
                });
    }

    private void notGranted(Block block, Asked asked, Exception failure) {
        boolean isSpace = failure instanceof UncheckedIOException;
        Connection by = block.connection;
        by.granted(-1);
        counts.add(Count.PINNED, -block.length);
        if (registry.receiving(by, asked.dataset()) != null) {
            refuse(by, asked, isSpace ? StgStatus.NO_SPACE : StgStatus.IO_ERROR, 0);
            block.dataset.failed();
            ends.abort(block.dataset);
        }
    }

    private void grant(Block block, Asked asked) {
        Connection by = block.connection;
        descriptor.set(0, 0, 0, 0, 0, 0, 0);
        if (by.isOneSided) {
            try {
                RegisteredRegion region =
                        transport.register(block.memory, RemoteDescriptor.REMOTE_WRITE);
                block.registered(region);
                region.describe(0, block.length, RemoteDescriptor.REMOTE_WRITE, descriptor);
            } catch (TransportException e) {
                if (block.isBounce) {
                    bounce.giveBack(block.memory);
                }
                settings.environment().errorHandler().onError(e);
                notGranted(block, asked, e);
                return;
            }
        }
        block.dataset.granted(block);
        counts.took(Step.GRANT, clock.nanoTime() - asked.sinceNs());
        by.reply(StgType.BLOCK_GRANT, asked.request(), StgStatus.OK)
                .block(block.dataset.id(), block.offset, block.length, block.number)
                .remote(descriptor);
    }

    // ---- data

    /** Where data that come by TCP go; null: its dataset was aborted meanwhile. */
    MutableDirectBuffer dataTarget(Connection by, StgFlyweight header) {
        if (registry.receiving(by, header.datasetId()) == null) {
            return null;
        }
        Block block = expected(by, header);
        if (block.hasArrived) {
            throw new IllegalArgumentException("data for a block that has them");
        }
        return block.memory.buffer(0, block.length);
    }

    void onData(Connection by, StgFlyweight header) {
        if (registry.receiving(by, header.datasetId()) != null) {
            expected(by, header).arrived();
        }
    }

    private Block expected(Connection by, StgFlyweight header) {
        Dataset dataset = registry.receiving(by, header.datasetId());
        Block block = dataset == null ? null : dataset.block(header.blockNo());
        boolean isRight =
                block != null
                        && block.connection == by
                        && block.offset == header.blockOffset()
                        && block.length == header.blockLength();
        if (!isRight) {
            throw new IllegalArgumentException("data for a block that was not granted");
        }
        return block;
    }

    void onRelease(Connection by, StgFlyweight message) {
        Dataset dataset = registry.receiving(by, message.datasetId());
        if (dataset == null) {
            return; // It was aborted while this was under way.
        }
        Block block = dataset.block(message.releasedBlock());
        if (block == null || !by.isOneSided && !block.hasArrived) {
            throw new IllegalArgumentException("release of a block that has not come");
        }
        dataset.released(block.number);
        ends.revokeOnly(block);
        check(block, by.has(StgFlags.FEATURE_CRC), message.blockCrc());
    }

    private void check(Block block, boolean hasCrc, int crc) {
        Dataset dataset = block.dataset;
        int[] found = {crc};
        if (!block.isBounce && !hasCrc) {
            dataset.received(block, 0);
            sealing.answer(dataset);
            return;
        }
        DirectBuffer window = block.memory.buffer(0, block.length);
        dataset.jobs(1);
        BackgroundWork.Step step =
                () -> {
                    if (hasCrc) {
                        found[0] = dataset.file.crc(window, block.length);
                    }
                    if (block.isBounce && found[0] == crc) {
                        dataset.file.write(block.offset, window, 0, block.length);
                    }
                };
        Consumer<Exception> ended =
                failure -> {
                    dataset.jobs(-1);
                    if (block.isBounce) {
                        bounce.giveBack(block.memory);
                    }
                    checked(block, failure, found[0] == crc, crc);
                };
        if (block.length <= SUMMED_AT_ONCE) {
            jobs.submitShort(dataset.file.isInMemory(), step, ended);
        } else {
            jobs.submit(dataset.file.isInMemory(), step, ended);
        }
    }

    private void checked(Block block, Exception failure, boolean isRight, int crc) {
        Dataset dataset = block.dataset;
        if (dataset.state != DatasetState.RECEIVING) {
            return;
        }
        if (failure == null && isRight) {
            dataset.received(block, crc);
            sealing.answer(dataset);
            return;
        }
        sealing.fail(dataset, failure == null ? StgStatus.CHECKSUM : StgStatus.IO_ERROR);
    }

    // ---- the end without a seal

    void onAbort(Connection by, StgFlyweight message) {
        Dataset dataset = registry.receiving(by, message.datasetId());
        if (dataset != null && !isSealing(dataset)) {
            ends.abort(dataset);
        }
        Dataset text = registry.text(by.session, message.datasetId());
        if (text != null) {
            ends.remove(text, DatasetState.ABORTED);
        }
    }

    /** Of one that is being received: all of it is here, and its client is about to know. */
    private static boolean isSealing(Dataset dataset) {
        return dataset.meta.syncedOrder() > 0;
    }

    /** A client is gone: peers reach nothing of it any more, whatever becomes of its datasets. */
    void lost(Connection connection, long nowNs) {
        for (Asked asked : connection.asked) {
            Dataset dataset = registry.dataset(asked.dataset());
            // Another connection of its client may have it already, and claims of its own.
            if (dataset != null && dataset.connection == connection) {
                dataset.unclaim(asked.offset(), asked.length(), asked.blockNo());
            }
        }
        connection.asked.clear();
        for (Dataset dataset : registry.all()) {
            if (dataset.connection == connection) {
                lost(dataset, nowNs);
            }
        }
    }

    private void lost(Dataset dataset, long nowNs) {
        Connection before = dataset.connection;
        if (dataset.state != DatasetState.RECEIVING) {
            dataset.orphaned(nowNs);
            return;
        }
        ends.revoke(dataset);
        dataset.orphaned(nowNs);
        if (!isSealing(dataset) && !before.has(StgFlags.FEATURE_RESUME)) {
            dataset.failed();
            ends.abort(dataset);
        }
    }

    /** Datasets whose client did not come back in time. */
    int expire(long nowNs) {
        int work = 0;
        for (Dataset dataset : registry.all()) {
            if (isLate(dataset, nowNs)) {
                work++;
                dataset.failed();
                ends.abort(dataset);
            } else if (isUnsent(dataset, nowNs)) {
                work++;
                ends.remove(dataset, DatasetState.ABORTED);
            }
        }
        return work;
    }

    private boolean isLate(Dataset dataset, long nowNs) {
        return dataset.state == DatasetState.RECEIVING
                && dataset.connection == null
                && !isSealing(dataset)
                && !dataset.hasJobs()
                && nowNs - dataset.orphanedNs - settings.resumeNs() >= 0;
    }

    /** The text of a command that nobody sends any more. */
    private boolean isUnsent(Dataset dataset, long nowNs) {
        return dataset.state == DatasetState.RECEIVED
                && dataset.meta.type().equals(Openings.COMMAND)
                && dataset.session.isAway(nowNs, settings.resumeNs());
    }

    /** Whether a dataset is not complete yet. */
    boolean isReceiving() {
        return registry.all().stream().anyMatch(each -> each.state == DatasetState.RECEIVING);
    }
}
