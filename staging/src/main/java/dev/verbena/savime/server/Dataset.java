package dev.verbena.savime.server;

import dev.verbena.savime.store.MetaFile;
import dev.verbena.savime.store.StagedFile;
import dev.verbena.savime.wire.DatasetState;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.staging.Checksum;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.IntHashSet;

/**
 * A dataset from OPEN until it is removed: what of it has arrived, in pages of 4 KiB, and which
 * blocks are granted. A block is claimed once; its pages count as received when they are checked
 * and, on disk, written.
 */
final class Dataset {
    private static final int PAGE = StgFlyweight.BLOCK_ALIGNMENT;

    private record Sum(int crc, int length) {}

    final Session session;
    final StagedFile file;
    private final BitSet claimed = new BitSet();
    private final IntHashSet claimedNumbers = new IntHashSet();
    private final BitSet received = new BitSet();
    private final Int2ObjectHashMap<Block> blocks = new Int2ObjectHashMap<>();
    private final TreeMap<Long, Sum> sums = new TreeMap<>();
    private long commandsBefore;
    MetaFile meta;

    /** Whom its replies go to; null: its client is away. */
    Connection connection;

    DatasetState state;
    private int jobCount;
    boolean isSyncing;
    boolean isRepeated;
    boolean isTakenUp;
    private boolean isLeaving;
    boolean wasRevoked;
    long syncRequest;

    /** When its client said that it is complete. */
    long syncNs;

    /** When its client was told; 0: an earlier server did that. */
    long doneNs;

    private int syncCrc;
    long orphanedNs;
    long endedNs;

    /**
     * @param connection null: its client is away
     * @param commandsBefore commands of its session that had come when it was opened
     */
    Dataset(
            Session session,
            Connection connection,
            StagedFile file,
            MetaFile meta,
            long commandsBefore) {
        this.session = session;
        this.commandsBefore = commandsBefore;
        this.connection = connection;
        this.file = file;
        this.meta = meta;
        this.state = meta.state();
    }

    /** One that an earlier server has left. */
    static Dataset recovered(Session session, StagedFile file, MetaFile meta) {
        Dataset dataset = new Dataset(session, null, file, meta, 0);
        dataset.isRepeated = meta.state() == DatasetState.FORWARDING;
        dataset.state =
                meta.state() == DatasetState.FAILED ? DatasetState.FAILED : DatasetState.RECEIVED;
        return dataset;
    }

    /** It will never reach the sink: ordered commands behind it are told. */
    void failed() {
        session.failed(name(), commandsBefore);
    }

    /**
     * Another one has taken its place: commands that came between the two are told that it failed.
     *
     * @param commands commands of that session that had come when the other one was opened
     */
    void replaced(Session by, long commands) {
        if (by != session || commandsBefore < commands) {
            failed();
        }
    }

    long id() {
        return meta.id();
    }

    String name() {
        return meta.name();
    }

    long length() {
        return meta.totalBytes();
    }

    void state(DatasetState next) {
        state = next;
    }

    /** All of it is here, no sender has it, and nothing is done with its files. */
    boolean isWaiting() {
        return (state == DatasetState.RECEIVED || state == DatasetState.HELD) && !hasJobs();
    }

    /** A transfer was begun, and its end is unknown. */
    void repeated() {
        isRepeated = true;
    }

    /** Its client is away since then: nobody waits for an answer, unless all of it is here. */
    void orphaned(long nowNs) {
        connection = null;
        orphanedNs = nowNs;
        isSyncing &= meta.syncedOrder() > 0;
    }

    /** Its client is back and goes on where {@link #firstGap} is: what was claimed is not. */
    void resumed(Connection by) {
        connection = by;
        int gap = received.nextClearBit(0);
        received.clear(gap, pageCount());
        claimed.clear();
        claimed.or(received);
        claimedNumbers.clear();
        sums.tailMap(firstGap(), true).clear();
        isSyncing = false;
    }

