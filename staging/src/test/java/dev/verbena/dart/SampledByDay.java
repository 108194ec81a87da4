package dev.verbena.dart;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.time.LocalDate;
import java.time.ZoneOffset;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A suite that runs whole over one transport runs in part over this one: a third of its tests each
 * day, another third on JDK 18 and newer, so that all are seen within three days. Tests that are
 * run by name are not left out.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(SampledByDay.Condition.class)
public @interface SampledByDay {
    /** Chooses by day and name. */
    final class Condition implements ExecutionCondition {
        private static final int PARTS = 3;

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            // --long: whole suites of DART over portals and gni instead of a third of their tests
            boolean isWhole =
                    Boolean.getBoolean("verbena.long") || Boolean.getBoolean("verbena.named");
            long day = LocalDate.now(ZoneOffset.UTC).toEpochDay();
            int jdk = Runtime.version().feature() > 17 ? 1 : 0;
            return context.getTestMethod()
                    .filter(method -> !isWhole && !isOf(day + jdk, context, method))
                    .map(method -> ConditionEvaluationResult.disabled("of another day"))
                    .orElse(ConditionEvaluationResult.enabled("of today"));
        }

        private static boolean isOf(long day, ExtensionContext context, Method method) {
            String name = context.getRequiredTestClass().getName() + method.getName();
            return Math.floorMod(name.hashCode() + day, PARTS) == 0;
        }
    }
}
