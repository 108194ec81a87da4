package dev.verbena.ofi.transport;

import dev.verbena.ofi.OfiLibrary;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Skips, with the reason, where libfabric is not installed. */
public final class NeedsLibfabric implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        String cause = OfiLibrary.unavailabilityCause();
        return cause == null
                ? ConditionEvaluationResult.enabled("libfabric is there")
                : ConditionEvaluationResult.disabled(cause);
    }
}
