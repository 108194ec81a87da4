package dev.verbena.dart;

import org.agrona.DirectBuffer;

/** A command of a compute process to its server, as a handler sees it; valid until that returns. */
public interface DartCommand {
    /** What is asked for: a number of the user's choice, 0 or more. */
    int type();

    /** Id of the process that asks. */
    int clientId();

    /** Application of the process. */
    int applicationId();

    /** Rank of the process within its application. */
    int rank();

    /** Holds the payload. */
    DirectBuffer buffer();

    /** Where the payload begins. */
    int offset();

    /** Bytes of the payload, 0 to {@link DartClient#COMMAND_LENGTH_MAX}. */
    int length();
}
