package dev.verbena.dart.store;

import dev.verbena.agent.internal.DirectMemory;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.step.OpenStep;
import dev.verbena.dart.step.StepPart;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.staging.Checksum;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A message on its way through a receiver: assembled in memory if somebody handles it, written to a
 * file if it is to be stored. Pooled. Owned by the receiver's agent.
 *
 * <p>Its memory holds the message as it travels: the metadata block, then the payload, each byte at
 * its position. So a frame can be read from the socket to where it belongs. Outside the Java heap
 * and freed by the garbage collector only: whoever keeps a buffer longer than allowed reads old
 * bytes, nothing worse.
 */
public final class InboundMessage extends StoredMessage implements StepPart {
    private static final int ROOM_MIN = 64 * 1024;
    private static final byte[] NOTHING = new byte[0];

    final DartMetadata metadata = new DartMetadata();

    /** The metadata block as it came. */
    final UnsafeBuffer block = new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX]);

    final UnsafeBuffer payload = new UnsafeBuffer(new byte[0]);
    final Checksum crc = new Checksum();

    /** What has arrived, by position; behind {@link #position} anything. */
    final UnsafeBuffer memory = new UnsafeBuffer(new byte[0]);

    int clientId;
    int serverId;
    int tag;
    int flags;
    long sequence;

    /** Next position wanted, metadata block included. */
    long position;

    int metadataLength;

    /** Payload bytes received. */
    long received;

    int checksum;

    /** Where its handler has put it; null: nowhere else. */
    String place;

    /** Job of the stream that it came over. */
    UUID job;

    /** The step to which it will belong, while it arrives; null: none. */
    OpenStep step;

    /** Memory that was set aside for it. */
    long stepCost;

    /** A step needs its memory. */
    boolean isHeld;

    /** Its bytes are only in its file: its server is not connected. */
    boolean isAside;

    /** A frame of it waits for its bytes to be in memory. */
    boolean isWanted;

    /** When its last frame was taken, counted in frames. */
    long takenAt;

    /** As much of its memory is in the receiver's count. */
    long countedBytes;

    /** As much of it is in the receiver's count of memory for later messages. */
    long pooledBytes;

    private long broughtBack;

    /** What is read again counts for the checksum too. */
    private boolean isSummedAgain;

    /** The stream needs it no more. */
    boolean isForgotten;

    /** Nothing but memory: in no stream, owned by a session. */
    boolean isSpare;

    public void begin(int client, int server, int messageTag, long messageSequence) {
        clientId = client;
        serverId = server;
        tag = messageTag;
        sequence = messageSequence;
        beginStoring();
        flags = 0;
        position = 0;
        received = 0;
        checksum = 0;
        crc.reset();
        place = null;
        step = null;
        isHeld = false;
        isAside = false;
        isWanted = false;
        takenAt = 0;
        countedBytes = 0;
        isForgotten = false;
        isSummedAgain = false;
        payload.wrap(NOTHING); // and not the memory, which would be kept when it is given back
    }

    /**
     * Takes the metadata block.
     *
     * @throws DartException MALFORMED, naming the field
     */
    public void decode(DirectBuffer from, int offset, int available) {
        metadataLength = metadata.decode(from, offset, available);
        block.putBytes(0, from, offset, metadataLength);
    }

    /** The process run whose message it is. */
    public void job(UUID its) {
        job = its;
    }

    /** In no stream: what comes may be read into it. */
    public void spare() {
        isSpare = true;
    }

    /** In a stream from now on. */
    public void joinStream() {
        isSpare = false;
    }

    /** The stream needs it no more. */
    public void leaveStream() {
        isForgotten = true;
    }

    @Override
    public void joinStep(OpenStep its, long cost) {
        step = its;
        stepCost = cost;
    }

    @Override
    public OpenStep leaveStep() {
        OpenStep left = step;
        step = null;
        return left;
    }

    /** So much of its memory is in the receiver's count. */
    public void counted(long bytes) {
        countedBytes = bytes;
    }

    /** So much of it is in the receiver's count of memory for later messages. */
    public void pooled(long bytes) {
        pooledBytes = bytes;
    }

    /** As the journal of an earlier receiver says. */
    void restoreFlags(int all) {
        flags = all;
    }

    /** So much of the payload is expected in its file. */
    void resume(long length) {
        received = length;
        position = metadataLength + length;
        restored();
    }

    /** Its file is read again from the beginning. */
    void beginReadingAgain() {
        crc.reset();
        received = 0;
    }

    /** The next bytes of its file. */
    void readAgain(DirectBuffer from, int length, boolean isAssembling) {
        crc.update(from, 0, length);
        if (isAssembling) {
            assemble(from, 0, length);
        }
        received += length;
    }

    /** All of it was summed up. */
    public void takeChecksum() {
        checksum = crc.value();
    }

    /** A step needs its memory, or none does any more. */
    public void held(boolean isNeeded) {
        isHeld = isNeeded;
    }

    /** A frame waits for its bytes to be in memory. */
    public void want() {
        isWanted = true;
    }

    /** No frame waits for that any more. */
    public void unwant() {
        isWanted = false;
    }

    /** Whether this frame brings what is wanted next. */
    public boolean isAt(FrameFlyweight frame) {
        return state == RECEIVING
                && !isAside
                && clientId == frame.clientId()
                && sequence == frame.messageSequence()
                && position == frame.position();
    }

    /** Position at which it will be complete. */
    public long positionMax() {
        return metadataLength + metadata.payloadLength();
    }

    /** So many bytes of its payload have come with this frame, the receiver's latest. */
    public void took(FrameFlyweight frame, int length, long number) {
        takenAt = number;
        isWanted = false;
        received += length;
        position = frame.position() + frame.payloadLength();
        flags |= frame.flags();
    }

    /** Bytes of memory that it has once there is room for so many. */
    public long grown(int needed) {
        int present = memory.capacity();
        if (present >= needed) {
            return present;
        }
        long announced = position == 0 ? needed : positionMax();
        return Math.max(Math.max(needed, ROOM_MIN), Math.min(announced, 2L * needed + ROOM_MIN));
    }

    /** Makes room for its first frame. */
    public void makeRoomAtStart(int needed) {
        position = 0;
        makeRoom(needed);
    }

    /**
     * Makes the memory at least this long. It grows with what arrives, not with what was announced.
     *
     * @param needed bytes, metadata block included
     */
    public void makeRoom(int needed) {
        int present = memory.capacity();
        if (present >= needed) {
            return;
        }
        ByteBuffer larger = DirectMemory.allocate((int) grown(needed));
        if (position > 0) {
            memory.getBytes(0, larger, 0, (int) Math.min(position, present));
        }
        memory.wrap(larger);
    }

    /** Appends to the assembly what was read elsewhere. */
    public void assemble(DirectBuffer from, int offset, int length) {
        int at = metadataLength + (int) received;
        makeRoom(at + length);
        memory.putBytes(at, from, offset, length);
    }

    /** Its file is not wanted. Memory that the file still borrows is not used again. */
    void giveUpFile() {
        if (file.isBorrowing()) {
            memory.wrap(NOTHING);
        }
        closeFile();
    }

    /** Gives its memory back; its file has all of it. */
    public void putAside() {
        memory.wrap(NOTHING);
        // What was being read again is read, and summed up, from its beginning once more.
        isSummedAgain &= isAside;
        if (isSummedAgain) {
            crc.reset();
        }
        isAside = received > 0;
        countedBytes = 0;
        broughtBack = 0;
    }

    /** All that counts of it now are so many bytes in its file, of which nothing else is known. */
    void goBackTo(long length) {
        received = length;
        position = metadataLength + length;
        goOnStoring(length);
        putAside();
        crc.reset();
        isSummedAgain = true;
    }

    /** Bytes of the payload that were read again since it was put aside. */
    long broughtBack() {
        return broughtBack;
    }

    /** The next bytes of what was put aside; with the last of them it is as before. */
    void bringBack(DirectBuffer from, int length, boolean isAssembling) {
        if (isAssembling) {
            makeRoom(metadataLength + (int) received);
            memory.putBytes(metadataLength + (int) broughtBack, from, 0, length);
        }
        if (isSummedAgain) {
            crc.update(from, 0, length);
        }
        broughtBack += length;
        isAside = broughtBack < received;
    }

    /** The assembly is complete. */
    public void assembled() {
        makeRoom(metadataLength + (int) received);
        payload.wrap(memory, metadataLength, (int) received);
    }

    /** Bytes kept for the next message. */
    public int memoryLength() {
        return memory.capacity();
    }

    @Override
    public UUID job() {
        return job;
    }

    @Override
    public long stepCost() {
        return stepCost;
    }

    @Override
    public DartMetadata metadata() {
        return metadata;
    }

    @Override
    public DirectBuffer buffer() {
        return payload;
    }

    @Override
    public int offset() {
        return 0;
    }

    @Override
    public int length() {
        return payload.capacity();
    }

    @Override
    public int clientId() {
        return clientId;
    }

    @Override
    public long sequence() {
        return sequence;
    }

    @Override
    public int tag() {
        return tag;
    }

    @Override
    public int serverId() {
        return serverId;
    }

    @Override
    public int crc32c() {
        return checksum;
    }

    @Override
    public boolean isCorrupt() {
        return metadata.hasChecksum() && metadata.checksum() != checksum;
    }

    @Override
    public void movedTo(String place) {
        this.place = place;
    }

    @Override
    public String fileName() {
        return fileName;
    }

    public long countedBytes() {
        return countedBytes;
    }

    public Checksum crc() {
        return crc;
    }

    public boolean isAside() {
        return isAside;
    }

    public boolean isForgotten() {
        return isForgotten;
    }

    public boolean isHeld() {
        return isHeld;
    }

    public boolean isSpare() {
        return isSpare;
    }

    public boolean isWanted() {
        return isWanted;
    }

    public UnsafeBuffer memory() {
        return memory;
    }

    public int metadataLength() {
        return metadataLength;
    }

    public long pooledBytes() {
        return pooledBytes;
    }

    public long position() {
        return position;
    }

    public long received() {
        return received;
    }

    public long takenAt() {
        return takenAt;
    }

    public OpenStep step() {
        return step;
    }

    @Override
    public String toString() {
        return "message " + sequence + " of client " + clientId;
    }
}
