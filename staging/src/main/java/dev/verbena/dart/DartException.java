package dev.verbena.dart;

/** A call of the staging library failed. The code says what; the message names the thing. */
public class DartException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What went wrong. */
    public enum Code {
        /** No usable configuration file appeared, or it belongs to another job. */
        NOT_BOOTSTRAPPED,
        /** The master, or the server of this process, cannot be reached or is gone. */
        SERVER_UNREACHABLE,
        /** The server cannot reach the receiver. */
        RECEIVER_UNREACHABLE,
        /** A call with a time limit did not finish in time. */
        TIMEOUT,
        /** The thread was interrupted while it waited; it still is. */
        INTERRUPTED,
        /**
         * A header was sent again and again and never seen by the server. A server that was only
         * held up may still read memory that was sent without a copy, until the connection ends.
         */
        HEADER_LOST,
        /** The server could not read the data out of this process' memory. */
        TRANSFER_FAILED,
        /** The message is longer than the receiver takes, see its {@code messageLengthMax}. */
        TOO_LONG,
        /** The server is stopping and takes no more messages. */
        SERVER_STOPPING,
        /** The server has no room for another client. */
        SERVER_FULL,
        /** Bytes that are no valid record, frame, metadata block or configuration file. */
        MALFORMED,
        /** A compute process died, or its server cannot reach it; told by the receiver. */
        PROCESS_LOST,
        /** Messages were not confirmed when the handle was closed; they are listed. */
        UNCONFIRMED,
        /** The memory of a message was changed while it was still the library's. */
        BUFFER_CHANGED,
        /** A server refused a command or could not do it; the text is the server's. */
        COMMAND_FAILED,
        /** The peer's version of the protocol, or a transport's address, does not fit. */
        INCOMPATIBLE,
        /** A file of this name is there, with other bytes: the message got another name. */
        NAME_TAKEN,
        /** A server and a receiver do not share the same secret. */
        NOT_AUTHENTICATED;

        /**
         * A failure of this kind.
         *
         * @param what said as it stands, or with values in it as by {@link String#format}
         */
        public DartException because(String what, Object... values) {
            return new DartException(this, values.length == 0 ? what : what.formatted(values));
        }
    }

    private final Code code;

    /** A failure of this kind. */
    public DartException(Code code, String message) {
        this(code, message, null);
    }

    /** A failure of this kind, with what led to it. */
    public DartException(Code code, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /** What went wrong. */
    public Code code() {
        return code;
    }

    /** {@link Code#INTERRUPTED}: a call that waited was ended. */
    public static DartException interrupted(String what, InterruptedException cause) {
        return new DartException(Code.INTERRUPTED, what, cause);
    }
}
