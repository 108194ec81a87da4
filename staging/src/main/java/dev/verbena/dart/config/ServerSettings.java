package dev.verbena.dart.config;

import dev.verbena.agent.Environment;
import dev.verbena.dart.AckMode;
import dev.verbena.dart.DartCommandHandler;
import dev.verbena.dart.DartMetadata;
import dev.verbena.staging.Arguments;
import dev.verbena.staging.LocalStreams;
import java.net.URI;
import java.util.function.Function;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * What a server was told: checked, with what follows from it filled in.
 *
 * @param receiverAddress where the receiver listens with a transport; null: by TCP at host and port
 * @param pieceLength long parts are pulled in pieces of this length
 * @param secret null: none
 * @param sinkDirectory empty: the data go to a receiver
 * @param sink the settings of the receiver that stores files there, for its environment
 * @param spillDirectory empty: nothing is spilled
 */
public record ServerSettings(
        ServiceSettings service,
        boolean isMaster,
        boolean isLegacyFile,
        boolean isDedicatedThreads,
        long pollNs,
        int pieceLength,
        boolean isDiscarding,
        String receiverHost,
        int receiverPort,
        URI receiverAddress,
        int serverCount,
        int clientCount,
        int clientsMax,
        int bufferCount,
        int bufferSize,
        int framePayloadMax,
        int creditsPerClient,
        AckMode ack,
        long heartbeatNs,
        Int2ObjectHashMap<DartCommandHandler> commandHandlers,
        boolean isStoppableByClients,
        boolean isDelegating,
        long receiverTimeoutNs,
        byte[] secret,
        String sinkDirectory,
        Function<Environment, ReceiverSettings> sink,
        String spillDirectory,
        long spillLimit) {
    public ServerSettings {
        Arguments.notEmpty("configurationFile", service.configurationFile());
        if (!sinkDirectory.isEmpty()) {
            boolean hasReceiver = !receiverHost.isEmpty() || receiverAddress != null;
            if (isDiscarding || hasReceiver || !spillDirectory.isEmpty()) {
                throw new IllegalArgumentException(
                        "fileSink: excludes receiver, discard and spill; files are on this machine"
                                + " already");
            }
            receiverHost = sinkDirectory;
            receiverPort = LocalStreams.PORT;
        }
        if (!isDiscarding && receiverAddress == null) {
            Arguments.notEmpty("receiver host", receiverHost);
            Arguments.range("receiver port", receiverPort, 1, 65535);
        }
        Arguments.range("serverCount", serverCount, 1, 1024);
        Arguments.range("clientsMax", clientsMax, 1, 8192);
        Arguments.range("clientCount", clientCount, 0, clientsMax * (long) serverCount);
        Arguments.range("bufferCount", bufferCount, 0, 1 << 16);
        if (pollNs != 0) {
            Arguments.range("pollNs", pollNs, 20_000, 100_000_000L);
        }
        Arguments.range("bufferSize", bufferSize, 2 * DartMetadata.LENGTH_MAX, 1024 * 1024 * 1024);
        Arguments.range("framePayloadMax", framePayloadMax, DartMetadata.LENGTH_MAX, 1 << 20);
        Arguments.range("creditsPerClient", creditsPerClient, 1, 64);
        Arguments.notNull("ack", ack);
        if (heartbeatNs != 0) {
            Arguments.range("heartbeatNs", heartbeatNs, 1_000_000, 3_600_000_000_000L);
        }
        Arguments.range("receiverTimeoutNs", receiverTimeoutNs, 1_000_000, Long.MAX_VALUE / 4);
        if (!spillDirectory.isEmpty()) {
            Arguments.range(
                    "spill limit",
                    spillLimit,
                    Math.max(1 << 20, 4L * bufferSize),
                    Long.MAX_VALUE / 4);
        }
        if (bufferCount == 0) {
            int share = (clientCount + serverCount - 1) / serverCount;
            bufferCount = Math.max(3, (3 * share + 1) / 2);
        }
        commandHandlers = new Int2ObjectHashMap<>(commandHandlers);
    }

    public Environment environment() {
        return service.environment();
    }

    /** The receiver, for people. */
    public String receiverName() {
        return receiverAddress == null
                ? receiverHost + ":" + receiverPort
                : receiverAddress.toString();
    }
}
