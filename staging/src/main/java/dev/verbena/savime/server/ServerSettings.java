package dev.verbena.savime.server;

import dev.verbena.agent.Environment;
import dev.verbena.transport.Transport;
import java.util.function.Supplier;

/**
 * What a staging server was told; checked by whoever made it. Times in nanoseconds, sizes in bytes.
 *
 * @param transport opens the transport on the engine's thread; null: TCP only
 * @param servicePath file that names the transport's address; null without a transport
 * @param listenHost null: no TCP
 * @param listenPort 0: any
 * @param token 16 bytes that a client must know
 * @param memoryMax most bytes of staged files in memory
 * @param poolMax most bytes of memory files kept to be used again, within {@code memoryMax}
 * @param prefaultLength of files that the pool has from the start
 * @param prefaultCount how many
 * @param pinMax most bytes registered at a time
 * @param bounceLength of a buffer through which data go to disk; a multiple of 4096
 */
public record ServerSettings(
        Environment environment,
        Supplier<Transport> transport,
        String servicePath,
        String listenHost,
        int listenPort,
        byte[] token,
        long memoryMax,
        long diskMax,
        long poolMax,
        long prefaultLength,
        int prefaultCount,
        long pinMax,
        int blockMax,
        int windowMax,
        int bounceLength,
        int bounceCount,
        int sessionsMax,
        int datasetsMax,
        int heartbeatMs,
        long resumeNs,
        long keepFailedNs,
        long retryFirstNs,
        long retryLastNs,
        long admissionWaitNs) {}
