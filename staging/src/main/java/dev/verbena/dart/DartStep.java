package dev.verbena.dart;

import java.util.List;
import java.util.UUID;

/**
 * One step of one application, put together from the messages of all its ranks; valid only while
 * its {@link DartStepHandler} runs. Payloads are windows on the memory in which they arrived; they
 * are not copied.
 */
public interface DartStep {
    /** Run of the service through which it came. */
    UUID serviceId();

    /** Application whose step it is. */
    int applicationId();

    /** Number of the step, as the ranks gave it. */
    long step();

    /** Ranks that should take part; 0 if nobody has said so. */
    int rankCount();

    /** True if all messages of all ranks are here. */
    boolean isComplete();

    /** What is missing, in words, rank by rank; empty if the step is complete. */
    String missing();

    /**
     * Ranks of which something, or everything, is missing, in rising order; a copy. Ranks are known
     * only if {@link #rankCount()} is, or if something of them has come. At most 65,536 are named.
     */
    int[] missingRanks();

    /**
     * Ranks of which something is missing because their processes were lost, in rising order; a
     * copy. They are among {@link #missingRanks()}; the others are late, or lost messages.
     */
    int[] lostRanks();

    /** All messages, by rank, and those of a rank in the order sent; cannot be changed. */
    List<DartMessage> messages();

    /**
     * The first message of a rank with this variable in its metadata.
     *
     * @return null if there is none
     */
    DartMessage message(int rank, String variable);

    /** How often this step was handed over before, and the handler threw. */
    int failureCount();
}
