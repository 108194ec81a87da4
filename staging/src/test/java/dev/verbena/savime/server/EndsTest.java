package dev.verbena.savime.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.server.Connection.Asked;
import dev.verbena.savime.store.MetaFile;
import dev.verbena.savime.store.StagedFile;
import dev.verbena.savime.store.StagingDirectory;
import dev.verbena.savime.wire.DatasetState;
import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgType;
import dev.verbena.staging.sink.StagedArrays;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How datasets end while work on their files is still to be done. */
class EndsTest {
    private static final int LENGTH = 4096;
    private static final long SECOND_NS = 1_000_000_000;

    @TempDir Path folder;
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final RealEnvironment environment =
            RealEnvironment.builder().job("ends").errorHandler(errors::add).build();
    private final ServerSettings settings = settings(environment);
    private final Registry registry = new Registry(0);
    private final StorageJobs jobs =
            new StorageJobs(new WaitingWork(), new WaitingWork(), true, errors::add);
    private final ServerCounts counts = new ServerCounts();
    private final BounceBuffers bounce = new BounceBuffers(LENGTH, 1);
    private final Ends ends =
            new Ends(settings, registry, jobs, counts, bounce, new StagedArrays());
    private final Admission admission = new Admission(settings, ends::discard);
    private final Session session = new Session(1, 2);
    private final Connection connection = new Connection(false, 0);
    private long now = environment.nanoClock().nanoTime();
    private StagingDirectory memory;
    private StagingDirectory disk;

    static ServerSettings settings(RealEnvironment environment) {
        return new ServerSettings(
                environment,
                null,
                null,
                null,
                0,
                null,
                1 << 20,
                1 << 20,
                1 << 20,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0);
    }

    @BeforeEach
    void open() {
        ends.admission(admission);
        session.add(connection);
        connection.greeted(session, LENGTH, 1, 0);
        memory = new StagingDirectory(folder.resolve("memory"), true);
        disk = new StagingDirectory(folder.resolve("disk"), false);
    }

    @AfterEach
    void close() {
        memory.close();
        disk.close();
        environment.close();
        assertThat(errors).isEmpty();
    }

    private Dataset dataset(StagingDirectory directory, DatasetState state) throws IOException {
        return dataset(directory, state, "char");
    }

    private Dataset dataset(StagingDirectory directory, DatasetState state, String type)
            throws IOException {
        long id = registry.nextId();
        MetaFile meta = new MetaFile(id, "d", type, LENGTH, 1, 2, state, false, 0, 0, 0, null);
        StagedFile file = directory.create(id, LENGTH);
        Dataset dataset = new Dataset(session, connection, file, meta, 0);
        admission.charge(file);
        registry.add(dataset);
        return dataset;
    }

    /** What was refused long ago is looked for again before its file is gone. */
    @Test
    void shouldGiveTheBytesOfADatasetBackOnce() throws IOException {
        Dataset dataset = dataset(disk, DatasetState.FAILED);
        ends.remove(dataset, DatasetState.FAILED);
        ends.remove(dataset, DatasetState.FAILED);
        jobs.poll();
        assertThat(admission.disk.reserved()).isZero();
        assertThat(session.datasetCount).isZero();
    }

    /** Two commands may name one text. */
    @Test
    void shouldGiveTheFileOfADatasetToOneOther() throws IOException {
        Dataset text = dataset(memory, DatasetState.RECEIVED);
        ends.remove(text, DatasetState.FORWARDED);
        ends.remove(text, DatasetState.FORWARDED);
        assertThat(admission.reuse(LENGTH)).isSameAs(text.file);
        assertThat(admission.reuse(LENGTH)).isNull();
    }

