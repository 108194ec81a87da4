package dev.verbena.dart;

import dev.verbena.agent.DurableStore.Completion;
import dev.verbena.agent.DurableStore.DurableFile;
import dev.verbena.agent.internal.DirectMemory;
import dev.verbena.agent.internal.PlantedFaults;
import java.nio.ByteBuffer;
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
final class InboundMessage implements DartMessage {
    /** Parts are still missing. */
    static final int RECEIVING = 0;

    /** Complete; its file is being forced. */
    static final int FORCING = 1;

    /** Forced; the journal is asked to remember that the file is about to get its final name. */
    static final int PROMISING = 2;

    /** Its file is being renamed. */
    static final int RENAMING = 3;

    /** Has its final name already: a receiver before this one gave it. */
    static final int RENAMED = 4;

    /** Delivered, and not to be acknowledged before its step was handled. */
    static final int HELD = 5;

    /** Delivered, as strongly as wanted. */
    static final int SETTLED = 6;

    private static final int ROOM_MIN = 64 * 1024;
    private static final byte[] NOTHING = new byte[0];

    final DartMetadata metadata = new DartMetadata();

    /** The metadata block as it came. */
    final UnsafeBuffer block = new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX]);

    final UnsafeBuffer payload = new UnsafeBuffer(new byte[0]);
    final Checksum crc = new Checksum();

    /** What has arrived, by position; behind {@link #position} anything. */
    final UnsafeBuffer memory = new UnsafeBuffer(new byte[0]);

    int state;
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
    String fileName = "";

    /** Where its handler has put it; null: nowhere else. */
    String place;

    String temporaryName = "";
    DurableFile file;
    Completion rename;

    /** Bytes of the payload that the file was asked to force. */
    long forceAsked;

    /** Job of the stream that it came over. */
    java.util.UUID job;

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

    /** Checksum of all of it that its promise holds; see {@link #isSumPromised}. */
    int promisedSum;

    /** A receiver before this one has written {@link #promisedSum} into its journal. */
    boolean isSumPromised;

    /** Frames of it are settled although it is not complete: its beginning does not come again. */
    boolean isBegunSettled;

    /** Bytes of the payload in these; none, if the first has no room beside the metadata. */
    long settledEnd;

    /** As {@link #settledEnd}, as far as the journal was told; -1: of nothing. */
    long journaledEnd = -1;

    /** The journal has been told of this message. */
    boolean isJournaled;

    /** Round of the journal that remembers the promised name; 0: none. */
    long promiseRound;

    /** Nothing but memory: in no stream, owned by a session. */
    boolean isSpare;

    void begin(int client, int server, int messageTag, long messageSequence) {
        clientId = client;
        serverId = server;
        tag = messageTag;
        sequence = messageSequence;
        state = RECEIVING;
        flags = 0;
        position = 0;
        received = 0;
        checksum = 0;
        crc.reset();
        fileName = "";
        place = null;
        temporaryName = "";
        file = null;
        rename = null;
        forceAsked = -1;
        step = null;
        isHeld = false;
        isAside = false;
        isWanted = false;
        takenAt = 0;
        countedBytes = 0;
        isForgotten = false;
        settledEnd = 0;
        isBegunSettled = false;
        journaledEnd = -1;
        isSummedAgain = false;
        isJournaled = false;
        promiseRound = 0;
        isSumPromised = false;
        payload.wrap(NOTHING); // and not the memory, which would be kept when it is given back
    }

    /**
     * Takes the metadata block.
     *
     * @throws DartException MALFORMED, naming the field
     */
    void decode(DirectBuffer from, int offset, int available) {
        metadataLength = metadata.decode(from, offset, available);
        block.putBytes(0, from, offset, metadataLength);
    }

    /** Whether this frame brings what is wanted next. */
    boolean isAt(FrameFlyweight frame) {
        return state == RECEIVING
                && !isAside
                && clientId == frame.clientId()
                && sequence == frame.messageSequence()
                && position == frame.position();
    }

    /** Position at which it will be complete. */
    long positionMax() {
        return metadataLength + metadata.payloadLength();
    }

    /** So many bytes of its payload have come with this frame, the receiver's latest. */
    void took(FrameFlyweight frame, int length, long number) {
        takenAt = number;
        isWanted = false;
        received += length;
        position = frame.position() + frame.payloadLength();
        flags |= frame.flags();
    }

    /** Bytes of memory that it has once there is room for so many. */
    long grown(int needed) {
        int present = memory.capacity();
        if (present >= needed) {
            return present;
        }
        long announced = position == 0 ? needed : positionMax();
        return Math.max(Math.max(needed, ROOM_MIN), Math.min(announced, 2L * needed + ROOM_MIN));
    }

    /**
     * Makes the memory at least this long. It grows with what arrives, not with what was announced.
     *
     * @param needed bytes, metadata block included
     */
    void makeRoom(int needed) {
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
    void assemble(DirectBuffer from, int offset, int length) {
        int at = metadataLength + (int) received;
        makeRoom(at + length);
        memory.putBytes(at, from, offset, length);
    }

    /** Gives its memory back; its file has all of it. */
    void putAside() {
        memory.wrap(NOTHING);
        boolean isHasty = PlantedFaults.ENABLED && PlantedFaults.isOn("dart-half-a-sum");
        // What was being read again is read, and summed up, from its beginning once more.
        isSummedAgain &= isAside && !isHasty;
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
        state = RECEIVING;
        promiseRound = 0;
        forceAsked = length;
        rename = null;
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
    void assembled() {
        makeRoom(metadataLength + (int) received);
        payload.wrap(memory, metadataLength, (int) received);
    }

    /** Bytes kept for the next message. */
    int memoryLength() {
        return memory.capacity();
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
        if (PlantedFaults.ENABLED && PlantedFaults.isOn("dart-corrupt-not-flagged")) {
            return false;
        }
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
}