    /**
     * Its client gave it up and writes another one of its name: nothing that has arrived counts.
     * One of which no block was claimed may be the same, whose client did not hear that it is open.
     *
     * @param commands commands of its session that had come when the other one was opened
     */
    void givenUp(long commands) {
        if (!claimed.isEmpty()) {
            failed();
        }
        commandsBefore = commands;
        received.clear();
        sums.clear();
    }

    /** Its client is back, and does not know that all of it is here. */
    void takenUp(Connection by) {
        connection = by;
        isTakenUp = true;
    }

    /** All of it is here, or was and is in the sink. */
    boolean isComplete() {
        return meta.syncedOrder() > 0 && state != DatasetState.ABORTED;
    }

    void ended(long nowNs) {
        endedNs = nowNs;
    }

    // ---- blocks

    private static int pageOf(long offset) {
        return (int) Math.min(Integer.MAX_VALUE, offset / PAGE);
    }

    private int pageCount() {
        return pageOf(length() + PAGE - 1);
    }

    /** Whether a block is where a block may be, and nobody has claimed any of it or its number. */
    boolean isGrantable(long offset, int count, int number) {
        boolean isInside =
                offset >= 0 && offset % PAGE == 0 && count > 0 && offset <= length() - count;
        if (!isInside || count % PAGE != 0 && offset + count != length()) {
            return false;
        }
        int next = claimed.nextSetBit(pageOf(offset));
        boolean isFree = next < 0 || next >= pageOf(offset + count + PAGE - 1);
        return isFree && !claimedNumbers.contains(number);
    }

    void claim(long offset, int count, int number) {
        claimed.set(pageOf(offset), pageOf(offset + count + PAGE - 1));
        claimedNumbers.add(number);
    }

    /** A claim that came to nothing. */
    void unclaim(long offset, int count, int number) {
        claimed.clear(pageOf(offset), pageOf(offset + count + PAGE - 1));
        claimedNumbers.remove(number);
    }

    void granted(Block block) {
        blocks.put(block.number, block);
    }

    /** The granted block of this number; null: none. */
    Block block(int number) {
        return blocks.get(number);
    }

    Block released(int number) {
        claimedNumbers.remove(number);
        return blocks.remove(number);
    }

    /** As {@link #released}, by the server: its client may have been writing, and write late. */
    Block revoked(int number) {
        wasRevoked = true;
        return released(number);
    }

    /** Any granted block; null: none. */
    Block anyBlock() {
        return blocks.isEmpty() ? null : blocks.values().iterator().next();
    }

    void received(Block block, int crc) {
        received.set(pageOf(block.offset), pageOf(block.offset + block.length + PAGE - 1));
        sums.put(block.offset, new Sum(crc, block.length));
    }

    /** A job for it runs; it is not touched otherwise until that has ended. */
    void jobs(int change) {
        jobCount += change;
    }

    boolean hasJobs() {
        return jobCount > 0;
    }

    // ---- its end

    /** Its client asks again for an answer that is still to come. */
    void syncAgain(long request) {
        syncRequest = request;
    }

    void sync(long request, int crc, long nowNs) {
        syncNs = nowNs;
        isSyncing = true;
        syncRequest = request;
        syncCrc = crc;
    }

    /** Its client knows that it is here. */
    void done(long nowNs) {
        doneNs = nowNs;
    }

    void syncAnswered() {
        isSyncing = false;
    }

    /** Where the first byte is missing; the length: none is. */
    long firstGap() {
        return Math.min(length(), (long) received.nextClearBit(0) * PAGE);
    }

    /** CRC-32C of all bytes, out of those of the blocks. */
    int crc() {
        int crc = 0;
        for (Map.Entry<Long, Sum> each : sums.entrySet()) {
            crc = Checksum.combine(crc, each.getValue().crc, each.getValue().length);
        }
        return crc;
    }

    boolean hasClientsCrc() {
        return crc() == syncCrc;
    }

    /** It is being removed from now on; false: it was already. */
    boolean leave() {
        boolean isFirst = !isLeaving;
        isLeaving = true;
        return isFirst;
    }

    void synced(boolean hasCrc, long order) {
        meta = meta.synced(hasCrc, hasCrc ? syncCrc : 0, order);
    }
}
