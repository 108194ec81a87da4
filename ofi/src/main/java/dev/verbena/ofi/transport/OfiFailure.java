package dev.verbena.ofi.transport;

/** A call of the control path that failed; becomes a {@code TransportException} at the surface. */
final class OfiFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    OfiFailure(String message, Throwable cause) {
        super(message, cause);
    }
}
