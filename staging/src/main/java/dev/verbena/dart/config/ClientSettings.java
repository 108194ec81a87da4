package dev.verbena.dart.config;

import dev.verbena.agent.Environment;
import dev.verbena.dart.wire.PieceFlyweight;
import dev.verbena.dart.wire.RegisterFlyweight;
import dev.verbena.staging.Arguments;
import java.util.function.UnaryOperator;

/**
 * What a client was told, checked.
 *
 * @param variables null: the environment's
 */
public record ClientSettings(
        ServiceSettings service,
        int rank,
        int applicationId,
        int rankCount,
        int inboxSlots,
        int inboxMessageMax,
        int maxInFlight,
        int unconfirmedMax,
        long headerTimeoutNs,
        int headerTries,
        boolean isReassigned,
        boolean isChecksummed,
        boolean isVerifying,
        boolean isTicketPooled,
        boolean isDistribution,
        UnaryOperator<String> variables) {
    public ClientSettings {
        Arguments.range("rank", rank, 0, Integer.MAX_VALUE);
        Arguments.range("applicationId", applicationId, 0, RegisterFlyweight.APPLICATION_MAX);
        Arguments.range("rankCount", rankCount, 0, Integer.MAX_VALUE);
        Arguments.range("inbox", inboxSlots, 0, PieceFlyweight.SLOTS_MAX);
        Arguments.range("inboxMessageMax", inboxMessageMax, 0, 1 << 30);
        Arguments.range("maxInFlight", maxInFlight, 1, 64);
        Arguments.powerOfTwo("unconfirmedMax", unconfirmedMax, 1, 1 << 20);
        Arguments.range("unconfirmedMax", unconfirmedMax, maxInFlight, 1 << 20);
        Arguments.range("headerTimeoutNs", headerTimeoutNs, 1_000, Long.MAX_VALUE / 4);
        Arguments.range("headerTries", headerTries, 1, 1000);
    }

    public Environment environment() {
        return service.environment();
    }
}
