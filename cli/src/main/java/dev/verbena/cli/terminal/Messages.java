package dev.verbena.cli.terminal;

import dev.verbena.dart.DartException;
import dev.verbena.transport.TransportException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.regex.Pattern;
import org.agrona.ErrorHandler;

/** Exceptions as one line for people. */
public final class Messages {
    private static final Pattern CLASS_NAME =
            Pattern.compile("\\b(?:[a-z]\\w*\\.)+(\\w+(?:Exception|Error))(?:: |\\b)");
    private static final Map<String, String> MEANINGS =
            Map.of(
                    "NoSuchFileException", "there is no such file or folder: ",
                    "FileAlreadyExistsException", "it is there already: ",
                    "NotDirectoryException", "no folder: ",
                    "AccessDeniedException", "no permission: ",
                    "UnknownHostException", "unknown host ");

    /** The error of an environment that was printed last. */
    private static volatile String told;

    private Messages() {}

    /** What was wrong, for people. */
    public static String of(Throwable error) {
        String text = text(error);
        return isUnexpected(error)
                ? text
                : CLASS_NAME
                        .matcher(text)
                        .replaceAll(found -> MEANINGS.getOrDefault(found.group(1), ""));
    }

    /** True if it was printed already, as the last error of an environment. */
    public static boolean wasReported(String text) {
        return text.equals(told);
    }

    /** A command begins. */
    public static void forget() {
        told = null;
    }

    private static String text(Throwable error) {
        if (error instanceof Failure) {
            return error.getMessage();
        }
        if (error instanceof UncheckedIOException && error.getCause() != null) {
            String own = error.getMessage();
            boolean isWrapped = own == null || own.equals(error.getCause().toString());
            return isWrapped ? text(error.getCause()) : own;
        }
        if (error instanceof OutOfMemoryError) {
            long mebibytes = Runtime.getRuntime().maxMemory() >> 20;
            return ("%s: the JVM may use %s MiB; JAVA_TOOL_OPTIONS=-Xmx%sm lets it use " + "more")
                    .formatted(error.getMessage(), mebibytes, 2 * mebibytes);
        }
        if (error instanceof java.nio.file.NoSuchFileException) {
            return error.getMessage() + ": there is no such file or folder";
        }
        if (error instanceof java.nio.file.FileSystemException file && file.getReason() != null) {
            return file.getFile() + ": " + file.getReason();
        }
        if (error instanceof java.nio.file.FileAlreadyExistsException) {
            return error.getMessage() + ": it is there already";
        }
        if (error instanceof java.nio.file.AccessDeniedException) {
            return error.getMessage() + ": no permission";
        }
        String message = error.getMessage();
        boolean isKnown = !isUnexpected(error) && message != null;
        return isKnown ? message : error.toString();
    }

    /** True for an error that no code of ours throws on purpose. */
    public static boolean isUnexpected(Throwable error) {
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
    public static ErrorHandler to(PrintWriter err) {
        return error -> {
            synchronized (err) {
                String text = of(error);
                err.println("verbena: " + text);
                err.flush();
                told = text;
            }
        };
    }

    /** A failure whose message says everything. */
    public static class Failure extends RuntimeException {
        private static final long serialVersionUID = 1L;

        /** A failure whose message is complete. */
        public Failure(String message) {
            super(message);
        }

        /** A failure whose message has values in it, as {@link String#format} puts them there. */
        public Failure(String format, Object... values) {
            super(String.format(format, values));
        }
    }

    /** A file or folder that was named is none that the command can take: exit code 2. */
    public static final class WrongPath extends Failure {
        private static final long serialVersionUID = 1L;

        /** What is wrong with it. */
        public WrongPath(String message) {
            super(message);
        }

        /** As {@link Failure#Failure(String, Object...)}. */
        public WrongPath(String format, Object... values) {
            super(format, values);
        }
    }
}
