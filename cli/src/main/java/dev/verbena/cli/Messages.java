package dev.verbena.cli;

import dev.verbena.dart.DartException;
import dev.verbena.transport.TransportException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import org.agrona.ErrorHandler;

/** Exceptions as one line for people. */
final class Messages {
    private Messages() {}

    static String of(Throwable error) {
        if (error instanceof Failure) {
            return error.getMessage();
        }
        if (error instanceof UncheckedIOException && error.getCause() != null) {
            String own = error.getMessage();
            boolean isWrapped = own == null || own.equals(error.getCause().toString());
            return isWrapped ? of(error.getCause()) : own;
        }
        if (error instanceof OutOfMemoryError) {
            long mebibytes = Runtime.getRuntime().maxMemory() >> 20;
            return error.getMessage()
                    + ": the JVM may use "
                    + mebibytes
                    + " MiB; JAVA_TOOL_OPTIONS=-Xmx"
                    + 2 * mebibytes
                    + "m lets it use more";
        }
        if (error instanceof java.nio.file.NoSuchFileException) {
            return error.getMessage() + ": there is no such file or folder";
        }
        if (error instanceof java.nio.file.FileSystemException file && file.getReason() != null) {
            return file.getFile() + ": " + file.getReason();
        }
        if (error instanceof java.nio.file.AccessDeniedException) {
            return error.getMessage() + ": no permission";
        }
        String message = error.getMessage();
        boolean isKnown = !isUnexpected(error) && message != null;
        return isKnown ? message : error.toString();
    }

    /** True for an error that no code of ours throws on purpose. */
    static boolean isUnexpected(Throwable error) {
        boolean isExpected =
                error instanceof Failure
                        || error instanceof DartException
                        || error instanceof TransportException
                        || error instanceof IOException
                        || error instanceof UncheckedIOException
                        || error instanceof OutOfMemoryError
                        || error.getClass() == IllegalArgumentException.class
                        || error.getClass() == IllegalStateException.class
                        || error.getClass().getName().startsWith("dev.verbena.");
        return !isExpected;
    }

    /** Errors of an environment, one line each. Any thread. */
    static ErrorHandler to(PrintWriter err) {
        return error -> {
            synchronized (err) {
                err.println("verbena: " + of(error));
                err.flush();
            }
        };
    }

    /** A failure whose message says everything. */
    static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Failure(String message) {
            super(message);
        }
    }
}
