package dev.verbena.transport;

import java.util.Arrays;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/**
 * Fails a test of the suite that is skipped for anything but a capability that the provider lacks,
 * a kernel that lacks one, or a provider that cannot be opened here at all.
 */
final class SkipsForCapabilities implements TestExecutionExceptionHandler {
    /** A skip that the suite allows. */
    static final class Lacking extends TestAbortedException {
        private static final long serialVersionUID = 1;

        Lacking(String what) {
            super(what);
        }
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable thrown)
            throws Throwable {
        boolean isSkip = thrown instanceof TestAbortedException && !(thrown instanceof Lacking);
        if (isSkip && !isFromOpen(thrown)) {
            throw new AssertionError("skipped, and not for a capability: " + thrown, thrown);
        }
        throw thrown;
    }

    private static boolean isFromOpen(Throwable thrown) {
        return Arrays.stream(thrown.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("open"));
    }
}
