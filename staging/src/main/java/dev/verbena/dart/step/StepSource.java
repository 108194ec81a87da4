package dev.verbena.dart.step;

import java.util.UUID;

/** A server's stream as the steps see it; the receiver implements it. */
public interface StepSource {
    /** Its job. */
    UUID job();

    /** Its server. */
    int serverId();

    /** Number of the next frame wanted from the wire. */
    long nextWanted();

    /** What its next message waits for among the steps, or an earlier one waited for. */
    StepWait stepWait();

    void stepWait(StepWait wait);
}
