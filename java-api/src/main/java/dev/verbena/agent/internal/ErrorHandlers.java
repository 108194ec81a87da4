package dev.verbena.agent.internal;

import org.agrona.ErrorHandler;

/** What a thread that must not end calls in place of the user's handler. */
public final class ErrorHandlers {
    private ErrorHandlers() {}

    /** One that throws must not end the poll, or the thread, that reports something. */
    public static ErrorHandler harmless(ErrorHandler handler) {
        return error -> {
            try {
                handler.onError(error);
            } catch (RuntimeException | Error e) {
                if (e != error) {
                    e.addSuppressed(error);
                }
                e.printStackTrace();
            }
        };
    }
}
