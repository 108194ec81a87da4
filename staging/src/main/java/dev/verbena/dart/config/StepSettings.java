package dev.verbena.dart.config;

import dev.verbena.dart.DartStepContext;
import dev.verbena.dart.DartStepHandler;
import dev.verbena.staging.Arguments;

/**
 * How steps are put together, checked.
 *
 * @param rankCount 0: what the messages say
 * @param messagesPerRank 0: what the messages say
 */
public record StepSettings(
        DartStepHandler handler,
        int rankCount,
        int messagesPerRank,
        long deadlineNs,
        int openStepsMax,
        long bytesMax,
        DartStepContext.Incomplete incomplete,
        DartStepContext.OnException onException,
        int triesMax,
        boolean isAcknowledgedWhenHandled) {
    public StepSettings {
        Arguments.range("rankCount", rankCount, 0, Integer.MAX_VALUE);
        Arguments.range("messagesPerRank", messagesPerRank, 0, Integer.MAX_VALUE);
        Arguments.range("deadlineNs", deadlineNs, 1_000_000, Long.MAX_VALUE / 4);
        Arguments.range("openStepsMax", openStepsMax, 1, 4096);
        Arguments.range("bytesMax", bytesMax, 1, 1L << 50);
        Arguments.notNull("incomplete", incomplete);
        Arguments.notNull("onException", onException);
        Arguments.range("triesMax", triesMax, 1, 1_000_000);
    }
}
