package dev.verbena.dart.config;

import dev.verbena.agent.Environment;
import dev.verbena.dart.wire.PieceFlyweight;
import dev.verbena.dart.wire.RegisterFlyweight;
import dev.verbena.staging.Arguments;
import java.util.UUID;
import java.util.function.UnaryOperator;

/**
 * What a client was told, checked.
 *
 * @param transport empty: what the configuration file says
 * @param job the run of the service that is accepted; null: any
 * @param variables null: the environment's
 */
public record ClientSettings(
        Environment environment,
        String configurationFile,
        String transport,
        String transportJob,
        int rank,
        int applicationId,
        int rankCount,
        int inboxSlots,
        int inboxMessageMax,
        int maxInFlight,
        int unconfirmedMax,
        long bootTimeoutNs,
        long closeTimeoutNs,
        long headerTimeoutNs,
        int headerTries,
        long peerTimeoutNs,
        boolean isReassigned,
        boolean isChecksummed,
        boolean isVerifying,
        boolean isTicketPooled,
        boolean isDistribution,
        UUID job,
        UnaryOperator<String> variables) {
    public ClientSettings {
        Arguments.notNull("environment", environment);
        Arguments.notNull("transport", transport);
        Arguments.range("rank", rank, 0, Integer.MAX_VALUE);
        Arguments.range("applicationId", applicationId, 0, RegisterFlyweight.APPLICATION_MAX);
        Arguments.range("rankCount", rankCount, 0, Integer.MAX_VALUE);
        Arguments.range("inbox", inboxSlots, 0, PieceFlyweight.SLOTS_MAX);
        Arguments.range("inboxMessageMax", inboxMessageMax, 0, 1 << 30);
        Arguments.range("maxInFlight", maxInFlight, 1, 64);
        Arguments.powerOfTwo("unconfirmedMax", unconfirmedMax, 1, 1 << 20);
        Arguments.range("unconfirmedMax", unconfirmedMax, maxInFlight, 1 << 20);
        Arguments.range("bootTimeoutNs", bootTimeoutNs, 0, Long.MAX_VALUE / 4);
        Arguments.range("closeTimeoutNs", closeTimeoutNs, 0, Long.MAX_VALUE / 4);
        Arguments.range("headerTimeoutNs", headerTimeoutNs, 1_000, Long.MAX_VALUE / 4);
        Arguments.range("headerTries", headerTries, 1, 1000);
    }
}
