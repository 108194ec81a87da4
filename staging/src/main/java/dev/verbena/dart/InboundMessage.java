package dev.verbena.dart;

import dev.verbena.agent.DurableStore.Completion;
import dev.verbena.agent.DurableStore.DurableFile;
import dev.verbena.agent.internal.PlantedFaults;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A message on its way through a receiver: assembled in memory if somebody handles it, written to a
 * file if it is to be stored. Pooled. Owned by the receiver's agent.
 */
final class InboundMessage implements DartMessage {
    /** Parts are still missing. */
    static final int RECEIVING = 0;

    /** Complete; its file is being forced. */
    static final int FORCING = 1;

    /** Its file is being renamed. */
    static final int RENAMING = 2;

    /** Delivered, as strongly as wanted. */
    static final int SETTLED = 3;

    /** Delivered, and not to be acknowledged before its step was handled. */
    static final int HELD = 4;

    final DartMetadata metadata = new DartMetadata();
    final UnsafeBuffer payload = new UnsafeBuffer(new byte[0]);
    final Checksum crc = new Checksum();
    private byte[] memory = new byte[0];
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

    /** The stream needs it no more. */
    boolean isForgotten;

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
        temporaryName = "";
        file = null;
        rename = null;
        forceAsked = 0;
        step = null;
        isHeld = false;
        isForgotten = false;
        payload.wrap(memory, 0, 0);
    }

    /** Appends to the assembly; it grows with what arrives, not with what was announced. */
    void assemble(DirectBuffer from, int offset, int length) {
        long needed = received + length;
        if (memory.length < needed) {
            long announced = metadata.payloadLength();
            long grown = Math.max(needed, Math.min(announced, Math.max(64 * 1024, 2L * needed)));
            memory = java.util.Arrays.copyOf(memory, (int) grown);
        }
        from.getBytes(offset, memory, (int) received, length);
    }

    /** The assembly is complete. */
    void assembled() {
        payload.wrap(memory, 0, (int) received);
    }

    /** Bytes kept for the next message. */
    int memoryLength() {
        return memory.length;
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
    public String fileName() {
        return fileName;
    }
}
