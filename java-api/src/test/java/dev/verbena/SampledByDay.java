package dev.verbena;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A suite that runs whole elsewhere, over another transport or on another JDK, runs in part: each
 * day one part of its tests, another part on JDK 18 and newer, so that all are seen within as many
 * days as there are parts. Tests that are run by name are not left out.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(SampledByDay.Condition.class)
public @interface SampledByDay {
    /** Whole, unless the tests have run on another JDK before ({@code -Dverbena.again=true}). */
    boolean isWholeAtFirst() default false;

    /** Names of tests that run every day, unless the tests have run on another JDK before. */
    String[] daily() default {};

    /** Into how many parts the tests are divided. */
    int parts() default 9;

    /** Chooses by day and name. */
    final class Condition implements ExecutionCondition {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            long day = LocalDate.now(ZoneOffset.UTC).toEpochDay();
            int jdk = Runtime.version().feature() > 17 ? 1 : 0;
            return context.getTestMethod()
                    .filter(method -> !isWhole(context, method))
                    .filter(method -> !isOf(day + jdk, context, method))
                    .map(method -> ConditionEvaluationResult.disabled("of another day"))
                    .orElse(ConditionEvaluationResult.enabled("of today"));
        }

        private static boolean isWhole(ExtensionContext context, Method method) {
            // --long: whole suites over each transport, decorator and JDK, instead of a part by day
            boolean isAsked =
                    Boolean.getBoolean("verbena.long") || Boolean.getBoolean("verbena.named");
            SampledByDay how = how(context);
            boolean isDaily =
                    how.isWholeAtFirst() || List.of(how.daily()).contains(method.getName());
            return isAsked || isDaily && !Boolean.getBoolean("verbena.again");
        }

        private static boolean isOf(long day, ExtensionContext context, Method method) {
            String name = context.getRequiredTestClass().getName() + method.getName();
            return Math.floorMod(name.hashCode() + day, how(context).parts()) == 0;
        }

        private static SampledByDay how(ExtensionContext context) {
            return context.getRequiredTestClass().getAnnotation(SampledByDay.class);
        }
    }
}