    @Test
    void shouldNotAbortWhatIsBeingSealed() throws IOException {
        List<Dataset> received = new ArrayList<>();
        Sealing sealing = new Sealing(settings, registry, jobs, ends, counts, received::add);
        Reception reception = new Reception(settings, registry, jobs, null, ends, counts, sealing);
        Dataset dataset = dataset(disk, DatasetState.RECEIVING);
        Asked all = new Asked(0, dataset.id(), 0, LENGTH, 0, 0);
        dataset.received(new Block(dataset, connection, all, null, false), 0);
        sealing.onSync(connection, message(StgType.DATASET_SYNC).sync(dataset.id(), LENGTH, 0, 0));
        reception.onAbort(connection, message(StgType.DATASET_ABORT).datasetId(dataset.id()));
        jobs.poll();
        assertThat(received).containsExactly(dataset);
        assertThat(dataset.state).isEqualTo(DatasetState.RECEIVED);
        assertThat(dataset.file.data()).exists();
    }

    /** Its last block is still being checked when its client, which has asked for it, is lost. */
    @Test
    void shouldNotAnswerAClientThatIsLost() throws IOException {
        connection.greeted(session, LENGTH, 1, StgFlags.FEATURE_RESUME);
        List<Dataset> received = new ArrayList<>();
        Sealing sealing = new Sealing(settings, registry, jobs, ends, counts, received::add);
        Reception reception = new Reception(settings, registry, jobs, null, ends, counts, sealing);
        Dataset dataset = dataset(disk, DatasetState.RECEIVING);
        dataset.jobs(1);
        sealing.onSync(connection, message(StgType.DATASET_SYNC).sync(dataset.id(), LENGTH, 0, 0));
        reception.lost(connection, 0);
        dataset.jobs(-1);
        Asked all = new Asked(0, dataset.id(), 0, LENGTH, 0, 0);
        dataset.received(new Block(dataset, connection, all, null, false), 0);
        sealing.answer(dataset);
        jobs.poll();
        assertThat(received).isEmpty();
        assertThat(dataset.state).isEqualTo(DatasetState.RECEIVING);
        assertThat(dataset.firstGap()).isEqualTo(LENGTH);
    }

    /** Its client is lost while it is being sealed. */
    @Test
    void shouldRemoveTheTextOfACommandThatNobodySends() throws IOException {
        Sealing sealing = new Sealing(settings, registry, jobs, ends, counts, dataset -> {});
        Reception reception = new Reception(settings, registry, jobs, null, ends, counts, sealing);
        Dataset text = dataset(disk, DatasetState.RECEIVING, Openings.COMMAND);
        Asked all = new Asked(0, text.id(), 0, LENGTH, 0, 0);
        text.received(new Block(text, connection, all, null, false), 0);
        sealing.onSync(connection, message(StgType.DATASET_SYNC).sync(text.id(), LENGTH, 0, 0));
        session.remove(connection, 0);
        reception.lost(connection, 0);
        jobs.poll();
        assertThat(text.state).isEqualTo(DatasetState.RECEIVED);
        reception.expire(0);
        jobs.poll();
        assertThat(text.file.data()).doesNotExist();
        assertThat(session.isOver()).isTrue();
    }

    @Test
    void shouldAbortOnlyTheOwnTextOfACommandOnceItIsHere() throws IOException {
        Reception reception = new Reception(settings, registry, jobs, null, ends, counts, null);
        Session other = new Session(3, 4);
        Connection foreign = new Connection(false, 0);
        foreign.greeted(other, LENGTH, 1, 0);
        Dataset text = dataset(disk, DatasetState.RECEIVED, Openings.COMMAND);
        Dataset data = dataset(disk, DatasetState.RECEIVED);
        Connection again = new Connection(false, 0);
        again.greeted(session, LENGTH, 1, 0);
        reception.onAbort(foreign, message(StgType.DATASET_ABORT).datasetId(text.id()));
        reception.onAbort(again, message(StgType.DATASET_ABORT).datasetId(data.id()));
        jobs.poll();
        assertThat(registry.datasetCount()).isEqualTo(2);
        reception.onAbort(again, message(StgType.DATASET_ABORT).datasetId(text.id()));
        reception.onAbort(again, message(StgType.DATASET_ABORT).datasetId(text.id()));
        jobs.poll();
        assertThat(registry.datasetCount()).isEqualTo(1);
        assertThat(registry.ended(text.id())).isEqualTo(DatasetState.ABORTED);
        assertThat(text.file.data()).doesNotExist();
        assertThat(data.state).isEqualTo(DatasetState.RECEIVED);
    }

