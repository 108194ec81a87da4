package dev.verbena.dart.step;

import dev.verbena.dart.DartMessage;
import java.util.UUID;

/** A message as the steps see it; the receiver implements it. */
public interface StepPart extends DartMessage {
    /** Job of the stream that it came over. */
    UUID job();

    /** Takes room in a step until it leaves that. */
    void joinStep(OpenStep step, long cost);

    /** The step to which it belonged; null: none. */
    OpenStep leaveStep();

    /** Memory that was set aside for it. */
    long stepCost();
}
