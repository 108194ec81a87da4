package dev.verbena.transport;

/**
 * What a transport was opened with.
 *
 * @param messageLengthMax longest {@code send}, bytes
 * @param receiveSlotCount receive slots of the whole transport
 * @param creditsPerConnection messages a peer may have in flight towards us, per connection
 * @param outstandingMax operations that may be accepted and not yet polled, per transport
 * @param connectionsMax connections at a time
 * @param privateDataLengthMax bytes of private data of a connect
 */
public record TransportLimits(
        int messageLengthMax,
        int receiveSlotCount,
        int creditsPerConnection,
        int outstandingMax,
        int connectionsMax,
        int privateDataLengthMax) {}