    /** Its client is lost and has not said that it writes no more. */
    @Test
    void shouldNotGiveTheMemoryOfABlockThatWasRevokedToAnother() throws IOException {
        Dataset dataset = dataset(disk, DatasetState.RECEIVING);
        OffHeapMemory memory = bounce.take();
        memory.acquire("a lost peer");
        Asked all = new Asked(0, dataset.id(), 0, LENGTH, 0, 0);
        dataset.granted(new Block(dataset, connection, all, memory, true));
        ends.revoke(dataset);
        assertThat(bounce.take()).isNull();
        assertThat(ends.nextDeadlineNs()).isLessThan(Long.MAX_VALUE);
        memory.release("a lost peer");
        look();
        assertThat(ends.nextDeadlineNs()).isEqualTo(Long.MAX_VALUE);
        assertThat(memory.isClosed()).isTrue();
    }

    /** A transport does not know that whom it has lost has no business with this file. */
    @Test
    void shouldCountAFileOfThePoolAsLongAsATransportHoldsIt() throws IOException {
        Dataset dataset = dataset(memory, DatasetState.RECEIVED);
        OffHeapMemory block = dataset.file.map(0, LENGTH);
        block.acquire("a lost peer");
        ends.remove(dataset, DatasetState.FORWARDED);
        admission.clear();
        jobs.poll();
        assertThat(admission.memory.reserved()).isEqualTo(LENGTH);
        assertThat(ends.nextDeadlineNs()).isLessThan(Long.MAX_VALUE);
        block.release("a lost peer");
        look();
        assertThat(admission.memory.reserved()).isZero();
        assertThat(ends.nextDeadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    /** The client that was lost while it wrote may write late. */
    @Test
    void shouldGiveNoOtherDatasetAFileOfWhichABlockWasRevoked() throws IOException {
        Dataset dataset = dataset(memory, DatasetState.RECEIVING);
        OffHeapMemory block = dataset.file.map(0, LENGTH);
        Asked all = new Asked(0, dataset.id(), 0, LENGTH, 0, 0);
        dataset.granted(new Block(dataset, connection, all, block, false));
        ends.revoke(dataset);
        dataset.resumed(connection);
        block.acquire("a lost peer");
        ends.remove(dataset, DatasetState.FORWARDED);
        jobs.poll();
        assertThat(admission.reuse(LENGTH)).isNull();
        assertThat(admission.memory.reserved()).isEqualTo(LENGTH);
        block.release("a lost peer");
        look();
        assertThat(admission.memory.reserved()).isZero();
    }

    /** Each look at a file that is held throws. */
    @Test
    void shouldLookOnceASecondAtWhatATransportHolds() throws IOException {
        Dataset dataset = dataset(disk, DatasetState.RECEIVED);
        OffHeapMemory block = dataset.file.map(0, LENGTH);
        block.acquire("a lost peer");
        ends.remove(dataset, DatasetState.FAILED);
        jobs.poll();
        look();
        assertThat(ends.nextDeadlineNs()).isEqualTo(now + SECOND_NS);
        block.release("a lost peer");
        ends.expire(now + SECOND_NS / 2);
        assertThat(admission.disk.reserved()).isEqualTo(LENGTH);
        look();
        assertThat(admission.disk.reserved()).isZero();
    }

    private void look() {
        now += SECOND_NS;
        ends.expire(now);
    }

    private static StgFlyweight message(int type) {
        UnsafeBuffer buffer = new UnsafeBuffer(new byte[StgType.lengthMin(type)]);
        return new StgFlyweight().begin(buffer, 0, type);
    }
}
