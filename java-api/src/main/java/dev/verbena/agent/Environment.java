package dev.verbena.agent;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.util.random.RandomGenerator;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.status.CountersManager;

/**
 * Everything a protocol engine touches. A real and a simulated environment exist; engines import
 * neither. Objects made here are owned by the caller and closed by it.
 */
public interface Environment {
    /** Monotonic time. */
    NanoClock nanoClock();

    /** Wall clock, milliseconds. */
    EpochClock epochClock();

    /** A stream of randomness of this name; the same seed and name give the same numbers. */
    RandomGenerator random(String name);

    /**
     * Randomness that nobody outside can foresee, for what keeps strangers out. A simulated
     * environment may give numbers that a seed repeats.
     */
    RandomGenerator unpredictable();

    /** Opens a transport; scheme as in {@code Transports.open}. */
    Transport openTransport(String scheme, TransportContext context);

    /**
     * A context to open a transport with that is to have this address, or to reach a peer there; as
     * {@code Transports.contextFor}.
     *
     * @throws IllegalArgumentException for an address that does not fit its scheme
     */
    default TransportContext contextFor(URI address, boolean isOwn) {
        return Transports.contextFor(address, isOwn);
    }

    /** TCP, non-blocking. */
    ByteStreams streams();

    /** Files under one directory that survive a crash once forced. */
    DurableStore store(String directory);

    /** The path of the file to which this path of a symbolic link leads; any other unchanged. */
    default String linkTarget(String path) {
        return path;
    }

    /** Live counters, shown by {@code verbena status}. */
    CountersManager counters();

    /** Value of a variable of the process' environment, null if it is not set. */
    default String variable(String name) {
        return null;
    }

    /** What happens to messages and peers, for a recorder. */
    default StagingEvents events() {
        return StagingEvents.NONE;
    }

    /**
     * Whether the bytes of payloads mean something. False only in a simulation that moves sizes:
     * then payloads beyond some kilobytes are never written, nobody need look at them or keep them,
     * their checksums count as 0 on both sides, and messages are handed over without their bytes.
     */
    default boolean carriesPayloads() {
        return true;
    }

    /** What cannot be thrown. */
    ErrorHandler errorHandler();
}
