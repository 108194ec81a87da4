package dev.verbena.nsim.world;

import dev.verbena.memory.RemoteDescriptor;
import java.net.URI;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Something that travels from one transport to another: an operation of the contract, or a message
 * about a connection. Pooled.
 */
final class Work {
    static final int CONNECT = 20;
    static final int ACCEPT = 21;
    static final int REJECT = 22;
    static final int DISCONNECT = 23;
    static final int CLOSE = 24;

    static final int UNSEQUENCED = -1;

    final int number;
    int kind;
    SimulatedTransport from;
    SimulatedTransport to;

    /** The connection at the sender's end; null for what is about no open connection. */
    Connection connection;

    /** The connection at the receiver's end, of messages about connections. */
    Connection other;

    long context;
    int tag;
    int sequence;
    long first;
    long second;
    boolean isFenced;
    boolean isStarted;

    /** The network model has its row. */
    boolean isInNetwork;

    /** It waits for its turn, for a late arrival or for the end of a partition. */
    boolean isHeld;

    /** Its bytes are where they belong, or its failure is known there. */
    boolean isPlaced;

    /** The initiator's side is told, or need not be. */
    boolean isDone;

    int status;
    long value;
    String text;
    URI uri;
    int segments;
    SimulatedRegion[] locals = new SimulatedRegion[1];
    long[] offsets = new long[1];
    long[] remoteOffsets = new long[1];
    long[] lengths = new long[1];
    int remoteKind;
    int rights;
    long base;
    long length;
    long keyLow;
    long keyHigh;
    UnsafeBuffer payload = new UnsafeBuffer(new byte[0]);
    int payloadLength;
    Work previous;
    Work next;

    Work(int number) {
        this.number = number;
    }

    boolean isControl() {
        return kind >= CONNECT;
    }

    void begin(int kind, SimulatedTransport from, SimulatedTransport to) {
        this.kind = kind;
        this.from = from;
        this.to = to;
        connection = null;
        other = null;
        context = 0;
        sequence = UNSEQUENCED;
        isFenced = false;
        isStarted = false;
        isInNetwork = false;
        isHeld = false;
        isPlaced = false;
        isDone = false;
        status = 0;
        value = 0;
        text = "";
        uri = null;
        segments = 0;
        payloadLength = 0;
    }

    void remote(RemoteDescriptor d) {
        remoteKind = d.kind();
        rights = d.rights();
        base = d.base();
        length = d.length();
        keyLow = d.keyLow();
        keyHigh = d.keyHigh();
    }

    void segment(SimulatedRegion local, long offset, long remoteOffset, long length) {
        if (segments == locals.length) {
            locals = java.util.Arrays.copyOf(locals, 2 * segments);
            offsets = java.util.Arrays.copyOf(offsets, 2 * segments);
            remoteOffsets = java.util.Arrays.copyOf(remoteOffsets, 2 * segments);
            lengths = java.util.Arrays.copyOf(lengths, 2 * segments);
        }
        locals[segments] = local;
        offsets[segments] = offset;
        remoteOffsets[segments] = remoteOffset;
        lengths[segments++] = length;
    }

    /** Room for so many bytes of payload. */
    void room(int bytes) {
        if (payload.capacity() < bytes) {
            payload = new UnsafeBuffer(new byte[Math.max(256, Integer.highestOneBit(bytes) * 2)]);
        }
    }

    long bytes() {
        long sum = payloadLength;
        for (int i = 0; i < segments; i++) {
            sum += lengths[i];
        }
        return sum;
    }
}
