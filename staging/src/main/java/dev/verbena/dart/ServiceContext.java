package dev.verbena.dart;

import dev.verbena.agent.Environment;
import dev.verbena.dart.config.ServiceSettings;
import java.util.UUID;

/**
 * How a server or a client takes part in a service.
 *
 * @param <C> the context's own class
 */
abstract class ServiceContext<C extends ServiceContext<C>> {
    private Environment environment;
    private String configurationFile = "";
    private String transport = "";
    private String transportJob = "";
    private UUID serviceId;
    private long bootTimeoutNs = 30_000_000_000L;
    private long closeTimeoutNs = 30_000_000_000L;
    private long peerTimeoutNs = 4_000_000_000L;

    @SuppressWarnings("unchecked") // C is the class of this context
    private C self() {
        return (C) this;
    }

    /** Everything outside of the process that it touches. */
    public C environment(Environment environment) {
        this.environment = environment;
        return self();
    }

    /** File that the master writes; slaves and compute processes read it. */
    public C configurationFile(String configurationFile) {
        this.configurationFile = configurationFile;
        return self();
    }

    /**
     * Scheme of the transport: {@code shm}, {@code portals}, ... Default: a master opens {@link
     * DartServer#TRANSPORT_DEFAULT}; a slave and a compute process open what the configuration file
     * says, once it is there.
     */
    public C transport(String transport) {
        this.transport = transport;
        return self();
    }

    /** Job of the transport, see {@code TransportContext.job}; empty: its default. */
    public C transportJob(String transportJob) {
        this.transportJob = transportJob;
        return self();
    }

    /**
     * Identity of a run of the service: a master's own, null (default): one is made up; the only
     * one whose configuration a compute process accepts, null (default): any. Not for slaves.
     */
    public C serviceId(UUID serviceId) {
        this.serviceId = serviceId;
        return self();
    }

    /** How long a slave or a compute process looks for its master; 30 s. */
    public C bootTimeoutNs(long bootTimeoutNs) {
        this.bootTimeoutNs = bootTimeoutNs;
        return self();
    }

    /** How long {@code close()} waits for what is under way; 30 s. */
    public C closeTimeoutNs(long closeTimeoutNs) {
        this.closeTimeoutNs = closeTimeoutNs;
        return self();
    }

    /** After this long a peer that is frozen, unreachable or does not answer is lost; 4 s. */
    public C peerTimeoutNs(long peerTimeoutNs) {
        this.peerTimeoutNs = peerTimeoutNs;
        return self();
    }

    /**
     * What was set.
     *
     * @param transportDefault the transport where none was set
     */
    final ServiceSettings service(String transportDefault) {
        return new ServiceSettings(
                environment,
                configurationFile,
                "".equals(transport) ? transportDefault : transport,
                transportJob,
                serviceId,
                bootTimeoutNs,
                closeTimeoutNs,
                peerTimeoutNs);
    }
}
