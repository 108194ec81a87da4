package dev.verbena.nsim.world;

import dev.verbena.memory.RemoteDescriptor;
import java.net.URI;
import java.util.Arrays;
import org.agrona.DirectBuffer;
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

    /** Its bytes are at their target, or the target has refused them. */
    boolean isPlaced;

    /** The initiator has its completion, or needs none. */
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
            locals = Arrays.copyOf(locals, 2 * segments);
        }
        // Lists of regions are exchanged: theirs may be longer than the others.
        if (segments == offsets.length) {
            offsets = Arrays.copyOf(offsets, 2 * segments);
            remoteOffsets = Arrays.copyOf(remoteOffsets, 2 * segments);
            lengths = Arrays.copyOf(lengths, 2 * segments);
        }
        locals[segments] = local;
        offsets[segments] = offset;
        remoteOffsets[segments] = remoteOffset;
        lengths[segments++] = length;
    }

    /** The owner of a connection has posted it. */
    void post(Connection ofConnection, long ofContext, boolean fenced) {
        connection = ofConnection;
        context = ofContext;
        isFenced = fenced;
    }

    /** Copies the payload. */
    void payload(DirectBuffer source, int offset, int bytes) {
        if (payload.capacity() < bytes) {
            payload = new UnsafeBuffer(new byte[Math.max(256, Integer.highestOneBit(bytes) * 2)]);
        }
        payload.putBytes(0, source, offset, bytes);
        payloadLength = bytes;
    }

    /** It is a message; the receiver takes messages in the order of these numbers. */
    void message(int number) {
        value = payloadLength;
        sequence = number;
    }

    /** It is a put that notifies the target with a tag. */
    void notify(int withTag) {
        tag = withTag;
    }

    /** It is an atomic operation on 8 bytes with one or two operands. */
    void atomic(long remoteOffset, long operand, long secondOperand) {
        remoteOffsets[0] = remoteOffset;
        first = operand;
        second = secondOperand;
        payloadLength = Long.BYTES;
    }

    /** It is a message about a connection, for this end of it. */
    void about(Connection end, String why) {
        other = end;
        text = why;
    }

    /** The receiver takes it after everything that the connection has sent before. */
    void sequenceAfter(Connection sender) {
        connection = sender;
        sequence = sender.nextSequence();
    }

    /** It asks a peer for a connection. */
    void connect(Connection from, URI peer) {
        other = from;
        uri = peer;
    }

    /** The network model has a row for it from now on. */
    void enterNetwork() {
        isStarted = true;
        isInNetwork = true;
    }

    void leaveNetwork() {
        isInNetwork = false;
    }

    /** It waits outside of the network. */
    void hold() {
        isHeld = true;
    }

    void unhold() {
        isHeld = false;
    }

    /** Counts bytes that are in the memory that they were meant for. */
    void addMoved(long bytes) {
        value += bytes;
    }

    /** What an atomic operation found. */
    void result(long before) {
        value = before;
    }

    void status(int result) {
        status = result;
    }

    /** The target has done what it asks for, or has refused it. */
    void place() {
        isPlaced = true;
    }

    /** The initiator has its completion, or needs none. */
    void finish() {
        isDone = true;
    }

    /** True once, when nothing refers to it any more. */
    boolean takeForReuse() {
        boolean isUnused = isDone && !isInNetwork && !isHeld;
        isHeld |= isUnused;
        return isUnused;
    }

    /** Gives the payload away, for other memory to use next time. */
    UnsafeBuffer exchangePayload(UnsafeBuffer other) {
        UnsafeBuffer mine = payload;
        payload = other;
        return mine;
    }

    /** Gives the list of local regions away, for another list to use next time. */
    SimulatedRegion[] exchangeLocals(SimulatedRegion[] others) {
        SimulatedRegion[] mine = locals;
        locals = others.length >= offsets.length ? others : mine.clone();
        return mine;
    }

    /** Links it in front of a list. */
    void linkBefore(Work following) {
        previous = null;
        next = following;
        if (following != null) {
            following.previous = this;
        }
    }

    /** Takes it out of its list. */
    void unlink() {
        if (previous != null) {
            previous.next = next;
        }
        if (next != null) {
            next.previous = previous;
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
