package dev.verbena.ofi.transport;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Of a suite these tests only, unless {@code -Dverbena.named=true} or {@code -Dverbena.long=true}
 * asks for all.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(ChosenTests.Condition.class)
@interface ChosenTests {
    /** Names of their methods. */
    String[] value();

    /** Names of those that the provider cannot pass. */
    String[] never() default {};

    /** Chooses by name. */
    final class Condition implements ExecutionCondition {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            // --long: the whole contract over ofi:// with verbs;ofi_rxm
            boolean isWhole =
                    Boolean.getBoolean("verbena.named") || Boolean.getBoolean("verbena.long");
            if (context.getTestMethod().isEmpty()) {
                return ConditionEvaluationResult.enabled("a class");
            }
            ChosenTests tests = context.getRequiredTestClass().getAnnotation(ChosenTests.class);
            String name = context.getRequiredTestMethod().getName();
            if (List.of(tests.never()).contains(name)) {
                return ConditionEvaluationResult.disabled(
                        "the provider cannot: docs/transport-ofi.md");
            }
            return isWhole || List.of(tests.value()).contains(name)
                    ? ConditionEvaluationResult.enabled("chosen")
                    : ConditionEvaluationResult.disabled("only when it is asked for by its class");
        }
    }
}
