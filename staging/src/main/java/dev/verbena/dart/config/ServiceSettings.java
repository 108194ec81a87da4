package dev.verbena.dart.config;

import dev.verbena.agent.Environment;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.staging.Arguments;
import dev.verbena.transport.TransportContext;
import java.util.UUID;

/**
 * How a server or a client takes part in a service, checked.
 *
 * @param transport empty: what the configuration file says
 * @param job a master's own run of the service, null: one is made up; the only one that a client
 *     takes, null: any
 */
public record ServiceSettings(
        Environment environment,
        String configurationFile,
        String transport,
        String transportJob,
        UUID job,
        long bootTimeoutNs,
        long closeTimeoutNs,
        long peerTimeoutNs) {
    public ServiceSettings {
        Arguments.notNull("environment", environment);
        Arguments.notNull("transport", transport);
        Arguments.range("bootTimeoutNs", bootTimeoutNs, 0, Long.MAX_VALUE / 4);
        Arguments.range("closeTimeoutNs", closeTimeoutNs, 0, Long.MAX_VALUE / 4);
    }

    /** For opening the transport; how many peers there are is to be added. */
    public TransportContext transportContext() {
        TransportContext opening =
                new TransportContext()
                        .messageLengthMax(ControlFlyweight.MESSAGE_LENGTH_MAX)
                        .peerTimeoutNs(peerTimeoutNs)
                        .errorHandler(environment.errorHandler());
        return transportJob.isEmpty() ? opening : opening.job(transportJob);
    }
}
