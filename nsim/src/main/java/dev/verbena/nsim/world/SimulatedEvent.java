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
}
