package dev.verbena.savime.client;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.savime.client.ClientEngine.Granted;
import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgStatus;
import dev.verbena.savime.wire.StgType;
import dev.verbena.staging.Checksum;
import dev.verbena.staging.metadata.PieceMetadata;
import java.util.Arrays;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One dataset on its way to the server (specification, section 4.3).
 *
 * <pre>
 * OPENING -- OPENED --> MOVING -- all blocks released --> SYNCING -- DONE --> ended
 * a block's slot: FREE -- request --> ASKED -- grant --> GRANTED --> WRITING --> WRITTEN --> FREE
 * </pre>
 */
final class UploadRun {
    private static final int RUNNING = -1;
    private static final int CRC_PIECE = 1 << 30;

    /** Longest block with a checksum: the server sums it up while the next one is put. */
    private static final int SUMMED_BLOCK = 8 << 20;

    private enum State {
        OPENING,
        MOVING,
        SYNCING
    }

    private enum SlotState {
        FREE,
        ASKED,
        GRANTED,
        WRITING,
        WRITTEN
    }

    private static final class Slot {
        private final OutgoingBlock block;
        private SlotState state = SlotState.FREE;
        private long offset;
        private int length;
        private int number;
        private int putBytes;
        private int outstanding;
        private int crc;

        Slot(int tag) {
            block = new OutgoingBlock(tag);
        }

        void ask(long from, int count, int blockNo) {
            offset = from;
            length = count;
            number = blockNo;
            putBytes = 0;
            crc = 0;
            state = SlotState.ASKED;
        }

        /** Bytes behind those that were put before, and their checksum. */
        void put(int count, int sum) {
            crc = putBytes == 0 ? sum : Checksum.combine(crc, sum, count);
            putBytes += count;
            outstanding++;
            if (putBytes == length) {
                state = SlotState.WRITING;
            }
        }

        void written() {
            outstanding--;
            if (outstanding == 0 && state == SlotState.WRITING) {
                state = SlotState.WRITTEN;
            }
        }

        void to(SlotState next) {
            state = next;
        }
    }

    private final ClientEngine engine;
    private final Upload task;

    /** Null: none is needed. */
    final RegisteredRegion source;

    private final Slot[] slots;
    private final boolean hasCrc;
    private final int firstTag;
    private final Checksum checksum = new Checksum();
    private State state = State.OPENING;
    private long openRequest;
    private long nextOffset;
    private long releasedBytes;
    private int blockLength;
    private int blockCount;
    private boolean isLengthKnown;
    private int resumedCrc;
    private int[] crcs;
    private int[] lengths;
    private UnsafeBuffer window;
    private long windowAt;

    /** How it ended; negative: it has not. */
    int status = RUNNING;

    /**
     * @param number tells its writes from those of another upload
     */
    UploadRun(ClientEngine engine, Upload task, Granted granted, int number) {
        this.engine = engine;
        this.task = task;
        this.hasCrc = (granted.features() & StgFlags.FEATURE_CRC) != 0;
        this.slots = new Slot[granted.window()];
        this.firstTag = (number & Short.MAX_VALUE) << 16;
        Arrays.setAll(slots, index -> new Slot(firstTag + index));
        this.blockLength = hasCrc ? Math.min(SUMMED_BLOCK, granted.blockMax()) : granted.blockMax();
        this.source = engine.link().register(task.memory());
    }

    void open(long request) {
        openRequest = request;
        Upload.Dataset dataset = task.dataset();
        UnsafeBuffer metadata = new UnsafeBuffer(new byte[PieceMetadata.LENGTH_MAX]);
        int length = dataset.piece() == null ? 0 : dataset.piece().encode(metadata, 0);
        // The number of an attempt whose connection was lost: the server may have all of it.
        int before = (int) task.id();
        engine.say(StgType.DATASET_OPEN)
                .flags(before == 0 ? 0 : StgFlags.FLAG_AGAIN)
                .status(before)
                .open(
                        task.length(),
                        dataset.elementSize(),
                        dataset.onDuplicate(),
                        dataset.placement())
                .openTexts(task.givenName(), dataset.type(), metadata, length);
    }

    // ---- what the server says

    void onMessage(StgFlyweight message, DirectBuffer buffer) {
        switch (message.type()) {
            case StgType.DATASET_OPENED -> onOpened(message);
            case StgType.BLOCK_GRANT -> onGrant(message, buffer);
            case StgType.DATASET_DONE -> onDone(message);
            case StgType.DATASET_ABORT -> {
                if (message.datasetId() == task.id() && state != State.OPENING) {
                    status = message.status();
                }
            }
            default -> {
                // HEARTBEAT: it lives.
            }
        }
    }

    private void onOpened(StgFlyweight message) {
        if (state != State.OPENING || message.request() != openRequest) {
            return;
        }
        engine.progress();
        if (message.status() != StgStatus.OK) {
            status = message.status();
            return;
        }
        long resumed = message.resumeOffset();
        if (resumed < 0 || resumed > task.length()) {
            throw new IllegalArgumentException("resumed at " + resumed);
        }
        task.opened(message.datasetId(), message.givenName(), message.placement() == 1);
        nextOffset = resumed;
        releasedBytes = resumed;
        resumedCrc = hasCrc ? crcOf(0, resumed) : 0;
        state = State.MOVING;
    }

    private int crcOf(long from, long to) {
        checksum.reset();
        for (long at = from; at < to; at += CRC_PIECE) {
            int count = (int) Math.min(CRC_PIECE, to - at);
            checksum.update(task.memory().buffer(task.offset() + at, count), 0, count);
        }
        return checksum.value();
    }

