package dev.verbena.verbs;

/** A connection did not come about, or was not what was waited for: the event that said so. */
public final class ConnectionException extends VerbsException {
    private static final long serialVersionUID = 1L;
    private static final int ECONNREFUSED = 111;
    private static final int ECONNRESET = 104;

    private final transient ConnectionEvent event;

    ConnectionException(ConnectionEvent event, ConnectionEventType expected) {
        super(
                "waiting for " + expected,
                errno(event),
                event.identifier() + " came " + event.type(),
                event.remedy());
        this.event = event;
    }

    private static int errno(ConnectionEvent event) {
        return switch (event.type()) {
            case REJECTED -> ECONNREFUSED;
            case DISCONNECTED -> ECONNRESET;
            default -> event.status() < 0 ? -event.status() : VerbsErrno.EIO;
        };
    }

    /** The event; of {@link ConnectionEventType#REJECTED} with what the peer says about it. */
    public ConnectionEvent event() {
        return event;
    }
}
