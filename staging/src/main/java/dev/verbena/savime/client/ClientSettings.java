package dev.verbena.savime.client;

import dev.verbena.agent.Environment;

/**
 * Settings of a client, checked by its builder. Times in nanoseconds, sizes in bytes.
 *
 * @param clientId the same for all connections, also after a reconnect
 * @param token 16 bytes
 * @param reconnects tasks of a lost server are tried again
 * @param hasCrc blocks and datasets carry a CRC-32C
 * @param connectTimeoutNs a server that cannot be reached for so long counts as lost
 * @param requestTimeoutNs a task fails that makes no progress for so long
 */
public record ClientSettings(
        Environment environment,
        long clientId,
        byte[] token,
        int blockSize,
        int window,
        int ioThreads,
        boolean hasCrc,
        boolean reconnects,
        long heartbeatNs,
        long connectTimeoutNs,
        long requestTimeoutNs) {}