    private int crcOfAll() {
        int crc = resumedCrc;
        for (int i = 0; hasCrc && i < blockCount; i++) {
            crc = Checksum.combine(crc, crcs[i], lengths[i]);
        }
        return crc;
    }

    private void onGrant(StgFlyweight message, DirectBuffer buffer) {
        if (state != State.MOVING || message.datasetId() != task.id()) {
            return;
        }
        for (Slot slot : slots) {
            if (slot.state == SlotState.ASKED && slot.number == message.blockNo()) {
                engine.progress();
                granted(slot, message, buffer);
                return;
            }
        }
    }

    private void granted(Slot slot, StgFlyweight message, DirectBuffer buffer) {
        int code = message.status();
        if (code == StgStatus.PIN_LIMIT
                && !isLengthKnown
                && message.blockLength() >= StgFlyweight.BLOCK_ALIGNMENT
                && message.blockLength() < slot.length) {
            // The first block, alone: it is asked for again, and all others are as short.
            blockLength = message.blockLength();
            nextOffset = slot.offset;
            blockCount--;
            slot.to(SlotState.FREE);
        } else if (code != StgStatus.OK) {
            status = code;
        } else {
            roomForSums();
            isLengthKnown = true;
            slot.block.target.decode(buffer, message.descriptorAt());
            slot.to(SlotState.GRANTED);
        }
    }

    /** Once, when blocks have the length that they will have. */
    private void roomForSums() {
        if (hasCrc && !isLengthKnown) {
            int count = (int) ((task.length() - nextOffset) / blockLength) + slots.length + 1;
            crcs = new int[count];
            lengths = new int[count];
        }
    }

    private void onDone(StgFlyweight message) {
        if (state == State.SYNCING && message.datasetId() == task.id()) {
            engine.progress();
            status = message.status();
        }
    }

    void onWritten(int tag, boolean isThere) {
        int index = tag - firstTag;
        if (index < 0 || index >= slots.length) {
            return; // Of an earlier dataset.
        }
        engine.progress();
        if (isThere) {
            slots[index].written();
        } else {
            status = StgStatus.BAD_RANGE;
        }
    }

    // ---- what is next

    int step() {
        if (state != State.MOVING || status >= 0) {
            return 0;
        }
        int work = 0;
        for (Slot slot : slots) {
            work += talk(slot);
        }
        // What was said travels before the next block does, so that the server works meanwhile.
        for (int i = 0; i < slots.length && work == 0; i++) {
            work += slots[i].state == SlotState.GRANTED ? write(slots[i]) : 0;
        }
        if (releasedBytes == task.length()) {
            engine.say(StgType.DATASET_SYNC).sync(task.id(), task.length(), crcOfAll(), blockCount);
            state = State.SYNCING;
            work++;
        }
        return work;
    }

    private int talk(Slot slot) {
        switch (slot.state) {
            case FREE -> {
                // The first answer says how long blocks may be.
                boolean mayAsk = isLengthKnown || !isAnyAsked();
                if (nextOffset < task.length() && mayAsk && !engine.link().out().isFull()) {
                    ask(slot);
                    return 1;
                }
            }
            case WRITTEN -> {
                if (!engine.link().out().isFull()) {
                    release(slot);
                    return 1;
                }
            }
            default -> {
                // The server or the transport has it.
            }
        }
        return 0;
    }

    private boolean isAnyAsked() {
        for (Slot slot : slots) {
            if (slot.state != SlotState.FREE) {
                return true;
            }
        }
        return false;
    }

    private void ask(Slot slot) {
        int length = (int) Math.min(blockLength, task.length() - nextOffset);
        slot.ask(nextOffset, length, blockCount++);
        engine.say(StgType.BLOCK_REQUEST).block(task.id(), slot.offset, length, slot.number);
        nextOffset += length;
    }

    /** Memory that has this range; a window covers many blocks, as each that is made allocates. */
    private UnsafeBuffer window(long at, int length) {
        boolean isInside =
                window != null && at >= windowAt && at + length <= windowAt + window.capacity();
        if (!isInside) {
            long left = task.offset() + task.length() - at;
            windowAt = at;
            window = task.memory().buffer(at, (int) Math.min(left, Integer.MAX_VALUE));
        }
        return window;
    }

    private int write(Slot slot) {
        int pieceLength = hasCrc ? engine.link().pieceLength() : slot.length;
        int work = 0;
        boolean mayGoOn = true;
        while (slot.putBytes < slot.length && mayGoOn) {
            mayGoOn = write(slot, Math.min(pieceLength, slot.length - slot.putBytes));
            work += mayGoOn ? 1 : 0;
        }
        return work;
    }

    /** False: not now. */
    private boolean write(Slot slot, int count) {
        long at = task.offset() + slot.offset + slot.putBytes;
        UnsafeBuffer bytes = window(at, count);
        int bytesAt = (int) (at - windowAt);
        slot.block.to(engine.session(), task.id(), slot.offset, slot.number, slot.putBytes, count);
        slot.block.from(source, at, bytes, bytesAt);
        ServerLink link = engine.link();
        boolean isTaken = link.write(slot.block, hasCrc);
        if (isTaken) {
            slot.put(count, hasCrc ? link.sum() : 0);
        }
        if (isTaken && hasCrc) {
            crcs[slot.number] = slot.crc;
            lengths[slot.number] = slot.putBytes;
        }
        return isTaken;
    }

    private void release(Slot slot) {
        engine.say(StgType.BLOCK_RELEASE)
                .release(task.id(), slot.number, hasCrc ? crcs[slot.number] : 0);
        releasedBytes += slot.length;
        slot.to(SlotState.FREE);
    }
}
