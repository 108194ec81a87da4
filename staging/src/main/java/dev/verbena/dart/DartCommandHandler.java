package dev.verbena.dart;

import org.agrona.MutableDirectBuffer;

/** A service of a server for compute processes, registered with {@code commandHandler}. */
@FunctionalInterface
public interface DartCommandHandler {
    /**
     * Does what is asked for. Called on the server's thread t1, which transfers nothing meanwhile:
     * it must return soon, and hand on what takes long. An exception goes back to the process that
     * asked, as the text of a {@link DartException.Code#COMMAND_FAILED}.
     *
     * @param command what is asked for; valid until this returns
     * @param reply where the answer goes, {@link DartClient#COMMAND_LENGTH_MAX} bytes from index 0
     * @return bytes of the answer
     */
    int onCommand(DartCommand command, MutableDirectBuffer reply);
}
