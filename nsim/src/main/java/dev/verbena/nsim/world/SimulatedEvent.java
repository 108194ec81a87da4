package dev.verbena.nsim.world;

import java.net.URI;
import org.agrona.concurrent.UnsafeBuffer;

/** What a poll will deliver. Pooled by its transport. */
final class SimulatedEvent {
    static final int COMPLETION = 0;
    static final int MESSAGE = 1;
    static final int NOTIFY = 2;
    static final int REQUEST = 3;
    static final int CONNECTED = 4;
    static final int FAILED = 5;
    static final int DISCONNECTED = 6;
    static final int LOST = 7;

    int kind;
    Connection connection;
    long handle;
    long context;
    int operation;
    int status;
    long value;
    long offset;
    long length;
    long token;
    boolean isRetained;
    String text;
    URI peer;
    UnsafeBuffer payload = new UnsafeBuffer(new byte[0]);
    SimulatedRegion[] locals = new SimulatedRegion[1];
    int segments;

    void begin(int ofKind, Connection of) {
        kind = ofKind;
        connection = of;
        handle = of.handle;
        context = of.context();
        isRetained = false;
        segments = 0;
        text = "";
    }

    /** An operation has ended. The lists of local regions change hands. */
    void complete(Work work, int withStatus, long withValue) {
        operation = work.kind;
        context = work.context;
        status = withStatus;
        value = withValue;
        segments = work.segments;
        locals = work.exchangeLocals(locals);
    }

    /** A message has arrived: its payload becomes the event's. */
    void message(Work work) {
        length = work.payloadLength;
        payload = work.exchangePayload(payload);
    }

    /** A put with a tag has been placed in a region. */
    void notify(int tag, long region, long at, long bytes) {
        operation = tag;
        value = region;
        offset = at;
        length = bytes;
    }

    /** A peer asks for a connection. */
    void request(URI from, Work work) {
        peer = from;
        message(work);
    }

    void fail(int withStatus, String why) {
        status = withStatus;
        text = why;
    }

    void token(long number) {
        token = number;
    }

    void retain(boolean value) {
        isRetained = value;
    }

    /** The poll that delivers it counts its operation as done at its local regions. */
    void settleRegions() {
        for (int i = 0; i < segments; i++) {
            locals[i].unuse();
            locals[i] = null;
        }
    }
}
