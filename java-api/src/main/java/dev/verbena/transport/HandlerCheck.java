package dev.verbena.transport;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Whether a handler overrides anything that is called. */
final class HandlerCheck {
    private HandlerCheck() {}

    /**
     * Returns if it does, or is {@link TransportHandler#IGNORE}.
     *
     * @throws IllegalArgumentException naming the class, what it could override, and which of its
     *     methods has such a name but other parameters
     */
    static void require(TransportHandler handler) {
        Class<?> type = handler.getClass();
        Method[] called = TransportHandler.class.getMethods();
        if (handler == TransportHandler.IGNORE
                || Arrays.stream(called).anyMatch(method -> isOverridden(method, type))) {
            return;
        }
        String names =
                Arrays.stream(called)
                        .map(Method::getName)
                        .sorted()
                        .collect(Collectors.joining(", "));
        String near =
                Arrays.stream(type.getMethods())
                        .filter(m -> m.getDeclaringClass() != TransportHandler.class)
                        .filter(m -> names.contains(m.getName()))
                        .map(m -> "; " + m + " is none of them: its parameters differ")
                        .sorted()
                        .collect(Collectors.joining());
        throw new IllegalArgumentException(
                ("%s overrides no method of TransportHandler, so it would never be"
                                + " called; override what is to be handled: %s%s."
                                + " TransportHandler.IGNORE drops every event")
                        .formatted(type.getName(), names, near));
    }

    private static boolean isOverridden(Method method, Class<?> type) {
        try {
            return type.getMethod(method.getName(), method.getParameterTypes()).getDeclaringClass()
                    != TransportHandler.class;
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e); // inherited at least
        }
    }
}
